// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles of blocks of threads that hold several rows of several heads.

#ifndef ATTN_TRANSFORMS_FOLDEDHEADS_H
#define ATTN_TRANSFORMS_FOLDEDHEADS_H

#include "attn/IR/AttentionShape.h"
#include "attn/IR/AttnOps.h"

namespace mlir::attn {

/// Return the query of `op` with the rows of `heads` heads together, one head after
/// the other: [batch, H / heads, heads * rows, D].
Value foldQuery(OpBuilder &b, SdpaOp op, const AttentionDims &dims,
                int64_t heads);

/// Return the rows of `head` in `part` of the state of its tile, which holds `rows`
/// rows of each of `heads` heads: the first of kFewBlockRows rows.
Value takeHead(OpBuilder &b, Location loc, Value part, Value head,
               int64_t heads, OpFoldResult rows);

/// Return the schedule of a block of threads that finishes what takeHead takes of a
/// tile of `schedule`.
ScheduleAttr getHeadSchedule(ScheduleAttr schedule);

} // namespace mlir::attn

#endif // ATTN_TRANSFORMS_FOLDEDHEADS_H
