// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes away static extents of 0, so that nothing after this meets a slice of an empty tensor:
//
//   %o = attn.sdpa %q, %k, %v : tensor<1x2x8x16xf32>, tensor<1x2x0x16xf32>, tensor<1x2x0x4xf32> -> tensor<1x2x8x4xf32>
//
// becomes
//
//   %e = tensor.empty() : tensor<1x2x8x4xf32>
//   %o = linalg.fill ins(%zero : f32) outs(%e : tensor<1x2x8x4xf32>)
//
// Without channels, queries and keys get one that holds zeros, and values one where only the lse and the weights are left to compute.

#include "attn/Transforms/RemoveEmpty.h"

#include "attn/IR/AttentionShape.h"
#include "attn/IR/LinalgBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::attn;

/// Return zeros in the shape of `tensor` with one channel instead of none.
static Value withOneChannel(ImplicitLocOpBuilder &b, Value tensor) {
  Type type = getElementTypeOrSelf(tensor);
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(b, b.getLoc(), tensor);
  sizes[kChannelDim] = b.getIndexAttr(1);
  return getFilled(b, sizes, getFloat(b, type, 0.0));
}

/// Return the lse [B, H, M] of rows without keys: the sinks, or minus infinity.
static Value getEmptyLse(ImplicitLocOpBuilder &b, SdpaOp op,
                         ArrayRef<OpFoldResult> sizes) {
  Type type = getElementTypeOrSelf(op.getLse());
  if (!op.getSinks())
    return getFilled(b, sizes, getMinusInfinity(b, type));
  AffineExpr dims[] = {b.getAffineDimExpr(0), b.getAffineDimExpr(1),
                       b.getAffineDimExpr(2)};
  Value empty = tensor::EmptyOp::create(b, sizes, type);
  return buildGeneric(
      b, {{op.getSinks(), {dims[1]}}}, {empty, {dims[0], dims[1], dims[2]}},
      [&](ValueRange args) { return convertFloat(b, args[0], type); });
}

/// Replace `op`, whose rows have no keys or which has no rows.
static void replaceByConstants(RewriterBase &rewriter, ImplicitLocOpBuilder &b,
                               SdpaOp op) {
  ReifiedRankedShapedTypeDims shapes;
  if (failed(op.reifyResultShapes(b, shapes)))
    return;
  Type type = getElementTypeOrSelf(op.getOutput());
  SmallVector<Value> results = {
      castTensor(b, getFilled(b, shapes[0], getFloat(b, type, 0.0)),
                 op.getOutput().getType())};
  if (op.getLse())
    results.push_back(
        castTensor(b, getEmptyLse(b, op, shapes[1]), op.getLse().getType()));
  if (Value weights = op.getWeights()) {
    Value zero = getFloat(b, getElementTypeOrSelf(weights), 0.0);
    results.push_back(
        castTensor(b, getFilled(b, shapes.back(), zero), weights.getType()));
  }
  rewriter.replaceOp(op, results);
}

/// Replace `op`, whose values have no channels, by one with a channel that
/// nobody reads; its other results are still to compute. Return it.
static SdpaOp keepOthers(RewriterBase &rewriter, ImplicitLocOpBuilder &b,
                         SdpaOp op) {
  ReifiedRankedShapedTypeDims shapes;
  if (failed(op.reifyResultShapes(b, shapes)))
    return op;
  auto type = cast<RankedTensorType>(op.getOutput().getType());
  Value output = castTensor(
      b, tensor::EmptyOp::create(b, shapes[0], type.getElementType()), type);
  auto copy = cast<SdpaOp>(rewriter.clone(*op));
  copy.getValueMutable().assign(withOneChannel(b, op.getValue()));
  copy->moveAfter(copy.getValue().getDefiningOp());
  SmallVector<int64_t> shape(type.getShape());
  shape[kChannelDim] = 1;
  copy.getOutput().setType(type.clone(shape));
  SmallVector<Value> results(copy->getResults());
  results[0] = output;
  rewriter.replaceOp(op, results);
  return copy;
}

/// Let `op` read what was cast from a type that shows an extent of 0.
static void readBeforeCasts(SdpaOp op) {
  for (OpOperand *operand :
       {&op.getQueryMutable(), &op.getKeyMutable(), &op.getValueMutable()}) {
    auto cast = operand->get().getDefiningOp<tensor::CastOp>();
    if (!cast)
      continue;
    auto source = dyn_cast<RankedTensorType>(cast.getSource().getType());
    if (source && llvm::is_contained(source.getShape(), 0))
      operand->set(cast.getSource());
  }
}

/// Note in `shape` that there are no rows or no keys where a tensor that broadcasts
/// to the scores, or a result, has none.
static void readScoreExtents(SdpaOp op, AttentionShape &shape) {
  int64_t *fields[] = {&shape.batch, &shape.heads, &shape.rows, &shape.keys};
  for (Value tensor : {op.getBias(), op.getMask(), op.getWeights()}) {
    if (!tensor)
      continue;
    ArrayRef<int64_t> extents =
        cast<RankedTensorType>(tensor.getType()).getShape();
    for (auto [extent, field] :
         llvm::zip_equal(extents, ArrayRef(fields).take_back(extents.size())))
      if (extent == 0)
        *field = 0;
  }
}

SdpaOp mlir::attn::removeEmpty(RewriterBase &rewriter, SdpaOp op) {
  rewriter.setInsertionPoint(op);
  ImplicitLocOpBuilder b(op.getLoc(), rewriter);
  readBeforeCasts(op);
  AttentionShape shape = AttentionShape::get(op);
  readScoreExtents(op, shape);
  bool noRows = shape.batch == 0 || shape.heads == 0 || shape.rows == 0;
  bool noResult = shape.valueSize == 0 && !op.getLse() && !op.getWeights();
  if (noRows || shape.keys == 0 || noResult) {
    replaceByConstants(rewriter, b, op);
    return nullptr;
  }
  if (shape.headSize == 0) {
    op.setScaleAttr(b.getF64FloatAttr(op.getScaleValue()));
    op.getQueryMutable().assign(withOneChannel(b, op.getQuery()));
    op.getKeyMutable().assign(withOneChannel(b, op.getKey()));
  }
  return shape.valueSize == 0 ? keepOthers(rewriter, b, op) : op;
}
