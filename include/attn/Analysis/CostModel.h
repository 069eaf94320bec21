// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What tiling of an attention is fastest on a processor, reasoned from its registers and caches.

#ifndef ATTN_ANALYSIS_COSTMODEL_H
#define ATTN_ANALYSIS_COSTMODEL_H

#include "attn/IR/AttentionShape.h"
#include "attn/Target/TargetInfo.h"

namespace mlir::attn {

/// The most rows, over the heads of a group, that count as few: then all heads
/// of a group share one tile, and keys may be split.
constexpr int64_t kFewRows = 16;

/// Return how many query heads share a key head, 1 where there are none, or
/// kDynamic.
int64_t getGroupSize(const AttentionShape &shape);

/// Return the schedule for many rows a head, or with `few` for at most kFewRows
/// in a group. `bits` is the width of the accumulator's type. Depends on M, N, D,
/// E, H / G, the type and the target only.
ScheduleAttr chooseSchedule(MLIRContext *context, const AttentionShape &shape,
                            int64_t bits, const TargetInfo &target, bool few);

/// Return the schedule of a projection of `rows` rows from `ins` to `outs`
/// channels, any of which may be dynamic.
ScheduleAttr chooseProjectionSchedule(MLIRContext *context, int64_t rows,
                                      int64_t outs, int64_t ins, int64_t bits,
                                      const TargetInfo &target);

} // namespace mlir::attn

#endif // ATTN_ANALYSIS_COSTMODEL_H
