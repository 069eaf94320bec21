// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operands of a chunk of steps of linear attention, and how they change the state.
//
// Of a decay g per step, with e = exp(g), all that is needed are products of factors, made step by step:
//
//   between[t, s] = e[s + 1] ... e[t]      for s <= t, else 0
//   since[t]      = e[0] ... e[t]
//
// and of one per channel the keys as step t sees them, a column a key:
//
//   W[d, s] = k[s, d] e[s + 1, d] ... e[t, d]
//
// so that the only exponentials are those of the decay itself, and nothing is divided: no exponent is above 0 where no
// decay is. The weights of the keys in a row at t are its products with the columns of W, of which those behind t do not
// count. After the last step W holds the keys as the state gets them.

#include "LinearTask.h"

#include "attn/IR/LinearAttentionParts.h"
#include "attn/Transforms/Projection.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::attn;

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

/// Return how many steps the chunk from `first` on has, of `total`.
OpFoldResult LinearTask::clampSteps(Value first, OpFoldResult total) {
  std::optional<int64_t> known = getConstantIntValue(total);
  return known && *known <= steps ? total : clampBlock(b, first, total, steps);
}

/// Return features of `source`, [steps, D], with zeros behind: [padded, size].
Value LinearTask::loadFeatures(Value source, const Chunk &chunk, bool scaled) {
  SmallVector<OpFoldResult> whole = {index(steps), size},
                            used = {chunk.padded, size},
                            part = {chunk.count, dims.headSize},
                            zeros(2, index(0));
  bool full = isEqualConstantIntOrValueArray(used, part);
  Value all = full ? tile(whole, used) : filled(whole, used, getZero());
  Value own = map(source, sliceTo(b, 2, all, zeros, part), [&](Value x) {
    x = buildFeature(b, op.getFeatureMap(), x, /*fast=*/true);
    return scaled ? Value(arith::MulFOp::create(b, x, scale)) : x;
  });
  return full ? own : insert(own, all, zeros, part);
}

/// Return the features of query head `number` of the task, scaled.
Value LinearTask::loadQuery(Value number, const Chunk &chunk) {
  Value source = takeRows(op.getQuery(), op.getQueryLayout(), queryHead(number),
                          chunk.first, chunk.count, index(0), dims.headSize);
  return loadFeatures(source, chunk, !op.getNormalize());
}

/// Return the values of the task's columns, packed: [padded, panels, columns].
/// With `normalize` what is behind them is 1, for the sums of keys.
Value LinearTask::loadValues(const Chunk &chunk) {
  SmallVector<OpFoldResult> whole = {index(steps), index(mostPanels),
                                     index(columns)},
                            used = {chunk.padded, panels, index(columns)},
                            part = {chunk.count, width}, zeros(2, index(0));
  Value source = takeRows(op.getValue(), op.getValueLayout(), place.head,
                          chunk.first, chunk.count, place.column, width);
  Value padding = getFloat(b, type, op.getNormalize() ? 1.0 : 0.0);
  Value flat = toFlat(filled(whole, used, padding));
  Value own =
      map(source, sliceTo(b, 2, flat, zeros, part), [](Value x) { return x; });
  return toPanels(insert(own, flat, zeros, part));
}

/// Return `body` of each of `source`, [steps] or [steps, D], with `padding` behind.
Value LinearTask::loadVector(Value source, const Chunk &chunk, double padding,
                             function_ref<Value(Value)> body) {
  SmallVector<OpFoldResult> whole = {index(steps)}, used = {chunk.padded},
                            part = {chunk.count};
  int64_t rank = cast<RankedTensorType>(source.getType()).getRank();
  if (rank == 2) {
    whole.push_back(size);
    used.push_back(size);
    part.push_back(dims.headSize);
  }
  SmallVector<OpFoldResult> zeros(rank, index(0));
  Value all = filled(whole, used, getFloat(b, type, padding));
  Value own = map(source, sliceTo(b, rank, all, zeros, part), body);
  return insert(own, all, zeros, part);
}

/// Return the keys by panels of steps: [panels, D, columns].
Value LinearTask::packKeys(const Chunk &chunk) {
  OpFoldResult inner = index(columns);
  Value dest = tile({index(paddedSteps / columns), size, inner},
                    {ceilDivide(b, chunk.padded, columns), size, inner});
  return linalg::PackOp::create(b, b.getLoc(), chunk.keys, dest,
                                ArrayRef<int64_t>{0},
                                ArrayRef<OpFoldResult>{inner}, getZero())
      .getResult();
}

LinearTask::Chunk LinearTask::loadChunk(Value first) {
  Chunk chunk;
  chunk.first = first;
  chunk.count = clampSteps(first, dims.keys);
  chunk.strips = ceilDivide(b, chunk.count, rows);
  chunk.padded = times(chunk.strips, rows);
  Value keys = takeRows(op.getKey(), op.getKeyLayout(), place.head, first,
                        chunk.count, index(0), dims.headSize);
  chunk.keys = loadFeatures(keys, chunk, /*scaled=*/false);
  chunk.values = loadValues(chunk);
  if (Value beta = op.getBeta()) {
    bool isShared = cast<RankedTensorType>(beta.getType()).getDimSize(1) == 1;
    Value head = isShared ? valueOf(index(0)) : place.head;
    chunk.betas = loadVector(takeSteps(beta, head, first, chunk.count), chunk,
                             0.0, [](Value x) { return x; });
  }
  if (op.hasChannelDecay())
    loadChannelDecay(chunk);
  else if (op.isGated())
    loadDecay(chunk);
  if (!op.hasChannelDecay() && !op.getNonCausal())
    chunk.panels = packKeys(chunk);
  return chunk;
}

//===----------------------------------------------------------------------===//
// One decay a step
//===----------------------------------------------------------------------===//

/// Return the number of the step that column `column` of panel `panel` is, in a
/// body of which these are loops.
Value LinearTask::stepOfColumn(unsigned panel, unsigned column) {
  Value before =
      arith::MulIOp::create(b, linalg::IndexOp::create(b, panel),
                            arith::ConstantIndexOp::create(b, columns));
  return arith::AddIOp::create(b, before, linalg::IndexOp::create(b, column));
}

/// Return `older` where `step` is before `now`, `own` where it is `now`, else 0.
static Value selectStep(ImplicitLocOpBuilder &b, Value step, Value now,
                        Value older, Value own) {
  Value zero = getFloat(b, older.getType(), 0.0);
  Value isOwn = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, step, now);
  Value isOlder =
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, step, now);
  Value rest = arith::SelectOp::create(b, isOwn, own, zero);
  return arith::SelectOp::create(b, isOlder, older, rest);
}

/// Make the products of factors of a chunk.
void LinearTask::loadDecay(Chunk &chunk) {
  Value factors = loadVector(
      takeSteps(op.getDecay(), place.head, chunk.first, chunk.count), chunk,
      1.0, [&](Value x) { return buildExp(b, x, /*fast=*/true); });
  SmallVector<OpFoldResult> row = {index(paddedSteps / columns),
                                   index(columns)};
  Value last = filled(row, row, getZero());
  Value between =
      tile({index(steps), row[0], row[1]}, {chunk.padded, row[0], row[1]});
  Value since = tile({index(steps)}, {chunk.padded});
  AffineExpr panel, column;
  bindDims(b.getContext(), panel, column);
  Value one = getFloat(b, type, 1.0);
  SmallVector<Value> all = loop(
      chunk.padded, 1, {last, between, since, one},
      [&](Value step, ValueRange now) -> SmallVector<Value> {
        Value factor = tensor::ExtractOp::create(b, factors, step);
        SmallVector<OpFoldResult> at = {step, index(0), index(0)},
                                  part = {index(1), row[0], row[1]};
        SmallVector<Value> rows = buildGeneric(
            b, {},
            {{now[0], {panel, column}},
             {sliceTo(b, 2, now[1], at, part), {panel, column}}},
            [&](ValueRange args) -> SmallVector<Value> {
              Value older = dropTiny(arith::MulFOp::create(b, args[0], factor));
              Value next = selectStep(b, stepOfColumn(0, 1), step, older, one);
              return {next, next};
            });
        Value product = dropTiny(arith::MulFOp::create(b, now[3], factor));
        return {rows[0], insert(rows[1], now[1], at, part),
                tensor::InsertOp::create(b, product, now[2], step), product};
      });
  chunk.between = all[1];
  chunk.since = all[2];
}

//===----------------------------------------------------------------------===//
// A decay a channel
//===----------------------------------------------------------------------===//

/// Return the sum over rows of channels of `sums`, [rows, s].
static Value addRows(ImplicitLocOpBuilder &b, Value sums, Value zeros) {
  AffineExpr key, row;
  bindDims(b.getContext(), key, row);
  return buildGeneric(b, {{sums, {row, key}}}, {zeros, {key}},
                      [&](ValueRange args) -> Value {
                        return arith::AddFOp::create(b, args[1], args[0]);
                      });
}

/// Return `row`, [D], as rows of the register tile: [D / rows, rows].
Value LinearTask::splitRow(Value row) {
  return splitDim(b, row, 0, ceilDivide(b, size, rows), index(rows));
}

/// Return the products of `row`, [D], with the columns of `decayed`,
/// [D / rows, rows, s]: rows of channels on their own, then together.
Value LinearTask::weigh(Value row, Value decayed) {
  AffineExpr inner, key, outer;
  bindDims(b.getContext(), inner, key, outer);
  SmallVector<OpFoldResult> parts = {index(rows), index(steps)};
  Value sums = addProducts({splitRow(row), {outer, inner}},
                           {decayed, {outer, inner, key}},
                           {filled(parts, parts, getZero()), {inner, key}});
  return addRows(b, sums, filled(parts[1], parts[1], getZero()));
}

/// Return `decayed`, the keys as the step before sees them, as `step` does, whose
/// `factors` [D] are; and their products with `row` if there is one, on the way.
std::pair<Value, Value> LinearTask::passStep(Value step, Value factors,
                                             Value row, Value decayed) {
  AffineExpr inner, key, outer;
  bindDims(b.getContext(), inner, key, outer);
  SmallVector<OpFoldResult> parts = {index(rows), index(steps)};
  SmallVector<Indexed> inputs = {{splitRow(factors), {outer, inner}}},
                       inits = {{decayed, {outer, inner, key}}};
  if (row) {
    inputs.push_back({splitRow(row), {outer, inner}});
    inits.push_back({filled(parts, parts, getZero()), {inner, key}});
  }
  SmallVector<Value> results = buildGeneric(
      b, inputs, inits, [&](ValueRange args) -> SmallVector<Value> {
        // A key is decayed by the steps behind it; it waits until then.
        Value before = args[inputs.size()];
        Value isOlder = arith::CmpIOp::create(
            b, arith::CmpIPredicate::slt, linalg::IndexOp::create(b, 1), step);
        Value older = dropTiny(arith::MulFOp::create(b, before, args[0]));
        Value next = arith::SelectOp::create(b, isOlder, older, before);
        if (!row)
          return {next};
        Value product = arith::MulFOp::create(b, args[1], next);
        return {next, arith::AddFOp::create(b, args.back(), product)};
      });
  if (!row)
    return {results[0], {}};
  return {results[0],
          addRows(b, results[1], filled(parts[1], parts[1], getZero()))};
}

/// Return the queries of all heads: [heads, steps, D].
Value LinearTask::loadQueries(const Chunk &chunk) {
  Value queries =
      tile({mostHeads, index(steps), size}, {group, chunk.padded, size});
  return loop(group, 1, queries,
              [&](Value number, ValueRange now) -> SmallVector<Value> {
                return {insert(loadQuery(number, chunk), now[0],
                               {number, index(0), index(0)},
                               {index(1), chunk.padded, size})};
              })
      .front();
}

/// Return the keys of a chunk, a column a key: [D / rows, rows, s].
Value LinearTask::transposeKeys(const Chunk &chunk) {
  OpFoldResult one = index(1), inner = index(steps);
  Value dest = tile({one, size, inner}, {one, size, inner});
  Value packed = linalg::PackOp::create(
                     b, b.getLoc(), chunk.keys, dest, ArrayRef<int64_t>{0},
                     ArrayRef<OpFoldResult>{inner}, getZero())
                     .getResult();
  return splitDim(b, joinDims(b, packed, 0), 0, ceilDivide(b, size, rows),
                  index(rows));
}

/// Return `weights`, [heads, t, s], with the row of `step`: of the first head the
/// given one if there is, of the others the products of their queries with
/// `decayed`.
Value LinearTask::weighHeads(Value step, const Chunk &chunk, Value first,
                             Value decayed, Value weights) {
  SmallVector<OpFoldResult> row = {index(1), index(1), index(steps)};
  Value count = valueOf(group);
  if (first) {
    weights = insert(first, weights, {index(0), step, index(0)}, row);
    count = plus(count, index(-1));
  }
  return loop(getAsOpFoldResult(count), 1, weights,
              [&](Value number, ValueRange now) -> SmallVector<Value> {
                if (first)
                  number = plus(number, index(1));
                SmallVector<OpFoldResult> at = {number, step, index(0)};
                Value query = sliceTo(b, 1, chunk.queries, at,
                                      {index(1), index(1), size});
                return {insert(weigh(query, decayed), now[0], at, row)};
              })
      .front();
}

/// Return what loadChannelDecay carries from step to step after `step`.
SmallVector<Value> LinearTask::passChannels(Value step, const Chunk &chunk,
                                            Value factors, ValueRange now) {
  SmallVector<OpFoldResult> at = {step, index(0)}, row = {index(1), size};
  // One row is weighed while keys are decayed: that of the key, or of a head that
  // there is for sure.
  bool withKey = op.isDelta();
  Value own = sliceTo(b, 1, factors, at, row), first;
  if (withKey)
    first = sliceTo(b, 1, chunk.keys, at, row);
  else if (getConstantIntValue(group))
    first = sliceTo(b, 1, chunk.queries, {index(0), step, index(0)},
                    {index(1), index(1), size});
  std::pair<Value, Value> passed = passStep(step, own, first, now[0]);
  AffineExpr d0 = b.getAffineDimExpr(0);
  SmallVector<Value> products =
      buildGeneric(b, {{own, {d0}}},
                   {{now[1], {d0}}, {sliceTo(b, 1, now[2], at, row), {d0}}},
                   [&](ValueRange args) -> SmallVector<Value> {
                     Value next =
                         dropTiny(arith::MulFOp::create(b, args[0], args[1]));
                     return {next, next};
                   });
  SmallVector<Value> next = {
      passed.first, products[0], insert(products[1], now[2], at, row),
      weighHeads(step, chunk, withKey ? Value() : passed.second, passed.first,
                 now[3])};
  if (withKey)
    next.push_back(insert(passed.second, now[4], at, {index(1), index(steps)}));
  return next;
}

/// Make the weights of a chunk, and the keys as its last step sees them.
void LinearTask::loadChannelDecay(Chunk &chunk) {
  Value factors = loadVector(
      takeSteps(op.getDecay(), place.head, chunk.first, chunk.count), chunk,
      1.0, [&](Value x) { return buildExp(b, x, /*fast=*/true); });
  OpFoldResult most = index(steps);
  chunk.queries = loadQueries(chunk);
  SmallVector<Value> start = {
      transposeKeys(chunk), filled(size, size, getFloat(b, type, 1.0)),
      tile({most, size}, {chunk.padded, size}),
      tile({mostHeads, most, most}, {group, chunk.padded, most})};
  if (op.isDelta())
    start.push_back(tile({most, most}, {chunk.padded, most}));
  SmallVector<Value> all =
      loop(chunk.padded, 1, start, [&](Value step, ValueRange now) {
        return passChannels(step, chunk, factors, now);
      });
  chunk.decayedKeys = all[0];
  chunk.channels = all[2];
  chunk.weights = all[3];
  if (op.isDelta())
    chunk.keyWeights = all[4];
}

//===----------------------------------------------------------------------===//
// The state after a chunk
//===----------------------------------------------------------------------===//

/// Return `state` after all steps of a chunk: decayed, with k v^T of each.
Value LinearTask::write(const Chunk &chunk, Value state) {
  AffineExpr d0, d1, d2, d3, d4;
  bindDims(b.getContext(), d0, d1, d2, d3, d4);
  Value last = plus(valueOf(chunk.padded), index(-1));
  Value keys = chunk.keys;
  SmallVector<AffineExpr> keyAt = {d4, d0, d2};
  if (chunk.between) {
    Value flat = joinDims(b, chunk.between, 1);
    Value behind =
        sliceTo(b, 1, flat, {last, index(0)}, {index(1), chunk.padded});
    keys = buildGeneric(
        b, {{behind, {d0}}}, {keys, {d0, d1}}, [&](ValueRange args) -> Value {
          return dropTiny(arith::MulFOp::create(b, args[1], args[0]));
        });
    Value factor = tensor::ExtractOp::create(b, chunk.since, last);
    state = buildGeneric(
                b, {}, {{state, {d0, d1, d2}}},
                [&](ValueRange args) -> SmallVector<Value> {
                  return {dropTiny(arith::MulFOp::create(b, args[0], factor))};
                })
                .front();
  }
  if (chunk.channels) {
    Value factors =
        sliceTo(b, 1, chunk.channels, {last, index(0)}, {index(1), size});
    state = buildGeneric(b, {{factors, {d0}}}, {state, {d0, d1, d2}},
                         [&](ValueRange args) -> Value {
                           return dropTiny(
                               arith::MulFOp::create(b, args[1], args[0]));
                         });
    keyAt = {d0, d2, d4};
    SmallVector<OpFoldResult> zeros(3, index(0));
    keys = sliceTo(b, 3, chunk.decayedKeys, zeros,
                   {ceilDivide(b, size, rows), index(rows), chunk.padded});
  } else {
    keys = splitDim(b, keys, 1, ceilDivide(b, size, rows), index(rows));
  }
  Value strips = splitDim(b, state, 0, ceilDivide(b, size, rows), index(rows));
  strips = addProducts({keys, keyAt}, {chunk.values, {d4, d1, d3}},
                       {strips, {d0, d2, d1, d3}});
  return joinDims(b, strips, 0);
}
