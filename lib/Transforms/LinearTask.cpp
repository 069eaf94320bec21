// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a task of linear attention is made of: loops, tiles, slices of the operands, and the state as it is packed.
//
//   %S = the columns of the state, [D, panels, columns], zero beyond D and beyond the last column
//   scf.for %t = 0 to T step block_m { ... }

#include "LinearTask.h"

#include "attn/IR/LinearAttentionParts.h"
#include "attn/Transforms/Projection.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::attn;

LinearTask::LinearTask(ImplicitLocOpBuilder &b, LinearAttentionOp op,
                       LinearPlace place)
    : b(b), op(op), place(place), schedule(*op.getSchedule()),
      dims(AttentionDims::get(b, op)),
      type(getAccumulatorType(getElementTypeOrSelf(op.getQuery()))),
      rows(schedule.getRows()), columns(schedule.getColumns()),
      steps(schedule.getBlockM()) {
  bool normalize = op.getNormalize();
  int64_t most = schedule.getBlockN() - (normalize ? columns : 0);
  std::optional<int64_t> known = getConstantIntValue(dims.valueSize);
  width = known && *known <= most
              ? dims.valueSize
              : clampBlock(b, place.column, dims.valueSize, most);
  mostPanels = schedule.getBlockN() / columns;
  AffineExpr s0 = b.getAffineSymbolExpr(0);
  panels = affine::makeComposedFoldedAffineApply(
      b, b.getLoc(), (s0 + (normalize ? 1 : 0)).ceilDiv(columns), {width});
  size = times(ceilDivide(b, dims.headSize, rows), rows);
  // Weights of a decay per channel are made a vector of keys at a time.
  paddedSteps = op.hasChannelDecay()
                    ? steps
                    : static_cast<int64_t>(llvm::alignTo(steps, columns));
  group = divideSize(b, dims.heads, dims.kvHeads);
  mostHeads = getConstantIntValue(group) ? group : dims.heads;
  scale = buildOutputScale(b, op, dims.headSize, type);
}

//===----------------------------------------------------------------------===//
// Numbers and loops
//===----------------------------------------------------------------------===//

/// What has decayed below this is 0: 2^16 above the smallest normal number, so that
/// products with it, and sums that begin with them, are normal numbers too.
static constexpr double kGoneSingle = 0x1p-110, kGoneDouble = 0x1p-1006;

Value LinearTask::dropTiny(Value x) {
  if (op.getNormalize())
    return x;
  Type type = x.getType();
  Value least = getFloat(b, type, type.isF64() ? kGoneDouble : kGoneSingle);
  Value isTiny = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT,
                                       math::AbsFOp::create(b, x), least);
  return arith::SelectOp::create(b, isTiny, getFloat(b, type, 0.0), x);
}

Value LinearTask::valueOf(OpFoldResult size) {
  return getValueOrCreateConstantIndexOp(b, b.getLoc(), size);
}

OpFoldResult LinearTask::times(OpFoldResult value, int64_t factor) {
  return affine::makeComposedFoldedAffineApply(
      b, b.getLoc(), b.getAffineSymbolExpr(0) * factor, {value});
}

Value LinearTask::plus(Value value, OpFoldResult other) {
  return b.createOrFold<arith::AddIOp>(value, valueOf(other));
}

SmallVector<Value> LinearTask::loop(OpFoldResult count, int64_t step,
                                    ValueRange state, Body body) {
  return buildStateLoop(b, count, step, state, body);
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

Value LinearTask::tile(ArrayRef<OpFoldResult> whole,
                       ArrayRef<OpFoldResult> used) {
  return allocateTile(b, type, whole, used);
}

Value LinearTask::filled(ArrayRef<OpFoldResult> whole,
                         ArrayRef<OpFoldResult> used, Value value) {
  return linalg::FillOp::create(b, value, tile(whole, used)).getResult(0);
}

/// Return `whole` with `part` in it.
Value LinearTask::insert(Value part, Value whole,
                         ArrayRef<OpFoldResult> offsets,
                         ArrayRef<OpFoldResult> sizes) {
  SmallVector<OpFoldResult> ones(sizes.size(), index(1));
  return tensor::InsertSliceOp::create(b, part, whole, offsets, sizes, ones);
}

/// Return `to` with `body` of each element of `from`, which has its shape.
Value LinearTask::map(Value from, Value to, function_ref<Value(Value)> body) {
  SmallVector<AffineExpr> all;
  int64_t rank = cast<RankedTensorType>(to.getType()).getRank();
  for (int64_t dim = 0; dim < rank; ++dim)
    all.push_back(b.getAffineDimExpr(dim));
  return buildGeneric(b, {{from, all}}, {to, all}, [&](ValueRange args) {
    return body(convertFloat(b, args[0], type));
  });
}

/// Return `sums` plus the products of `rows` and `panels`.
Value LinearTask::addProducts(const Indexed &rows, const Indexed &panels,
                              const Indexed &sums) {
  return buildGeneric(b, {rows, panels}, sums, [&](ValueRange args) -> Value {
    Value product = arith::MulFOp::create(b, args[0], args[1]);
    return arith::AddFOp::create(b, args[2], product);
  });
}

/// Return `flat`, [rows, panels * columns], as panels.
Value LinearTask::toPanels(Value flat) {
  return splitDim(b, flat, 1, panels, index(columns));
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// Return steps of a head of `tensor`, a query, key or value, and `width`
/// channels of it: [steps, channels].
Value LinearTask::takeRows(Value tensor, Layout layout, OpFoldResult head,
                           Value first, OpFoldResult count,
                           OpFoldResult channel, OpFoldResult width) {
  SmallVector<OpFoldResult> offsets = {place.batch, head, first, channel},
                            sizes = {index(1), index(1), count, width};
  if (layout == Layout::bshd) {
    std::swap(offsets[1], offsets[2]);
    std::swap(sizes[1], sizes[2]);
    // Of [1, steps, 1, channels] the first and the third are dropped.
    SmallVector<OpFoldResult> ones(4, index(1)), kept = {count, width};
    auto type = RankedTensorType::get(decomposeMixedValues(kept).first,
                                      getElementTypeOrSelf(tensor));
    return tensor::ExtractSliceOp::create(b, type, tensor, offsets, sizes,
                                          ones);
  }
  return sliceTo(b, 2, tensor, offsets, sizes);
}

/// Return steps of `tensor`, a decay or a beta: [steps] or [steps, D].
Value LinearTask::takeSteps(Value tensor, Value head, Value first,
                            OpFoldResult count) {
  SmallVector<OpFoldResult> offsets = {place.batch, head, first},
                            sizes = {index(1), index(1), count};
  int64_t rank = cast<RankedTensorType>(tensor.getType()).getRank();
  if (rank == 4) {
    offsets.push_back(index(0));
    sizes.push_back(dims.headSize);
  }
  return sliceTo(b, rank - 2, tensor, offsets, sizes);
}

/// Return query head `number` of the task's key head.
Value LinearTask::queryHead(Value number) {
  Value first = b.createOrFold<arith::MulIOp>(place.head, valueOf(group));
  return b.createOrFold<arith::AddIOp>(first, number);
}

/// Return the first `height` elements of the column of `flat` that is behind those
/// of the output.
Value LinearTask::lastColumn(Value flat, OpFoldResult height) {
  SmallVector<OpFoldResult> offsets = {index(0), width},
                            sizes = {height, index(1)}, ones(2, index(1));
  auto column = RankedTensorType::get(
      decomposeMixedValues(SmallVector<OpFoldResult>{height}).first, type);
  return tensor::ExtractSliceOp::create(b, column, flat, offsets, sizes, ones);
}

//===----------------------------------------------------------------------===//
// The state
//===----------------------------------------------------------------------===//

Value LinearTask::startState() {
  SmallVector<OpFoldResult> whole = {size, index(mostPanels), index(columns)},
                            used = {size, panels, index(columns)};
  Value state = filled(whole, used, getZero());
  auto copy = [&](Value x) { return x; };
  if (op.getState()) {
    Value flat = toFlat(state);
    SmallVector<OpFoldResult> zeros(2, index(0)), part = {dims.headSize, width};
    Value given = sliceTo(b, 2, op.getState(),
                          {place.batch, place.head, index(0), place.column},
                          {index(1), index(1), dims.headSize, width});
    Value own = map(given, sliceTo(b, 2, flat, zeros, part), copy);
    state = toPanels(insert(own, flat, zeros, part));
  }
  if (op.getNormalizer()) {
    Value flat = toFlat(state);
    Value given =
        sliceTo(b, 1, op.getNormalizer(), {place.batch, place.head, index(0)},
                {index(1), index(1), dims.headSize});
    Value own = map(given, lastColumn(flat, dims.headSize), copy);
    state = toPanels(
        insert(own, flat, {index(0), width}, {dims.headSize, index(1)}));
  }
  return state;
}

Value LinearTask::storeState(Value state, Value dest) {
  SmallVector<OpFoldResult> zeros(2, index(0)), part = {dims.headSize, width};
  Value own = sliceTo(b, 2, toFlat(state), zeros, part);
  return map(own, dest, [](Value x) { return x; });
}

Value LinearTask::storeNormalizer(Value state, Value dest) {
  return map(lastColumn(toFlat(state), dims.headSize), dest,
             [](Value x) { return x; });
}

LinearCarried LinearTask::run(LinearCarried carried) {
  bool stepwise = schedule.getStreams() > 0;
  SmallVector<Value> after =
      loop(dims.keys, stepwise ? 1 : steps, {carried.state, carried.output},
           [&](Value first, ValueRange now) -> SmallVector<Value> {
             LinearCarried next = stepwise ? runStep(first, {now[0], now[1]})
                                           : runChunk(first, {now[0], now[1]});
             return {next.state, next.output};
           });
  if (!op.getNonCausal())
    return {after[0], after[1]};
  // All is written; now the queries read.
  Value state = after[0];
  SmallVector<Value> read = loop(
      dims.rows, steps, after[1],
      [&](Value first, ValueRange now) -> SmallVector<Value> {
        Chunk chunk;
        chunk.first = first;
        chunk.count = clampSteps(first, dims.rows);
        chunk.strips = ceilDivide(b, chunk.count, rows);
        chunk.padded = times(chunk.strips, rows);
        return loop(group, 1, now,
                    [&](Value number, ValueRange inner) -> SmallVector<Value> {
                      return {readHead(number, chunk, {state, inner[0]})};
                    });
      });
  return {state, read[0]};
}
