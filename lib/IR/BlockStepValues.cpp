// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The product with the values in one attn.block_step:
//
//   acc = acc + P . v
//
// with or without the products of weight 0, which are NaN where a value is infinite or NaN.

#include "StepDecomposer.h"

#include "attn/IR/AttrNames.h"
#include "attn/IR/LinalgBuilder.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::attn;

/// Return acc + P . v, without the values of weight 0 where the op says so: two
/// loops, of which one runs once and the other not at all. Bufferization would
/// copy what both branches of a condition write.
Value StepDecomposer::addValues(Value acc, Value weights) {
  auto accumulateAll = [&](Value before, bool skipZeros) {
    if (streamed || !packed)
      return accumulate(before, weights, op.getValue(), skipZeros,
                        op.getFirst());
    if (plainValue)
      return addParts(before, weights, skipZeros);
    // Weights there are of visible keys only.
    Value keys = visibleKeys();
    return accumulate(before, joinKeys(weights, 2, keys),
                      joinKeys(op.getValue(), 1, keys), skipZeros,
                      op.getFirst());
  };
  if (!op.getSkipZeros())
    return accumulateAll(acc, /*skipZeros=*/true);
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value skip = arith::IndexCastUIOp::create(
      builder, loc, builder.getIndexType(), op.getSkipZeros());
  auto onceFrom = [&](Value from, Value to, bool skipZeros) {
    auto loop = scf::ForOp::create(builder, loc, from, to, one, acc);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value before = loop.getRegionIterArg(0);
    Value sum = skipZeros || !packed || streamed
                    ? accumulateAll(before, skipZeros)
                    : addParts(before, weights, /*skipZeros=*/false);
    scf::YieldOp::create(builder, loc, sum);
    acc = loop.getResult(0);
  };
  onceFrom(skip, one, /*skipZeros=*/false);
  onceFrom(zero, skip, /*skipZeros=*/true);
  return acc;
}

/// Return `weights`, which `dims` index in the order of scores, each multiplied by
/// the scale of its value. A weight of 0 stays 0, whatever the scale of a key that
/// is left out holds.
Value StepDecomposer::scaledWeights(Value weights, ArrayRef<AffineExpr> dims) {
  if (!op.getValueScale())
    return weights;
  Dims saved = n;
  if (packed)
    n = {builder.getAffineDimExpr(2), builder.getAffineDimExpr(3)};
  Value scaled = tile.generic(
      dims.size(), {}, {}, {{weights, SmallVector<AffineExpr>(dims)}},
      [&](OpBuilder &b, ValueRange args) {
        Value product = arith::MulFOp::create(b, loc, args[0],
                                              readScale(b, op.getValueScale()));
        Value none = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ,
                                           args[0], tile.constant(b, 0.0));
        return SmallVector<Value>{
            arith::SelectOp::create(b, loc, none, args[0], product)};
      })[0];
  n = saved;
  return scaled;
}

/// Return `tensor`, of which dimension `dim` counts panels and the next one keys of
/// a panel, with one dimension for the first `keys` keys, or all.
Value StepDecomposer::joinKeys(Value tensor, unsigned dim, Value keys) {
  SmallVector<ReassociationIndices> groups = {{0}, {1}, {2}};
  for (unsigned i = 0; i < 4; ++i)
    if (i > dim)
      groups[i - 1] = {i};
  groups[dim] = {dim, dim + 1};
  Value joined = tensor::CollapseShapeOp::create(builder, loc, tensor, groups);
  if (!keys)
    return joined;
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, joined),
                            zeros(3, builder.getIndexAttr(0)),
                            ones(3, builder.getIndexAttr(1));
  sizes[dim] = keys;
  return tensor::ExtractSliceOp::create(builder, loc, joined, zeros, sizes,
                                        ones);
}

/// Return the first `keys` keys, or all, of `value`, some panels of channels, as
/// [panels, keys, channels], or where values are plain [keys, panels, channels].
Value StepDecomposer::valueKeys(Value value, Value keys) {
  if (!plainValue)
    return joinKeys(value, 1, keys);
  OpFoldResult count = tensor::getMixedSize(builder, loc, value, 0);
  int64_t channels = cast<RankedTensorType>(value.getType()).getDimSize(1);
  int64_t panelSize = std::min(
      channels, cast<RankedTensorType>(op.getAcc().getType()).getDimSize(3));
  OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
  if (keys) {
    count = getAsOpFoldResult(keys);
    value = tensor::ExtractSliceOp::create(
        builder, loc, value, {zero, zero},
        {count, builder.getIndexAttr(channels)}, {one, one});
  }
  SmallVector<OpFoldResult> sizes = {count,
                                     builder.getIndexAttr(channels / panelSize),
                                     builder.getIndexAttr(panelSize)};
  auto type = RankedTensorType::get(
      decomposeMixedValues(sizes).first,
      cast<RankedTensorType>(value.getType()).getElementType());
  SmallVector<ReassociationIndices> groups = {{0}, {1, 2}};
  return tensor::ExpandShapeOp::create(builder, loc, type, value, groups,
                                       sizes);
}

/// Return acc + P . value, or with `first` P . value in acc; with `skipZeros` a
/// weight of 0 takes nothing from a value, whatever it holds. Where operands are
/// packed, their keys are one dimension.
Value StepDecomposer::accumulate(Value acc, Value weights, Value value,
                                 bool skipZeros, bool first) {
  if (first)
    acc = filledState(acc, 0.0);
  auto dim = [&](unsigned i) { return builder.getAffineDimExpr(i); };
  SmallVector<AffineExpr> weightDims, valueDims, accDims;
  SmallVector<unsigned> reductions;
  if (streamed) { // (strip, channel panel, row, channel, key)
    weightDims = {dim(0), dim(2), dim(4)};
    valueDims = {dim(4), dim(3)};
    accDims = {dim(0), dim(1), dim(2), dim(3)};
    reductions = {4};
  } else if (packed) { // (strip, channel panel, row, channel, key)
    weightDims = {dim(0), dim(2), dim(4)};
    valueDims = {dim(1), dim(4), dim(3)};
    if (plainValue)
      std::swap(valueDims[0], valueDims[1]);
    accDims = {dim(0), dim(1), dim(2), dim(3)};
    reductions = {4};
  } else {
    weightDims = {dim(0), dim(2)};
    valueDims = {dim(2), dim(1)};
    accDims = {dim(0), dim(1)};
    reductions = {2};
  }
  Value sums =
      tile.generic(accDims.size() + reductions.size(), reductions,
                   {{weights, weightDims}, {value, valueDims}},
                   {{acc, accDims}}, [&](OpBuilder &b, ValueRange args) {
                     Value v = convertStored(b, loc, args[1], tile.elementType);
                     if (skipZeros) {
                       Value zero = tile.constant(b, 0.0);
                       Value none = arith::CmpFOp::create(
                           b, loc, arith::CmpFPredicate::OEQ, args[0], zero);
                       v = arith::SelectOp::create(b, loc, none, zero, v);
                     }
                     Value product = arith::MulFOp::create(b, loc, args[0], v);
                     return SmallVector<Value>{
                         arith::AddFOp::create(b, loc, args[2], product)};
                   })[0];
  if (streamed && !skipZeros)
    sums.getDefiningOp()->setAttr(kScheduleAttrName, op.getScheduleAttr());
  if (packed && skipZeros && op.getSkipZeros())
    sums.getDefiningOp()->setAttr(kRareAttrName, builder.getUnitAttr());
  return sums;
}
