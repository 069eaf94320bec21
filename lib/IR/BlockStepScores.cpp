// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What stands between q . k and softmax in one attn.block_step:
//
//   S = select(excluded, -inf, softcap(score_mod(S * scale)) + bias)
//
// Exclusion by causal, window and length is one interval of keys a row. It is computed once a row; the select compares
// key numbers with it.

#include "StepDecomposer.h"

#include "attn/IR/AttrNames.h"
#include "attn/IR/KeyExclusion.h"
#include "attn/IR/LinalgBuilder.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::attn;

/// Return the number, within the task, of the row that a body works on.
Value StepDecomposer::rowIndex(OpBuilder &b) {
  Value row =
      linalg::IndexOp::create(b, loc, cast<AffineDimExpr>(m[0]).getPosition());
  if (packed) {
    int64_t rows =
        cast<RankedTensorType>(op.getReference().getType()).getDimSize(1);
    Value unit = arith::ConstantIndexOp::create(b, loc, rows);
    row = arith::MulIOp::create(b, loc, row, unit);
    Value inner = linalg::IndexOp::create(
        b, loc, cast<AffineDimExpr>(m[1]).getPosition());
    row = arith::AddIOp::create(b, loc, row, inner);
  }
  return arith::AddIOp::create(b, loc, op.getRow(), row);
}

/// Return whether the task is known to hold the rows of one head.
bool StepDecomposer::isOneHead() {
  std::optional<int64_t> perHead = getConstantIntValue(op.getRowsPerHead());
  ScheduleAttr schedule = op.getScheduleAttr();
  return schedule && perHead && *perHead >= schedule.getBlockM();
}

/// Return the head, counted from the task's first, and the row in it of the row
/// with number `row` of the task.
std::pair<Value, Value> StepDecomposer::splitRow(OpBuilder &b, Value row) {
  if (isOneHead())
    return {arith::ConstantIndexOp::create(b, loc, 0), row};
  return {arith::DivSIOp::create(b, loc, row, op.getRowsPerHead()),
          arith::RemSIOp::create(b, loc, row, op.getRowsPerHead())};
}

/// Return the number, within the block, of the key that a body works on.
Value StepDecomposer::keyIndex(OpBuilder &b) {
  Value key =
      linalg::IndexOp::create(b, loc, cast<AffineDimExpr>(n[0]).getPosition());
  if (!packed)
    return key;
  int64_t columns = cast<RankedTensorType>(op.getSum().getType()).getDimSize(2);
  Value unit = arith::ConstantIndexOp::create(b, loc, columns);
  key = arith::MulIOp::create(b, loc, key, unit);
  Value inner =
      linalg::IndexOp::create(b, loc, cast<AffineDimExpr>(n[1]).getPosition());
  key = arith::AddIOp::create(b, loc, key, inner);
  return skippedKeys ? arith::AddIOp::create(b, loc, key, skippedKeys) : key;
}

/// Return for each row the first key and the end of the keys of the block that
/// causal, window and length leave.
std::pair<Value, Value> StepDecomposer::keyIntervals() {
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(builder, loc, op.getReference());
  Type i32 = builder.getI32Type();
  Value low = tensor::EmptyOp::create(builder, loc, sizes, i32);
  Value high = tensor::EmptyOp::create(builder, loc, sizes, i32);
  SmallVector<AffineExpr> rows;
  for (unsigned i = 0; i < m.size(); ++i)
    rows.push_back(builder.getAffineDimExpr(i));
  Dims saved = m;
  m.assign(rows.begin(), rows.end());
  SmallVector<Value> both = tile.generic(
      rows.size(), {}, {}, {{low, rows}, {high, rows}},
      [&](OpBuilder &b, ValueRange) {
        auto constant = [&](int64_t value) -> Value {
          return arith::ConstantIndexOp::create(b, loc, value);
        };
        Value inHead = splitRow(b, rowIndex(b)).second;
        Value p = arith::AddIOp::create(b, loc, op.getPosition(), inHead);
        Value first = constant(0), end = op.getLength();
        auto endAt = [&](int64_t after) {
          Value limit = arith::AddIOp::create(b, loc, p, constant(after));
          end = arith::MinSIOp::create(b, loc, end, limit);
        };
        if (op.getCausal())
          endAt(1);
        if (WindowAttr window = op.getWindowAttr()) {
          if (window.getRight())
            endAt(std::min(*window.getRight(), kFarthest) + 1);
          if (window.getLeft())
            first = arith::SubIOp::create(
                b, loc, p, constant(std::min(*window.getLeft(), kFarthest)));
        }
        auto inBlock = [&](Value key) -> Value {
          key = arith::SubIOp::create(b, loc, key, op.getFirstKey());
          key = arith::MaxSIOp::create(b, loc, key, constant(0));
          key = arith::MinSIOp::create(b, loc, key, constant(INT32_MAX));
          return arith::IndexCastOp::create(b, loc, i32, key);
        };
        return SmallVector<Value>{inBlock(first), inBlock(end)};
      });
  m = saved;
  return {both[0], both[1]};
}

/// Return the element of a bias or a mask [heads, rows, keys], each 1 or full,
/// that belongs to the row and the key that a body works on.
Value StepDecomposer::readBroadcast(OpBuilder &b, Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value row = rowIndex(b);
  // Rows and keys that only fill a strip or a panel read the last ones.
  auto bounded = [&](Value index, int64_t dim) -> Value {
    if (type.getDimSize(dim) == 1)
      return zero;
    // Outside of the body, which takes only what vectors can do.
    OpBuilder outside(anchor);
    Value one = arith::ConstantIndexOp::create(outside, loc, 1);
    Value size = outside.createOrFold<tensor::DimOp>(loc, tensor, dim);
    Value last = outside.createOrFold<arith::SubIOp>(loc, size, one);
    return arith::MinSIOp::create(b, loc, index, last);
  };
  auto [head, inHead] = splitRow(b, row);
  Value key = arith::AddIOp::create(b, loc, keyIndex(b), op.getFirstKey());
  key = bounded(key, 2);
  // Keys beyond the end are excluded: a vector need not read the last one there.
  if (auto clamped = key.getDefiningOp<arith::MinSIOp>())
    clamped->setAttr(kUnusedBeyondAttrName, b.getUnitAttr());
  return tensor::ExtractOp::create(
      b, loc, tensor, ValueRange{bounded(head, 0), bounded(inHead, 1), key});
}

/// Return what the key that a body works on is multiplied by.
Value StepDecomposer::readScale(OpBuilder &b, Value scale) {
  auto type = cast<RankedTensorType>(scale.getType());
  Value at;
  if (type.getDimSize(0) == 1) {
    at = arith::ConstantIndexOp::create(b, loc, 0);
  } else {
    OpBuilder outside(anchor);
    Value one = arith::ConstantIndexOp::create(outside, loc, 1);
    Value size = outside.createOrFold<tensor::DimOp>(loc, scale, 0);
    Value last = outside.createOrFold<arith::SubIOp>(loc, size, one);
    // Keys that only fill a panel are excluded.
    auto clamped = arith::MinSIOp::create(b, loc, keyIndex(b), last);
    clamped->setAttr(kUnusedBeyondAttrName, b.getUnitAttr());
    at = clamped;
  }
  Value factor = tensor::ExtractOp::create(b, loc, scale, at);
  return convertStored(b, loc, factor, tile.elementType);
}

static Value isNotZero(OpBuilder &b, Location loc, Value number) {
  Value zero =
      arith::ConstantOp::create(b, loc, b.getZeroAttr(number.getType()));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, number, zero);
}

/// Return whether the mask leaves a key of the block to a row of the tile.
Value StepDecomposer::anyKept() {
  auto dim = [&](unsigned i) { return builder.getAffineDimExpr(i); };
  Type type = cast<RankedTensorType>(op.getMask().getType()).getElementType();
  auto zeros = [&](ArrayRef<int64_t> shape) -> Value {
    Value zero =
        arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
    Value empty = tensor::EmptyOp::create(builder, loc, shape, type);
    return linalg::FillOp::create(builder, loc, zero, empty).getResult(0);
  };
  auto both = [&](OpBuilder &b, Value more, Value so) {
    return SmallVector<Value>{arith::OrIOp::create(b, loc, so, more)};
  };
  auto lastSize = [](Value tensor) {
    return cast<RankedTensorType>(tensor.getType()).getShape().back();
  };
  int64_t columns = lastSize(op.getSum());
  AffineExpr s0 = builder.getAffineSymbolExpr(0);
  OpFoldResult panels = affine::makeComposedFoldedAffineApply(
      builder, loc, streamed ? s0.ceilDiv(columns) : s0,
      {tensor::getMixedSize(builder, loc, op.getKey(), 0)});
  // Nothing is read of it: it says how many rows and keys there are.
  Value extents = tensor::EmptyOp::create(
      builder, loc,
      {tensor::getMixedSize(builder, loc, op.getReference(), 0), panels,
       builder.getIndexAttr(lastSize(op.getReference())),
       builder.getIndexAttr(columns)},
      type);
  Value lanes = tile.generic(
      4, {0, 1, 2}, {{extents, {dim(0), dim(1), dim(2), dim(3)}}},
      {{zeros({columns}), {dim(3)}}}, [&](OpBuilder &b, ValueRange args) {
        Value kept = readBroadcast(b, op.getMask());
        return both(b, kept, args[1]);
      })[0];
  Value any = tile.generic(1, {0}, {{lanes, {dim(0)}}}, {{zeros({}), {}}},
                           [&](OpBuilder &b, ValueRange args) {
                             return both(b, args[0], args[1]);
                           })[0];
  Value number = tensor::ExtractOp::create(builder, loc, any, ValueRange());
  return type.isInteger(1) ? number : isNotZero(builder, loc, number);
}

/// Return what the regions take for the score that a body works on.
ScorePlace StepDecomposer::place(OpBuilder &b) {
  Value row = rowIndex(b), head = op.getHead();
  if (!isOneHead()) {
    auto [number, inHead] = splitRow(b, row);
    head = b.createOrFold<arith::AddIOp>(loc, head, number);
    row = inHead;
  }
  return {op.getBatch(), head,
          b.createOrFold<arith::AddIOp>(loc, op.getPosition(), row),
          b.createOrFold<arith::AddIOp>(loc, keyIndex(b), op.getFirstKey())};
}

/// Return whether something other than exclusion by mask_mod, causal, window and
/// length stands between q . k and softmax.
bool StepDecomposer::changesScores() {
  return op.getScale().convertToDouble() != 1.0 || op.getSoftcap() ||
         op.getBias() || op.getMask() || op.getScoreMod() || op.getKeyScale();
}

/// Return `s` after scale, score_mod, softcap, bias and mask.
Value StepDecomposer::change(OpBuilder &b, Value s) {
  double scale = op.getScale().convertToDouble();
  if (scale != 1.0)
    s = arith::MulFOp::create(b, loc, s, tile.constant(b, scale));
  if (Value factors = op.getKeyScale())
    s = arith::MulFOp::create(b, loc, s, readScale(b, factors));
  Value lowest = tile.constant(b, -std::numeric_limits<double>::infinity());
  Value kept;
  auto keep = [&](Value condition) {
    kept = kept ? arith::AndIOp::create(b, loc, kept, condition).getResult()
                : condition;
  };
  auto keepUnlessLowest = [&](Value value) {
    keep(arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE, value,
                               lowest));
  };
  if (Region *scoreMod = op.getScoreMod()) {
    s = inlineScoreMod(b, *scoreMod, s, place(b), anchor);
    // A cap would make a number of -inf, and a bias of NaN makes NaN of it.
    if (op.getSoftcap() || op.getBias())
      keepUnlessLowest(s);
  }
  if (std::optional<APFloat> cap = op.getSoftcap()) {
    double value = cap->convertToDouble();
    s = arith::DivFOp::create(b, loc, s, tile.constant(b, value));
    s = math::TanhOp::create(b, loc, s);
    s = arith::MulFOp::create(b, loc, s, tile.constant(b, value));
  }
  if (Value bias = op.getBias()) {
    Value term = readBroadcast(b, bias);
    if (term.getType() != tile.elementType)
      term = arith::ExtFOp::create(b, loc, tile.elementType, term);
    // Of NaN it would make NaN.
    keepUnlessLowest(term);
    s = arith::AddFOp::create(b, loc, s, term);
  }
  if (Value mask = op.getMask()) {
    Value given = readBroadcast(b, mask);
    if (!given.getType().isInteger(1))
      given = isNotZero(b, loc, given);
    keep(given);
  }
  if (!kept)
    return s;
  return arith::SelectOp::create(b, loc, kept, s, lowest);
}

/// Return `s` unless mask_mod, or the interval of keys of the row from argument
/// `low` on, excludes it.
Value StepDecomposer::exclude(OpBuilder &b, Value s,
                              std::optional<unsigned> low, ValueRange args) {
  Value kept;
  if (Region *maskMod = op.getMaskMod())
    kept = inlineMaskMod(b, *maskMod, place(b), anchor);
  auto keep = [&](Value condition) {
    kept = kept ? arith::AndIOp::create(b, loc, kept, condition).getResult()
                : condition;
  };
  if (low) {
    Value key = arith::IndexCastOp::create(b, loc, b.getI32Type(), keyIndex(b));
    keep(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, key,
                               args[*low + 1]));
    if (op.getWindowAttr() && op.getWindowAttr().getLeft())
      keep(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, key,
                                 args[*low]));
  }
  if (kept) {
    Value lowest = tile.constant(b, -std::numeric_limits<double>::infinity());
    s = arith::SelectOp::create(b, loc, kept, s, lowest);
  }
  return s;
}

/// Return the end of the keys that a row at `position` may attend to.
Value StepDecomposer::keyLimit(Value position) {
  Value limit = op.getLength();
  auto endAt = [&](int64_t after) {
    Value end = builder.createOrFold<arith::AddIOp>(
        loc, position, arith::ConstantIndexOp::create(builder, loc, after));
    limit = builder.createOrFold<arith::MinSIOp>(loc, limit, end);
  };
  WindowAttr window = op.getWindowAttr();
  if (op.getCausal())
    endAt(1);
  if (window && window.getRight())
    endAt(std::min(*window.getRight(), kFarthest) + 1);
  return limit;
}

/// Return whether causal, window or length may take a key of the block from a row
/// of the tile.
Value StepDecomposer::hasExclusions() {
  auto add = [&](Value a, Value b) -> Value {
    return builder.createOrFold<arith::AddIOp>(loc, a, b);
  };
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  AffineExpr s0 = builder.getAffineSymbolExpr(0);
  auto apply = [&](AffineExpr expr, Value tensor) {
    return getValueOrCreateConstantIndexOp(
        builder, loc,
        affine::makeComposedFoldedAffineApply(
            builder, loc, expr,
            {tensor::getMixedSize(builder, loc, tensor, 0)}));
  };
  auto lastSize = [](Value tensor) {
    return cast<RankedTensorType>(tensor.getType()).getShape().back();
  };
  // Keys that only fill a panel are excluded too.
  int64_t columns = lastSize(op.getSum());
  Value rows = apply(s0 * lastSize(op.getReference()), op.getReference());
  Value keys = apply(streamed ? s0.ceilDiv(columns) * columns : s0 * columns,
                     op.getKey());
  // The positions of the tile; of a whole head where it holds several.
  Value first = op.getPosition();
  if (isOneHead())
    first = add(first, op.getRow());
  else
    rows = op.getRowsPerHead();
  Value end = add(op.getFirstKey(), keys);
  WindowAttr window = op.getWindowAttr();
  Value some = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sgt,
                                     end, keyLimit(first));
  if (!window || !window.getLeft())
    return some;
  Value last = add(first, add(rows, constant(-1)));
  Value left = add(last, constant(-std::min(*window.getLeft(), kFarthest)));
  Value before = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                       op.getFirstKey(), left);
  return arith::OrIOp::create(builder, loc, some, before);
}

/// Return the scores after everything that stands between q . k and softmax.
Value StepDecomposer::logits(Value scores) {
  bool changed = changesScores(),
       excluding = op.getBounded() || op.getMaskMod();
  if (!changed && !excluding)
    return scores;
  // A whole tile that only exclusion could change is passed over. With a region,
  // of which a tile mostly need not be asked, that is a pass of its own.
  bool apart = packed && op.getMasked();
  if (!packed || (!apart && (changed || op.getMaskMod())))
    return adjusted(scores, changed, excluding);
  if (changed)
    scores = adjusted(scores, /*changing=*/true, /*excluding=*/false);
  Value some = op.getMasked();
  if (op.getBounded()) {
    Value bounds = hasExclusions();
    some = some ? arith::OrIOp::create(builder, loc, some, bounds) : bounds;
  }
  auto choice = scf::IfOp::create(
      builder, loc, some,
      [&](OpBuilder &b, Location) {
        OpBuilder::InsertionGuard guard(builder);
        builder.setInsertionPoint(b.getInsertionBlock(), b.getInsertionPoint());
        scf::YieldOp::create(builder, loc, excludeLast(scores));
      },
      [&](OpBuilder &b, Location) { scf::YieldOp::create(b, loc, scores); });
  return choice.getResult(0);
}

/// Return the scores after all that changes them, and after exclusion.
Value StepDecomposer::adjusted(Value scores, bool changing, bool excluding) {
  SmallVector<Operand> inputs;
  std::optional<unsigned> low;
  if (op.getBounded() && excluding) {
    auto [first, end] = keyIntervals();
    low = 0;
    inputs.push_back({first, join({m})});
    inputs.push_back({end, join({m})});
  }
  return tile.generic(score.size(), {}, inputs, {{scores, score}},
                      [&](OpBuilder &b, ValueRange args) {
                        Value s = args.back();
                        if (changing)
                          s = change(b, s);
                        if (excluding)
                          s = exclude(b, s, low, args);
                        return SmallVector<Value>{s};
                      })[0];
}
