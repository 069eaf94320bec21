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
// Where an operand is packed into panels, one step of a loop is one panel. Keys may also be parted: every part has a state
// of its own, that starts empty, and attn.merge joins them.

#include "attn/IR/AttnOps.h"
#include "attn/IR/ScoreRegion.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

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

Region *BlockStepOp::getScoreMod() { return findScoreMod(getMods()); }

Region *BlockStepOp::getMaskMod() { return findMaskMod(getMods()); }

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

/// Return `op` on the rows and the keys at `offsets`, folded into `state`, whose
/// slices are already in `slices`.
static TilingResult tileOf(OpBuilder &builder, BlockStepOp op,
                           ArrayRef<OpFoldResult> offsets,
                           ArrayRef<OpFoldResult> sizes, ArrayRef<Value> state,
                           SmallVector<Operation *> slices) {
  Location loc = op.getLoc();
  int64_t rowUnit = op.hasPackedRows() ? sizeOf(op.getReference(), 1) : 1;
  int64_t keyUnit = op.hasPackedKeys() ? sizeOf(op.getKey(), 2) : 1;
  auto keys = [&](Value tensor, int64_t dim) {
    return sliceDim(builder, loc, tensor, dim, offsets[1], sizes[1], slices);
  };
  IRMapping map;
  map.map(op.getQuery(), sliceDim(builder, loc, op.getQuery(), 0, offsets[0],
                                  sizes[0], slices));
  for (auto [init, part] : llvm::zip(op.getDpsInits(), state))
    map.map(init, part);
  Value key = keys(op.getKey(), 0), value = op.getValue();
  if (!op.hasPackedKeys())
    value = keys(value, 0);
  else if (rankOf(value) == 4)
    value = keys(value, 1);
  // One scale is for all keys.
  auto scales = [&](Value tensor) {
    return tensor && sizeOf(tensor, 0) != 1 ? keys(tensor, 0) : tensor;
  };
  Value keyScale = scales(op.getKeyScale()),
        valueScale = scales(op.getValueScale());
  Value row = advance(builder, loc, op.getRow(), offsets[0], rowUnit);
  Value firstKey = advance(builder, loc, op.getFirstKey(), offsets[1], keyUnit);

  auto tile = cast<BlockStepOp>(builder.clone(*op, map));
  tile.getKeyMutable().assign(key);
  tile.getValueMutable().assign(value);
  if (keyScale)
    tile.getKeyScaleMutable().assign(keyScale);
  if (valueScale)
    tile.getValueScaleMutable().assign(valueScale);
  tile.getRowMutable().assign(row);
  tile.getFirstKeyMutable().assign(firstKey);
  for (auto [result, init] : llvm::zip(tile->getResults(), tile.getDpsInits()))
    result.setType(init.getType());
  return {{tile}, SmallVector<Value>(tile->getResults()), std::move(slices)};
}

FailureOr<TilingResult>
BlockStepOp::getTiledImplementation(OpBuilder &builder,
                                    ArrayRef<OpFoldResult> offsets,
                                    ArrayRef<OpFoldResult> sizes) {
  // Only one tile of keys could be the first, and a plain value is all that the
  // packed keys have.
  bool hasPlainValue = hasPackedKeys() && rankOf(getValue()) == 2;
  if ((getFirst() || hasPlainValue) &&
      !isEqualConstantIntOrValue(
          sizes[1], tensor::getMixedSize(builder, getLoc(), getKey(), 0)))
    return failure();
  SmallVector<Operation *> slices;
  SmallVector<Value> state;
  for (Value init : getDpsInits())
    state.push_back(
        sliceDim(builder, getLoc(), init, 0, offsets[0], sizes[0], slices));
  return tileOf(builder, *this, offsets, sizes, state, std::move(slices));
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

//===----------------------------------------------------------------------===//
// Partial reduction: keys in parts, each with a state of its own
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<Value>>
BlockStepOp::generateInitialTensorForPartialReduction(
    OpBuilder &builder, Location loc, ArrayRef<OpFoldResult> sizes,
    const llvm::SetVector<unsigned> &reductionDims) {
  if (reductionDims.size() != 1 || reductionDims[0] != 1 || getFirst())
    return failure();
  constexpr double kLowest = -std::numeric_limits<double>::infinity();
  constexpr double kStarts[] = {kLowest, 0.0, 0.0};
  SmallVector<Value> parts;
  for (auto [init, start] : llvm::zip(getDpsInits(), kStarts)) {
    SmallVector<OpFoldResult> shape = {sizes[1]};
    llvm::append_range(shape, tensor::getMixedSizes(builder, loc, init));
    Type element = getElementTypeOrSelf(init.getType());
    Value empty = tensor::EmptyOp::create(builder, loc, shape, element);
    Value constant = arith::ConstantOp::create(
        builder, loc, builder.getFloatAttr(element, start));
    parts.push_back(
        linalg::FillOp::create(builder, loc, constant, empty).getResult(0));
  }
  return parts;
}

/// Return part `number` of `parts` for the rows at `offset`, without the leading
/// dimension.
static Value slicePart(OpBuilder &builder, Location loc, Value parts,
                       OpFoldResult number, OpFoldResult offset,
                       OpFoldResult size) {
  auto type = cast<RankedTensorType>(parts.getType());
  SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0)),
      ones(type.getRank(), builder.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, parts);
  offsets[0] = number;
  sizes[0] = builder.getIndexAttr(1);
  offsets[1] = offset;
  sizes[1] = size;
  SmallVector<int64_t> shape =
      decomposeMixedValues(llvm::to_vector(ArrayRef(sizes).drop_front())).first;
  return tensor::ExtractSliceOp::create(
      builder, loc, RankedTensorType::get(shape, type.getElementType()), parts,
      offsets, sizes, ones);
}

FailureOr<TilingResult> BlockStepOp::tileToPartialReduction(
    OpBuilder &builder, Location loc, ReductionTilingStrategy strategy,
    ValueRange parts, ArrayRef<OpFoldResult> offsets,
    ArrayRef<OpFoldResult> sizes,
    const llvm::SetVector<unsigned> &reductionDims,
    ArrayRef<OpFoldResult> splitReductionIvs) {
  if (hasPackedKeys() && rankOf(getValue()) == 2)
    return emitOpError() << "expects a packed 'value' where keys are tiled";
  // A state has no form in which single keys are still apart.
  if (strategy != ReductionTilingStrategy::PartialReductionOuterParallel)
    return emitOpError() << "expects keys in parts that are each reduced";
  SmallVector<Operation *> slices;
  SmallVector<Value> state;
  for (Value part : parts) {
    state.push_back(slicePart(builder, loc, part, splitReductionIvs[0],
                              offsets[0], sizes[0]));
    slices.push_back(state.back().getDefiningOp());
  }
  return tileOf(builder, *this, offsets, sizes, state, std::move(slices));
}

LogicalResult BlockStepOp::getPartialResultTilePosition(
    OpBuilder &builder, unsigned resultNumber, ReductionTilingStrategy,
    ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes,
    const llvm::SetVector<unsigned> &, ArrayRef<OpFoldResult> splitReductionIvs,
    SmallVector<OpFoldResult> &resultOffsets,
    SmallVector<OpFoldResult> &resultSizes) {
  if (failed(getResultTilePosition(builder, resultNumber, offsets, sizes,
                                   resultOffsets, resultSizes)))
    return failure();
  resultOffsets.insert(resultOffsets.begin(), splitReductionIvs[0]);
  resultSizes.insert(resultSizes.begin(), builder.getIndexAttr(1));
  return success();
}

/// Merge the op's own state with those of all parts, in their order.
FailureOr<MergeResult>
BlockStepOp::mergeReductions(OpBuilder &builder, Location loc, ValueRange parts,
                             const llvm::SetVector<unsigned> &) {
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Value count = getValueOrCreateConstantIndexOp(
      builder, loc, tensor::getMixedSize(builder, loc, parts[0], 0));
  OpFoldResult zero = builder.getIndexAttr(0);
  auto loop = scf::ForOp::create(builder, loc, index(0), count, index(1),
                                 getDpsInits());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> so(loop.getRegionIterArgs()), next;
  for (Value part : parts)
    next.push_back(slicePart(builder, loc, part, loop.getInductionVar(), zero,
                             tensor::getMixedSize(builder, loc, part, 1)));
  auto merge = MergeOp::create(builder, loc, so[0].getType(), so[1].getType(),
                               so[2].getType(), so[0], so[1], so[2], next[0],
                               next[1], next[2]);
  scf::YieldOp::create(builder, loc, merge.getResults());
  return MergeResult{{loop}, SmallVector<Value>(loop.getResults())};
}
