// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A single step of linear attention, where there are too few for chunks: memory is the limit, and the state is read once
// and written once. In the cache it is passed over up to three times:
//
//   v' = beta (v - S^T (e k))        delta rules only
//   S  = e S + k v'^T
//   o  = S^T q                       all heads of a group together

#include "LinearTask.h"

#include "attn/IR/LinearAttentionParts.h"
#include "attn/Transforms/Projection.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::attn;

/// Return `width` channels of a step of a head of `tensor`.
Value LinearTask::takeRow(Value tensor, Layout layout, OpFoldResult head,
                          Value step, OpFoldResult channel,
                          OpFoldResult width) {
  SmallVector<OpFoldResult> offsets = {place.batch, head, step, channel},
                            sizes = {index(1), index(1), index(1), width};
  if (layout == Layout::bshd)
    std::swap(offsets[1], offsets[2]);
  return sliceTo(b, 1, tensor, offsets, sizes);
}

/// Return `body` of each of `source` with `padding` behind: [used], of at most
/// `whole`.
Value LinearTask::loadRow(Value source, OpFoldResult whole, OpFoldResult used,
                          double padding, function_ref<Value(Value)> body) {
  OpFoldResult count = tensor::getMixedSize(b, b.getLoc(), source, 0);
  Value all = filled(whole, used, getFloat(b, type, padding));
  Value own = map(source, sliceTo(b, 1, all, index(0), count), body);
  return insert(own, all, index(0), count);
}

/// Return what a delta rule writes for `value`: [panels, columns].
Value LinearTask::correct(Value value, Value key, Value state, Value step) {
  SmallVector<OpFoldResult> whole = {index(mostPanels), index(columns)},
                            used = {panels, index(columns)};
  AffineExpr panel, column, in;
  bindDims(b.getContext(), panel, column, in);
  Value known = addProducts({key, {in}}, {state, {in, panel, column}},
                            {filled(whole, used, getZero()), {panel, column}});
  bool isShared =
      cast<RankedTensorType>(op.getBeta().getType()).getDimSize(1) == 1;
  Value head = isShared ? valueOf(index(0)) : place.head;
  Value beta =
      convertFloat(b,
                   tensor::ExtractOp::create(
                       b, op.getBeta(), ValueRange{place.batch, head, step}),
                   type);
  return buildGeneric(b, {{value, {panel, column}}}, {known, {panel, column}},
                      [&](ValueRange args) -> Value {
                        return arith::MulFOp::create(
                            b, beta,
                            arith::SubFOp::create(b, args[0], args[1]));
                      });
}

/// Return the factors of the rows of the state: one for all, or one for each.
LinearTask::Factors LinearTask::loadFactors(Value step) {
  auto exponential = [&](Value x) { return buildExp(b, x, /*fast=*/true); };
  if (op.hasChannelDecay()) {
    Value decays =
        sliceTo(b, 1, op.getDecay(), {place.batch, place.head, step, index(0)},
                {index(1), index(1), index(1), dims.headSize});
    return {{}, loadRow(decays, size, size, 1.0, exponential)};
  }
  if (!op.isGated())
    return {};
  Value decay = tensor::ExtractOp::create(
      b, op.getDecay(), ValueRange{place.batch, place.head, step});
  return {exponential(convertFloat(b, decay, type)), {}};
}

/// Return `to`, whose rows are those of the state, as `body` of its elements, the
/// factors of their rows and what `inputs` hold.
Value LinearTask::decayRows(
    const Factors &factors, ArrayRef<Indexed> inputs, const Indexed &to,
    function_ref<Value(Value factor, ValueRange)> body) {
  SmallVector<Indexed> all(inputs);
  if (factors.each)
    all.push_back({factors.each, {b.getAffineDimExpr(0)}});
  return buildGeneric(b, all, to, [&](ValueRange args) {
    return body(factors.each ? args[inputs.size()] : factors.one, args);
  });
}

/// Return the output with what the heads of the group read at `step`.
Value LinearTask::readGroup(Value step, LinearCarried carried) {
  Value queries = tile({mostHeads, size}, {group, size});
  queries =
      loop(group, 1, queries,
           [&](Value number, ValueRange now) -> SmallVector<Value> {
             Value row =
                 takeRow(op.getQuery(), op.getQueryLayout(), queryHead(number),
                         step, index(0), dims.headSize);
             row = loadRow(row, size, size, 0.0, [&](Value x) {
               x = buildFeature(b, op.getFeatureMap(), x, /*fast=*/true);
               return arith::MulFOp::create(b, x, scale).getResult();
             });
             return {insert(row, now[0], {number, index(0)}, {index(1), size})};
           })
          .front();
  AffineExpr panel, head, column, in;
  bindDims(b.getContext(), panel, head, column, in);
  SmallVector<OpFoldResult> whole = {mostHeads, index(mostPanels),
                                     index(columns)},
                            used = {group, panels, index(columns)};
  Value sums =
      addProducts({queries, {head, in}}, {carried.state, {in, panel, column}},
                  {filled(whole, used, getZero()), {head, panel, column}});
  Chunk chunk;
  chunk.first = step;
  chunk.count = chunk.padded = index(1);
  Value row = valueOf(index(0));
  return loop(group, 1, carried.output,
              [&](Value number, ValueRange now) -> SmallVector<Value> {
                Value own = strip(sums, number);
                return {finishStrip(own, row, number, chunk, now[0])};
              })
      .front();
}

LinearCarried LinearTask::runStep(Value step, LinearCarried carried) {
  AffineExpr d0, d1, d2;
  bindDims(b.getContext(), d0, d1, d2);
  Value key = takeRow(op.getKey(), op.getKeyLayout(), place.head, step,
                      index(0), dims.headSize);
  key = loadRow(key, size, size, 0.0, [&](Value x) {
    return buildFeature(b, op.getFeatureMap(), x, /*fast=*/true);
  });
  Value value = takeRow(op.getValue(), op.getValueLayout(), place.head, step,
                        place.column, width);
  value = loadRow(value, index(schedule.getBlockN()), times(panels, columns),
                  op.getNormalize() ? 1.0 : 0.0, [](Value x) { return x; });
  value = splitDim(b, value, 0, panels, index(columns));
  Factors factors = loadFactors(step);
  auto multiply = [&](Value x, Value factor) -> Value {
    return factor ? Value(arith::MulFOp::create(b, x, factor)) : x;
  };
  if (op.isDelta()) {
    Value seen = decayRows(factors, {{key, {d0}}}, {tile(size, size), {d0}},
                           [&](Value factor, ValueRange args) {
                             return multiply(args[0], factor);
                           });
    value = correct(value, seen, carried.state, step);
  }
  carried.state = decayRows(
      factors, {{key, {d0}}, {value, {d1, d2}}}, {carried.state, {d0, d1, d2}},
      [&](Value factor, ValueRange args) -> Value {
        Value product = arith::MulFOp::create(b, args[0], args[1]);
        return arith::AddFOp::create(b, multiply(args.back(), factor), product);
      });
  carried.output = readGroup(step, carried);
  return carried;
}
