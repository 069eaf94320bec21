// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.sdpa as upstream's tiler sees it: loops over batch, heads and rows, never over keys.
//
//   %o = attn.sdpa %q, %k, %v causal = top_left : ...
//
// for heads h to h + 1 and rows m to m + 32 becomes
//
//   %q1 = tensor.extract_slice %q[b, h, m, 0] ...
//   %k1 = tensor.extract_slice %k[b, h / (H / G), 0, 0] ...
//   %o1 = attn.sdpa %q1, %k1, %v1 query_offset(%m : index) causal = top_left : ...
//
// A tile of one of several sequences in one tensor is a slice of its rows and of its keys, of which there may be none:
//
//   %q1 = tensor.extract_slice %q[0, %first + m, h, 0] [1, %rows, 1, 64] ...
//
// A tile keeps the meaning of positions: the offset of its first row moves into query_offset, and an alignment at the
// bottom right becomes an explicit offset, since it would otherwise depend on the tile's own number of rows.

#include "attn/IR/AttentionShape.h"
#include "attn/IR/Indices.h"
#include "attn/IR/KeyExclusion.h"
#include "attn/IR/PackedRows.h"
#include "attn/IR/ScoreRegion.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::attn;

SmallVector<utils::IteratorType> SdpaOp::getLoopIteratorTypes() {
  return SmallVector<utils::IteratorType>(3, utils::IteratorType::parallel);
}

namespace {
/// Where the rows of one sequence lie among those of all.
struct Sequence {
  Value first, count;

  /// Read it from the ends of all sequences.
  static Sequence get(OpBuilder &b, Location loc, Value ends, Value number) {
    Value one = arith::ConstantIndexOp::create(b, loc, 1);
    Value first = readIndex(b, loc, ends, number);
    Value next = arith::AddIOp::create(b, loc, number, one);
    Value end = readIndex(b, loc, ends, next);
    return {first, arith::SubIOp::create(b, loc, end, first)};
  }
};
} // namespace

/// Return `count`, the rows of a sequence, or 0 where `op` leaves sequences of so
/// many rows to another op.
static Value countedRows(OpBuilder &b, SdpaOp op, Value count) {
  Location loc = op.getLoc();
  for (auto [name, predicate] :
       {std::pair(kMostRowsAttrName, arith::CmpIPredicate::sle),
        std::pair(kMoreRowsAttrName, arith::CmpIPredicate::sgt)}) {
    auto limit = op->getAttrOfType<IntegerAttr>(name);
    if (!limit)
      continue;
    Value bound = arith::ConstantIndexOp::create(b, loc, limit.getInt());
    Value none = arith::ConstantIndexOp::create(b, loc, 0);
    Value isCounted = arith::CmpIOp::create(b, loc, predicate, count, bound);
    count = arith::SelectOp::create(b, loc, isCounted, count, none);
  }
  return count;
}

/// Return the number of rows of the longest sequence.
static Value mostRows(OpBuilder &builder, SdpaOp op, OpFoldResult sequences) {
  Location loc = op.getLoc();
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value count = getValueOrCreateConstantIndexOp(builder, loc, sequences);
  auto loop = scf::ForOp::create(
      builder, loc, zero, count, one, ValueRange{zero},
      [&](OpBuilder &b, Location, Value number, ValueRange most) {
        Sequence rows = Sequence::get(b, loc, op.getCuSeqlensQ(), number);
        Value more = arith::MaxSIOp::create(b, loc, most[0],
                                            countedRows(b, op, rows.count));
        scf::YieldOp::create(b, loc, more);
      });
  return loop.getResult(0);
}

SmallVector<Range> SdpaOp::getIterationDomain(OpBuilder &builder) {
  AttentionDims dims = AttentionDims::get(builder, *this);
  OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
  OpFoldResult rows = dims.rows;
  if (hasPackedRows())
    rows = mostRows(builder, *this, dims.batch);
  return {Range{zero, dims.batch, one}, Range{zero, dims.heads, one},
          Range{zero, rows, one}};
}

/// Return where the rows of a tile begin among all, and how many there are, for a
/// tile of rows `from` on of sequence `number`. A sequence may end before.
static std::pair<OpFoldResult, OpFoldResult> placeRows(OpBuilder &b, SdpaOp op,
                                                       OpFoldResult number,
                                                       OpFoldResult from,
                                                       OpFoldResult size) {
  if (!op.hasPackedRows())
    return {from, size};
  Location loc = op.getLoc();
  auto value = [&](OpFoldResult extent) {
    return getValueOrCreateConstantIndexOp(b, loc, extent);
  };
  Sequence rows = Sequence::get(b, loc, op.getCuSeqlensQ(), value(number));
  Value count = countedRows(b, op, rows.count);
  Value skipped = arith::MinSIOp::create(b, loc, value(from), count);
  OpFoldResult left = arith::SubIOp::create(b, loc, count, skipped).getResult();
  Value begin = arith::AddIOp::create(b, loc, rows.first, skipped);
  // As a minimum whose bound analyses find.
  return {begin,
          affine::makeComposedFoldedAffineMin(
              b, loc, AffineMap::getMultiDimIdentityMap(2, b.getContext()),
              {left, size})};
}

namespace {
/// Builds the operands of one tile.
struct SdpaTiler {
  OpBuilder &builder;
  Location loc;
  SdpaOp op;
  /// Batch, head and row where the tile starts, and its extents.
  SmallVector<OpFoldResult> offsets, sizes;
  AttentionDims dims;
  SmallVector<Operation *> slices;

  /// Return the slice of `tensor` at the given place.
  Value slice(Value tensor, ArrayRef<OpFoldResult> at,
              ArrayRef<OpFoldResult> extent) {
    SmallVector<OpFoldResult> ones(at.size(), builder.getIndexAttr(1));
    auto sliced =
        tensor::ExtractSliceOp::create(builder, loc, tensor, at, extent, ones);
    slices.push_back(sliced);
    return sliced;
  }

  /// Return the elements of `vector`, if it is there, for dimension `dim` of the tile.
  Value sliceVector(Value vector, unsigned dim) {
    return vector ? slice(vector, {offsets[dim]}, {sizes[dim]}) : Value();
  }

  /// Some entries of the batch.
  struct Batch {
    OpFoldResult first, count;
  };

  /// Return the rank-4 slice for one layout.
  Value slice4(Value tensor, Layout layout, Batch batch, OpFoldResult head,
               OpFoldResult heads, OpFoldResult row, OpFoldResult rows,
               OpFoldResult channels) {
    SmallVector<OpFoldResult> at(4, builder.getIndexAttr(0)), extent(4);
    at[kBatchDim] = batch.first;
    extent[kBatchDim] = batch.count;
    at[headDim(layout)] = head;
    extent[headDim(layout)] = heads;
    at[sequenceDim(layout)] = row;
    extent[sequenceDim(layout)] = rows;
    extent[kChannelDim] = channels;
    return slice(tensor, at, extent);
  }

  /// Return the slice of a bias or a mask, whose static 1s broadcast.
  Value sliceBroadcast(Value tensor) {
    if (!tensor)
      return {};
    auto type = cast<RankedTensorType>(tensor.getType());
    int64_t skipped = 4 - type.getRank();
    SmallVector<OpFoldResult> at, extent;
    for (int64_t dim = skipped; dim < 4; ++dim) {
      bool whole = dim == 3 || type.getDimSize(dim - skipped) == 1;
      at.push_back(whole ? builder.getIndexAttr(0) : offsets[dim]);
      extent.push_back(
          whole ? tensor::getMixedSize(builder, loc, tensor, dim - skipped)
                : sizes[dim]);
    }
    return slice(tensor, at, extent);
  }

  /// Return the batch entries that hold the queries, or the keys, of the tile: its
  /// own, the only one of all sequences, or all pages.
  Batch rowBatch() {
    if (!op.hasPackedRows())
      return {offsets[0], sizes[0]};
    return {builder.getIndexAttr(0), builder.getIndexAttr(1)};
  }
  Batch keyBatch() {
    if (op.isPaged())
      return {builder.getIndexAttr(0),
              tensor::getMixedSize(builder, loc, op.getKey(), kBatchDim)};
    if (op.hasPackedKeys())
      return {builder.getIndexAttr(0), builder.getIndexAttr(1)};
    return {offsets[0], sizes[0]};
  }

  /// Return where the keys of the tile begin, and how many there are: of a page,
  /// those that it has.
  Batch keyRange() {
    OpFoldResult zero = builder.getIndexAttr(0);
    if (op.isPaged())
      return {zero, tensor::getMixedSize(builder, loc, op.getKey(),
                                         sequenceDim(op.getKeyLayout()))};
    if (!op.hasPackedKeys())
      return {zero, dims.keys};
    Sequence keys = Sequence::get(
        builder, loc, op.getCuSeqlensK(),
        getValueOrCreateConstantIndexOp(builder, loc, offsets[0]));
    return {keys.first, keys.count};
  }

  /// Return the slice of scales of keys or values for the key heads of the tile.
  Value sliceScale(Value scale, OpFoldResult head, OpFoldResult heads,
                   Batch keys) {
    if (!scale)
      return {};
    auto type = cast<RankedTensorType>(scale.getType());
    Batch batch = keyBatch();
    OpFoldResult first[] = {batch.first, head, keys.first};
    OpFoldResult count[] = {batch.count, heads, keys.count};
    int64_t skipped = 3 - type.getRank();
    SmallVector<OpFoldResult> at, extent;
    for (int64_t dim = skipped; dim < 3; ++dim) {
      bool isOne = type.getDimSize(dim - skipped) == 1;
      at.push_back(isOne ? builder.getIndexAttr(0) : first[dim]);
      extent.push_back(isOne ? builder.getIndexAttr(1) : count[dim]);
    }
    return slice(scale, at, extent);
  }

  /// Return how many query heads share a key head; 1 where there is none.
  OpFoldResult groupSize() {
    std::optional<int64_t> heads = getConstantIntValue(dims.heads),
                           kvHeads = getConstantIntValue(dims.kvHeads);
    if (heads && kvHeads)
      return builder.getIndexAttr(
          *kvHeads == 0 ? 1 : std::max<int64_t>(*heads / *kvHeads, 1));
    Value one = arith::ConstantIndexOp::create(builder, loc, 1);
    Value safe = arith::MaxSIOp::create(
        builder, loc,
        getValueOrCreateConstantIndexOp(builder, loc, dims.kvHeads), one);
    Value size = arith::DivUIOp::create(
        builder, loc, getValueOrCreateConstantIndexOp(builder, loc, dims.heads),
        safe);
    return arith::MaxSIOp::create(builder, loc, size, one).getResult();
  }

  /// Return the key heads of the tile: the first and how many.
  std::pair<OpFoldResult, OpFoldResult> kvHeads() {
    OpFoldResult group = groupSize();
    AffineExpr s0, s1;
    bindSymbols(builder.getContext(), s0, s1);
    OpFoldResult first = affine::makeComposedFoldedAffineApply(
        builder, loc, s0.floorDiv(s1), {offsets[1], group});
    OpFoldResult count = affine::makeComposedFoldedAffineApply(
        builder, loc, s0.ceilDiv(s1), {sizes[1], group});
    return {first, count};
  }

  /// Copy a region of the op to the tile, whose entries of the batch and heads
  /// start at other numbers. Positions are the same.
  void copyRegion(Region &from, Region &to) {
    IRMapping copies;
    from.cloneInto(&to, copies);
    shiftRegion(to, getValueOrCreateConstantIndexOp(builder, loc, offsets[0]),
                getValueOrCreateConstantIndexOp(builder, loc, offsets[1]));
  }

  /// Return the absolute position of row 0 of the whole op in entry `entry` of
  /// the batch.
  Value position(Value entry) {
    if (Value offset = op.getQueryOffset()) {
      if (!isa<RankedTensorType>(offset.getType()))
        return toIndex(builder, loc, offset);
      return readIndex(builder, loc, offset, entry);
    }
    if (op.getCausal() != Causal::BottomRight)
      return arith::ConstantIndexOp::create(builder, loc, 0);
    Value length = getValueOrCreateConstantIndexOp(
        builder, loc, op.isPaged() ? dims.keys : keyRange().count);
    if (Value lengths = op.getKvLengths()) {
      Value given = readIndex(builder, loc, lengths, entry);
      Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
      given = arith::MaxSIOp::create(builder, loc, given, zero);
      length = arith::MinSIOp::create(builder, loc, given, length);
    }
    Value rows = getValueOrCreateConstantIndexOp(builder, loc, dims.rows);
    if (op.hasPackedRows())
      rows = Sequence::get(builder, loc, op.getCuSeqlensQ(), entry).count;
    return arith::SubIOp::create(builder, loc, length, rows);
  }

  /// Return the query_offset of the tile: one scalar where it is the same for
  /// all of the tile, else a tensor with one entry a batch entry.
  Value queryOffset() {
    Value first = getValueOrCreateConstantIndexOp(builder, loc, offsets[0]);
    Value row = getValueOrCreateConstantIndexOp(builder, loc, offsets[2]);
    Value given = op.getQueryOffset();
    bool differs =
        given ? isa<RankedTensorType>(given.getType())
              : op.getCausal() == Causal::BottomRight && op.getKvLengths();
    if (!differs || getConstantIntValue(sizes[0]) == 1)
      return clampedAdd(builder, position(first), row);
    SmallVector<Value> dynamic;
    SmallVector<int64_t> shape;
    dispatchIndexOpFoldResults(ArrayRef<OpFoldResult>{sizes[0]}, dynamic,
                               shape);
    return tensor::GenerateOp::create(
        builder, loc, RankedTensorType::get(shape, builder.getIndexType()),
        dynamic, [&](OpBuilder &nested, Location, ValueRange indices) {
          OpBuilder::InsertionGuard guard(builder);
          builder.setInsertionPoint(nested.getInsertionBlock(),
                                    nested.getInsertionPoint());
          Value entry = arith::AddIOp::create(builder, loc, first, indices[0]);
          Value sum = clampedAdd(builder, position(entry), row);
          tensor::YieldOp::create(builder, loc, sum);
        });
  }

  /// Return offset + row with the offset clamped, so that later sums of
  /// positions, windows and rows cannot overflow.
  Value clampedAdd(OpBuilder &b, Value offset, Value row) {
    if (!getConstantIntValue(offset)) {
      Value low = arith::ConstantIndexOp::create(b, loc, -kFarthest);
      Value high = arith::ConstantIndexOp::create(b, loc, kFarthest);
      offset = arith::MaxSIOp::create(b, loc, offset, low);
      offset = arith::MinSIOp::create(b, loc, offset, high);
    }
    return arith::AddIOp::create(b, loc, offset, row);
  }
};
} // namespace

/// Return the types of the results of the tile of `op` at `offsets` of `sizes`.
static FailureOr<SmallVector<Type>> getTileTypes(OpBuilder &b, SdpaOp op,
                                                 ArrayRef<OpFoldResult> offsets,
                                                 ArrayRef<OpFoldResult> sizes) {
  SmallVector<Type> types;
  for (OpResult result : op->getResults()) {
    SmallVector<OpFoldResult> at, extents;
    if (failed(op.getResultTilePosition(b, result.getResultNumber(), offsets,
                                        sizes, at, extents)))
      return failure();
    types.push_back(
        RankedTensorType::get(decomposeMixedValues(extents).first,
                              getElementTypeOrSelf(result.getType())));
  }
  return types;
}

FailureOr<TilingResult>
SdpaOp::getTiledImplementation(OpBuilder &builder,
                               ArrayRef<OpFoldResult> offsets,
                               ArrayRef<OpFoldResult> sizes) {
  Location loc = getLoc();
  // Of all sequences, a tile has one: the rows of two are no slice.
  if (hasPackedRows() &&
      (getConstantIntValue(sizes[0]) != 1 ||
       cast<RankedTensorType>(getQuery().getType()).getRank() != 4))
    return failure();
  SdpaTiler tiler{builder,
                  loc,
                  *this,
                  llvm::to_vector(offsets),
                  llvm::to_vector(sizes),
                  AttentionDims::get(builder, *this),
                  {}};
  AttentionDims &dims = tiler.dims;
  OpFoldResult zero = builder.getIndexAttr(0);
  auto [kvHead, kvHeads] = tiler.kvHeads();
  auto [row, rows] =
      placeRows(builder, *this, offsets[0], offsets[2], sizes[2]);
  Value query = tiler.slice4(getQuery(), getQueryLayout(), tiler.rowBatch(),
                             offsets[1], sizes[1], row, rows, dims.headSize);
  SdpaTiler::Batch keys = tiler.keyRange();
  Value key = tiler.slice4(getKey(), getKeyLayout(), tiler.keyBatch(), kvHead,
                           kvHeads, keys.first, keys.count, dims.headSize);
  Value value =
      tiler.slice4(getValue(), getValueLayout(), tiler.keyBatch(), kvHead,
                   kvHeads, keys.first, keys.count, dims.valueSize);
  Value table;
  if (isPaged())
    table = tiler.slice(
        getPageTable(), {offsets[0], zero},
        {sizes[0], tensor::getMixedSize(builder, loc, getPageTable(), 1)});
  Value bias = tiler.sliceBroadcast(getBias());
  Value mask = tiler.sliceBroadcast(getMask());
  Value keyScale = tiler.sliceScale(getKeyScale(), kvHead, kvHeads, keys);
  Value valueScale = tiler.sliceScale(getValueScale(), kvHead, kvHeads, keys);
  Value lengths = tiler.sliceVector(getKvLengths(), 0);
  Value sinks = tiler.sliceVector(getSinks(), 1);
  Value offset = tiler.queryOffset();

  FailureOr<SmallVector<Type>> types =
      getTileTypes(builder, *this, offsets, sizes);
  if (failed(types))
    return failure();
  Causal causal = getCausal() == Causal::None ? Causal::None : Causal::TopLeft;
  auto tile = SdpaOp::create(
      builder, loc, types->front(), getLse() ? (*types)[1] : Type(),
      getWeights() ? types->back() : Type(), query, key, value, bias, mask,
      lengths, offset, sinks, table, /*cu_seqlens_q=*/Value(),
      /*cu_seqlens_k=*/Value(), keyScale, valueScale, getScaleAttr(),
      CausalAttr::get(getContext(), causal), getWindowAttr(), getSoftcapAttr(),
      getPrecisionAttr(), getLayoutAttr(), getScheduleAttr());
  tiler.copyRegion(getScoreMod(), tile.getScoreMod());
  tiler.copyRegion(getMaskMod(), tile.getMaskMod());
  return TilingResult{
      {tile}, SmallVector<Value>(tile->getResults()), std::move(tiler.slices)};
}

LogicalResult SdpaOp::getResultTilePosition(
    OpBuilder &builder, unsigned resultNumber, ArrayRef<OpFoldResult> offsets,
    ArrayRef<OpFoldResult> sizes, SmallVector<OpFoldResult> &resultOffsets,
    SmallVector<OpFoldResult> &resultSizes) {
  auto [row, rows] =
      placeRows(builder, *this, offsets[0], offsets[2], sizes[2]);
  OpFoldResult first = offsets[0], count = sizes[0];
  if (hasPackedRows()) {
    first = builder.getIndexAttr(0);
    count = builder.getIndexAttr(1);
  }
  Value result = getOperation()->getResult(resultNumber);
  AttentionDims dims = AttentionDims::get(builder, *this);
  if (result != getOutput()) {
    resultOffsets = {first, offsets[1], row};
    resultSizes = {count, sizes[1], rows};
    if (result == getLse())
      return success();
    resultOffsets.push_back(builder.getIndexAttr(0));
    resultSizes.push_back(dims.keys);
    return success();
  }
  Layout layout = getOutputLayout();
  resultOffsets.assign(4, builder.getIndexAttr(0));
  resultSizes.assign(4, dims.valueSize);
  resultOffsets[kBatchDim] = first;
  resultSizes[kBatchDim] = count;
  resultOffsets[headDim(layout)] = offsets[1];
  resultSizes[headDim(layout)] = sizes[1];
  resultOffsets[sequenceDim(layout)] = row;
  resultSizes[sequenceDim(layout)] = rows;
  return success();
}
