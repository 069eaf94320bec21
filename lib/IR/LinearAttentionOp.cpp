// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.linear_attention: what it accepts and what shapes it gives. Numbers such
// as linear-C3 refer to the constraints in its description.

#include "attn/IR/AttentionShape.h"
#include "attn/IR/AttnOps.h"
#include "attn/IR/ShapeChecks.h"

using namespace mlir;
using namespace mlir::attn;

Layout LinearAttentionOp::getQueryLayout() {
  return getLayout() ? getLayout()->getQuery() : Layout::bhsd;
}
Layout LinearAttentionOp::getKeyLayout() {
  return getLayout() ? getLayout()->getKey() : Layout::bhsd;
}
Layout LinearAttentionOp::getValueLayout() {
  return getLayout() ? getLayout()->getValue() : Layout::bhsd;
}
Layout LinearAttentionOp::getOutputLayout() {
  return getLayout() ? getLayout()->getOutput() : Layout::bhsd;
}

bool LinearAttentionOp::hasChannelDecay() {
  return getDecay() &&
         cast<RankedTensorType>(getDecay().getType()).getRank() == 4;
}

namespace {
/// The extents that the types of an op state.
struct LinearDims {
  SharedDim batch, heads, kvHeads, rows, steps, headSize, valueSize;
};
} // namespace

/// Fails unless query, key, value and output fit together.
static LogicalResult verifyMain(LinearAttentionOp op, LinearDims &dims) {
  NamedType query("query", op.getQuery()), key("key", op.getKey()),
      value("value", op.getValue()), output("output", op.getOutput());
  // linear-C1
  for (NamedType tensor : {query, key, value, output})
    if (failed(verifyRank(op, tensor, 4)))
      return failure();
  // linear-C2
  for (NamedType tensor : {key, value})
    if (failed(verifySameElementType(op, query, tensor)))
      return failure();
  // linear-C3, linear-C4, linear-C5
  SharedDim &rows = op.getNonCausal() ? dims.rows : dims.steps;
  if (failed(verifyLaidOut(op, query, op.getQueryLayout(), dims.batch,
                           dims.heads, rows, dims.headSize)) ||
      failed(verifyLaidOut(op, key, op.getKeyLayout(), dims.batch, dims.kvHeads,
                           dims.steps, dims.headSize)) ||
      failed(verifyLaidOut(op, value, op.getValueLayout(), dims.batch,
                           dims.kvHeads, dims.steps, dims.valueSize)) ||
      failed(verifyLaidOut(op, output, op.getOutputLayout(), dims.batch,
                           dims.heads, rows, dims.valueSize)))
    return failure();
  // linear-C6
  return verifyHeadGroups(op, dims.heads, dims.kvHeads);
}

/// Fails unless `operand` is there just if the rule takes one.
static LogicalResult verifyRuleTakes(LinearAttentionOp op, NamedType operand,
                                     bool takes) {
  if (bool(operand) == takes)
    return success();
  return op.emitOpError() << "expects " << (takes ? "a '" : "no '")
                          << operand.name << "' with 'rule = "
                          << stringifyUpdateRule(op.getRule()) << "', got "
                          << (takes ? "none" : "one");
}

/// Fails unless decay and beta are what the rule takes.
static LogicalResult verifyRuleOperands(LinearAttentionOp op,
                                        LinearDims &dims) {
  NamedType query("query", op.getQuery()), decay("decay", op.getDecay()),
      beta("beta", op.getBeta());
  // linear-C7
  if (failed(verifyRuleTakes(op, decay, op.isGated())))
    return failure();
  // linear-C8
  SmallVector<SharedDim *> steps = {&dims.batch, &dims.kvHeads, &dims.steps},
                           channels = steps;
  channels.push_back(&dims.headSize);
  if (failed(verifyShape(op, op.hasChannelDecay() ? channels : steps, decay)))
    return failure();
  // linear-C9
  if (failed(verifyRuleTakes(op, beta, op.isDelta())))
    return failure();
  // linear-C10
  SharedDim one;
  if (failed(verifyRank(op, beta, 3)))
    return failure();
  if (beta && beta.tensor().getDimSize(1) == 1)
    steps[1] = &one;
  if (failed(verifyShape(op, steps, beta)))
    return failure();
  // linear-C11
  return success(succeeded(verifyNoWiderThan(op, query, decay)) &&
                 succeeded(verifyNoWiderThan(op, query, beta)));
}

/// Fails unless the states that go in and out fit.
static LogicalResult verifyStates(LinearAttentionOp op, LinearDims &dims) {
  NamedType query("query", op.getQuery());
  NamedType states[] = {{"state", op.getState()},
                        {"new_state", op.getNewState()}};
  NamedType normalizers[] = {{"normalizer", op.getNormalizer()},
                             {"new_normalizer", op.getNewNormalizer()}};
  // linear-C12, linear-C14
  for (NamedType state : states)
    if (failed(verifyShape(
            op, {&dims.batch, &dims.kvHeads, &dims.headSize, &dims.valueSize},
            state)) ||
        failed(verifyAccumulatorType(op, query, state)))
      return failure();
  for (NamedType normalizer : normalizers) {
    // linear-C15
    if (normalizer && !op.getNormalize())
      return op.emitOpError() << "expects no '" << normalizer.name
                              << "' without 'normalize', got one";
    // linear-C13, linear-C14
    if (failed(verifyShape(op, {&dims.batch, &dims.kvHeads, &dims.headSize},
                           normalizer)) ||
        failed(verifyAccumulatorType(op, query, normalizer)))
      return failure();
  }
  return success();
}

/// Fails unless the attributes go together.
static LogicalResult verifyAttributes(LinearAttentionOp op) {
  StringRef rule = stringifyUpdateRule(op.getRule());
  // linear-C16
  if (op.getNormalize() && op.isDelta())
    return op.emitOpError() << "expects 'normalize' with 'rule = linear' or "
                               "'rule = gated', got '"
                            << rule << "'";
  if (op.getNormalize() && op.getFeatureMap() == FeatureMap::Identity)
    return op.emitOpError() << "expects 'normalize' with 'feature_map = elu1', "
                               "'relu' or 'exp', got 'identity'";
  // linear-C17
  if (failed(verifyFinite(op, "scale", op.getScale())))
    return failure();
  if (op.getNormalize() && op.getScale())
    return op.emitOpError() << "expects no 'scale' with 'normalize', got "
                            << op.getScale()->convertToDouble();
  // linear-C18
  if (op.getNonCausal() && op.getRule() != UpdateRule::Linear)
    return op.emitOpError() << "expects 'non_causal' with 'rule = linear', got "
                               "'"
                            << rule << "'";
  return success();
}

LogicalResult LinearAttentionOp::verify() {
  LinearDims dims;
  return success(succeeded(verifyMain(*this, dims)) &&
                 succeeded(verifyRuleOperands(*this, dims)) &&
                 succeeded(verifyStates(*this, dims)) &&
                 succeeded(verifyAttributes(*this)));
}

LogicalResult
LinearAttentionOp::reifyResultShapes(OpBuilder &builder,
                                     ReifiedRankedShapedTypeDims &shapes) {
  AttentionDims dims = AttentionDims::get(builder, *this);
  SmallVector<OpFoldResult> output = {dims.batch, dims.heads, dims.rows,
                                      dims.valueSize};
  if (getOutputLayout() == Layout::bshd)
    std::swap(output[1], output[2]);
  shapes.push_back(withStaticExtents(builder, getOutput(), output));
  if (getNewState())
    shapes.push_back(withStaticExtents(
        builder, getNewState(),
        {dims.batch, dims.kvHeads, dims.headSize, dims.valueSize}));
  if (getNewNormalizer())
    shapes.push_back(
        withStaticExtents(builder, getNewNormalizer(),
                          {dims.batch, dims.kvHeads, dims.headSize}));
  return success();
}
