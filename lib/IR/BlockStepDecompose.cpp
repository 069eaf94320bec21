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
// Here are the products and softmax; StepDecomposer.h says where the rest is.

#include "StepDecomposer.h"

#include "attn/IR/LinalgBuilder.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::attn;

/// Number the dimensions. Rows come first, then keys, then channels: a strip's
/// scores are finished before the next strip begins.
void StepDecomposer::number() {
  auto dim = [&](unsigned i) { return builder.getAffineDimExpr(i); };
  if (packed) {
    m = {dim(0), dim(2)};
    n = {dim(1), dim(3)};
    score = {dim(0), dim(2), dim(1), dim(3)};
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

/// Return a tensor of `element` for the scores, with `byPanel` one panel of keys of
/// all rows after the other. With a schedule its storage has the size of a whole
/// block, whatever the number of keys, so that it can be placed once.
Value StepDecomposer::emptyScores(Type element, bool byPanel) {
  OpFoldResult strips = tensor::getMixedSize(builder, loc, op.getQuery(), 0);
  OpFoldResult keys = tensor::getMixedSize(builder, loc, op.getKey(), 0);
  if (!packed)
    return tensor::EmptyOp::create(builder, loc, {strips, keys}, element);
  auto queryType = cast<RankedTensorType>(op.getQuery().getType());
  auto keyType = cast<RankedTensorType>(op.getKey().getType());
  int64_t rows = queryType.getDimSize(1), columns = keyType.getDimSize(2);
  SmallVector<OpFoldResult> sizes = {strips, builder.getIndexAttr(rows), keys,
                                     builder.getIndexAttr(columns)};
  if (byPanel)
    std::swap(sizes[1], sizes[2]);
  ScheduleAttr schedule = op.getScheduleAttr();
  if (!schedule || queryType.isDynamicDim(0))
    return tensor::EmptyOp::create(builder, loc, sizes, element);
  SmallVector<int64_t> whole = {queryType.getDimSize(0), rows,
                                schedule.getBlockN() / columns, columns};
  if (byPanel)
    std::swap(whole[1], whole[2]);
  Value storage = bufferization::AllocTensorOp::create(
      builder, loc, RankedTensorType::get(whole, element), ValueRange());
  SmallVector<OpFoldResult> zeros(4, builder.getIndexAttr(0)),
      ones(4, builder.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(builder, loc, storage, zeros, sizes,
                                        ones);
}

/// Return q . k.
Value StepDecomposer::scores() {
  Value init = emptyScores(tile.elementType);
  return visibleKeys() ? scoreParts(init) : product(op.getKey(), init);
}

/// Return q . key in `init`.
Value StepDecomposer::product(Value key, Value init) {
  Value zero = tile.constant(builder, 0.0);
  init = linalg::FillOp::create(builder, loc, zero, init).getResult(0);
  SmallVector<AffineExpr> queryDims(m.begin(), m.end()), keyDims = {n[0], k};
  queryDims.push_back(k);
  if (packed)
    keyDims.push_back(n[1]);
  unsigned depth = score.size();
  auto convert = [&](OpBuilder &b, Value x) -> Value {
    return convertStored(b, loc, x, tile.elementType);
  };
  return tile.generic(depth + 1, {depth},
                      {{op.getQuery(), queryDims}, {key, keyDims}},
                      {{init, score}}, [&](OpBuilder &b, ValueRange args) {
                        Value product = arith::MulFOp::create(
                            b, loc, convert(b, args[0]), convert(b, args[1]));
                        return SmallVector<Value>{
                            arith::AddFOp::create(b, loc, args[2], product)};
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
  Value init = op.getFirst() ? filledState(op.getReference(), lowest)
                             : tile.filled(rows, lowest);
  if (!packed)
    return tile.generic(2, {1}, {{scores, score}}, {{init, join({m})}},
                        maximum)[0];
  SmallVector<OpFoldResult> lanes =
      tensor::getMixedSizes(builder, loc, op.getSum());
  lanes.back() = tensor::getMixedSize(builder, loc, scores, 3);
  auto dim = [&](unsigned i) { return builder.getAffineDimExpr(i); };
  // (strip, row, panel, key): one row at a time.
  Value partial = tile.generic(
      4, {2}, {{scores, {dim(0), dim(1), dim(2), dim(3)}}},
      {{tile.filled(lanes, lowest), {dim(0), dim(1), dim(3)}}}, maximum)[0];
  return tile.generic(3, {2}, {{partial, {dim(0), dim(1), dim(2)}}},
                      {{init, {dim(0), dim(1)}}}, maximum)[0];
}

/// Return `state`, one of the three tensors, filled with `value`.
Value StepDecomposer::filledState(Value state, double value) {
  return linalg::FillOp::create(builder, loc, tile.constant(builder, value),
                                state)
      .getResult(0);
}

/// Return the state before the block: where it is the first, over no keys.
SmallVector<Value> StepDecomposer::stateBefore() {
  if (!op.getFirst())
    return SmallVector<Value>(op.getDpsInits());
  double lowest = -std::numeric_limits<double>::infinity();
  return {filledState(op.getReference(), lowest), filledState(op.getSum(), 0.0),
          filledState(op.getAcc(), 0.0)};
}

SmallVector<Value> StepDecomposer::run() {
  if (!op.getMask() || !packed || !op.getScheduleAttr())
    return fold();
  // A tile of which the mask takes every key leaves the state as it is.
  auto choice =
      scf::IfOp::create(builder, loc, ValueRange(op.getDpsInits()).getTypes(),
                        anyKept(), /*withElseRegion=*/true);
  anchor = choice;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(builder, loc, fold());
  builder.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(builder, loc, stateBefore());
  return SmallVector<Value>(choice.getResults());
}

/// Return the new reference, and the old sums relative to it.
StepDecomposer::State StepDecomposer::rescaled(Value highest) {
  if (op.getFirst())
    return {highest, filledState(op.getSum(), 0.0), op.getAcc()};
  auto dim = [&](unsigned i) { return builder.getAffineDimExpr(i); };
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
  return {reference, sum, acc};
}

/// Return the state after the block.
SmallVector<Value> StepDecomposer::fold() {
  auto dim = [&](unsigned i) { return builder.getAffineDimExpr(i); };
  Value s = scoreVectors(logits(streamed ? streamedScores() : scores()));
  Value highest = top(s);

  SmallVector<AffineExpr> rows;
  for (unsigned i = 0; i < m.size(); ++i)
    rows.push_back(dim(i));
  auto [reference, sum, acc] = rescaled(highest);

  // Weights in place of scores, and their sum.
  SmallVector<AffineExpr> stored = score, summed = rows;
  unsigned keyDim = 1;
  if (packed) { // (strip, row, panel, key)
    stored = {dim(0), dim(1), dim(2), dim(3)};
    summed = {dim(0), dim(1), dim(3)};
    keyDim = 2;
  }
  Value lanes = packed ? firstLanes(sum, s) : sum;
  SmallVector<Value> weights = tile.generic(
      score.size(), {keyDim}, {{reference, rows}},
      {{s, stored}, {lanes, summed}}, [&](OpBuilder &b, ValueRange args) {
        Value p = expDifference(b, loc, args[1], args[0]);
        return SmallVector<Value>{p, arith::AddFOp::create(b, loc, args[2], p)};
      });

  Value scaled = scaledWeights(weights[0], stored);
  acc = addValues(acc, streamed ? streamedWeights(scaled) : scaled);
  if (auto slice = lanes.getDefiningOp<tensor::ExtractSliceOp>();
      slice && lanes != sum)
    weights[1] = tensor::InsertSliceOp::create(
        builder, loc, weights[1], sum, slice.getMixedOffsets(),
        slice.getMixedSizes(), slice.getMixedStrides());
  return {reference, weights[1], acc};
}

Value StepDecomposer::weights(Type element) {
  auto dim = [&](unsigned i) { return builder.getAffineDimExpr(i); };
  Value s = logits(scores());
  SmallVector<AffineExpr> stored = score, rows = {dim(0)}, lanes = {dim(0)},
                          written = score;
  if (packed) { // (strip, row, panel, key)
    stored = {dim(0), dim(1), dim(2), dim(3)};
    written = {dim(0), dim(2), dim(1), dim(3)};
    rows.push_back(dim(1));
    lanes = {dim(0), dim(1), dim(3)};
  }
  return tile.generic(
      score.size(), {},
      {{s, stored}, {op.getReference(), rows}, {op.getSum(), lanes}},
      {{emptyScores(element, /*byPanel=*/true), written}},
      [&](OpBuilder &b, ValueRange args) {
        ImplicitLocOpBuilder here(loc, b);
        // Where the factor is NaN this is too, but for excluded keys.
        Value p = expDifference(b, loc, args[0], args[1]);
        p = arith::MulFOp::create(b, loc, p, args[2]);
        p = arith::SelectOp::create(b, loc, isMinusInfinity(here, args[0]),
                                    tile.constant(b, 0.0), p);
        return SmallVector<Value>{convertFloat(here, p, element)};
      })[0];
}

FailureOr<SmallVector<Value>>
BlockStepOp::decomposeOperation(OpBuilder &builder) {
  if (!isStreamed() && hasPackedRows() != hasPackedKeys())
    return emitOpError() << "expects 'query' and 'key' both packed or both "
                            "plain to be decomposed";
  if (getProducts() || getExponent())
    return emitOpError() << "expects no 'products' and no 'exponent' to be "
                            "decomposed";
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(*this);
  return StepDecomposer(builder, *this).run();
}
