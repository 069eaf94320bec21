// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows of a task as strips, and what is different where its keys and values are read where they are, in streams:
//
//   %q = scale * rows, as [strips, rows, D]                  in every task
//   %s:3 = scf.for %j = lo to hi step block_n {
//     attn.block_step %q, %k[%j ...], %v[%j ...] state(...) ... schedule = <..., streams = 4>
//   }

#include "attn/Transforms/BlockTask.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::attn;

/// Return [rows, D], all of the strips or the part of them that has rows; what
/// only fills a strip is 0.
Value BlockTask::emptyRows() {
  AffineExpr s0 = rewriter.getAffineSymbolExpr(0);
  OpFoldResult filled = affine::makeComposedFoldedAffineApply(
      rewriter, loc, s0 * schedule.getRows(), {strips});
  Value all =
      storage({rewriter.getIndexAttr(schedule.getBlockM()), dims.headSize},
              {filled, dims.headSize}, accumulator);
  if (isEqualConstantIntOrValue(filled, taskRows))
    return all;
  // Rows of zeros up to a whole strip.
  AffineExpr s1 = rewriter.getAffineSymbolExpr(1);
  OpFoldResult zeroIndex = rewriter.getIndexAttr(0),
               one = rewriter.getIndexAttr(1),
               missing = affine::makeComposedFoldedAffineApply(
                   rewriter, loc, s0 - s1, {filled, taskRows});
  SmallVector<OpFoldResult> zeros(2, zeroIndex), ones(2, one),
      sizes = {taskRows, dims.headSize}, from = {taskRows, zeroIndex},
      rest = {missing, dims.headSize};
  Value zero = arith::ConstantOp::create(rewriter, loc,
                                         rewriter.getZeroAttr(accumulator));
  Value end =
      tensor::ExtractSliceOp::create(rewriter, loc, all, from, rest, ones);
  end = linalg::FillOp::create(rewriter, loc, zero, end).getResult(0);
  all =
      tensor::InsertSliceOp::create(rewriter, loc, end, all, from, rest, ones);
  return tensor::ExtractSliceOp::create(rewriter, loc, all, zeros, sizes, ones);
}

/// Return `rows`, written into `init` from emptyRows where that is given, as
/// [strips, rows, D].
Value BlockTask::rowsToStrips(Value rows, Value init) {
  auto slice = init ? init.getDefiningOp<tensor::ExtractSliceOp>()
                    : tensor::ExtractSliceOp();
  if (slice && slice.getSource().getDefiningOp<tensor::InsertSliceOp>())
    rows = tensor::InsertSliceOp::create(
        rewriter, loc, rows, slice.getSource(), slice.getMixedOffsets(),
        slice.getMixedSizes(), slice.getMixedStrides());
  SmallVector<OpFoldResult> sizes = {
      strips, rewriter.getIndexAttr(schedule.getRows()), dims.headSize};
  SmallVector<int64_t> shape = decomposeMixedValues(sizes).first;
  return tensor::ExpandShapeOp::create(
      rewriter, loc, RankedTensorType::get(shape, accumulator), rows,
      ArrayRef<ReassociationIndices>{{0, 1}, {2}}, sizes);
}

/// Write `output` [strips, 1, rows, E] into `dest`.
Value BlockTask::unpackStreamed(Value output, Value dest) {
  Value rows = tensor::CollapseShapeOp::create(
      rewriter, loc, output, ArrayRef<ReassociationIndices>{{0, 1, 2}, {3}});
  SmallVector<OpFoldResult> zeros(2, rewriter.getIndexAttr(0)),
      ones(2, rewriter.getIndexAttr(1)), sizes = {taskRows, dims.valueSize};
  Value flat =
      tensor::ExtractSliceOp::create(rewriter, loc, rows, zeros, sizes, ones);
  Layout layout = tile.getOutputLayout();
  if (getConstantIntValue(dims.heads) != 1)
    return copyHeads(flat, dest, headDim(layout));
  return mapRows(flat, dropUnitDims(dest, {sequenceDim(layout), kChannelDim}),
                 [](OpBuilder &, Value x) { return x; });
}
