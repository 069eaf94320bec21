// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.mha as projections, heads, rotary embedding, attn.sdpa and output
// projection: its definition.
//
//   %y = attn.mha %x query(%wq : ...) key(%wk : ...) value(%wv : ...)
//   output(%wo : ...) heads = 2 : ...
//
// becomes
//
//   %q = linalg.generic ... ins(%x, %wq : ...)                    // also %k,
//   %v %qh = tensor.expand_shape %q [[0], [1], [2, 3]] ...           // [B, M,
//   H, D]; also %kh, %vh %qr = attn.rope %qh, %cos, %sin layout = bshd : ... //
//   also %kr, if the layer has tables %o = attn.sdpa %qr, %kr, %vh layout =
//   bshd : ... %oh = tensor.collapse_shape %o [[0], [1], [2, 3]] ... %y =
//   linalg.generic ... ins(%oh, %wo : ...)
//
// Every projection is one contraction over (batch, row, out, in), whose init
// holds the bias. Nothing is transposed but new keys and values on their way
// into a cache, which is [B, G, N, D].

#include "attn/IR/AttentionShape.h"
#include "attn/IR/AttnOps.h"
#include "attn/IR/LinalgBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::attn;

/// Return `tensor` with its elements converted to the float type `type`.
static Value convertElements(ImplicitLocOpBuilder &b, Value tensor, Type type) {
  if (getElementTypeOrSelf(tensor) == type)
    return tensor;
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(b, b.getLoc(), tensor);
  SmallVector<AffineExpr> dims;
  for (size_t dim = 0; dim < sizes.size(); ++dim)
    dims.push_back(b.getAffineDimExpr(dim));
  Value empty = tensor::EmptyOp::create(b, sizes, type);
  return buildGeneric(
      b, {{tensor, dims}}, {empty, dims},
      [&](ValueRange args) -> Value { return convertFloat(b, args[0], type); });
}

/// Return `tokens` times the transpose of `weight`, plus `bias` if there is
/// one: added up in f32 (f64 for f64), rounded once to the tokens' type.
static Value project(ImplicitLocOpBuilder &b, MhaOp op, Value tokens,
                     Value weight, Value bias) {
  Type type = getElementTypeOrSelf(tokens), wide = getAccumulatorType(type);
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(b, b.getLoc(), tokens);
  sizes.back() = tensor::getMixedSize(b, b.getLoc(), weight, 0);
  AffineExpr batch, row, out, in;
  bindDims(b.getContext(), batch, row, out, in);
  Indexed init;
  init.indices = {batch, row, out};
  if (bias) {
    Value empty = tensor::EmptyOp::create(b, sizes, wide);
    init.tensor = buildGeneric(b, {{bias, {out}}}, {empty, init.indices},
                               [&](ValueRange args) -> Value {
                                 return convertFloat(b, args[0], wide);
                               });
  } else {
    init.tensor = getFilled(b, sizes, getFloat(b, wide, 0.0));
  }
  Value sums = buildGeneric(
      b, {{tokens, {batch, row, in}}, {weight, {out, in}}}, init,
      [&](ValueRange args) -> Value {
        Value product = arith::MulFOp::create(b, convertFloat(b, args[0], wide),
                                              convertFloat(b, args[1], wide));
        return arith::AddFOp::create(b, args[2], product);
      });
  Precision precision = op.getPrecision().value_or(Precision::Exact);
  if (precision != Precision::Exact)
    sums.getDefiningOp()->setAttr(
        kPrecisionAttrName, b.getStringAttr(stringifyPrecision(precision)));
  return convertElements(b, sums, type);
}

/// Return the projection of `tokens` split into heads: [B, S, heads, size].
static Value projectHeads(ImplicitLocOpBuilder &b, MhaOp op, Value tokens,
                          Value weight, Value bias, int64_t heads) {
  OpFoldResult count = b.getIndexAttr(heads);
  OpFoldResult width = tensor::getMixedSize(b, b.getLoc(), weight, 0);
  return splitDim(b, project(b, op, tokens, weight, bias), /*dim=*/2, count,
                  divideSize(b, width, count));
}

/// Return `heads`, [B, S, heads, size], rotated as `op` says.
static Value rotateHeads(ImplicitLocOpBuilder &b, MhaOp op, Value heads) {
  if (!op.getCos())
    return heads;
  // Without the attribute all channels rotate.
  auto tables = cast<RankedTensorType>(op.getCos().getType());
  int64_t pairs = tables.getDimSize(tables.getRank() - 1);
  IntegerAttr rotaryDim;
  if (ShapedType::isStatic(pairs))
    rotaryDim = b.getI64IntegerAttr(2 * pairs);
  return RopeOp::create(b, heads.getType(), heads, op.getCos(), op.getSin(),
                        op.getPositions(), rotaryDim, op.getPairing(),
                        Layout::bshd);
}

/// Return `heads`, [B, S, heads, size], as [B, heads, S, size].
static Value transposeHeads(ImplicitLocOpBuilder &b, Value heads) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, b.getLoc(), heads);
  std::swap(sizes[1], sizes[2]);
  Value empty = tensor::EmptyOp::create(b, sizes, getElementTypeOrSelf(heads));
  return linalg::TransposeOp::create(b, heads, empty,
                                     ArrayRef<int64_t>{0, 2, 1, 3})
      ->getResult(0);
}

/// Return `past` followed by `added` along the keys, both [B, G, keys, size].
static Value appendKeys(ImplicitLocOpBuilder &b, Value past, Value added) {
  SmallVector<OpFoldResult> pastSizes =
      tensor::getMixedSizes(b, b.getLoc(), past);
  SmallVector<OpFoldResult> addedSizes =
      tensor::getMixedSizes(b, b.getLoc(), added);
  // What the weights state, the cache may not: heads and their size.
  for (int64_t dim : {0, 1, 3})
    pastSizes[dim] = addedSizes[dim];
  SmallVector<OpFoldResult> sizes = addedSizes;
  std::optional<int64_t> before = getConstantIntValue(pastSizes[2]);
  std::optional<int64_t> after = getConstantIntValue(addedSizes[2]);
  if (before && after)
    sizes[2] = b.getIndexAttr(*before + *after);
  else
    sizes[2] =
        arith::AddIOp::create(
            b, getValueOrCreateConstantIndexOp(b, b.getLoc(), pastSizes[2]),
            getValueOrCreateConstantIndexOp(b, b.getLoc(), addedSizes[2]))
            .getResult();
  SmallVector<OpFoldResult> offsets(4, b.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(4, b.getIndexAttr(1));
  Type type = getElementTypeOrSelf(added);
  auto pastType =
      RankedTensorType::get(decomposeMixedValues(pastSizes).first, type);
  Value all = tensor::EmptyOp::create(b, sizes, type);
  // An empty tensor cannot be a slice of one that is as long, or empty, itself.
  auto insert = [&](Value part, ArrayRef<OpFoldResult> partSizes) {
    if (!llvm::is_contained(cast<RankedTensorType>(part.getType()).getShape(),
                            0))
      all = tensor::InsertSliceOp::create(b, part, all, offsets, partSizes,
                                          strides);
  };
  insert(castTensor(b, past, pastType), pastSizes);
  offsets[2] = pastSizes[2];
  insert(added, addedSizes);
  return all;
}

namespace {
/// Keys or values as attn.sdpa takes them and as the layer gives them out.
struct Cache {
  Value tensor;
  Layout layout;
  /// In layout bhsd, if the layer keeps a cache.
  Value present;
};
} // namespace

/// Return the new keys or values `added`, [B, S, G, size], together with `past`
/// if there is one.
static Cache joinCache(ImplicitLocOpBuilder &b, Value past, Value added,
                       bool wantsPresent) {
  if (!past && !wantsPresent)
    return {added, Layout::bshd, {}};
  Value present = transposeHeads(b, added);
  if (!past)
    return {added, Layout::bshd, present};
  present = appendKeys(b, past, present);
  return {present, Layout::bhsd, present};
}

/// Return the attention of `op` over `query`, [B, M, H, D].
static SdpaOp attend(ImplicitLocOpBuilder &b, MhaOp op, Value query,
                     const Cache &keys, const Cache &values) {
  auto queryType = cast<RankedTensorType>(query.getType());
  auto valueType = cast<RankedTensorType>(values.tensor.getType());
  SmallVector<int64_t> shape(queryType.getShape());
  shape[kChannelDim] = valueType.getDimSize(kChannelDim);
  auto layouts = LayoutsAttr::get(b.getContext(), Layout::bshd, keys.layout,
                                  values.layout, Layout::bshd);
  auto sdpa = SdpaOp::create(
      b, queryType.clone(shape), op.getLse() ? op.getLse().getType() : Type(),
      /*weights=*/Type(), query, keys.tensor, values.tensor, op.getBias(),
      op.getMask(), op.getKvLengths(), op.getQueryOffset(), op.getSinks(),
      /*page_table=*/Value(), /*cu_seqlens_q=*/Value(),
      /*cu_seqlens_k=*/Value(), /*key_scale=*/Value(), /*value_scale=*/Value(),
      op.getScaleAttr(), op.getCausal(), op.getWindowAttr(),
      op.getSoftcapAttr(), op.getPrecisionAttr(), layouts,
      /*schedule=*/ScheduleAttr());
  IRMapping copies;
  op.getScoreMod().cloneInto(&sdpa.getScoreMod(), copies);
  op.getMaskMod().cloneInto(&sdpa.getMaskMod(), copies);
  return sdpa;
}

FailureOr<SmallVector<Value>> MhaOp::decomposeOperation(OpBuilder &builder) {
  ImplicitLocOpBuilder b(getLoc(), builder);
  Value memory = getMemory() ? getMemory() : getX();
  Value query =
      projectHeads(b, *this, getX(), getQWeight(), getQBias(), getNumHeads());
  Value key =
      projectHeads(b, *this, memory, getKWeight(), getKBias(), getKvHeads());
  Value value =
      projectHeads(b, *this, memory, getVWeight(), getVBias(), getKvHeads());
  query = rotateHeads(b, *this, query);
  key = rotateHeads(b, *this, key);
  bool wantsPresent = static_cast<bool>(getPresentKey());
  Cache keys = joinCache(b, getPastKey(), key, wantsPresent);
  Cache values = joinCache(b, getPastValue(), value, wantsPresent);
  SdpaOp sdpa = attend(b, *this, query, keys, values);
  Value joined = joinDims(b, sdpa.getOutput(), /*dim=*/2);
  Value output = project(b, *this, joined, getOWeight(), getOBias());
  SmallVector<Value> results{castTensor(b, output, getOutput().getType())};
  if (wantsPresent) {
    results.push_back(castTensor(b, keys.present, getPresentKey().getType()));
    results.push_back(
        castTensor(b, values.present, getPresentValue().getType()));
  }
  if (getLse())
    results.push_back(sdpa.getLse());
  return results;
}
