// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Schedules that are worth a try where another is good.

#ifndef ATTN_ANALYSIS_SCHEDULENEIGHBORS_H
#define ATTN_ANALYSIS_SCHEDULENEIGHBORS_H

#include "attn/IR/AttentionShape.h"
#include "attn/Target/TargetInfo.h"

namespace mlir::attn {

/// What schedules are for.
struct ScheduleSite {
  AttentionShape shape;
  /// The width of the accumulator's type.
  int64_t bits;
  TargetInfo target;
  /// Whether keys may be split into chunks.
  bool canSplit;
};

/// Return schedules for the same op that differ from `schedule` in one decision:
/// a block or a chunk of half or twice the size, a register tile of another shape,
/// half or twice the streams, more or less that is asked for in advance, or the
/// kernel for few rows instead of that for many.
/// Those that made most of a difference come first.
SmallVector<ScheduleAttr> listNeighbors(ScheduleAttr schedule,
                                        const ScheduleSite &site);

} // namespace mlir::attn

#endif // ATTN_ANALYSIS_SCHEDULENEIGHBORS_H
