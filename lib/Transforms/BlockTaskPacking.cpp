// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a task packs before it computes, and unpacks when it is done:
//
//   query   [rows, D]      ->  scaled, in the accumulator's type, [strips, rows, D]
//   key     [keys, D]      ->  [panels, D, columns]
//   value   [keys, E]      ->  [channel panels, panels, columns, columns]
//   output  [strips, channel panels, rows, columns]  ->  its place in the result
//
// (BlockTaskStreams.cpp has what is different where keys are not packed.)
//
// Storage has the size of a whole block in every task, so that it can be placed once.

#include "attn/IR/LinalgBuilder.h"
#include "attn/Transforms/BlockTask.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::attn;

/// Return `expr` over the symbols `operands`, folded.
static OpFoldResult apply(OpBuilder &b, Location loc, AffineExpr expr,
                          ArrayRef<OpFoldResult> operands) {
  return affine::makeComposedFoldedAffineApply(b, loc, expr, operands);
}

static OpFoldResult ceilDiv(OpBuilder &b, Location loc, OpFoldResult value,
                            int64_t divisor) {
  return apply(b, loc, b.getAffineSymbolExpr(0).ceilDiv(divisor), {value});
}

/// Return a tensor of the sizes `used` in a storage of the sizes `whole`: what a
/// task holds has the same size in every iteration and is placed once.
Value BlockTask::storage(ArrayRef<OpFoldResult> whole,
                         ArrayRef<OpFoldResult> used, Type elementType) {
  SmallVector<int64_t> shape;
  SmallVector<Value> dynamic;
  dispatchIndexOpFoldResults(whole, dynamic, shape);
  Value all = bufferization::AllocTensorOp::create(
      rewriter, loc, RankedTensorType::get(shape, elementType), dynamic);
  if (isEqualConstantIntOrValueArray(whole, used))
    return all;
  SmallVector<OpFoldResult> zeros(used.size(), rewriter.getIndexAttr(0)),
      ones(used.size(), rewriter.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(rewriter, loc, all, zeros, used, ones);
}

/// Return `tensor` with the dimensions in `kept` only; the others have size 1.
Value BlockTask::dropUnitDims(Value tensor, ArrayRef<int64_t> kept) {
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, loc, tensor);
  SmallVector<OpFoldResult> offsets(sizes.size(), rewriter.getIndexAttr(0)),
      ones(sizes.size(), rewriter.getIndexAttr(1)), extents = ones;
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> shape;
  for (int64_t dim : kept) {
    shape.push_back(type.getDimSize(dim));
    extents[dim] = sizes[dim];
  }
  // One slice of what a result goes into, as it is there: else the result would be
  // copied onto itself.
  auto slice = tensor.getDefiningOp<tensor::ExtractSliceOp>();
  if (slice && !isForThreads() && slice.hasUnitStride() &&
      slice.getSourceType().getRank() == type.getRank()) {
    offsets = slice.getMixedOffsets();
    extents = slice.getMixedSizes();
    tensor = slice.getSource();
  }
  return tensor::ExtractSliceOp::create(
      rewriter, loc, RankedTensorType::get(shape, type.getElementType()),
      tensor, offsets, extents, ones);
}

/// Return what scores are multiplied by.
Value BlockTask::queryScale() {
  if (tile.getScale() || getConstantIntValue(dims.headSize).has_value())
    return arith::ConstantOp::create(
        rewriter, loc,
        rewriter.getFloatAttr(accumulator, tile.getScaleValue()));
  Value size = getValueOrCreateConstantIndexOp(rewriter, loc, dims.headSize);
  size = arith::MaxSIOp::create(rewriter, loc, size, index(1));
  size = arith::IndexCastOp::create(rewriter, loc, rewriter.getI64Type(), size);
  Value real = arith::SIToFPOp::create(rewriter, loc, accumulator, size);
  Value root = math::SqrtOp::create(rewriter, loc, real);
  Value one = arith::ConstantOp::create(
      rewriter, loc, rewriter.getFloatAttr(accumulator, 1.0));
  return arith::DivFOp::create(rewriter, loc, one, root);
}

/// Return the scaled query as [strips, rows, D]; where the keys are scaled, as it
/// lies.
Value BlockTask::packQuery() {
  if (packed && packed->scaled)
    return rowsToStrips(
        headOf(tile.getQuery(), tile.getQueryLayout(), index(0)), Value());
  Value scale = queryScale();
  Value empty = emptyRows();
  Value rows = forEachHead(empty, [&](Value head, Value init) {
    Value source = headOf(tile.getQuery(), tile.getQueryLayout(), head);
    return mapRows(source, init, [&](OpBuilder &b, Value x) -> Value {
      if (x.getType() != accumulator)
        x = arith::ExtFOp::create(b, loc, accumulator, x);
      return arith::MulFOp::create(b, loc, x, scale);
    });
  });
  return rowsToStrips(rows, empty);
}

/// Return `keys` [keys, D], scaled as the query would be, in the accumulator's type.
Value BlockTask::scaledKeys(Value keys) {
  Value scale = queryScale();
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, loc, keys);
  Value init = storage({rewriter.getIndexAttr(schedule.getBlockN()), sizes[1]},
                       sizes, accumulator);
  return mapRows(keys, init, [&](OpBuilder &b, Value x) -> Value {
    return arith::MulFOp::create(b, loc, convertStored(b, loc, x, accumulator),
                                 scale);
  });
}

/// Return `rows` [keys, C] in the accumulator's type, each by its `scale`, of which
/// there may be none, one, or one for each row.
Value BlockTask::toAccumulator(Value rows, Value scale) {
  auto type = cast<RankedTensorType>(rows.getType());
  if (type.getElementType() == accumulator)
    return rows;
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, loc, rows);
  Value init = storage({rewriter.getIndexAttr(schedule.getBlockN()), sizes[1]},
                       sizes, accumulator);
  SmallVector<Value> inputs{rows};
  SmallVector<AffineMap> maps(2, rewriter.getMultiDimIdentityMap(2));
  Value factor;
  if (scale && cast<RankedTensorType>(scale.getType()).getDimSize(0) == 1) {
    factor = tensor::ExtractOp::create(rewriter, loc, scale, index(0));
  } else if (scale) {
    inputs.push_back(scale);
    maps.insert(maps.begin() + 1,
                AffineMap::get(2, 0, rewriter.getAffineDimExpr(0)));
  }
  return linalg::GenericOp::create(
             rewriter, loc, init.getType(), inputs, ValueRange{init}, maps,
             SmallVector<utils::IteratorType>(2, utils::IteratorType::parallel),
             [&](OpBuilder &b, Location, ValueRange args) {
               Value x = convertStored(b, loc, args[0], accumulator);
               if (Value by = inputs.size() > 1 ? args[1] : factor)
                 x = arith::MulFOp::create(
                     b, loc, x, convertStored(b, loc, by, accumulator));
               linalg::YieldOp::create(b, loc, x);
             })
      .getResult(0);
}

OpFoldResult BlockTask::keysIn(Value begin, Value end) {
  AffineExpr s0, s1;
  bindSymbols(rewriter.getContext(), s0, s1);
  return apply(rewriter, loc, s0 - s1,
               {getAsOpFoldResult(end), getAsOpFoldResult(begin)});
}

/// Return scales `begin` to `end` of a [1, 1, N] tile as [keys], or the one that
/// there is.
Value BlockTask::scales(Value tensor, Value begin, Value end) {
  if (!tensor)
    return {};
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<OpFoldResult> offsets(3, rewriter.getIndexAttr(0)),
      ones(3, rewriter.getIndexAttr(1)), sizes = ones;
  if (type.getDimSize(2) != 1) {
    offsets[2] = getAsOpFoldResult(begin);
    sizes[2] = keysIn(begin, end);
  }
  // One of each page is one of each key.
  if (tile.isPaged() && (type.getDimSize(0) != 1 || type.getDimSize(2) != 1)) {
    OpFoldResult all = keysIn(begin, end);
    return tensor::EmptyOp::create(rewriter, loc, all, type.getElementType());
  }
  int64_t count = getConstantIntValue(sizes[2]).value_or(ShapedType::kDynamic);
  return tensor::ExtractSliceOp::create(
      rewriter, loc, RankedTensorType::get({count}, type.getElementType()),
      tensor, offsets, sizes, ones);
}

/// Return `keys` [keys, C] in panels: [panels, C, columns], or for a value
/// [channel panels, panels, columns, columns]. What pads a panel is 0.
Value BlockTask::packKeys(Value keys, Value scale, bool value) {
  keys = toAccumulator(keys, scale);
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, loc, keys);
  int64_t columns = schedule.getColumns();
  OpFoldResult tileSize = rewriter.getIndexAttr(columns);
  OpFoldResult panels = ceilDiv(rewriter, loc, sizes[0], columns);
  OpFoldResult most = rewriter.getIndexAttr(schedule.getBlockN() / columns);
  Value zero = arith::ConstantOp::create(rewriter, loc,
                                         rewriter.getZeroAttr(accumulator));
  if (!value) {
    Value dest = storage({most, sizes[1], tileSize},
                         {panels, sizes[1], tileSize}, accumulator);
    return linalg::PackOp::create(rewriter, loc, keys, dest,
                                  ArrayRef<int64_t>{0},
                                  ArrayRef<OpFoldResult>{tileSize}, zero)
        .getResult();
  }
  OpFoldResult channels = ceilDiv(rewriter, loc, sizes[1], columns);
  Value dest = storage({channels, most, tileSize, tileSize},
                       {channels, panels, tileSize, tileSize}, accumulator);
  return linalg::PackOp::create(rewriter, loc, keys, dest,
                                ArrayRef<int64_t>{0, 1},
                                ArrayRef<OpFoldResult>{tileSize, tileSize},
                                zero, ArrayRef<int64_t>{1, 0})
      .getResult();
}

Value BlockTask::unpackOutput(Value output, Value dest) {
  if (isForThreads())
    return unpadResult(output, {taskRows, dims.valueSize});
  if (isStreamed())
    return unpackStreamed(output, dest);
  Layout layout = tile.getOutputLayout();
  SmallVector<OpFoldResult> tiles = {
      rewriter.getIndexAttr(schedule.getRows()),
      rewriter.getIndexAttr(schedule.getColumns())};
  auto unpack = [&](Value init) -> Value {
    return linalg::UnPackOp::create(rewriter, loc, output, init,
                                    ArrayRef<int64_t>{0, 1}, tiles)
        .getResult();
  };
  if (getConstantIntValue(dims.heads) == 1)
    return unpack(dropUnitDims(dest, {sequenceDim(layout), kChannelDim}));
  Type element = cast<RankedTensorType>(dest.getType()).getElementType();
  Value flat = unpack(
      storage({rewriter.getIndexAttr(schedule.getBlockM()), dims.valueSize},
              {taskRows, dims.valueSize}, element));
  return copyHeads(flat, dest, headDim(layout));
}

Value BlockTask::unpackLse(Value lse, Value dest) {
  if (isForThreads())
    return unpadResult(lse, {taskRows});
  OpFoldResult rows = rewriter.getIndexAttr(schedule.getRows());
  auto unpack = [&](Value init) -> Value {
    return linalg::UnPackOp::create(rewriter, loc, lse, init,
                                    ArrayRef<int64_t>{0},
                                    ArrayRef<OpFoldResult>{rows})
        .getResult();
  };
  if (getConstantIntValue(dims.heads) == 1)
    return unpack(dropUnitDims(dest, {2}));
  Type element = cast<RankedTensorType>(dest.getType()).getElementType();
  Value flat = unpack(storage({rewriter.getIndexAttr(schedule.getBlockM())},
                              {taskRows}, element));
  return copyHeads(flat, dest, /*headDim=*/1);
}

/// Copy flat [heads * rows, ...], head by head, into dest, a tile of a
/// batch of one whose heads are dimension headDim.
Value BlockTask::copyHeads(Value flat, Value dest, int64_t headDim) {
  Value heads = getValueOrCreateConstantIndexOp(rewriter, loc, dims.heads);
  auto loop = scf::ForOp::create(rewriter, loc, index(0), heads, index(1),
                                 ValueRange{dest});
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(loop.getBody());
  Value head = loop.getInductionVar(), written = loop.getRegionIterArgs()[0];
  auto type = cast<RankedTensorType>(dest.getType());
  int64_t rank = type.getRank();
  SmallVector<OpFoldResult> offsets(rank, rewriter.getIndexAttr(0)),
      ones(rank, rewriter.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, loc, dest);
  offsets[headDim] = head;
  sizes[headDim] = rewriter.getIndexAttr(1);
  SmallVector<int64_t> shape;
  for (int64_t dim = 1; dim < rank; ++dim)
    if (dim != headDim)
      shape.push_back(type.getDimSize(dim));
  auto rowsType = RankedTensorType::get(shape, type.getElementType());
  Value init = tensor::ExtractSliceOp::create(rewriter, loc, rowsType, written,
                                              offsets, sizes, ones);
  Value rows = headRows(flat, head);
  Value copied = mapRows(rows, init, [](OpBuilder &, Value x) { return x; });
  Value result = tensor::InsertSliceOp::create(rewriter, loc, copied, written,
                                               offsets, sizes, ones);
  scf::YieldOp::create(rewriter, loc, result);
  return loop.getResult(0);
}

/// Return the rows of head in flat [heads * rows, ...].
Value BlockTask::headRows(Value flat, Value head) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, loc, flat);
  SmallVector<OpFoldResult> offsets(sizes.size(), rewriter.getIndexAttr(0)),
      ones(sizes.size(), rewriter.getIndexAttr(1));
  AffineExpr s0, s1;
  bindSymbols(rewriter.getContext(), s0, s1);
  offsets[0] =
      apply(rewriter, loc, s0 * s1, {getAsOpFoldResult(head), dims.rows});
  sizes[0] = dims.rows;
  return tensor::ExtractSliceOp::create(rewriter, loc, flat, offsets, sizes,
                                        ones);
}

/// Return flat [heads * rows, ...] after body has filled the rows of each
/// head.
Value BlockTask::forEachHead(Value flat,
                             function_ref<Value(Value, Value)> body) {
  if (getConstantIntValue(dims.heads) == 1)
    return body(index(0), flat);
  Value heads = getValueOrCreateConstantIndexOp(rewriter, loc, dims.heads);
  auto loop = scf::ForOp::create(rewriter, loc, index(0), heads, index(1),
                                 ValueRange{flat});
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(loop.getBody());
  Value head = loop.getInductionVar(), all = loop.getRegionIterArgs()[0];
  auto rows = headRows(all, head).getDefiningOp<tensor::ExtractSliceOp>();
  Value filled = body(head, rows);
  Value result = tensor::InsertSliceOp::create(
      rewriter, loc, filled, all, rows.getMixedOffsets(), rows.getMixedSizes(),
      rows.getMixedStrides());
  scf::YieldOp::create(rewriter, loc, result);
  return loop.getResult(0);
}

/// Return head head of tensor, a tile of a batch of one, as [rows, C].
Value BlockTask::headOf(Value tensor, Layout layout, Value head) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<OpFoldResult> offsets(4, rewriter.getIndexAttr(0)),
      ones(4, rewriter.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, loc, tensor);
  offsets[headDim(layout)] = getAsOpFoldResult(head);
  sizes[headDim(layout)] = rewriter.getIndexAttr(1);
  SmallVector<int64_t> shape = {type.getDimSize(sequenceDim(layout)),
                                type.getDimSize(kChannelDim)};
  return tensor::ExtractSliceOp::create(
      rewriter, loc, RankedTensorType::get(shape, type.getElementType()),
      tensor, offsets, sizes, ones);
}

/// Return init after body has made each element from that of source.
Value BlockTask::mapRows(Value source, Value init,
                         function_ref<Value(OpBuilder &, Value)> body) {
  int64_t rank = cast<RankedTensorType>(init.getType()).getRank();
  SmallVector<AffineMap> maps(2, rewriter.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> parallel(rank,
                                            utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             rewriter, loc, init.getType(), ValueRange{source},
             ValueRange{init}, maps, parallel,
             [&](OpBuilder &b, Location, ValueRange args) {
               linalg::YieldOp::create(b, loc, body(b, args[0]));
             })
      .getResult(0);
}
