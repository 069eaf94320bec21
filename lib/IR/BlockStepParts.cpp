// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The products of one attn.block_step without those that only pad. Of 197 keys in panels of 32, and 40 channels:
//
//   q . k    6 whole panels, and half of the seventh, which has 5 keys in its first 16
//   P . v    197 keys; 1 panel of 32 channels, then 16 lanes of the second
//
// A step is cut so where it is bounded, at the last key that one of its rows may see, or where its channels do not fill
// their panels. What is left out would have been excluded, has weight 0, or does not count.

#include "StepDecomposer.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::attn;

namespace {
/// A slice that keeps the rank, from `offsets` on.
struct Part {
  SmallVector<OpFoldResult> offsets, sizes, strides;

  /// All of `tensor`.
  Part(OpBuilder &b, Location loc, Value tensor)
      : sizes(tensor::getMixedSizes(b, loc, tensor)) {
    offsets.assign(sizes.size(), b.getIndexAttr(0));
    strides.assign(sizes.size(), b.getIndexAttr(1));
  }

  Part &take(unsigned dim, OpFoldResult from, OpFoldResult count) {
    offsets[dim] = from;
    sizes[dim] = count;
    return *this;
  }

  Value of(OpBuilder &b, Location loc, Value tensor) const {
    return tensor::ExtractSliceOp::create(b, loc, tensor, offsets, sizes,
                                          strides);
  }

  Value into(OpBuilder &b, Location loc, Value tensor, Value part) const {
    return tensor::InsertSliceOp::create(b, loc, part, tensor, offsets, sizes,
                                         strides);
  }
};
} // namespace

/// Return floor((value + add) / divisor).
static Value quotient(OpBuilder &b, Location loc, Value value, int64_t add,
                      int64_t divisor) {
  AffineExpr s0 = b.getAffineSymbolExpr(0);
  return getValueOrCreateConstantIndexOp(
      b, loc,
      affine::makeComposedFoldedAffineApply(
          b, loc, (s0 + add).floorDiv(divisor), {OpFoldResult(value)}));
}

static int64_t sizeOf(Value tensor, unsigned dim) {
  return cast<RankedTensorType>(tensor.getType()).getDimSize(dim);
}

/// Return how many keys of the block, from its first on, some row of the tile may
/// attend to; null where all are taken.
Value StepDecomposer::visibleKeys() {
  if (!packed || streamed || !op.getBounded() || !op.getScheduleAttr())
    return {};
  if (visible)
    return visible;
  auto add = [&](Value a, Value b) -> Value {
    return builder.createOrFold<arith::AddIOp>(loc, a, b);
  };
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  auto times = [&](Value tensor, int64_t unit) -> Value {
    Value size = getValueOrCreateConstantIndexOp(
        builder, loc, tensor::getMixedSize(builder, loc, tensor, 0));
    return builder.createOrFold<arith::MulIOp>(loc, size, constant(unit));
  };
  Value first = op.getPosition(), rows = op.getRowsPerHead();
  if (isOneHead()) {
    first = add(first, op.getRow());
    rows = times(op.getReference(), sizeOf(op.getReference(), 1));
  }
  Value end = keyLimit(add(first, add(rows, constant(-1))));
  Value count = arith::SubIOp::create(builder, loc, end, op.getFirstKey());
  count = arith::MaxSIOp::create(builder, loc, count, constant(0));
  visible = arith::MinSIOp::create(builder, loc, count,
                                   times(op.getKey(), sizeOf(op.getKey(), 2)));
  return visible;
}

/// Return packed `scores` as [strips, rows, vectors, lanes], without the vectors that
/// hold none of the visible keys; or as they are where all keys are visible, as panels
/// of several vectors keep the processor busier.
Value StepDecomposer::scoreVectors(Value scores) {
  ScheduleAttr schedule = op.getScheduleAttr();
  if (!visibleKeys())
    return scores;
  int64_t lanes = schedule.getLanes(), columns = sizeOf(scores, 3);
  if (columns <= lanes || columns % lanes != 0)
    return scores;
  Value unit = arith::ConstantIndexOp::create(builder, loc, lanes);
  Value vectors = quotient(builder, loc, visible, lanes - 1, lanes);
  Value keys = builder.createOrFold<arith::MulIOp>(loc, vectors, unit);
  Value joined = joinKeys(scores, 2, keys);
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, joined);
  sizes.back() = getAsOpFoldResult(vectors);
  sizes.push_back(builder.getIndexAttr(lanes));
  auto type = RankedTensorType::get(decomposeMixedValues(sizes).first,
                                    tile.elementType);
  SmallVector<ReassociationIndices> groups = {{0}, {1}, {2, 3}};
  return tensor::ExpandShapeOp::create(builder, loc, type, joined, groups,
                                       sizes);
}

/// Return of `sum` as many lanes as the vectors of `scores` have.
Value StepDecomposer::firstLanes(Value sum, Value scores) {
  if (sizeOf(sum, 2) == sizeOf(scores, 3))
    return sum;
  Part lanes(builder, loc, sum);
  lanes.take(2, builder.getIndexAttr(0),
             builder.getIndexAttr(sizeOf(scores, 3)));
  return lanes.of(builder, loc, sum);
}

/// Return `scores`, some of which are excluded: by causal and length alone those
/// in the panels from the first on in which a row of the tile may not attend to a
/// key.
Value StepDecomposer::excludeLast(Value scores) {
  WindowAttr window = op.getWindowAttr();
  if (streamed || op.getMaskMod() || (window && window.getLeft()))
    return adjusted(scores, /*changing=*/false, /*excluding=*/true);
  int64_t columns = sizeOf(scores, 3);
  Value first = op.getPosition();
  if (isOneHead())
    first = builder.createOrFold<arith::AddIOp>(loc, first, op.getRow());
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value kept =
      arith::SubIOp::create(builder, loc, keyLimit(first), op.getFirstKey());
  kept = arith::MaxSIOp::create(builder, loc, kept, zero);
  Value panels = getValueOrCreateConstantIndexOp(
      builder, loc, tensor::getMixedSize(builder, loc, scores, 2));
  Value from = arith::MinSIOp::create(
      builder, loc, quotient(builder, loc, kept, 0, columns), panels);
  Value count = arith::SubIOp::create(builder, loc, panels, from);
  Part last(builder, loc, scores);
  last.take(2, from, count);
  skippedKeys = arith::MulIOp::create(
      builder, loc, from,
      arith::ConstantIndexOp::create(builder, loc, columns));
  Value changed = adjusted(last.of(builder, loc, scores), /*changing=*/false,
                           /*excluding=*/true);
  skippedKeys = Value();
  return last.into(builder, loc, scores, changed);
}

/// Return q . k in `init`: whole panels, and the first vector of a last panel
/// whose keys fit there.
Value StepDecomposer::scoreParts(Value init) {
  int64_t columns = sizeOf(op.getKey(), 2);
  int64_t lanes = op.getScheduleAttr().getLanes();
  // A narrower tile would not keep the arithmetic units busy.
  bool hasHalf = columns == 2 * lanes;
  Value whole = quotient(builder, loc, visible,
                         hasHalf ? lanes - 1 : columns - 1, columns);
  OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
  Part keys(builder, loc, op.getKey()), place(builder, loc, init);
  keys.take(0, zero, whole);
  place.take(2, zero, whole);
  Value done =
      product(keys.of(builder, loc, op.getKey()), place.of(builder, loc, init));
  init = place.into(builder, loc, init, done);
  if (!hasHalf)
    return init;
  Value all = quotient(builder, loc, visible, columns - 1, columns);
  Value step = arith::ConstantIndexOp::create(builder, loc, 1);
  auto loop = scf::ForOp::create(builder, loc, whole, all, step, init);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  OpFoldResult panel = loop.getInductionVar(),
               half = builder.getIndexAttr(lanes);
  keys.take(0, panel, one).take(2, zero, half);
  place.take(2, panel, one).take(3, zero, half);
  Value before = loop.getRegionIterArg(0);
  done = product(keys.of(builder, loc, op.getKey()),
                 place.of(builder, loc, before));
  scf::YieldOp::create(builder, loc, place.into(builder, loc, before, done));
  return loop.getResult(0);
}

/// Return acc + P . value over the keys that are visible.
Value StepDecomposer::addKeys(Value acc, Value weights, Value value,
                              bool skipZeros) {
  Value keys = visibleKeys();
  return accumulate(acc, joinKeys(weights, 2, keys), valueKeys(value, keys),
                    skipZeros, op.getFirst());
}

/// Return acc + P . v over the channels that count.
Value StepDecomposer::addParts(Value acc, Value weights, bool skipZeros) {
  std::optional<uint64_t> channels = op.getChannels();
  ScheduleAttr schedule = op.getScheduleAttr();
  int64_t panelSize = sizeOf(op.getAcc(), 3);
  int64_t count = plainValue ? sizeOf(op.getValue(), 1)
                  : channels ? static_cast<int64_t>(*channels)
                             : 0;
  int64_t rest = ShapedType::isStatic(panelSize) ? count % panelSize : 0;
  int64_t width = plainValue ? rest
                  : schedule ? llvm::alignTo(rest, schedule.getLanes())
                             : panelSize;
  if (rest == 0 || width >= panelSize)
    return addKeys(acc, weights, op.getValue(), skipZeros);
  OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
  int64_t whole = count / panelSize;
  Part values(builder, loc, op.getValue()), sums(builder, loc, acc);
  auto add = [&] {
    Value part = addKeys(sums.of(builder, loc, acc), weights,
                         values.of(builder, loc, op.getValue()), skipZeros);
    acc = sums.into(builder, loc, acc, part);
  };
  if (whole > 0) {
    if (plainValue)
      values.take(1, zero, builder.getIndexAttr(whole * panelSize));
    else
      values.take(0, zero, builder.getIndexAttr(whole));
    sums.take(1, zero, builder.getIndexAttr(whole));
    add();
  }
  if (plainValue)
    values.take(1, builder.getIndexAttr(whole * panelSize),
                builder.getIndexAttr(width));
  else
    values.take(0, builder.getIndexAttr(whole), one)
        .take(3, zero, builder.getIndexAttr(width));
  sums.take(1, builder.getIndexAttr(whole), one);
  if (op.getFirst()) {
    sums.take(3, builder.getIndexAttr(width),
              builder.getIndexAttr(panelSize - width));
    Value unused = filledState(sums.of(builder, loc, acc), 0.0);
    acc = sums.into(builder, loc, acc, unused);
  }
  sums.take(3, zero, builder.getIndexAttr(width));
  add();
  return acc;
}
