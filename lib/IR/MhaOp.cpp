// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.mha: what it accepts and what shapes it gives. Numbers such as mha-C3
// refer to the constraints in its description.

#include "attn/IR/AttnOps.h"

#include "attn/IR/LinalgBuilder.h"
#include "attn/IR/ScoreRegion.h"
#include "attn/IR/ShapeChecks.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::attn;

namespace {
/// The dimensions of a layer beside those of its scores.
struct LayerDims {
  ScoreDims scores;
  SharedDim channels, memoryChannels, outChannels, newKeys, pastKeys;
  /// Rows of the weights: all heads side by side.
  SharedDim queryWidth, keyWidth, valueWidth, joinedWidth;
  /// The number of key heads, and the sizes of one head.
  SharedDim kvHeads, headSize, valueSize;
};
} // namespace

/// Fails unless tokens, weights and biases fit each other.
static LogicalResult verifyProjections(MhaOp op, LayerDims &dims) {
  SharedDim &batch = dims.scores.batch, &rows = dims.scores.rows;
  SharedDim &keyRows = op.getMemory() ? dims.newKeys : rows;
  SharedDim &keyChannels = op.getMemory() ? dims.memoryChannels : dims.channels;
  std::pair<NamedType, SmallVector<SharedDim *>> shapes[] = {
      {{"x", op.getX()}, {&batch, &rows, &dims.channels}},
      {{"memory", op.getMemory()}, {&batch, &keyRows, &keyChannels}},
      {{"q_weight", op.getQWeight()}, {&dims.queryWidth, &dims.channels}},
      {{"k_weight", op.getKWeight()}, {&dims.keyWidth, &keyChannels}},
      {{"v_weight", op.getVWeight()}, {&dims.valueWidth, &keyChannels}},
      {{"o_weight", op.getOWeight()}, {&dims.outChannels, &dims.joinedWidth}},
      {{"q_bias", op.getQBias()}, {&dims.queryWidth}},
      {{"k_bias", op.getKBias()}, {&dims.keyWidth}},
      {{"v_bias", op.getVBias()}, {&dims.valueWidth}},
      {{"o_bias", op.getOBias()}, {&dims.outChannels}},
      {{"output", op.getOutput()}, {&batch, &rows, &dims.outChannels}}};
  for (auto &[tensor, shape] : shapes) {
    // mha-C1
    if (failed(verifyShape(op, shape, tensor)))
      return failure();
    // mha-C2
    if (failed(verifySameElementType(op, {"x", op.getX()}, tensor)))
      return failure();
  }
  if (!op.getMemory())
    dims.newKeys = rows;
  return success();
}

/// Fails unless `width` is that of `count` heads of a size that agrees with
/// `size`; states the size if it is the first known one.
static LogicalResult verifyHeadSize(Operation *op, const SharedDim &width,
                                    int64_t count, SharedDim &size) {
  if (!width.isStatic())
    return success();
  if (width.size % count != 0)
    return op->emitOpError()
           << "expects dimension " << width.ownerDim << " of '" << width.owner
           << "' to be a multiple of " << count << " heads, got " << width.size;
  int64_t one = width.size / count;
  if (!size.isStatic())
    size = {one, width.owner, SharedDim::kDerived};
  if (size.size == one)
    return success();
  return op->emitOpError() << "expects '" << size.owner << "' and '"
                           << width.owner
                           << "' to agree on the size of a head, got "
                           << size.size << " and " << one;
}

/// Fails unless the numbers of heads divide each other and the weights.
static LogicalResult verifyHeads(MhaOp op, LayerDims &dims) {
  int64_t heads = op.getNumHeads(), kvHeads = op.getKvHeads();
  // mha-C3
  if (heads < 1 || kvHeads < 1 || heads % kvHeads != 0)
    return op.emitOpError() << "expects 'heads' to be a multiple of "
                               "'kv_heads', both at least 1, got "
                            << heads << " and " << kvHeads;
  // mha-C4
  if (failed(verifyHeadSize(op, dims.queryWidth, heads, dims.headSize)) ||
      failed(verifyHeadSize(op, dims.keyWidth, kvHeads, dims.headSize)) ||
      failed(verifyHeadSize(op, dims.valueWidth, kvHeads, dims.valueSize)) ||
      failed(verifyHeadSize(op, dims.joinedWidth, heads, dims.valueSize)))
    return failure();
  dims.scores.heads = {heads, "heads", SharedDim::kDerived};
  dims.kvHeads = {kvHeads, op.getNumKvHeads() ? "kv_heads" : "heads",
                  SharedDim::kDerived};
  return success();
}

/// Fails unless the rotary tables fit the rows and the size of a head.
static LogicalResult verifyRotary(MhaOp op, LayerDims &dims) {
  NamedType cos("cos", op.getCos()), sin("sin", op.getSin()),
      positions("positions", op.getPositions());
  // mha-C5
  if (failed(verifyTogether(op, cos, sin)))
    return failure();
  if (positions && !cos)
    return op.emitOpError() << "expects 'positions' only with 'cos' and 'sin'";
  if (!cos)
    return success();
  SharedDim width;
  if (failed(verifyRotaryTables(op, {{"x", op.getX()}, cos, sin, positions},
                                dims.scores.batch, dims.scores.rows, width)))
    return failure();
  if (width.isStatic() && dims.headSize.isStatic() &&
      width.size > dims.headSize.size / 2)
    return op.emitOpError()
           << "expects '" << width.owner << "' to have at most "
           << dims.headSize.size / 2 << " columns for heads of size "
           << dims.headSize.size << ", got " << width.size;
  // mha-C7
  if (op.getMemory())
    return op.emitOpError() << "expects no rotary tables with 'memory', whose "
                               "rows have no positions";
  return success();
}

/// Fails unless the cache that comes in and goes out fits the new keys; leaves
/// the number of all keys in `dims`.
static LogicalResult verifyCache(MhaOp op, LayerDims &dims) {
  NamedType pastKey("past_key", op.getPastKey()),
      pastValue("past_value", op.getPastValue()),
      presentKey("present_key", op.getPresentKey()),
      presentValue("present_value", op.getPresentValue());
  SharedDim &batch = dims.scores.batch, &keys = dims.scores.keys;
  // mha-C8
  if (failed(verifyTogether(op, pastKey, pastValue)) ||
      failed(verifyTogether(op, presentKey, presentValue)))
    return failure();
  if (failed(verifyShape(
          op, {&batch, &dims.kvHeads, &dims.pastKeys, &dims.headSize},
          pastKey)) ||
      failed(verifyShape(
          op, {&batch, &dims.kvHeads, &dims.pastKeys, &dims.valueSize},
          pastValue)))
    return failure();
  int64_t all;
  if (!pastKey)
    keys = dims.newKeys;
  else if (dims.pastKeys.isStatic() && dims.newKeys.isStatic() &&
           !llvm::AddOverflow(dims.pastKeys.size, dims.newKeys.size, all))
    // Messages put quotes round the whole: 'past_key' and 'x'.
    keys = {all, op.getMemory() ? "past_key' and 'memory" : "past_key' and 'x",
            SharedDim::kDerived};
  if (failed(verifyShape(op, {&batch, &dims.kvHeads, &keys, &dims.headSize},
                         presentKey)) ||
      failed(verifyShape(op, {&batch, &dims.kvHeads, &keys, &dims.valueSize},
                         presentValue)))
    return failure();
  // mha-C2
  for (NamedType tensor : {pastKey, pastValue, presentKey, presentValue})
    if (failed(verifySameElementType(op, {"x", op.getX()}, tensor)))
      return failure();
  // mha-C21
  if (pastKey && op.getCausal() == Causal::TopLeft && !op.getQueryOffset())
    return op.emitOpError() << "expects 'causal = bottom_right' or a "
                               "'query_offset' with 'past', got top_left";
  return success();
}

LogicalResult MhaOp::verify() {
  // mha-C24
  if (failed(verifyPrecision(*this, {"x", getX()}, getPrecision())))
    return failure();
  LayerDims dims;
  if (failed(verifyProjections(*this, dims)) ||
      failed(verifyHeads(*this, dims)) || failed(verifyRotary(*this, dims)) ||
      failed(verifyCache(*this, dims)))
    return failure();
  return verifyScoreOperands(*this,
                             {{"x", getX()},
                              {"bias", getBias()},
                              {"mask", getMask()},
                              {"kv_lengths", getKvLengths()},
                              {"query_offset", getQueryOffset()},
                              {"sinks", getSinks()},
                              {"lse", getLse()},
                              getScale(),
                              getSoftcap(),
                              getCausal()},
                             dims.scores);
}

LogicalResult MhaOp::verifyRegions() {
  return verifyScoreRegions(*this, &getScoreMod(), &getMaskMod(),
                            getAccumulatorType(getElementTypeOrSelf(getX())));
}

LogicalResult MhaOp::reifyResultShapes(OpBuilder &builder,
                                       ReifiedRankedShapedTypeDims &shapes) {
  Location loc = getLoc();
  auto sizeOf = [&](Value tensor, int64_t dim) {
    return tensor::getMixedSize(builder, loc, tensor, dim);
  };
  auto apply = [&](AffineExpr expr, ArrayRef<OpFoldResult> operands) {
    return affine::makeComposedFoldedAffineApply(builder, loc, expr, operands);
  };
  AffineExpr s0 = builder.getAffineSymbolExpr(0);
  AffineExpr s1 = builder.getAffineSymbolExpr(1);
  OpFoldResult batch = sizeOf(getX(), 0), rows = sizeOf(getX(), 1);
  OpFoldResult kvHeads = builder.getIndexAttr(getKvHeads());
  shapes.push_back(withStaticExtents(builder, getOutput(),
                                     {batch, rows, sizeOf(getOWeight(), 0)}));
  if (getPresentKey()) {
    OpFoldResult keys = getMemory() ? sizeOf(getMemory(), 1) : rows;
    if (getPastKey())
      keys = apply(s0 + s1, {sizeOf(getPastKey(), 2), keys});
    for (auto [present, weight] : {std::pair(getPresentKey(), getKWeight()),
                                   std::pair(getPresentValue(), getVWeight())})
      shapes.push_back(withStaticExtents(
          builder, present,
          {batch, kvHeads, keys,
           apply(s0.floorDiv(getKvHeads()), {sizeOf(weight, 0)})}));
  }
  if (getLse())
    shapes.push_back(withStaticExtents(
        builder, getLse(), {batch, builder.getIndexAttr(getNumHeads()), rows}));
  return success();
}
