// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.sdpa: what it accepts and what shapes it gives. Numbers such as sdpa-C3
// refer to the constraints in its description.

#include "attn/IR/AttnOps.h"

#include "attn/IR/AttentionShape.h"
#include "attn/IR/LinalgBuilder.h"
#include "attn/IR/ScoreRegion.h"
#include "attn/IR/ShapeChecks.h"

#include <array>
#include <cmath>

using namespace mlir;
using namespace mlir::attn;

Layout SdpaOp::getQueryLayout() {
  return getLayout() ? getLayout()->getQuery() : Layout::bhsd;
}
Layout SdpaOp::getKeyLayout() {
  return getLayout() ? getLayout()->getKey() : Layout::bhsd;
}
Layout SdpaOp::getValueLayout() {
  return getLayout() ? getLayout()->getValue() : Layout::bhsd;
}
Layout SdpaOp::getOutputLayout() {
  return getLayout() ? getLayout()->getOutput() : Layout::bhsd;
}

double SdpaOp::getScaleValue() {
  if (std::optional<APFloat> scale = getScale())
    return scale->convertToDouble();
  int64_t size = AttentionShape::get(*this).headSize;
  return size == 0 ? 1.0 : 1.0 / std::sqrt(static_cast<double>(size));
}

/// Return the dimensions of a rank-4 tensor of the given layout in its order.
static std::array<SharedDim *, 4> inLayout(Layout layout, SharedDim &batch,
                                           SharedDim &heads,
                                           SharedDim &sequence,
                                           SharedDim &channels) {
  if (layout == Layout::bhsd)
    return {&batch, &heads, &sequence, &channels};
  return {&batch, &sequence, &heads, &channels};
}

/// Fails for what has a place in the op but no lowering.
static LogicalResult verifyLowered(SdpaOp op) {
  auto refuse = [&](StringRef name) {
    return op.emitOpError() << "has '" << name << "', which is not lowered";
  };
  for (auto [name, operand] :
       {std::pair<StringRef, Value>{"page_table", op.getPageTable()},
        {"cu_seqlens_q", op.getCuSeqlensQ()},
        {"cu_seqlens_k", op.getCuSeqlensK()},
        {"key_scale", op.getKeyScale()},
        {"value_scale", op.getValueScale()}})
    if (operand)
      return refuse(name);
  return success();
}

/// Fails unless the weights, where they are asked for, have a shape and a type for
/// `query`, and the schedule computes them.
static LogicalResult verifyWeights(SdpaOp op, NamedType query,
                                   ScoreDims &dims) {
  NamedType weights("weights", op.getWeights());
  if (!weights)
    return success();
  if (op.getPageTable() || op.getCuSeqlensQ() || op.getKeyScale())
    return op.emitOpError() << "has 'weights' beside pages, packed sequences "
                               "or scales, which is not lowered";
  // sdpa-C18
  if (failed(verifyShape(op, {&dims.batch, &dims.heads, &dims.rows, &dims.keys},
                         weights)))
    return failure();
  // sdpa-C19
  if (getElementTypeOrSelf(weights.type) != getElementTypeOrSelf(query.type) &&
      failed(verifyAccumulatorType(op, query, weights)))
    return failure();
  // sdpa-C20
  ScheduleAttr schedule = op.getScheduleAttr();
  if (schedule && (schedule.getChunk() > 0 || schedule.getStreams() > 0 ||
                   schedule.getFoldHeads()))
    return op.emitOpError() << "expects a 'schedule' without 'chunk', "
                               "'streams' and 'fold_heads' with 'weights', got "
                            << schedule;
  return success();
}

LogicalResult SdpaOp::verify() {
  if (failed(verifyLowered(*this)))
    return failure();
  NamedType query("query", getQuery()), key("key", getKey()),
      value("value", getValue()), output("output", getOutput());
  // sdpa-C1
  for (NamedType tensor : {query, key, value, output})
    if (failed(verifyRank(*this, tensor, 4)))
      return failure();
  // sdpa-C2
  for (NamedType tensor : {key, value})
    if (failed(verifySameElementType(*this, query, tensor)))
      return failure();

  ScoreDims dims;
  SharedDim kvHeads, headSize, valueSize;
  // sdpa-C3
  if (failed(verifyShape(*this,
                         inLayout(getQueryLayout(), dims.batch, dims.heads,
                                  dims.rows, headSize),
                         query)) ||
      failed(verifyShape(
          *this,
          inLayout(getKeyLayout(), dims.batch, kvHeads, dims.keys, headSize),
          key)) ||
      failed(verifyShape(
          *this,
          inLayout(getValueLayout(), dims.batch, kvHeads, dims.keys, valueSize),
          value)))
    return failure();
  // sdpa-C4
  if (failed(verifyShape(*this,
                         inLayout(getOutputLayout(), dims.batch, dims.heads,
                                  dims.rows, valueSize),
                         output)))
    return failure();
  // sdpa-C5
  if (failed(verifyHeadGroups(*this, dims.heads, kvHeads)))
    return failure();
  if (failed(verifyScoreOperands(*this,
                                 {query,
                                  {"bias", getBias()},
                                  {"mask", getMask()},
                                  {"kv_lengths", getKvLengths()},
                                  {"query_offset", getQueryOffset()},
                                  {"sinks", getSinks()},
                                  {"lse", getLse()},
                                  getScale(),
                                  getSoftcap(),
                                  getCausal()},
                                 dims)))
    return failure();
  return verifyWeights(*this, query, dims);
}

LogicalResult SdpaOp::verifyRegions() {
  return verifyScoreRegions(
      *this, &getScoreMod(), &getMaskMod(),
      getAccumulatorType(getElementTypeOrSelf(getQuery())));
}

LogicalResult SdpaOp::reifyResultShapes(OpBuilder &builder,
                                        ReifiedRankedShapedTypeDims &shapes) {
  AttentionDims dims = AttentionDims::get(builder, *this);
  SmallVector<OpFoldResult> output = {dims.batch, dims.heads, dims.rows,
                                      dims.valueSize};
  if (getOutputLayout() == Layout::bshd)
    std::swap(output[1], output[2]);
  shapes.push_back(withStaticExtents(builder, getOutput(), output));
  if (getLse())
    shapes.push_back(withStaticExtents(builder, getLse(),
                                       {dims.batch, dims.heads, dims.rows}));
  if (getWeights())
    shapes.push_back(withStaticExtents(
        builder, getWeights(), {dims.batch, dims.heads, dims.rows, dims.keys}));
  return success();
}
