// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.block_step as linalg on a tile:
//
//   S   = q . k                             (m, n), reduced over channels
//   S   = select(excluded, -inf, softcap(S * scale) + bias)
//   top = max over n of S
//   new = max(reference, top);  alpha = e^(reference - new)
//   P   = e^(S - new);  sum = alpha * sum + sum over n of P
//   acc = alpha * acc + P . v
//
// Exclusion by causal, window and length is one interval of keys a row. It is computed once a row; the select compares
// key numbers with it.

#include "TileSpace.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::attn;

/// No position, window or length goes beyond this; sums of a few stay in 64 bits.
static constexpr int64_t kFarthest = int64_t(1) << 61;

namespace {
/// One decomposition.
class StepDecomposer {
public:
  StepDecomposer(OpBuilder &builder, BlockStepOp op)
      : op(op),
        tile(builder, op.getLoc(),
             cast<RankedTensorType>(op.getAcc().getType()).getElementType()),
        builder(builder), loc(op.getLoc()), packed(op.hasPackedRows()) {
    number();
  }

  SmallVector<Value> run();

private:
  using Operand = TileBuilder::Operand;

  void number();
  Value emptyScores();
  Value scores();
  std::pair<Value, Value> keyIntervals();
  Value logits(Value scores);
  Value adjusted(Value scores);
  Value hasExclusions();
  Value adjust(OpBuilder &b, Value s, std::optional<unsigned> low,
               ValueRange args);
  Value rowIndex(OpBuilder &b);
  bool isOneHead();
  std::pair<Value, Value> splitRow(OpBuilder &b, Value row);
  Value keyIndex(OpBuilder &b);
  Value readBroadcast(OpBuilder &b, Value tensor);
  Value top(Value scores);
  Value accumulate(Value acc, Value weights, bool skipZeros);
  Value addValues(Value acc, Value weights);

  BlockStepOp op;
  TileBuilder tile;
  OpBuilder &builder;
  Location loc;
  /// Whether rows, keys and channels are two dimensions each.
  bool packed;
  /// The dimensions of rows, of keys and of a third group (channels); `score`
  /// is the order in which scores are stored: strip, panel, row, key.
  Dims m, n, e;
  SmallVector<AffineExpr> score;
  AffineExpr k;
};
} // namespace

/// Number the dimensions. Rows come first, then keys, then channels: a strip's
/// scores are finished before the next strip begins.
void StepDecomposer::number() {
  auto dim = [&](unsigned i) { return builder.getAffineDimExpr(i); };
  if (packed) {
    m = {dim(0), dim(2)};
    n = {dim(1), dim(3)};
    score = {dim(0), dim(1), dim(2), dim(3)};
    k = dim(4);
    e = {dim(4), dim(5)};
    return;
  }
  m = {dim(0)};
  n = {dim(1)};
  score = {dim(0), dim(1)};
  k = dim(2);
  e = {dim(2)};
}

/// Return a tensor for the scores. With a schedule its storage has the size of a
/// whole block, whatever the number of keys, so that it can be placed once.
Value StepDecomposer::emptyScores() {
  OpFoldResult strips = tensor::getMixedSize(builder, loc, op.getQuery(), 0);
  OpFoldResult keys = tensor::getMixedSize(builder, loc, op.getKey(), 0);
  if (!packed)
    return tensor::EmptyOp::create(builder, loc, {strips, keys},
                                   tile.elementType);
  auto queryType = cast<RankedTensorType>(op.getQuery().getType());
  auto keyType = cast<RankedTensorType>(op.getKey().getType());
  int64_t rows = queryType.getDimSize(2), columns = keyType.getDimSize(2);
  SmallVector<OpFoldResult> sizes = {strips, keys, builder.getIndexAttr(rows),
                                     builder.getIndexAttr(columns)};
  ScheduleAttr schedule = op.getScheduleAttr();
  if (!schedule || queryType.isDynamicDim(0))
    return tensor::EmptyOp::create(builder, loc, sizes, tile.elementType);
  auto whole = RankedTensorType::get(
      {queryType.getDimSize(0), schedule.getBlockN() / columns, rows, columns},
      tile.elementType);
  Value storage =
      bufferization::AllocTensorOp::create(builder, loc, whole, ValueRange());
  SmallVector<OpFoldResult> zeros(4, builder.getIndexAttr(0)),
      ones(4, builder.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(builder, loc, storage, zeros, sizes,
                                        ones);
}

/// Return q . k.
Value StepDecomposer::scores() {
  Value zero = tile.constant(builder, 0.0);
  Value init =
      linalg::FillOp::create(builder, loc, zero, emptyScores()).getResult(0);
  SmallVector<AffineExpr> query = {m[0], k}, key = {n[0], k};
  if (packed) {
    query.push_back(m[1]);
    key.push_back(n[1]);
  }
  unsigned depth = score.size();
  auto convert = [&](OpBuilder &b, Value x) -> Value {
    if (x.getType() == tile.elementType)
      return x;
    return arith::ExtFOp::create(b, loc, tile.elementType, x);
  };
  return tile.generic(depth + 1, {depth},
                      {{op.getQuery(), query}, {op.getKey(), key}},
                      {{init, score}}, [&](OpBuilder &b, ValueRange args) {
                        Value product = arith::MulFOp::create(
                            b, loc, convert(b, args[0]), convert(b, args[1]));
                        return SmallVector<Value>{
                            arith::AddFOp::create(b, loc, args[2], product)};
                      })[0];
}

/// Return the number, within the task, of the row that a body works on.
Value StepDecomposer::rowIndex(OpBuilder &b) {
  Value row =
      linalg::IndexOp::create(b, loc, cast<AffineDimExpr>(m[0]).getPosition());
  if (packed) {
    int64_t rows =
        cast<RankedTensorType>(op.getQuery().getType()).getDimSize(2);
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
  int64_t columns = cast<RankedTensorType>(op.getKey().getType()).getDimSize(2);
  Value unit = arith::ConstantIndexOp::create(b, loc, columns);
  key = arith::MulIOp::create(b, loc, key, unit);
  Value inner =
      linalg::IndexOp::create(b, loc, cast<AffineDimExpr>(n[1]).getPosition());
  return arith::AddIOp::create(b, loc, key, inner);
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
    OpBuilder outside(op);
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
    clamped->setAttr("attn.unused_beyond", b.getUnitAttr());
  return tensor::ExtractOp::create(
      b, loc, tensor, ValueRange{bounded(head, 0), bounded(inHead, 1), key});
}

/// Return `s` after softcap, bias and exclusion.
Value StepDecomposer::adjust(OpBuilder &b, Value s, std::optional<unsigned> low,
                             ValueRange args) {
  double scale = op.getScale().convertToDouble();
  if (scale != 1.0)
    s = arith::MulFOp::create(b, loc, s, tile.constant(b, scale));
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
    s = arith::AddFOp::create(b, loc, s, term);
  }
  Value kept;
  if (Value mask = op.getMask()) {
    kept = readBroadcast(b, mask);
    if (!kept.getType().isInteger(1)) {
      Value zero =
          arith::ConstantOp::create(b, loc, b.getZeroAttr(kept.getType()));
      kept =
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, kept, zero);
    }
  }
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

/// Return whether causal, window or length may take a key of the block from a row
/// of the tile.
Value StepDecomposer::hasExclusions() {
  auto add = [&](Value a, Value b) -> Value {
    return builder.createOrFold<arith::AddIOp>(loc, a, b);
  };
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  auto product = [&](OpFoldResult size, Value tensor, int64_t dim) -> Value {
    Value unit =
        constant(cast<RankedTensorType>(tensor.getType()).getDimSize(dim));
    return builder.createOrFold<arith::MulIOp>(
        loc, getValueOrCreateConstantIndexOp(builder, loc, size), unit);
  };
  Value rows = product(tensor::getMixedSize(builder, loc, op.getQuery(), 0),
                       op.getQuery(), 2);
  Value keys = product(tensor::getMixedSize(builder, loc, op.getKey(), 0),
                       op.getKey(), 2);
  // The positions of the tile; of a whole head where it holds several.
  Value first = op.getPosition();
  if (isOneHead())
    first = add(first, op.getRow());
  else
    rows = op.getRowsPerHead();
  Value end = add(op.getFirstKey(), keys);
  Value limit = op.getLength();
  auto endAt = [&](int64_t after) {
    limit = builder.createOrFold<arith::MinSIOp>(loc, limit,
                                                 add(first, constant(after)));
  };
  WindowAttr window = op.getWindowAttr();
  if (op.getCausal())
    endAt(1);
  if (window && window.getRight())
    endAt(std::min(*window.getRight(), kFarthest) + 1);
  Value some = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sgt,
                                     end, limit);
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
  bool changed = op.getScale().convertToDouble() != 1.0 || op.getSoftcap() ||
                 op.getBias() || op.getMask();
  if (!changed && !op.getBounded())
    return scores;
  // A whole tile that only exclusion could change is passed over.
  if (changed || !packed)
    return adjusted(scores);
  auto choice = scf::IfOp::create(
      builder, loc, hasExclusions(),
      [&](OpBuilder &b, Location) {
        OpBuilder::InsertionGuard guard(builder);
        builder.setInsertionPoint(b.getInsertionBlock(), b.getInsertionPoint());
        scf::YieldOp::create(builder, loc, adjusted(scores));
      },
      [&](OpBuilder &b, Location) { scf::YieldOp::create(b, loc, scores); });
  return choice.getResult(0);
}

/// Return the scores after softcap, bias and exclusion.
Value StepDecomposer::adjusted(Value scores) {
  SmallVector<Operand> inputs;
  std::optional<unsigned> low;
  if (op.getBounded()) {
    auto [first, end] = keyIntervals();
    low = 0;
    inputs.push_back({first, join({m})});
    inputs.push_back({end, join({m})});
  }
  return tile.generic(score.size(), {}, inputs, {{scores, score}},
                      [&](OpBuilder &b, ValueRange args) {
                        return SmallVector<Value>{
                            adjust(b, args.back(), low, args)};
                      })[0];
}

/// Return the maximum of each row. Never NaN: a NaN is passed over here and
/// shows in the sum.
Value StepDecomposer::top(Value scores) {
  double lowest = -std::numeric_limits<double>::infinity();
  SmallVector<OpFoldResult> rows =
      tensor::getMixedSizes(builder, loc, op.getReference());
  auto maximum = [&](OpBuilder &b, ValueRange args) {
    return SmallVector<Value>{
        arith::MaxNumFOp::create(b, loc, args[1], args[0])};
  };
  if (!packed)
    return tile.generic(2, {1}, {{scores, score}},
                        {{tile.filled(rows, lowest), join({m})}}, maximum)[0];
  SmallVector<OpFoldResult> lanes =
      tensor::getMixedSizes(builder, loc, op.getSum());
  auto dim = [&](unsigned i) { return builder.getAffineDimExpr(i); };
  // (strip, row, panel, key): one row at a time.
  Value partial = tile.generic(
      4, {2}, {{scores, {dim(0), dim(2), dim(1), dim(3)}}},
      {{tile.filled(lanes, lowest), {dim(0), dim(1), dim(3)}}}, maximum)[0];
  return tile.generic(3, {2}, {{partial, {dim(0), dim(1), dim(2)}}},
                      {{tile.filled(rows, lowest), {dim(0), dim(1)}}},
                      maximum)[0];
}

SmallVector<Value> StepDecomposer::run() {
  auto dim = [&](unsigned i) { return builder.getAffineDimExpr(i); };
  Value s = logits(scores());
  Value highest = top(s);

  // The new reference, and the factor of all that was summed before.
  unsigned rank = m.size();
  SmallVector<AffineExpr> rows;
  for (unsigned i = 0; i < rank; ++i)
    rows.push_back(dim(i));
  Value alphaInit = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, op.getReference()),
      tile.elementType);
  SmallVector<Value> updated = tile.generic(
      rank, {}, {{highest, rows}},
      {{op.getReference(), rows}, {alphaInit, rows}},
      [&](OpBuilder &b, ValueRange args) {
        Value reference = arith::MaxNumFOp::create(b, loc, args[1], args[0]);
        return SmallVector<Value>{reference,
                                  expDifference(b, loc, args[1], reference)};
      });
  Value reference = updated[0], alpha = updated[1];

  // Old sums and outputs, relative to the new reference.
  auto times = [&](OpBuilder &b, ValueRange args) {
    return SmallVector<Value>{arith::MulFOp::create(b, loc, args[1], args[0])};
  };
  SmallVector<AffineExpr> sumDims = rows, accDims;
  if (packed)
    sumDims.push_back(dim(2));
  Value sum = tile.generic(sumDims.size(), {}, {{alpha, rows}},
                           {{op.getSum(), sumDims}}, times)[0];
  unsigned accRank = packed ? 4 : 2;
  for (unsigned i = 0; i < accRank; ++i)
    accDims.push_back(dim(i));
  SmallVector<AffineExpr> accRows = {dim(0)};
  if (packed)
    accRows.push_back(dim(2));
  Value acc = tile.generic(accRank, {}, {{alpha, accRows}},
                           {{op.getAcc(), accDims}}, times)[0];

  // Weights in place of scores, and their sum.
  SmallVector<AffineExpr> stored = score, summed = rows;
  unsigned keyDim = 1;
  if (packed) {
    stored = {dim(0), dim(2), dim(1), dim(3)};
    summed = {dim(0), dim(1), dim(3)};
    keyDim = 2;
  }
  SmallVector<Value> weights = tile.generic(
      score.size(), {keyDim}, {{reference, rows}}, {{s, stored}, {sum, summed}},
      [&](OpBuilder &b, ValueRange args) {
        Value p = expDifference(b, loc, args[1], args[0]);
        return SmallVector<Value>{p, arith::AddFOp::create(b, loc, args[2], p)};
      });

  acc = addValues(acc, weights[0]);
  return {reference, weights[1], acc};
}

/// Return acc + P . v, without the values of weight 0 where the op says so: two
/// loops, of which one runs once and the other not at all. Bufferization would
/// copy what both branches of a condition write.
Value StepDecomposer::addValues(Value acc, Value weights) {
  if (!op.getSkipZeros())
    return accumulate(acc, weights, /*skipZeros=*/true);
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value skip = arith::IndexCastUIOp::create(
      builder, loc, builder.getIndexType(), op.getSkipZeros());
  auto onceFrom = [&](Value from, Value to, bool skipZeros) {
    auto loop = scf::ForOp::create(builder, loc, from, to, one, acc);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value sum = accumulate(loop.getRegionIterArg(0), weights, skipZeros);
    scf::YieldOp::create(builder, loc, sum);
    acc = loop.getResult(0);
  };
  onceFrom(skip, one, /*skipZeros=*/false);
  onceFrom(zero, skip, /*skipZeros=*/true);
  return acc;
}

/// Return acc + P . v; with `skipZeros` a weight of 0 takes nothing from a value,
/// whatever it holds.
Value StepDecomposer::accumulate(Value acc, Value weights, bool skipZeros) {
  auto dim = [&](unsigned i) { return builder.getAffineDimExpr(i); };
  SmallVector<AffineExpr> weightDims, valueDims, accDims;
  SmallVector<unsigned> reductions;
  if (packed) { // (strip, channel panel, row, channel, key panel, key)
    weightDims = {dim(0), dim(4), dim(2), dim(5)};
    valueDims = {dim(1), dim(4), dim(5), dim(3)};
    accDims = {dim(0), dim(1), dim(2), dim(3)};
    reductions = {4, 5};
  } else {
    weightDims = {dim(0), dim(2)};
    valueDims = {dim(2), dim(1)};
    accDims = {dim(0), dim(1)};
    reductions = {2};
  }
  return tile.generic(
      accDims.size() + reductions.size(), reductions,
      {{weights, weightDims}, {op.getValue(), valueDims}}, {{acc, accDims}},
      [&](OpBuilder &b, ValueRange args) {
        Value v = args[1];
        if (v.getType() != tile.elementType)
          v = arith::ExtFOp::create(b, loc, tile.elementType, v);
        if (skipZeros) {
          Value zero = tile.constant(b, 0.0);
          Value none = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ,
                                             args[0], zero);
          v = arith::SelectOp::create(b, loc, none, zero, v);
        }
        Value product = arith::MulFOp::create(b, loc, args[0], v);
        return SmallVector<Value>{
            arith::AddFOp::create(b, loc, args[2], product)};
      })[0];
}

FailureOr<SmallVector<Value>>
BlockStepOp::decomposeOperation(OpBuilder &builder) {
  if (hasPackedRows() != hasPackedKeys())
    return emitOpError() << "expects 'query' and 'key' both packed or both "
                            "plain to be decomposed";
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(*this);
  return StepDecomposer(builder, *this).run();
}
