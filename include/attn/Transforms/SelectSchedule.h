// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The choice of schedules, as functions that passes and others call.

#ifndef ATTN_TRANSFORMS_SELECTSCHEDULE_H
#define ATTN_TRANSFORMS_SELECTSCHEDULE_H

#include "attn/IR/AttnOps.h"
#include "attn/Target/TargetInfo.h"

#include "mlir/IR/Builders.h"

namespace mlir::attn {

/// How many rows an attention has, of which the kernel depends: as few as
/// getFewRows says, more, or either at run time.
enum class RowCount { Few, Many, Either };

/// Attribute of attention on packed sequences: the schedule for those of few rows.
inline constexpr llvm::StringLiteral kFewScheduleAttrName = "attn.few_schedule";

/// Return how many rows `op` has.
RowCount getRowCount(SdpaOp op);

/// Return whether the states of chunks of keys can be given memory when the
/// function starts: as many as `op` can have in any iteration of a loop round it.
bool canSplitKeys(SdpaOp op);

/// Return the width of the type in which `op` computes.
int64_t getAccumulatorBits(SdpaOp op);

/// Return what the cost model chooses for `op` with few or many rows.
ScheduleAttr chooseSchedule(SdpaOp op, const TargetInfo &target, bool few);

/// Give `op` the schedule that `choose` returns, or two under a test where it can
/// have few and many rows.
void setSchedule(OpBuilder &b, SdpaOp op,
                 function_ref<ScheduleAttr(bool few)> choose);

/// Give linear attention a schedule, or two under a test where it can have few and
/// many steps; none where it has nothing to do.
void setSchedule(OpBuilder &b, LinearAttentionOp op, const TargetInfo &target);

} // namespace mlir::attn

#endif // ATTN_TRANSFORMS_SELECTSCHEDULE_H
