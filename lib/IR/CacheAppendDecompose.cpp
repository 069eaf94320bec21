// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.cache_append by its definition. On tensors each head takes its rows one after the other, so that of several rows
// of one place the last is there, whole and in all heads:
//
//   %c = scf.forall (%g) in (G) shared_outs(%so = %cache) {
//     %head = tensor.extract_slice %so[:, %g : 1, :, :]
//     %new = scf.for %b = ... scf.for %i = ... iter_args(%h = %head) {
//       %p = tensor.extract %positions[%b, %i]
//       %row = linalg.generic ins(%rows[%b, %g, %i, :]) outs(%h[%b, 0, %p, :]) { convert }
//       scf.yield (tensor.insert_slice %row into %h[%b, 0, %p, :])
//     }
//     scf.forall.in_parallel { tensor.parallel_insert_slice %new into %so[:, %g : 1, :, :] }
//   }
//
// and on memrefs loops over all elements.

#include "attn/IR/AttentionShape.h"
#include "attn/IR/AttnOps.h"
#include "attn/IR/Indices.h"
#include "attn/IR/LinalgBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::attn;

namespace {
/// Builds the definition of one op.
class CacheAppender {
public:
  CacheAppender(OpBuilder &builder, CacheAppendOp op)
      : b(op.getLoc(), builder), op(op) {}

  Value buildOnTensors();
  void buildOnMemRefs();

private:
  /// Where a row goes: the batch entry or page, and the number there.
  struct Place {
    Value entry, row;
  };

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  Value sizeOf(Value shaped, int64_t dim) {
    if (isa<MemRefType>(shaped.getType()))
      return b.createOrFold<memref::DimOp>(shaped, dim);
    return b.createOrFold<tensor::DimOp>(shaped, dim);
  }
  Value load(Value shaped, ValueRange at);
  Value loadIndex(Value shaped, ValueRange at);
  Place placeOf(Value batch, Value number);
  Value convert(Value row, Value scale);
  Value clamped(Value value, Value count);
  /// Return the indices of an element of the rows or of the cache.
  static SmallVector<Value> inLayout(Layout layout, Value batch, Value head,
                                     Value row, Value channel);
  /// Return the indices of the scale of a place.
  SmallVector<Value> scaleAt(const Place &place, Value head);
  tensor::ExtractSliceOp takeHead(Value tensor, Layout layout, Value head);
  tensor::ExtractSliceOp takeRow(Value head, Layout layout, Value entry,
                                 Value number);
  Value withRow(Value head, Value from, Value number, Value batch, Value row);

  ImplicitLocOpBuilder b;
  CacheAppendOp op;
};
} // namespace

Value CacheAppender::load(Value shaped, ValueRange at) {
  if (isa<MemRefType>(shaped.getType()))
    return memref::LoadOp::create(b, shaped, at);
  return tensor::ExtractOp::create(b, shaped, at);
}

Value CacheAppender::loadIndex(Value shaped, ValueRange at) {
  return toIndex(b, load(shaped, at));
}

/// Return `value` as one of `count` numbers, also where nobody has checked it.
Value CacheAppender::clamped(Value value, Value count) {
  Value last = arith::SubIOp::create(b, count, index(1));
  value = arith::MinSIOp::create(b, value, last);
  return arith::MaxSIOp::create(b, value, index(0));
}

/// Return where row `number` of entry `batch` goes.
CacheAppender::Place CacheAppender::placeOf(Value batch, Value number) {
  Value positions = op.getPositions(), position;
  if (cast<ShapedType>(positions.getType()).getRank() == 2)
    position = loadIndex(positions, {batch, number});
  else
    position = arith::AddIOp::create(b, loadIndex(positions, batch), number);
  Value page = sizeOf(op.getCache(), sequenceDim(op.getCacheLayout()));
  Value table = op.getPageTable();
  if (!table)
    return {batch, clamped(position, page)};
  Value unit = arith::MaxSIOp::create(b, page, index(1));
  Value all = arith::MulIOp::create(b, unit, sizeOf(table, 1));
  position = clamped(position, all);
  Value entry =
      loadIndex(table, {batch, arith::DivUIOp::create(b, position, unit)});
  return {clamped(entry, sizeOf(op.getCache(), kBatchDim)),
          arith::RemUIOp::create(b, position, unit)};
}

/// Return `row`, an element, as the cache keeps it under `scale`, which may be null.
Value CacheAppender::convert(Value row, Value scale) {
  Type kept = getElementTypeOrSelf(op.getCache());
  bool isSmall = isa<Float8E4M3FNType, Float8E5M2Type>(kept);
  if (!kept.isInteger() && !isSmall)
    return convertFloat(b, row, kept);
  Type f32 = b.getF32Type();
  row = convertFloat(b, row, f32);
  if (scale)
    row = arith::DivFOp::create(b, row, convertFloat(b, scale, f32));
  double high = kept.isInteger()            ? 127.0
                : isa<Float8E5M2Type>(kept) ? 57344.0
                                            : 448.0,
         low = kept.isInteger() ? -128.0 : -high;
  auto select = [&](arith::CmpFPredicate predicate, double limit) {
    Value bound = getFloat(b, f32, limit);
    Value beyond = arith::CmpFOp::create(b, predicate, row, bound);
    row = arith::SelectOp::create(b, beyond, bound, row);
  };
  select(arith::CmpFPredicate::OGT, high);
  select(arith::CmpFPredicate::OLT, low);
  if (isSmall)
    return arith::TruncFOp::create(b, kept, row);
  Value isNaN = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, row, row);
  row = arith::SelectOp::create(b, isNaN, getFloat(b, f32, 0.0), row);
  row = math::RoundEvenOp::create(b, row);
  return arith::FPToSIOp::create(b, kept, row);
}

SmallVector<Value> CacheAppender::inLayout(Layout layout, Value batch,
                                           Value head, Value row,
                                           Value channel) {
  SmallVector<Value> at = {batch, head, row, channel};
  if (layout == Layout::bshd)
    std::swap(at[1], at[2]);
  return at;
}

SmallVector<Value> CacheAppender::scaleAt(const Place &place, Value head) {
  auto type = cast<ShapedType>(op.getScale().getType());
  Value full[] = {place.entry, head, place.row};
  SmallVector<Value> at;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    at.push_back(type.getDimSize(dim) == 1 ? index(0)
                                           : full[dim + 3 - type.getRank()]);
  return at;
}

/// Return head `head` of `tensor`, with a 1 for the heads: of several 1s, which one
/// is gone would be anybody's guess.
tensor::ExtractSliceOp CacheAppender::takeHead(Value tensor, Layout layout,
                                               Value head) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<OpFoldResult> at(4, b.getIndexAttr(0)),
      ones(4, b.getIndexAttr(1)),
      sizes = tensor::getMixedSizes(b, b.getLoc(), tensor);
  at[headDim(layout)] = head;
  sizes[headDim(layout)] = b.getIndexAttr(1);
  SmallVector<int64_t> shape(type.getShape());
  shape[headDim(layout)] = 1;
  return tensor::ExtractSliceOp::create(
      b, RankedTensorType::get(shape, type.getElementType()), tensor, at, sizes,
      ones);
}

/// Return row `number` of entry `entry` of `head`, as [D].
tensor::ExtractSliceOp CacheAppender::takeRow(Value head, Layout layout,
                                              Value entry, Value number) {
  auto type = cast<RankedTensorType>(head.getType());
  SmallVector<OpFoldResult> at(4, b.getIndexAttr(0)),
      ones(4, b.getIndexAttr(1)), sizes(4, b.getIndexAttr(1));
  at[kBatchDim] = entry;
  at[sequenceDim(layout)] = number;
  sizes[kChannelDim] = tensor::getMixedSize(b, b.getLoc(), head, kChannelDim);
  return tensor::ExtractSliceOp::create(
      b,
      RankedTensorType::get(type.getShape().take_back(), type.getElementType()),
      head, at, sizes, ones);
}

/// Return `head`, number `number` of the cache, with row `row` of entry `batch` of
/// `from` in its place.
Value CacheAppender::withRow(Value head, Value from, Value number, Value batch,
                             Value row) {
  Place place = placeOf(batch, row);
  tensor::ExtractSliceOp to =
      takeRow(head, op.getCacheLayout(), place.entry, place.row);
  Value scale;
  if (op.getScale())
    scale = load(op.getScale(), scaleAt(place, number));
  AffineExpr channel = b.getAffineDimExpr(0);
  Value converted = buildGeneric(
      b, {{takeRow(from, op.getRowsLayout(), batch, row), {channel}}},
      {to.getResult(), {channel}},
      [&](ValueRange args) { return convert(args[0], scale); });
  return tensor::InsertSliceOp::create(b, converted, head, to.getMixedOffsets(),
                                       to.getMixedSizes(),
                                       to.getMixedStrides());
}

Value CacheAppender::buildOnTensors() {
  Value rows = op.getRows();
  // There are no slices of nothing: their offsets would lie outside.
  for (Value tensor : {rows, op.getCache()})
    if (llvm::is_contained(cast<RankedTensorType>(tensor.getType()).getShape(),
                           0))
      return op.getCache();
  SmallVector<OpFoldResult> heads = {
      tensor::getMixedSize(b, b.getLoc(), rows, headDim(op.getRowsLayout()))};
  Value zero = index(0), one = index(1), batch = sizeOf(rows, kBatchDim),
        count = sizeOf(rows, sequenceDim(op.getRowsLayout()));
  auto loop =
      scf::ForallOp::create(b, heads, ValueRange{op.getCache()}, std::nullopt);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(loop.getTerminator());
  Value number = loop.getInductionVars()[0], so = loop.getRegionIterArgs()[0];
  Value from = takeHead(rows, op.getRowsLayout(), number);
  tensor::ExtractSliceOp to = takeHead(so, op.getCacheLayout(), number);
  scf::LoopNest nest = scf::buildLoopNest(
      b, b.getLoc(), {zero, zero}, {batch, count}, {one, one}, to.getResult(),
      [&](OpBuilder &nested, Location, ValueRange at,
          ValueRange state) -> scf::ValueVector {
        OpBuilder::InsertionGuard inner(b);
        b.setInsertionPoint(nested.getInsertionBlock(),
                            nested.getInsertionPoint());
        Value next = withRow(state[0], from, number, at[0], at[1]);
        nested.setInsertionPointToEnd(nested.getInsertionBlock());
        return {next};
      });
  b.setInsertionPointToEnd(loop.getTerminator().getBody());
  tensor::ParallelInsertSliceOp::create(
      b, nest.results[0], so, to.getMixedOffsets(), to.getMixedSizes(),
      to.getMixedStrides());
  return loop.getResult(0);
}

void CacheAppender::buildOnMemRefs() {
  Value rows = op.getRows(), zero = index(0), one = index(1);
  Layout layout = op.getRowsLayout();
  SmallVector<Value> from(4, zero), step(4, one),
      to = {sizeOf(rows, kBatchDim), sizeOf(rows, sequenceDim(layout)),
            sizeOf(rows, headDim(layout)), sizeOf(rows, kChannelDim)};
  scf::buildLoopNest(
      b, b.getLoc(), from, to, step,
      [&](OpBuilder &nested, Location, ValueRange at) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPoint(nested.getInsertionBlock(),
                            nested.getInsertionPoint());
        Place place = placeOf(at[0], at[1]);
        Value row = load(rows, inLayout(layout, at[0], at[2], at[1], at[3]));
        Value scale;
        if (op.getScale())
          scale = load(op.getScale(), scaleAt(place, at[2]));
        memref::StoreOp::create(b, convert(row, scale), op.getCache(),
                                inLayout(op.getCacheLayout(), place.entry,
                                         at[2], place.row, at[3]));
      });
}

FailureOr<SmallVector<Value>>
CacheAppendOp::decomposeOperation(OpBuilder &builder) {
  CacheAppender appender(builder, *this);
  if (getResult())
    return SmallVector<Value>{appender.buildOnTensors()};
  appender.buildOnMemRefs();
  return SmallVector<Value>{};
}
