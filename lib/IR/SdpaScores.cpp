// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What stands between q . k and softmax in the definition of attn.sdpa, all in one body:
//
//   %s = linalg.generic ... ins(%dots, %bias, %mask, %lengths, %offset : ...) {
//     select(excluded, -inf, softcap(score_mod(dots * scale)) + bias)
//   }

#include "SdpaDefinition.h"

#include "attn/IR/KeyExclusion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::attn;

Value SdpaDefinition::buildScale() {
  if (op.getScale())
    return getFloat(b, accType, op.getScaleValue());
  return getInverseRoot(b, dims.headSize, accType);
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
  return convertToI64(b, getIndex(dim));
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
  Value head = getIndex(heads[0]);
  if (heads.size() == 2) {
    Value size = getValueOrCreateConstantIndexOp(b, b.getLoc(), headSizes[1]);
    head = arith::AddIOp::create(b, arith::MulIOp::create(b, head, size),
                                 getIndex(heads[1]));
  }
  return {getIndex(batch), head,
          arith::IndexCastOp::create(b, b.getIndexType(), position),
          getIndex(key)};
}

/// Return the score of the product `q . k`; -inf where score_mod or the bias leaves
/// the key out.
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
  if (bias) {
    bias = convertFloat(b, bias, accType);
    // Of NaN it would make NaN.
    none = orElse(b, none, isMinusInfinity(b, bias));
    score = arith::AddFOp::create(b, score, bias);
  }
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
