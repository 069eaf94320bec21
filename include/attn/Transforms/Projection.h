// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The projections of a layer, as DecomposeLayers writes them, and the panels that their weights are packed into.

#ifndef ATTN_TRANSFORMS_PROJECTION_H
#define ATTN_TRANSFORMS_PROJECTION_H

#include "attn/IR/AttnDialect.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::attn {

/// Return whether `op` is y[batch, row, out] += x[batch, row, in] w[out, in].
bool isProjection(linalg::GenericOp op);

/// Return the same where the weight is packed into panels of c outputs:
/// w[out / c, in, out % c].
bool isPackedProjection(linalg::GenericOp op);

/// Make `op`, a projection, read its weight from `panels`.
void setPanels(linalg::GenericOp op, Value panels);

/// Return the op that does nothing but round the result of `op`, or null.
linalg::GenericOp findRounding(linalg::GenericOp op);

/// Return what the products of `op` are added to: one number an output [out], an
/// element [batch, row, out], or null where it is zero.
Value findBias(linalg::GenericOp op);

/// Replace `op`, a projection whose schedule has warps, and what rounds it by a loop
/// over blocks of threads.
void tileBlockProjection(RewriterBase &rewriter, linalg::GenericOp op);

/// Return `size` at the insertion point, divided by `unit` and rounded up.
OpFoldResult ceilDivide(ImplicitLocOpBuilder &b, OpFoldResult size,
                        int64_t unit);

/// Return the part of a block of `block` that lies at or after `start` and below
/// `end`.
OpFoldResult clampBlock(ImplicitLocOpBuilder &b, Value start, OpFoldResult end,
                        int64_t block);

/// Return storage for `whole` elements, as a tensor of which `used` are seen.
Value allocateTile(ImplicitLocOpBuilder &b, Type element,
                   ArrayRef<OpFoldResult> whole, ArrayRef<OpFoldResult> used);

/// Build a loop from zero to `count` that changes `state`.
SmallVector<Value>
buildStateLoop(ImplicitLocOpBuilder &b, OpFoldResult count, int64_t step,
               ValueRange state,
               function_ref<SmallVector<Value>(Value, ValueRange)> body);

/// Return `tensor[offsets][sizes]` without its leading dimensions of size 1
/// beyond `rank`.
Value sliceTo(ImplicitLocOpBuilder &b, int64_t rank, Value tensor,
              ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes);

/// Return `tokens`, of the sizes [batch, rows, in], as strips of `schedule`'s
/// rows, all entries of the batch one after the other: [strips, rows, in] of
/// type `element`. Rows beyond the last are zero.
Value toStrips(ImplicitLocOpBuilder &b, Value tokens,
               ArrayRef<OpFoldResult> sizes, Type element,
               ScheduleAttr schedule);

/// Return `to` with the rows of `from`, in parallel. One of the two has the
/// sizes [batch, rows, channels], and the other is [batch * rows or more,
/// channels].
Value copyRows(ImplicitLocOpBuilder &b, Value from, Value to,
               ArrayRef<OpFoldResult> sizes, ScheduleAttr schedule);

/// Return `count` panels of `columns` rows of `weight [out, in]` from row
/// `first`, as [count, in, columns] of type `element`; at most `most` panels.
Value packPanels(ImplicitLocOpBuilder &b, Value weight, Type element,
                 Value first, OpFoldResult count, int64_t most,
                 int64_t columns);

/// Return `dest`, [panels, in, columns], with the first `count` panels of
/// `weight` in it, packed in parallel.
Value packWeight(ImplicitLocOpBuilder &b, Value weight, Value dest,
                 OpFoldResult count, ScheduleAttr schedule);

} // namespace mlir::attn

#endif // ATTN_TRANSFORMS_PROJECTION_H
