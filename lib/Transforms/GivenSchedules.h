// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Schedules that the input already has.

#ifndef ATTN_LIB_TRANSFORMS_GIVENSCHEDULES_H
#define ATTN_LIB_TRANSFORMS_GIVENSCHEDULES_H

#include "attn/IR/AttnOps.h"

#include "mlir/IR/Builders.h"

namespace mlir::attn {

/// Remove the schedules under `root` that no GPU can follow, or no processor: those
/// for the other.
void removeForeignSchedules(Operation *root, bool isCuda);

/// Return `schedule` for keys in one piece.
ScheduleAttr withoutChunks(ScheduleAttr schedule);

/// Give `op` two schedules, under a test whether it has at most `most` rows.
void writeSchedules(OpBuilder &b, SdpaOp op, int64_t most,
                    function_ref<ScheduleAttr(bool few)> choose);

/// Fails with a diagnostic unless `op` can be worked on as its schedule says;
/// `chosen` is what would be chosen for it. Where only the program knows whether it
/// has few enough rows, a test is put round it.
LogicalResult acceptGivenSchedule(OpBuilder &b, SdpaOp op, ScheduleAttr chosen);

} // namespace mlir::attn

#endif // ATTN_LIB_TRANSFORMS_GIVENSCHEDULES_H
