// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.block_step as upstream's tiler sees it: a parallel loop over rows and a reduction over keys.
//
//   %s:3 = attn.block_step %q, %k, %v state(%r, %l, %a) at(..., key %j of %n) ...
//
// for keys n to n + 256 becomes
//
//   %k1 = tensor.extract_slice %k[%n, 0] [256, D] [1, 1]
//   %s:3 = attn.block_step %q, %k1, %v1 state(%r, %l, %a) at(..., key %j + %n of %n) ...
//
// Where an operand is packed into panels, one step of a loop is one panel.

#include "attn/IR/AttnOps.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::attn;

static int64_t rankOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getRank();
}

static int64_t sizeOf(Value tensor, int64_t dim) {
  return cast<RankedTensorType>(tensor.getType()).getDimSize(dim);
}

bool BlockStepOp::hasPackedRows() { return rankOf(getQuery()) == 3; }

bool BlockStepOp::hasPackedKeys() { return rankOf(getKey()) == 3; }

bool BlockStepOp::isStreamed() {
  ScheduleAttr schedule = getScheduleAttr();
  return schedule && schedule.getStreams() > 0;
}

MutableOperandRange BlockStepOp::getDpsInitsMutable() {
  return MutableOperandRange(getOperation(),
                             getReferenceMutable().getOperandNumber(), 3);
}

LogicalResult
BlockStepOp::reifyResultShapes(OpBuilder &builder,
                               ReifiedRankedShapedTypeDims &shapes) {
  for (Value init : getDpsInits())
    shapes.push_back(tensor::getMixedSizes(builder, getLoc(), init));
  return success();
}

SmallVector<utils::IteratorType> BlockStepOp::getLoopIteratorTypes() {
  return {utils::IteratorType::parallel, utils::IteratorType::reduction};
}

SmallVector<Range> BlockStepOp::getIterationDomain(OpBuilder &builder) {
  OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
  OpFoldResult rows =
      tensor::getMixedSize(builder, getLoc(), getReference(), 0);
  OpFoldResult keys = tensor::getMixedSize(builder, getLoc(), getKey(), 0);
  return {Range{zero, rows, one}, Range{zero, keys, one}};
}

/// Return the slice of `tensor` that covers [offset, offset + size) of `dim`.
static Value sliceDim(OpBuilder &builder, Location loc, Value tensor,
                      int64_t dim, OpFoldResult offset, OpFoldResult size,
                      SmallVectorImpl<Operation *> &slices) {
  SmallVector<OpFoldResult> offsets(rankOf(tensor), builder.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(rankOf(tensor), builder.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, tensor);
  offsets[dim] = offset;
  sizes[dim] = size;
  auto slice = tensor::ExtractSliceOp::create(builder, loc, tensor, offsets,
                                              sizes, strides);
  slices.push_back(slice);
  return slice;
}

/// Return base + offset * unit.
static Value advance(OpBuilder &builder, Location loc, Value base,
                     OpFoldResult offset, int64_t unit) {
  AffineExpr s0, s1;
  bindSymbols(builder.getContext(), s0, s1);
  return getValueOrCreateConstantIndexOp(
      builder, loc,
      affine::makeComposedFoldedAffineApply(builder, loc, s0 + s1 * unit,
                                            {base, offset}));
}

FailureOr<TilingResult>
BlockStepOp::getTiledImplementation(OpBuilder &builder,
                                    ArrayRef<OpFoldResult> offsets,
                                    ArrayRef<OpFoldResult> sizes) {
  Location loc = getLoc();
  SmallVector<Operation *> slices;
  int64_t rowUnit = hasPackedRows() ? sizeOf(getReference(), 1) : 1;
  int64_t keyUnit = hasPackedKeys() ? sizeOf(getKey(), 2) : 1;
  auto rows = [&](Value tensor) {
    return sliceDim(builder, loc, tensor, 0, offsets[0], sizes[0], slices);
  };
  auto keys = [&](Value tensor, int64_t dim) {
    return sliceDim(builder, loc, tensor, dim, offsets[1], sizes[1], slices);
  };
  IRMapping map;
  map.map(getQuery(), rows(getQuery()));
  map.map(getReference(), rows(getReference()));
  map.map(getSum(), rows(getSum()));
  map.map(getAcc(), rows(getAcc()));
  Value key = keys(getKey(), 0);
  Value value = keys(getValue(), hasPackedKeys() ? 1 : 0);
  Value row = advance(builder, loc, getRow(), offsets[0], rowUnit);
  Value firstKey = advance(builder, loc, getFirstKey(), offsets[1], keyUnit);

  auto tile = cast<BlockStepOp>(builder.clone(*getOperation(), map));
  tile.getKeyMutable().assign(key);
  tile.getValueMutable().assign(value);
  tile.getRowMutable().assign(row);
  tile.getFirstKeyMutable().assign(firstKey);
  for (auto [result, init] : llvm::zip(tile->getResults(), tile.getDpsInits()))
    result.setType(init.getType());
  return TilingResult{
      {tile}, SmallVector<Value>(tile->getResults()), std::move(slices)};
}

LogicalResult BlockStepOp::getResultTilePosition(
    OpBuilder &builder, unsigned resultNumber, ArrayRef<OpFoldResult> offsets,
    ArrayRef<OpFoldResult> sizes, SmallVector<OpFoldResult> &resultOffsets,
    SmallVector<OpFoldResult> &resultSizes) {
  Value init = getDpsInits()[resultNumber];
  resultSizes = tensor::getMixedSizes(builder, getLoc(), init);
  resultOffsets.assign(resultSizes.size(), builder.getIndexAttr(0));
  resultOffsets[0] = offsets[0];
  resultSizes[0] = sizes[0];
  return success();
}
