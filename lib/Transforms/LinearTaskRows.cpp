// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A chunk of steps of linear attention, a strip of rows of the register tile after the other. With S the state before the
// chunk, c[t] the factors from its start to step t, and b[t, s] those behind step s up to t:
//
//   o[t]  = c[t] q[t] S + sum over s <= t of b[t, s] (q[t] . k[s]) v'[s]
//   v'[t] = beta[t] (v[t] - c[t] k[t] S - sum over s < t of b[t, s] (k[t] . k[s]) v'[s])     delta rules, else v[t]
//
// The second is a triangular system. Of a strip what the strips before it give is a product like all others; within the
// strip the system is inverted, which is a matrix of rows by rows.

#include "LinearTask.h"

#include "attn/Transforms/Projection.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::attn;

//===----------------------------------------------------------------------===//
// Weights and sums of a strip
//===----------------------------------------------------------------------===//

/// Return the rows of `tensor`, [steps, ...], from `row` on that make a strip.
Value LinearTask::strip(Value tensor, Value row) {
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(b, b.getLoc(), tensor);
  SmallVector<OpFoldResult> offsets(sizes.size(), index(0));
  offsets[0] = row;
  sizes[0] = index(rows);
  return sliceTo(b, sizes.size(), tensor, offsets, sizes);
}

/// Return the products of `vectors`, [rows, D], of the strip from `row` on, with
/// the keys up to their own, decayed: [rows, s]. Strictly before their own, and
/// negative, for the system that they make.
Value LinearTask::weighRows(Value row, const Chunk &chunk, Value vectors,
                            bool strictly) {
  OpFoldResult seen =
      ceilDivide(b, getAsOpFoldResult(plus(row, index(rows))), columns);
  SmallVector<OpFoldResult> whole = {index(rows), index(paddedSteps / columns),
                                     index(columns)},
                            used = {index(rows), seen, index(columns)};
  AffineExpr panel, r, column, in;
  bindDims(b.getContext(), panel, r, column, in);
  Value keys = sliceTo(b, 3, chunk.panels, {index(0), index(0), index(0)},
                       {seen, size, index(columns)});
  Value weights =
      addProducts({vectors, {r, in}}, {keys, {panel, in, column}},
                  {filled(whole, used, getZero()), {r, panel, column}});
  SmallVector<Indexed> inputs;
  AffineExpr d0, d1, d2;
  bindDims(b.getContext(), d0, d1, d2);
  if (chunk.between)
    inputs.push_back(
        {sliceTo(b, 3, chunk.between, {row, index(0), index(0)}, used),
         {d0, d1, d2}});
  return joinDims(b, maskRows(row, inputs, {weights, {d0, d1, d2}}, strictly),
                  1);
}

/// Return `weights` times the only one of `inputs`, if any, where their key is
/// not behind their row, which is `row` and what follows; else 0.
Value LinearTask::maskRows(Value row, ArrayRef<Indexed> inputs,
                           const Indexed &weights, bool strictly) {
  unsigned rank = weights.indices.size();
  auto body = [&](ValueRange args) -> SmallVector<Value> {
    Value step = rank == 3 ? stepOfColumn(1, 2)
                           : linalg::IndexOp::create(b, rank - 1).getResult();
    Value own = arith::AddIOp::create(b, linalg::IndexOp::create(b, 0), row);
    Value counts = arith::CmpIOp::create(
        b, strictly ? arith::CmpIPredicate::slt : arith::CmpIPredicate::sle,
        step, own);
    Value weight = args.back();
    if (args.size() == 2)
      weight = arith::MulFOp::create(b, weight, args[0]);
    if (op.isGated())
      weight = dropTiny(weight);
    if (strictly)
      weight = arith::NegFOp::create(b, weight);
    return {arith::SelectOp::create(b, counts, weight, getZero())};
  };
  return buildGeneric(b, inputs, ArrayRef(weights), body).front();
}

/// Return the sums over the state of `vectors`, [rows, D]: [rows, panels, columns].
Value LinearTask::readState(Value vectors, Value state) {
  SmallVector<OpFoldResult> whole = {index(rows), index(mostPanels),
                                     index(columns)},
                            used = {index(rows), panels, index(columns)};
  AffineExpr panel, r, column, in;
  bindDims(b.getContext(), panel, r, column, in);
  return addProducts({vectors, {r, in}}, {state, {in, panel, column}},
                     {filled(whole, used, getZero()), {r, panel, column}});
}

/// Return what `vectors`, queries or keys, of the strip from `row` on read of the
/// state before the chunk, decayed.
Value LinearTask::readDecayed(Value row, const Chunk &chunk, Value vectors,
                              Value state) {
  AffineExpr d0, d1, d2;
  bindDims(b.getContext(), d0, d1, d2);
  auto multiply = [&](ValueRange args) -> Value {
    return dropTiny(arith::MulFOp::create(b, args[0], args[1]));
  };
  if (chunk.channels) {
    SmallVector<OpFoldResult> sizes = {index(rows), size};
    Value scaled = tile(sizes, sizes);
    vectors = buildGeneric(
        b, {{vectors, {d0, d1}}, {strip(chunk.channels, row), {d0, d1}}},
        {scaled, {d0, d1}}, multiply);
  }
  Value sums = readState(vectors, state);
  if (!chunk.since)
    return sums;
  return buildGeneric(b, {{strip(chunk.since, row), {d0}}},
                      {sums, {d0, d1, d2}}, multiply);
}

/// Return `sums` plus the products of `weights`, [rows, s], with the first
/// `count` of `values`.
Value LinearTask::addValues(Value weights, Value values, OpFoldResult count,
                            Value sums) {
  AffineExpr panel, r, column, step;
  bindDims(b.getContext(), panel, r, column, step);
  Value first =
      sliceTo(b, 2, weights, {index(0), index(0)}, {index(rows), count});
  Value some = sliceTo(b, 3, values, {index(0), index(0), index(0)},
                       {count, panels, index(columns)});
  return addProducts({first, {r, step}}, {some, {step, panel, column}},
                     {sums, {r, panel, column}});
}

//===----------------------------------------------------------------------===//
// Delta rules
//===----------------------------------------------------------------------===//

/// Return what turns right sides of the strip from `row` on into values: the
/// inverse of 1 - A times the betas, where A, lower triangular, stands in
/// `weights` times these.
Value LinearTask::invert(Value row, const Chunk &chunk, Value weights) {
  SmallVector<OpFoldResult> sizes = {index(rows), index(rows)},
                            one = {index(1), index(rows)};
  Value square = sliceTo(b, 2, weights, {index(0), row}, sizes);
  AffineExpr column, in;
  bindDims(b.getContext(), column, in);
  auto addRow = [&](Value number, ValueRange now) -> SmallVector<Value> {
    // What the rows above are, of which this one is a sum.
    Value own = sliceTo(b, 1, square, {number, index(0)}, one);
    Value sum = filled(index(rows), index(rows), getZero());
    sum = addProducts({own, {in}}, {now[0], {in, column}}, {sum, {column}});
    Value beta = tensor::ExtractOp::create(b, chunk.betas,
                                           plus(number, OpFoldResult(row)));
    Value next =
        buildGeneric(b, {}, {{sum, {column}}},
                     [&](ValueRange args) -> SmallVector<Value> {
                       Value isOwn = arith::CmpIOp::create(
                           b, arith::CmpIPredicate::eq,
                           linalg::IndexOp::create(b, 0), number);
                       Value unit = arith::SelectOp::create(
                           b, isOwn, getFloat(b, type, 1.0), getZero());
                       return {arith::MulFOp::create(
                           b, beta, arith::AddFOp::create(b, args[0], unit))};
                     })
            .front();
    return {insert(next, now[0], {number, index(0)}, one)};
  };
  return loop(index(rows), 1, filled(sizes, sizes, getZero()), addRow).front();
}

/// Return `values` with the strip from `row` on solved, of which all before are.
Value LinearTask::solveStrip(Value row, const Chunk &chunk, Value state,
                             Value values) {
  Value keys = strip(chunk.keys, row);
  Value known = readDecayed(row, chunk, keys, state);
  AffineExpr d0, d1, d2;
  bindDims(b.getContext(), d0, d1, d2);
  Value sides =
      buildGeneric(b, {{strip(values, row), {d0, d1, d2}}},
                   {known, {d0, d1, d2}}, [&](ValueRange args) -> Value {
                     return arith::SubFOp::create(b, args[0], args[1]);
                   });
  Value weights =
      chunk.channels
          ? maskRows(row, {}, {strip(chunk.keyWeights, row), {d0, d1}},
                     /*strictly=*/true)
          : weighRows(row, chunk, keys, /*strictly=*/true);
  sides = addValues(weights, values, row, sides);
  SmallVector<OpFoldResult> whole = {index(rows), index(mostPanels),
                                     index(columns)},
                            used = {index(rows), panels, index(columns)};
  AffineExpr panel, r, column, in;
  bindDims(b.getContext(), panel, r, column, in);
  Value own = addProducts({invert(row, chunk, weights), {r, in}},
                          {sides, {in, panel, column}},
                          {filled(whole, used, getZero()), {r, panel, column}});
  return insert(own, values, {row, index(0), index(0)}, used);
}

/// Return what the steps of a chunk write.
Value LinearTask::solve(const Chunk &chunk, Value state) {
  return loop(chunk.padded, rows, chunk.values,
              [&](Value row, ValueRange now) -> SmallVector<Value> {
                return {solveStrip(row, chunk, state, now[0])};
              })
      .front();
}

//===----------------------------------------------------------------------===//
// Output
//===----------------------------------------------------------------------===//

/// Return `output` with the sums of the strip from `row` on of a query head.
Value LinearTask::finishStrip(Value sums, Value row, Value head,
                              const Chunk &chunk, Value output) {
  OpFoldResult height = isEqualConstantIntOrValue(chunk.count, chunk.padded)
                            ? index(rows)
                            : clampBlock(b, row, chunk.count, rows);
  SmallVector<OpFoldResult> offsets = {index(0), head,
                                       plus(chunk.first, OpFoldResult(row)),
                                       index(0)},
                            sizes = {index(1), index(1), height, width};
  if (op.getOutputLayout() == Layout::bshd) {
    std::swap(offsets[1], offsets[2]);
    std::swap(sizes[1], sizes[2]);
  }
  SmallVector<OpFoldResult> kept = {height, width}, ones(4, index(1));
  Type element = getElementTypeOrSelf(output);
  Value dest = tensor::ExtractSliceOp::create(
      b, RankedTensorType::get(decomposeMixedValues(kept).first, element),
      output, offsets, sizes, ones);
  Value flat = toFlat(sums);
  Value own = sliceTo(b, 2, flat, {index(0), index(0)}, kept);
  AffineExpr d0, d1;
  bindDims(b.getContext(), d0, d1);
  SmallVector<Indexed> inputs = {{own, {d0, d1}}};
  if (op.getNormalize())
    inputs.push_back({lastColumn(flat, height), {d0}});
  Value rounded =
      buildGeneric(b, inputs, {dest, {d0, d1}}, [&](ValueRange args) -> Value {
        Value sum = args[0];
        if (op.getNormalize()) {
          Value isZero = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ,
                                               args[1], getZero());
          sum = arith::DivFOp::create(b, sum, args[1]);
          sum = arith::SelectOp::create(b, isZero, getZero(), sum);
        }
        return convertFloat(b, sum, element);
      });
  return insert(rounded, output, offsets, sizes);
}

/// Return the output with the strip from `row` on of query head `head`.
Value LinearTask::readStrip(Value row, Value head, const Chunk &chunk,
                            Value query, LinearCarried carried) {
  Value vectors = strip(query, row);
  if (op.getNonCausal())
    return finishStrip(readState(vectors, carried.state), row, head, chunk,
                       carried.output);
  Value sums = readDecayed(row, chunk, vectors, carried.state);
  Value weights;
  if (chunk.weights) {
    SmallVector<OpFoldResult> from = {head, row, index(0)},
                              part = {index(1), index(rows), index(steps)};
    AffineExpr d0, d1;
    bindDims(b.getContext(), d0, d1);
    weights =
        maskRows(row, {}, {sliceTo(b, 2, chunk.weights, from, part), {d0, d1}},
                 /*strictly=*/false);
  } else {
    weights = weighRows(row, chunk, vectors, /*strictly=*/false);
  }
  sums = addValues(weights, chunk.values,
                   getAsOpFoldResult(plus(row, index(rows))), sums);
  return finishStrip(sums, row, head, chunk, carried.output);
}

/// Return the output with all rows of the chunk of query head `head`.
Value LinearTask::readHead(Value head, const Chunk &chunk,
                           LinearCarried carried) {
  Value query;
  if (chunk.queries)
    query = sliceTo(b, 2, chunk.queries, {head, index(0), index(0)},
                    {index(1), chunk.padded, size});
  else
    query = loadQuery(head, chunk);
  return loop(chunk.padded, rows, carried.output,
              [&](Value row, ValueRange now) -> SmallVector<Value> {
                return {readStrip(row, head, chunk, query,
                                  {carried.state, now[0]})};
              })
      .front();
}

LinearCarried LinearTask::runChunk(Value first, LinearCarried carried) {
  Chunk chunk = loadChunk(first);
  if (op.isDelta())
    chunk.values = solve(chunk, carried.state);
  if (!op.getNonCausal())
    carried.output =
        loop(group, 1, carried.output,
             [&](Value head, ValueRange now) -> SmallVector<Value> {
               return {readHead(head, chunk, {carried.state, now[0]})};
             })
            .front();
  carried.state = write(chunk, carried.state);
  return carried;
}
