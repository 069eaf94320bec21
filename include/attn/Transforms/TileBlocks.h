// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiling of attention by its schedule, as functions that passes and others call.

#ifndef ATTN_TRANSFORMS_TILEBLOCKS_H
#define ATTN_TRANSFORMS_TILEBLOCKS_H

#include "attn/IR/AttnOps.h"

#include "mlir/IR/PatternMatch.h"

namespace mlir::attn {

/// Return the extents of a task in batch, heads and rows.
SmallVector<OpFoldResult> taskSizes(RewriterBase &rewriter, SdpaOp op);

/// Return the attributes that spread the last `count` of three loops over blocks of
/// threads, as `schedule` says; none on a processor.
SmallVector<Attribute> getBlockMapping(ScheduleAttr schedule, int64_t count);

/// Replace `op`, which has a schedule, by a loop over tasks. Fails where
/// upstream's tiler does.
LogicalResult tileBlocks(RewriterBase &rewriter, SdpaOp op);

/// Replace `op`, whose schedule has chunks of keys and whose rows fit one task a
/// group of heads, by a loop over chunks and a loop that merges their states.
LogicalResult splitKeys(RewriterBase &rewriter, SdpaOp op);

} // namespace mlir::attn

#endif // ATTN_TRANSFORMS_TILEBLOCKS_H
