// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.linear_attention in scf and linalg: its definition, a step after the other.
//
//   %o, %s = attn.linear_attention %q, %k, %v decay(%g : ...) beta(%b : ...)
//     state(%s0 : ...) rule = gated_delta : ...
//
// becomes
//
//   %r:2 = scf.for %t = ... iter_args(%S = %s0, %out = ...) {
//     %S1 = linalg.generic ... ins(%S, %e[%t])      // exp(g) S
//     %p = linalg.generic ... ins(%S1, %k[%t])      // S^T k
//     %w = linalg.generic ... ins(%v[%t], %p, %b[%t])  // beta (v - S^T k)
//     %S2 = linalg.generic ... ins(%k[%t], %w) outs(%S1)  // S + k v'^T
//     %o = linalg.generic ... ins(%q[%t], %S2)      // S^T q
//     %y = linalg.generic ... ins(%o)               // scaled, or divided by z^T q
//   }
//
// where operands and results have their steps first while that goes on. Not causal
// there is no loop: all keys are summed up, then all queries read.

#include "attn/IR/AttentionShape.h"
#include "attn/IR/LinalgBuilder.h"
#include "attn/IR/LinearAttentionParts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::attn;

namespace {
/// The matrix of each key head, and with `normalize` the sums of keys.
struct LinearState {
  Value matrix, normalizer;
};

/// Builds the definition of one op.
class LinearDefinition {
public:
  LinearDefinition(OpBuilder &builder, LinearAttentionOp op);

  SmallVector<Value> build();

private:
  Value getZero() { return getFloat(b, accType, 0.0); }
  Value toSteps(Value tensor, int64_t dim,
                function_ref<Value(Value)> body = nullptr);
  Value fromSteps(Value rows, Value init);
  LinearState getStart();
  Value takeStep(Value tensor, Value step);
  Value decayed(Value state, Value factor);
  Value readState(Value query, Value matrix);
  Value readNormalizer(Value query, Value normalizer);
  Value correct(Value value, Value key, Value matrix, Value beta);
  LinearState write(LinearState state, Value key, Value value);
  Value finish(Value sums, Value denominators);
  Value read(Value query, const LinearState &state);
  Value runSteps(LinearState &state);
  Value withSizes(Value result, ArrayRef<OpFoldResult> sizes);
  Value extractShared(Value tensor, ArrayRef<int64_t> loops);

  ImplicitLocOpBuilder b;
  LinearAttentionOp op;
  AttentionDims dims;
  Type accType;
  /// Query heads of a key head; null where there is one.
  Value group;
  Value scale;
  /// Operands in the accumulator's type, steps first: [T, B, heads, channels],
  /// and [T, B, G] of beta. Of the decay its exponentials.
  Value query, key, value, factors, beta;
};
} // namespace

static bool isZero(OpFoldResult size) { return isConstantIntValue(size, 0); }

LinearDefinition::LinearDefinition(OpBuilder &builder, LinearAttentionOp op)
    : b(op.getLoc(), builder), op(op), dims(AttentionDims::get(builder, op)),
      accType(getAccumulatorType(getElementTypeOrSelf(op.getQuery()))) {
  scale = buildOutputScale(b, op, dims.headSize, accType);
  std::optional<int64_t> heads = getConstantIntValue(dims.heads);
  if (!heads || heads != getConstantIntValue(dims.kvHeads))
    group = getValueOrCreateConstantIndexOp(
        b, b.getLoc(), divideSize(b, dims.heads, dims.kvHeads));
}

/// Return `tensor` with dimension `dim`, its steps, in front, and `body` of each
/// element.
Value LinearDefinition::toSteps(Value tensor, int64_t dim,
                                function_ref<Value(Value)> body) {
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(b, b.getLoc(), tensor);
  SmallVector<AffineExpr> given, written;
  for (size_t i = 0; i < sizes.size(); ++i)
    given.push_back(b.getAffineDimExpr(i));
  written = given;
  std::rotate(written.begin(), written.begin() + dim,
              written.begin() + dim + 1);
  std::rotate(sizes.begin(), sizes.begin() + dim, sizes.begin() + dim + 1);
  Value empty = tensor::EmptyOp::create(b, sizes, accType);
  return buildGeneric(b, {{tensor, given}}, {empty, written},
                      [&](ValueRange args) {
                        Value x = convertFloat(b, args[0], accType);
                        return body ? body(x) : x;
                      });
}

/// Return `rows`, [T, B, H, E], in `init`, the output as it is to be.
Value LinearDefinition::fromSteps(Value rows, Value init) {
  AffineExpr batch, first, second, channel;
  bindDims(b.getContext(), batch, first, second, channel);
  bool headsFirst = op.getOutputLayout() == Layout::bhsd;
  AffineExpr step = headsFirst ? second : first,
             head = headsFirst ? first : second;
  return buildGeneric(b, {{rows, {step, batch, head, channel}}},
                      {init, {batch, first, second, channel}},
                      [](ValueRange args) { return args[0]; });
}

/// Return the state before the first step.
LinearState LinearDefinition::getStart() {
  LinearState state{op.getState(), op.getNormalizer()};
  if (!state.matrix)
    state.matrix =
        getFilled(b, {dims.batch, dims.kvHeads, dims.headSize, dims.valueSize},
                  getZero());
  if (op.getNormalize() && !state.normalizer)
    state.normalizer =
        getFilled(b, {dims.batch, dims.kvHeads, dims.headSize}, getZero());
  return state;
}

/// Return what `tensor`, [T, ...], holds for `step`; null of null.
Value LinearDefinition::takeStep(Value tensor, Value step) {
  if (!tensor)
    return {};
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(b, b.getLoc(), tensor);
  SmallVector<OpFoldResult> offsets(sizes.size(), b.getIndexAttr(0)),
      ones(sizes.size(), b.getIndexAttr(1));
  auto type = RankedTensorType::get(
      decomposeMixedValues(llvm::to_vector(llvm::drop_begin(sizes))).first,
      accType);
  offsets[0] = step;
  sizes[0] = b.getIndexAttr(1);
  return tensor::ExtractSliceOp::create(b, type, tensor, offsets, sizes, ones);
}

/// Return `state`, [B, G, D, ...], times `factor`, [B, G] or [B, G, D].
Value LinearDefinition::decayed(Value state, Value factor) {
  if (!factor)
    return state;
  int64_t rank = cast<RankedTensorType>(state.getType()).getRank();
  int64_t given = cast<RankedTensorType>(factor.getType()).getRank();
  SmallVector<AffineExpr> all;
  for (int64_t dim = 0; dim < rank; ++dim)
    all.push_back(b.getAffineDimExpr(dim));
  SmallVector<AffineExpr> some(all.begin(), all.begin() + given);
  return buildGeneric(b, {{factor, some}}, {state, all},
                      [&](ValueRange args) -> Value {
                        return arith::MulFOp::create(b, args[0], args[1]);
                      });
}

/// Return the element of `tensor`, of key heads, at the given loops of a body,
/// of which the second is that of query heads.
Value LinearDefinition::extractShared(Value tensor, ArrayRef<int64_t> loops) {
  SmallVector<Value> indices;
  for (int64_t loop : loops)
    indices.push_back(linalg::IndexOp::create(b, loop));
  indices[1] = arith::DivUIOp::create(b, indices[1], group);
  return tensor::ExtractOp::create(b, tensor, indices);
}

/// Return S^T q for `query` [..., B, H, D]: [..., B, H, E].
Value LinearDefinition::readState(Value query, Value matrix) {
  int64_t rank = cast<RankedTensorType>(query.getType()).getRank();
  SmallVector<AffineExpr> read;
  for (int64_t dim = 0; dim < rank; ++dim)
    read.push_back(b.getAffineDimExpr(dim));
  AffineExpr batch = read[rank - 3], head = read[rank - 2],
             channel = read.back(), out = b.getAffineDimExpr(rank);
  SmallVector<AffineExpr> written = read;
  written.back() = out;
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, b.getLoc(), query);
  sizes.back() = dims.valueSize;
  SmallVector<Indexed> inputs = {{query, read}};
  if (!group)
    inputs.push_back({matrix, {batch, head, channel, out}});
  return buildGeneric(
      b, inputs, {getFilled(b, sizes, getZero()), written},
      [&](ValueRange args) -> Value {
        Value element =
            group ? extractShared(matrix, {rank - 3, rank - 2, rank - 1, rank})
                  : args[1];
        return arith::AddFOp::create(
            b, args.back(), arith::MulFOp::create(b, args[0], element));
      });
}

/// Return z^T q for `query` [..., B, H, D]: [..., B, H].
Value LinearDefinition::readNormalizer(Value query, Value normalizer) {
  int64_t rank = cast<RankedTensorType>(query.getType()).getRank();
  SmallVector<AffineExpr> read;
  for (int64_t dim = 0; dim < rank; ++dim)
    read.push_back(b.getAffineDimExpr(dim));
  SmallVector<AffineExpr> written(read.begin(), read.end() - 1);
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, b.getLoc(), query);
  sizes.pop_back();
  SmallVector<Indexed> inputs = {{query, read}};
  if (!group)
    inputs.push_back(
        {normalizer, {read[rank - 3], read[rank - 2], read.back()}});
  return buildGeneric(
      b, inputs, {getFilled(b, sizes, getZero()), written},
      [&](ValueRange args) -> Value {
        Value element =
            group ? extractShared(normalizer, {rank - 3, rank - 2, rank - 1})
                  : args[1];
        return arith::AddFOp::create(
            b, args.back(), arith::MulFOp::create(b, args[0], element));
      });
}

/// Return beta (v - S^T k), [B, G, E].
Value LinearDefinition::correct(Value value, Value key, Value matrix,
                                Value beta) {
  AffineExpr batch, head, channel, out;
  bindDims(b.getContext(), batch, head, channel, out);
  Value known = buildGeneric(
      b, {{key, {batch, head, channel}}, {matrix, {batch, head, channel, out}}},
      {getFilled(b, {dims.batch, dims.kvHeads, dims.valueSize}, getZero()),
       {batch, head, out}},
      [&](ValueRange args) -> Value {
        return arith::AddFOp::create(
            b, args[2], arith::MulFOp::create(b, args[0], args[1]));
      });
  bool isShared = cast<RankedTensorType>(beta.getType()).getDimSize(1) == 1;
  AffineExpr betaHead = isShared ? b.getAffineConstantExpr(0) : head;
  return buildGeneric(
      b, {{value, {batch, head, channel}}, {beta, {batch, betaHead}}},
      {known, {batch, head, channel}}, [&](ValueRange args) -> Value {
        return arith::MulFOp::create(
            b, args[1], arith::SubFOp::create(b, args[0], args[2]));
      });
}

/// Return `state` with k v^T, for `key` [..., B, G, D] and `value` [..., B, G, E],
/// summed over what stands in front. Without a value only keys are summed.
LinearState LinearDefinition::write(LinearState state, Value key, Value value) {
  AffineExpr batch, head, channel, d3, d4;
  bindDims(b.getContext(), batch, head, channel, d3, d4);
  bool hasSteps = cast<RankedTensorType>(key.getType()).getRank() == 4;
  auto at = [&](AffineExpr step, AffineExpr last) {
    SmallVector<AffineExpr> indices = {batch, head, last};
    if (hasSteps)
      indices.insert(indices.begin(), step);
    return indices;
  };
  if (value)
    state.matrix = buildGeneric(
        b, {{key, at(d4, channel)}, {value, at(d4, d3)}},
        {state.matrix, {batch, head, channel, d3}},
        [&](ValueRange args) -> Value {
          return arith::AddFOp::create(
              b, args[2], arith::MulFOp::create(b, args[0], args[1]));
        });
  if (!op.getNormalize())
    return state;
  state.normalizer = buildGeneric(
      b, {{key, at(d3, channel)}}, {state.normalizer, {batch, head, channel}},
      [&](ValueRange args) -> Value {
        return arith::AddFOp::create(b, args[1], args[0]);
      });
  return state;
}

/// Return the output of `sums` [..., B, H, E], with `denominators` [..., B, H] if
/// there are any.
Value LinearDefinition::finish(Value sums, Value denominators) {
  int64_t rank = cast<RankedTensorType>(sums.getType()).getRank();
  SmallVector<AffineExpr> all;
  for (int64_t dim = 0; dim < rank; ++dim)
    all.push_back(b.getAffineDimExpr(dim));
  SmallVector<AffineExpr> rows(all.begin(), all.end() - 1);
  SmallVector<Indexed> inputs = {{sums, all}};
  if (denominators)
    inputs.push_back({denominators, rows});
  Type type = getElementTypeOrSelf(op.getOutput());
  Value init = tensor::EmptyOp::create(
      b, tensor::getMixedSizes(b, b.getLoc(), sums), type);
  return buildGeneric(b, inputs, {init, all}, [&](ValueRange args) -> Value {
    if (!denominators)
      return convertFloat(b, arith::MulFOp::create(b, args[0], scale), type);
    Value isZero =
        arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, args[1], getZero());
    Value quotient = arith::DivFOp::create(b, args[0], args[1]);
    return convertFloat(
        b, arith::SelectOp::create(b, isZero, getZero(), quotient), type);
  });
}

/// Return what `query` reads from `state`.
Value LinearDefinition::read(Value query, const LinearState &state) {
  Value denominators;
  if (op.getNormalize())
    denominators = readNormalizer(query, state.normalizer);
  return finish(readState(query, state.matrix), denominators);
}

/// Return `result` of a loop with `sizes`. Where they are not static it is a slice
/// that shows them: a loop does not.
Value LinearDefinition::withSizes(Value result, ArrayRef<OpFoldResult> sizes) {
  if (cast<RankedTensorType>(result.getType()).hasStaticShape())
    return result;
  // There are no slices of nothing: their offsets would lie outside.
  if (llvm::any_of(sizes, isZero))
    return tensor::EmptyOp::create(b, sizes, getElementTypeOrSelf(result));
  SmallVector<OpFoldResult> zeros(sizes.size(), b.getIndexAttr(0)),
      ones(sizes.size(), b.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(b, result, zeros, sizes, ones);
}

/// Take all steps from `state` on; return the outputs, [T, B, H, E].
Value LinearDefinition::runSteps(LinearState &state) {
  Value zero = arith::ConstantIndexOp::create(b, 0),
        one = arith::ConstantIndexOp::create(b, 1),
        steps = getValueOrCreateConstantIndexOp(b, b.getLoc(), dims.keys);
  SmallVector<OpFoldResult> sizes = {dims.keys, dims.batch, dims.heads,
                                     dims.valueSize};
  Value outputs =
      tensor::EmptyOp::create(b, sizes, getElementTypeOrSelf(op.getOutput()));
  SmallVector<OpFoldResult> outputSizes = sizes;
  SmallVector<Value> carried = {outputs, state.matrix};
  if (op.getNormalize())
    carried.push_back(state.normalizer);
  auto loop = scf::ForOp::create(b, zero, steps, one, carried);
  b.setInsertionPointToStart(loop.getBody());
  Value step = loop.getInductionVar();
  LinearState current{loop.getRegionIterArgs()[1], {}};
  Value factor = takeStep(factors, step), k = takeStep(key, step);
  if (op.getNormalize())
    current.normalizer = decayed(loop.getRegionIterArgs()[2], factor);
  Value v;
  if (!isZero(dims.valueSize)) {
    current.matrix = decayed(current.matrix, factor);
    v = takeStep(value, step);
    if (op.isDelta())
      v = correct(v, k, current.matrix, takeStep(beta, step));
  }
  current = write(current, k, v);
  SmallVector<Value> next = {loop.getRegionIterArgs()[0], current.matrix};
  if (v && !isZero(dims.heads)) {
    SmallVector<OpFoldResult> offsets(4, b.getIndexAttr(0)),
        ones(4, b.getIndexAttr(1));
    offsets[0] = step;
    sizes[0] = b.getIndexAttr(1);
    next[0] = tensor::InsertSliceOp::create(
        b, read(takeStep(query, step), current), next[0], offsets, sizes, ones);
  }
  if (op.getNormalize())
    next.push_back(current.normalizer);
  scf::YieldOp::create(b, next);
  b.setInsertionPointAfter(loop);
  SmallVector<OpFoldResult> matrix = {dims.batch, dims.kvHeads, dims.headSize,
                                      dims.valueSize};
  state.matrix = withSizes(loop.getResult(1), matrix);
  if (op.getNormalize())
    state.normalizer =
        withSizes(loop.getResult(2), ArrayRef(matrix).drop_back());
  return withSizes(loop.getResult(0), outputSizes);
}

SmallVector<Value> LinearDefinition::build() {
  auto feature = [&](Value x) {
    return buildFeature(b, op.getFeatureMap(), x, /*fast=*/false);
  };
  auto type = cast<RankedTensorType>(op.getOutput().getType());
  SmallVector<OpFoldResult> sizes = {dims.batch, dims.heads, dims.rows,
                                     dims.valueSize};
  if (op.getOutputLayout() == Layout::bshd)
    std::swap(sizes[1], sizes[2]);
  Value output = tensor::EmptyOp::create(b, sizes, type.getElementType());
  LinearState state = getStart();
  query = toSteps(op.getQuery(), sequenceDim(op.getQueryLayout()), feature);
  key = toSteps(op.getKey(), sequenceDim(op.getKeyLayout()), feature);
  value = toSteps(op.getValue(), sequenceDim(op.getValueLayout()));
  if (op.getDecay())
    factors = toSteps(op.getDecay(), /*dim=*/2,
                      [&](Value x) { return buildExp(b, x, /*fast=*/false); });
  if (op.getBeta())
    beta = toSteps(op.getBeta(), /*dim=*/2);
  if (op.getNonCausal()) {
    state = write(state, key, value);
    output = fromSteps(read(query, state), output);
  } else if (llvm::any_of(
                 ArrayRef{dims.batch, dims.kvHeads, dims.headSize, dims.keys},
                 isZero)) {
    output = getFilled(b, sizes, getFloat(b, type.getElementType(), 0.0));
  } else {
    output = fromSteps(runSteps(state), output);
  }
  SmallVector<Value> results = {castTensor(b, output, type)};
  if (op.getNewState())
    results.push_back(castTensor(b, state.matrix, op.getNewState().getType()));
  if (op.getNewNormalizer())
    results.push_back(
        castTensor(b, state.normalizer, op.getNewNormalizer().getType()));
  return results;
}

FailureOr<SmallVector<Value>>
LinearAttentionOp::decomposeOperation(OpBuilder &builder) {
  return LinearDefinition(builder, *this).build();
}
