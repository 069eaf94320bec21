// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.sdpa as plain linalg on whole tensors: its definition, step by step.
//
//   %o = attn.sdpa %q, %k, %v scale = 0.125 causal = top_left : ...
//
// becomes
//
//   %dots = linalg.generic ... ins(%q, %k : ...)      // q . k
//   %s = linalg.generic ... ins(%dots : ...)          // scaled, capped,
//   biased; -inf where excluded %max = linalg.generic ... ins(%s : ...) // of
//   each row %p = linalg.generic ... ins(%s, %max : ...)       // exp(s - max),
//   0 where excluded %sum = linalg.generic ... ins(%p : ...)           // of
//   each row %acc = linalg.generic ... ins(%s, %p, %v : ...)   // p . v over
//   the keys that are not excluded %o = linalg.generic ... ins(%acc, %sum :
//   ...)     // divided, rounded to the result's type
//
// Where H and G are not known to be equal, the query's heads are split into G
// groups, so that keys and values are indexed by the group and never repeated.
// Where G is dynamic they are read by tensor.extract at h / (H / G) instead:
// memrefs know no split of a dimension into two dynamic ones. Everything
// between the operands and the results is in f32 (f64 for f64).

#include "SdpaPlaces.h"

#include "attn/IR/AttentionShape.h"
#include "attn/IR/AttnOps.h"
#include "attn/IR/KeyExclusion.h"
#include "attn/IR/LinalgBuilder.h"
#include "attn/IR/ScoreRegion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::attn;

namespace {
/// The sum of each row's weights, which are relative to e^reference.
struct Rows {
  Value reference, sum;
  /// What the accumulated product must be multiplied by, if anything.
  Value factor;
};

/// Builds the definition of one op.
class SdpaDefinition {
public:
  SdpaDefinition(OpBuilder &builder, SdpaOp op);
  SmallVector<Value> build();

private:
  // The steps, in order. Tensors of scores are [B, heads, M, N].
  Value buildProducts();
  Value buildScores(Value products);
  Value buildMaxima(Value scores);
  Value buildWeights(Value scores, Value maxima);
  Value buildSums(Value weights);
  Value buildAccumulators(Value scores, Value weights);
  Rows joinSinks(Rows rows);
  Value buildOutput(Value accumulators, Rows rows);
  Value buildLse(Rows rows);
  Value buildWeightsResult(Value scores, Value weights, Rows rows);

  // Parts of buildScores, in the body over (b, heads, m, n).
  Value clampLength(Value length);
  Value buildPositionOfRow(Value length, Value offset);
  Value buildExcluded(Value mask, Value length, Value position);
  Value buildScore(Value product, Value scale, Value bias,
                   const ScorePlace &at);
  ScorePlace buildPlace(Value position);
  Value buildScale();
  Value buildCapped(Value score);

  /// Return the heads of `tensor`, at `dim`, split into groups if they must be.
  Value splitHeads(Value tensor, int64_t dim);
  /// Return `tensor`, whose heads are query heads, to be read at the row (and
  /// the channel `last`).
  Indexed atRow(Value tensor, AffineExpr last = {});
  /// Return a bias or mask to be read at the score.
  Indexed atScore(Value tensor);
  /// Return the key or value tensor `tensor` to be read at key and channel, or
  /// nothing where readShared must be used in the body instead.
  SmallVector<Indexed> atKey(Value tensor, Layout layout);
  /// Return the element of the key or value tensor `tensor`.
  Value readShared(Value tensor, Layout layout);
  /// Return `element` of a key or a value as a number, by its scale if any.
  Value getStored(Value element, Value scale);
  /// Return the indices of an element of a tensor of layout `layout`.
  SmallVector<AffineExpr> getIndices(Layout layout, ArrayRef<AffineExpr> head,
                                     AffineExpr sequence, AffineExpr channel);
  /// Return `value` for each row (and each channel of `last`).
  Value getFilledRows(Value value, OpFoldResult last = {});
  Value getZero() { return getFloat(b, accType, 0.0); }
  Value getIndexAsI64(AffineExpr dim);

  ImplicitLocOpBuilder b;
  SdpaOp op;
  AttentionDims dims;
  Type accType;
  /// N as an i64.
  Value keys;
  /// Sizes of the dimensions that stand for the query's heads: H, or G and H/G.
  SmallVector<OpFoldResult> headSizes;
  /// H/G where heads are not split and it is not known to be 1.
  Value headsPerGroup;
  /// Dimensions of the iterations: batch, heads, row, key, channel.
  AffineExpr batch, row, key, channel;
  SmallVector<AffineExpr> heads;
};
} // namespace

SdpaDefinition::SdpaDefinition(OpBuilder &builder, SdpaOp op)
    : b(op.getLoc(), builder), op(op), dims(AttentionDims::get(builder, op)),
      accType(getAccumulatorType(getElementTypeOrSelf(op.getQuery()))) {
  std::optional<int64_t> queryHeads = getConstantIntValue(dims.heads);
  std::optional<int64_t> groups = getConstantIntValue(dims.kvHeads);
  if (queryHeads && queryHeads == groups) {
    headSizes = {dims.heads};
  } else if (groups.value_or(0) > 0) {
    headSizes = {dims.kvHeads, divideSize(b, dims.heads, dims.kvHeads)};
  } else {
    headSizes = {dims.heads};
    headsPerGroup = getValueOrCreateConstantIndexOp(
        b, b.getLoc(), divideSize(b, dims.heads, dims.kvHeads));
  }
  unsigned next = 0;
  batch = b.getAffineDimExpr(next++);
  for (size_t i = 0; i < headSizes.size(); ++i)
    heads.push_back(b.getAffineDimExpr(next++));
  row = b.getAffineDimExpr(next++);
  key = b.getAffineDimExpr(next++);
  channel = b.getAffineDimExpr(next++);
}

SmallVector<Value> SdpaDefinition::build() {
  keys = getI64(b, dims.keys);
  Value scores = buildScores(buildProducts());
  Value maxima = buildMaxima(scores);
  Value weights = buildWeights(scores, maxima);
  Rows rows = joinSinks({maxima, buildSums(weights), /*factor=*/{}});
  SmallVector<Value> results;
  results.push_back(buildOutput(buildAccumulators(scores, weights), rows));
  if (op.getLse())
    results.push_back(buildLse(rows));
  if (op.getWeights())
    results.push_back(buildWeightsResult(scores, weights, rows));
  return results;
}

//===----------------------------------------------------------------------===//
// Tensors and their indices
//===----------------------------------------------------------------------===//

Value SdpaDefinition::splitHeads(Value tensor, int64_t dim) {
  if (headSizes.size() == 1)
    return tensor;
  return splitDim(b, tensor, dim, headSizes[0], headSizes[1]);
}

SmallVector<AffineExpr> SdpaDefinition::getIndices(Layout layout,
                                                   ArrayRef<AffineExpr> head,
                                                   AffineExpr sequence,
                                                   AffineExpr channel) {
  SmallVector<AffineExpr> indices{batch};
  if (layout == Layout::bshd)
    indices.push_back(sequence);
  llvm::append_range(indices, head);
  if (layout == Layout::bhsd)
    indices.push_back(sequence);
  indices.push_back(channel);
  return indices;
}

Indexed SdpaDefinition::atRow(Value tensor, AffineExpr last) {
  SmallVector<AffineExpr> indices{batch};
  llvm::append_range(indices, heads);
  indices.push_back(row);
  if (last)
    indices.push_back(last);
  return {tensor, indices};
}

SmallVector<Indexed> SdpaDefinition::atKey(Value tensor, Layout layout) {
  if (headsPerGroup)
    return {};
  return {{tensor, getIndices(layout, heads[0], key, channel)}};
}

Value SdpaDefinition::readShared(Value tensor, Layout layout) {
  auto index = [&](AffineExpr dim) -> Value {
    return linalg::IndexOp::create(b, cast<AffineDimExpr>(dim).getPosition());
  };
  Value group = arith::DivUIOp::create(b, index(heads.front()), headsPerGroup);
  SmallVector<Value> indices{index(batch), group, index(key), index(channel)};
  if (layout == Layout::bshd)
    std::swap(indices[1], indices[2]);
  return tensor::ExtractOp::create(b, tensor, indices);
}

Value SdpaDefinition::getStored(Value element, Value scale) {
  element = convertStored(b, b.getLoc(), element, accType);
  if (!scale)
    return element;
  auto index = [&](AffineExpr dim) -> Value {
    return linalg::IndexOp::create(b, cast<AffineDimExpr>(dim).getPosition());
  };
  auto type = cast<RankedTensorType>(scale.getType());
  SmallVector<Value> indices;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    int64_t aligned = dim + 3 - type.getRank();
    if (type.getDimSize(dim) == 1) {
      indices.push_back(arith::ConstantIndexOp::create(b, 0));
      continue;
    }
    Value at = index(aligned == 0 ? batch : aligned == 1 ? heads.front() : key);
    if (aligned == 1 && headsPerGroup)
      at = arith::DivUIOp::create(b, at, headsPerGroup);
    indices.push_back(at);
  }
  Value factor = tensor::ExtractOp::create(b, scale, indices);
  return arith::MulFOp::create(b, element, convertFloat(b, factor, accType));
}

Indexed SdpaDefinition::atScore(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  int64_t rank = type.getRank();
  SmallVector<AffineExpr> indices;
  for (int64_t dim = 0; dim < rank; ++dim) {
    // Right-aligned: the last dimension is that of the keys.
    int64_t aligned = dim + 4 - rank;
    if (type.getDimSize(dim) == 1) {
      indices.push_back(b.getAffineConstantExpr(0));
      continue;
    }
    if (aligned == 1) {
      tensor = splitHeads(tensor, dim);
      llvm::append_range(indices, heads);
      continue;
    }
    indices.push_back(aligned == 0 ? batch : aligned == 2 ? row : key);
  }
  return {tensor, indices};
}

Value SdpaDefinition::getFilledRows(Value value, OpFoldResult last) {
  SmallVector<OpFoldResult> sizes{dims.batch};
  llvm::append_range(sizes, headSizes);
  sizes.push_back(dims.rows);
  if (last)
    sizes.push_back(last);
  return getFilled(b, sizes, value);
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

Value SdpaDefinition::buildProducts() {
  Layout layout = op.getQueryLayout();
  Indexed query{splitHeads(op.getQuery(), headDim(layout)),
                getIndices(layout, heads, row, channel)};
  SmallVector<Indexed> inputs{query};
  llvm::append_range(inputs, atKey(op.getKey(), op.getKeyLayout()));
  Indexed init = atRow(getFilledRows(getZero(), dims.keys), key);
  return buildGeneric(b, inputs, init, [&](ValueRange args) -> Value {
    Value element =
        headsPerGroup ? readShared(op.getKey(), op.getKeyLayout()) : args[1];
    Value product = arith::MulFOp::create(b, convertFloat(b, args[0], accType),
                                          getStored(element, op.getKeyScale()));
    return arith::AddFOp::create(b, args.back(), product);
  });
}

Value SdpaDefinition::buildScale() {
  bool isStatic = getConstantIntValue(dims.headSize).has_value();
  if (op.getScale() || isStatic)
    return getFloat(b, accType, op.getScaleValue());
  // 1 / sqrt(D), or 1 where D is 0.
  Value size =
      arith::SIToFPOp::create(b, b.getF64Type(), getI64(b, dims.headSize));
  Value one = getFloat(b, b.getF64Type(), 1.0);
  size = arith::MaximumFOp::create(b, size, one);
  Value scale = arith::DivFOp::create(b, one, math::SqrtOp::create(b, size));
  return convertFloat(b, scale, accType);
}

Value SdpaDefinition::buildCapped(Value score) {
  if (!op.getSoftcap())
    return score;
  // The smallest normal number keeps the quotient from being 0 / 0.
  double smallest = APFloat::getSmallestNormalized(
                        cast<FloatType>(accType).getFloatSemantics())
                        .convertToDouble();
  Value cap = getFloat(b, accType,
                       std::max(op.getSoftcap()->convertToDouble(), smallest));
  Value ratio = arith::DivFOp::create(b, score, cap);
  return arith::MulFOp::create(b, cap, math::TanhOp::create(b, ratio));
}

Value SdpaDefinition::getIndexAsI64(AffineExpr dim) {
  return convertToI64(
      b, linalg::IndexOp::create(b, cast<AffineDimExpr>(dim).getPosition()));
}

/// Return the keys that count, given `kv_lengths[b]` or nothing.
Value SdpaDefinition::clampLength(Value length) {
  if (!length)
    return keys;
  Value zero = arith::ConstantIntOp::create(b, 0, 64);
  length = arith::MaxSIOp::create(b, convertToI64(b, length), zero);
  return arith::MinSIOp::create(b, length, keys);
}

/// Return the position of the row, given the keys that count and `query_offset`.
Value SdpaDefinition::buildPositionOfRow(Value length, Value offset) {
  Value position = getIndexAsI64(row);
  if (op.getCausal() == Causal::BottomRight)
    offset = arith::SubIOp::create(b, length, getI64(b, dims.rows));
  if (!offset)
    return position;
  return buildPosition(b, position, convertToI64(b, offset));
}

/// Return what the regions take, for a row at `position`.
ScorePlace SdpaDefinition::buildPlace(Value position) {
  auto index = [&](AffineExpr dim) -> Value {
    return linalg::IndexOp::create(b, cast<AffineDimExpr>(dim).getPosition());
  };
  Value head = index(heads[0]);
  if (heads.size() == 2) {
    Value size = getValueOrCreateConstantIndexOp(b, b.getLoc(), headSizes[1]);
    head = arith::AddIOp::create(b, arith::MulIOp::create(b, head, size),
                                 index(heads[1]));
  }
  return {index(batch), head,
          arith::IndexCastOp::create(b, b.getIndexType(), position),
          index(key)};
}

/// Return the score of the product `q . k`; -inf where score_mod says so.
Value SdpaDefinition::buildScore(Value product, Value scale, Value bias,
                                 const ScorePlace &at) {
  Value score = arith::MulFOp::create(b, product, scale), none;
  if (!op.getScoreMod().empty()) {
    score = inlineScoreMod(b, op.getScoreMod(), score, at);
    // A cap would make a number of it, and a bias of NaN makes NaN of it.
    if (op.getSoftcap() || bias)
      none = isMinusInfinity(b, score);
  }
  score = buildCapped(score);
  if (bias)
    score = arith::AddFOp::create(b, score, convertFloat(b, bias, accType));
  if (!none)
    return score;
  return arith::SelectOp::create(b, none, getMinusInfinity(b, accType), score);
}

Value SdpaDefinition::buildExcluded(Value mask, Value length, Value position) {
  using Predicate = arith::CmpIPredicate;
  Value excluded;
  if (mask)
    excluded = arith::CmpIOp::create(
        b, Predicate::eq, mask,
        arith::ConstantIntOp::create(b, mask.getType(), 0));
  bool causal = op.getCausal() != Causal::None;
  if (!length && !causal && !op.getWindow())
    return excluded;
  Value index = getIndexAsI64(key);
  if (length)
    excluded = orElse(b, excluded,
                      arith::CmpIOp::create(b, Predicate::sge, index, length));
  if (!causal && !op.getWindow())
    return excluded;
  if (Value outside = buildOutside(b, index, position, causal, op.getWindow()))
    excluded = orElse(b, excluded, outside);
  return excluded;
}

Value SdpaDefinition::buildScores(Value products) {
  SmallVector<Indexed> inputs{atRow(products, key)};
  if (op.getBias())
    inputs.push_back(atScore(op.getBias()));
  if (op.getMask())
    inputs.push_back(atScore(op.getMask()));
  if (op.getKvLengths())
    inputs.push_back({op.getKvLengths(), {batch}});
  bool offsetPerBatch =
      op.getQueryOffset() && isa<ShapedType>(op.getQueryOffset().getType());
  if (offsetPerBatch)
    inputs.push_back({op.getQueryOffset(), {batch}});
  Value scale = buildScale();
  auto body = [&](ValueRange args) -> Value {
    auto arg = args.begin();
    Value product = *arg++;
    Value bias = op.getBias() ? *arg++ : Value();
    Value mask = op.getMask() ? *arg++ : Value();
    Value length = op.getKvLengths() ? *arg++ : Value();
    Value offset = offsetPerBatch ? *arg++ : op.getQueryOffset();
    bool hasRegions = !op.getScoreMod().empty() || !op.getMaskMod().empty();
    ScorePlace place;
    Value position;
    Value count = clampLength(length);
    if (hasRegions || op.getCausal() != Causal::None || op.getWindow())
      position = buildPositionOfRow(count, offset);
    if (hasRegions)
      place = buildPlace(position);
    Value score = buildScore(product, scale, bias, place);
    Value excluded = buildExcluded(mask, length ? count : Value(), position);
    if (!op.getMaskMod().empty()) {
      Value kept = inlineMaskMod(b, op.getMaskMod(), place);
      Value yes = arith::ConstantIntOp::create(b, 1, 1);
      excluded = orElse(b, excluded, arith::XOrIOp::create(b, kept, yes));
    }
    if (!excluded)
      return score;
    return arith::SelectOp::create(b, excluded, getMinusInfinity(b, accType),
                                   score);
  };
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(b, b.getLoc(), products);
  Value init = tensor::EmptyOp::create(b, sizes, accType);
  return buildGeneric(b, inputs, atRow(init, key), body);
}

//===----------------------------------------------------------------------===//
// Softmax and the product with the values
//===----------------------------------------------------------------------===//

Value SdpaDefinition::buildMaxima(Value scores) {
  Indexed init = atRow(getFilledRows(getMinusInfinity(b, accType)));
  return buildGeneric(b, {atRow(scores, key)}, init,
                      [&](ValueRange args) -> Value {
                        return arith::MaximumFOp::create(b, args[0], args[1]);
                      });
}

Value SdpaDefinition::buildWeights(Value scores, Value maxima) {
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(b, b.getLoc(), scores);
  Indexed init = atRow(tensor::EmptyOp::create(b, sizes, accType), key);
  return buildGeneric(b, {atRow(scores, key), atRow(maxima)}, init,
                      [&](ValueRange args) -> Value {
                        Value distance =
                            arith::SubFOp::create(b, args[0], args[1]);
                        return arith::SelectOp::create(
                            b, isMinusInfinity(b, args[0]), getZero(),
                            math::ExpOp::create(b, distance));
                      });
}

Value SdpaDefinition::buildSums(Value weights) {
  return buildGeneric(b, {atRow(weights, key)}, atRow(getFilledRows(getZero())),
                      [&](ValueRange args) -> Value {
                        return arith::AddFOp::create(b, args[1], args[0]);
                      });
}

Value SdpaDefinition::buildAccumulators(Value scores, Value weights) {
  SmallVector<Indexed> inputs{atRow(scores, key), atRow(weights, key)};
  llvm::append_range(inputs, atKey(op.getValue(), op.getValueLayout()));
  Indexed init = atRow(getFilledRows(getZero(), dims.valueSize), channel);
  return buildGeneric(b, inputs, init, [&](ValueRange args) -> Value {
    Value element = headsPerGroup
                        ? readShared(op.getValue(), op.getValueLayout())
                        : args[2];
    Value product = arith::MulFOp::create(
        b, args[1], getStored(element, op.getValueScale()));
    // Not by the weight: one that is too small for its type is 0 as well, and
    // a NaN in its value must show.
    product = arith::SelectOp::create(b, isMinusInfinity(b, args[0]), getZero(),
                                      product);
    return arith::AddFOp::create(b, args.back(), product);
  });
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

Rows SdpaDefinition::joinSinks(Rows rows) {
  if (!op.getSinks())
    return rows;
  Indexed sinks{splitHeads(op.getSinks(), 0), heads};
  Value zero = getZero();
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(b, b.getLoc(), rows.sum);
  SmallVector<Indexed> inits;
  for (int64_t i = 0; i < 3; ++i)
    inits.push_back(atRow(tensor::EmptyOp::create(b, sizes, accType)));
  auto body = [&](ValueRange args) -> SmallVector<Value> {
    Value reference = args[0], sum = args[1];
    Value sink = convertFloat(b, args[2], accType);
    Value top = arith::MaximumFOp::create(b, reference, sink);
    // Only a row without keys and without a finite sink has no maximum.
    top = arith::SelectOp::create(b, isMinusInfinity(b, top), zero, top);
    Value factor =
        math::ExpOp::create(b, arith::SubFOp::create(b, reference, top));
    Value share = math::ExpOp::create(b, arith::SubFOp::create(b, sink, top));
    Value scaled = arith::MulFOp::create(b, sum, factor);
    return {top, arith::AddFOp::create(b, scaled, share), factor};
  };
  SmallVector<Value> joined = buildGeneric(
      b, {atRow(rows.reference), atRow(rows.sum), sinks}, inits, body);
  return {joined[0], joined[1], joined[2]};
}

/// Return whether a row has neither a key nor a sink.
static Value isEmpty(ImplicitLocOpBuilder &b, Value sum) {
  return arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, sum,
                               getFloat(b, sum.getType(), 0.0));
}

Value SdpaDefinition::buildOutput(Value accumulators, Rows rows) {
  Layout layout = op.getOutputLayout();
  auto type = cast<RankedTensorType>(op.getOutput().getType());
  SmallVector<OpFoldResult> sizes{dims.batch};
  if (layout == Layout::bshd)
    sizes.push_back(dims.rows);
  llvm::append_range(sizes, headSizes);
  if (layout == Layout::bhsd)
    sizes.push_back(dims.rows);
  sizes.push_back(dims.valueSize);
  // Keys are gone: the dimension after the row's is the channel's.
  Indexed init{tensor::EmptyOp::create(b, sizes, type.getElementType()),
               getIndices(layout, heads, row, key)};
  SmallVector<Indexed> inputs{atRow(accumulators, key), atRow(rows.sum)};
  if (rows.factor)
    inputs.push_back(atRow(rows.factor));
  Value output = buildGeneric(b, inputs, init, [&](ValueRange args) -> Value {
    Value acc = args[0], sum = args[1];
    if (rows.factor)
      acc = arith::MulFOp::create(b, acc, args[2]);
    Value quotient = arith::DivFOp::create(b, acc, sum);
    Value result =
        arith::SelectOp::create(b, isEmpty(b, sum), getZero(), quotient);
    return convertFloat(b, result, type.getElementType());
  });
  if (headSizes.size() == 2)
    output = joinDims(b, output, headDim(layout));
  return castTensor(b, output, type);
}

Value SdpaDefinition::buildLse(Rows rows) {
  auto type = cast<RankedTensorType>(op.getLse().getType());
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(b, b.getLoc(), rows.sum);
  Indexed init =
      atRow(tensor::EmptyOp::create(b, sizes, type.getElementType()));
  Value lse = buildGeneric(
      b, {atRow(rows.reference), atRow(rows.sum)}, init,
      [&](ValueRange args) -> Value {
        Value log =
            arith::AddFOp::create(b, args[0], math::LogOp::create(b, args[1]));
        log = arith::SelectOp::create(b, isEmpty(b, args[1]),
                                      getMinusInfinity(b, accType), log);
        return convertFloat(b, log, type.getElementType());
      });
  if (headSizes.size() == 2)
    lse = joinDims(b, lse, 1);
  return castTensor(b, lse, type);
}

/// Return `weights` divided by their sums; 0 where `scores` exclude a key.
Value SdpaDefinition::buildWeightsResult(Value scores, Value weights,
                                         Rows rows) {
  auto type = cast<RankedTensorType>(op.getWeights().getType());
  Indexed init = atRow(
      tensor::EmptyOp::create(b, tensor::getMixedSizes(b, b.getLoc(), weights),
                              type.getElementType()),
      key);
  SmallVector<Indexed> inputs{atRow(scores, key), atRow(weights, key),
                              atRow(rows.sum)};
  if (rows.factor)
    inputs.push_back(atRow(rows.factor));
  Value result = buildGeneric(b, inputs, init, [&](ValueRange args) -> Value {
    Value weight = args[1];
    if (rows.factor)
      weight = arith::MulFOp::create(b, weight, args[3]);
    weight = arith::DivFOp::create(b, weight, args[2]);
    // An empty row has no score that is left, and a sum of 0.
    weight = arith::SelectOp::create(b, isMinusInfinity(b, args[0]), getZero(),
                                     weight);
    return convertFloat(b, weight, type.getElementType());
  });
  if (headSizes.size() == 2)
    result = joinDims(b, result, 1);
  return castTensor(b, result, type);
}

FailureOr<SmallVector<Value>> SdpaOp::decomposeOperation(OpBuilder &builder) {
  if (hasPackedRows())
    return decomposeSequences(builder, *this);
  if (isPaged())
    return decomposePages(builder, *this);
  return SdpaDefinition(builder, *this).build();
}
