// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.block_weights: what it accepts, and its linalg on a tile.
//
//   %w = attn.block_weights %q, %k rows(%reference, %factor : ...) ... : tensor<16x64xf32>, tensor<?x64xf32> -> ...
//
// becomes
//
//   S = q . k, -inf where excluded     as for attn.block_step
//   w = linalg.generic e^(S - reference) * factor
//
// The scores are those of an attn.block_step on the same operands, without values, that lasts while they are built.

#include "StepDecomposer.h"

#include "attn/IR/LinalgBuilder.h"
#include "attn/IR/ScoreRegion.h"
#include "attn/IR/ShapeChecks.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::attn;

static RankedTensorType typeOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType());
}

/// Fails unless the tensors of `op` have the shapes of one form.
static LogicalResult verifyForm(BlockWeightsOp op) {
  NamedType query("query", op.getQuery()), key("key", op.getKey()),
      reference("reference", op.getReference()),
      factor("factor", op.getFactor()), weights("weights", op.getWeights());
  SharedDim rows, keys, headSize, strips, panels, stripRows, panelKeys;
  bool packed = query.tensor().getRank() == 3;
  SmallVector<SharedDim *> shapes[] = {
      {&rows, &headSize}, {&keys, &headSize}, {&rows}, {&rows}, {&rows, &keys}};
  if (packed) {
    shapes[0] = {&strips, &stripRows, &headSize};
    shapes[1] = {&panels, &headSize, &panelKeys};
    shapes[2] = {&strips, &stripRows};
    shapes[3] = {&strips, &stripRows, &panelKeys};
    shapes[4] = {&strips, &panels, &stripRows, &panelKeys};
  }
  // block_weights-C3
  NamedType tensors[] = {query, key, reference, factor, weights};
  for (auto [shape, tensor] : llvm::zip_equal(shapes, tensors))
    if (failed(verifyShape(op, shape, tensor)))
      return failure();
  if (!packed)
    return success();
  // block_weights-C6
  return success(succeeded(verifyStaticUnit(op, reference)) &&
                 succeeded(verifyStaticUnit(op, key)));
}

LogicalResult BlockWeightsOp::verify() {
  NamedType query("query", getQuery());
  // block_weights-C1
  for (NamedType tensor : {NamedType("reference", getReference()),
                           NamedType("factor", getFactor())})
    if (failed(verifyAccumulatorType(*this, query, tensor)))
      return failure();
  // block_weights-C2
  if (failed(verifyFinite(*this, "scale", getScale())) ||
      failed(verifySoftcap(*this, getSoftcap())) || failed(verifyForm(*this)))
    return failure();
  // block_weights-C4
  if (failed(verifyNoWiderThan(*this, query, {"key", getKey()})))
    return failure();
  // block_weights-C5
  for (NamedType tensor :
       {NamedType("bias", getBias()), NamedType("mask", getMask())})
    if (failed(verifyRank(*this, tensor, 3)) ||
        failed(verifyNoWiderThan(*this, query, tensor)))
      return failure();
  // block_weights-C7
  ScheduleAttr schedule = getScheduleAttr();
  if (schedule && schedule.getStreams() > 0)
    return emitOpError() << "expects a 'schedule' without 'streams', got "
                         << schedule;
  return success();
}

LogicalResult BlockWeightsOp::verifyRegions() {
  return verifyScoreRegions(*this, getScoreMod(), getMaskMod(),
                            getElementTypeOrSelf(getReference()));
}

Region *BlockWeightsOp::getScoreMod() { return findScoreMod(getMods()); }

Region *BlockWeightsOp::getMaskMod() { return findMaskMod(getMods()); }

LogicalResult
BlockWeightsOp::reifyResultShapes(OpBuilder &builder,
                                  ReifiedRankedShapedTypeDims &shapes) {
  SmallVector<OpFoldResult> query =
      tensor::getMixedSizes(builder, getLoc(), getQuery());
  SmallVector<OpFoldResult> key =
      tensor::getMixedSizes(builder, getLoc(), getKey());
  if (query.size() == 3)
    shapes.push_back({query[0], key[0], query[1], key[2]});
  else
    shapes.push_back({query[0], key[0]});
  return success();
}

/// Return a step on the operands of `op` that has the same scores.
static BlockStepOp createStep(OpBuilder &b, BlockWeightsOp op) {
  Location loc = op.getLoc();
  auto reference = typeOf(op.getReference()), key = typeOf(op.getKey());
  bool packed = key.getRank() == 3;
  SmallVector<OpFoldResult> rows = tensor::getMixedSizes(b, loc,
                                                         op.getReference()),
                            keys = tensor::getMixedSizes(b, loc, op.getKey());
  auto empty = [&](ArrayRef<OpFoldResult> sizes) -> Value {
    return tensor::EmptyOp::create(b, loc, sizes, reference.getElementType());
  };
  OpFoldResult one = b.getIndexAttr(1);
  Value acc, value;
  if (packed) {
    acc = empty({rows[0], one, rows[1], one});
    value = empty({one, keys[0], keys[2], one});
  } else {
    acc = empty({rows[0], one});
    value = empty({keys[0], one});
  }
  auto step = BlockStepOp::create(
      b, loc, reference, op.getFactor().getType(), acc.getType(), op.getQuery(),
      op.getKey(), value, op.getBias(), op.getMask(), /*key_scale=*/Value(),
      /*value_scale=*/Value(), op.getReference(), op.getFactor(), acc,
      op.getBatch(), op.getHead(), op.getRow(), op.getRowsPerHead(),
      op.getPosition(), op.getFirstKey(), op.getLength(),
      /*skip_zeros=*/Value(),
      /*masked=*/Value(), op.getScaleAttr(), op.getCausalAttr(),
      op.getWindowAttr(), op.getSoftcapAttr(), op.getBoundedAttr(),
      /*first=*/UnitAttr(), /*channels=*/IntegerAttr(),
      /*products=*/UnitAttr(), /*exponent=*/IntegerAttr(), op.getScheduleAttr(),
      op.getMods().size());
  for (auto [from, to] : llvm::zip_equal(op.getMods(), step.getMods())) {
    IRMapping copies;
    from.cloneInto(&to, copies);
  }
  return step;
}

FailureOr<SmallVector<Value>>
BlockWeightsOp::decomposeOperation(OpBuilder &builder) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(*this);
  BlockStepOp step = createStep(builder, *this);
  builder.setInsertionPoint(step);
  Value weights =
      StepDecomposer(builder, step).weights(getElementTypeOrSelf(getWeights()));
  step.erase();
  return SmallVector<Value>{weights};
}
