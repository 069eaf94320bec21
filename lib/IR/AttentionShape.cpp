// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads B, H, G, M, N, D and E of an attn.sdpa from its types or its tensors.

#include "attn/IR/AttentionShape.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::attn;

/// A dimension of a tensor.
struct Extent {
  Value tensor;
  int64_t dim;
};

/// Return the first static size among `extents`, or kDynamic.
static int64_t staticSize(ArrayRef<Extent> extents) {
  for (Extent extent : extents) {
    int64_t size =
        cast<RankedTensorType>(extent.tensor.getType()).getDimSize(extent.dim);
    if (ShapedType::isStatic(size))
      return size;
  }
  return ShapedType::kDynamic;
}

/// Return where the heads, or else the rows, of `tensor` are, which may lack the
/// batch: then it is rows, heads, channels.
static Extent extentOf(Value tensor, Layout layout, bool isHead) {
  bool isWhole = cast<RankedTensorType>(tensor.getType()).getRank() == 4;
  if (!isWhole)
    return {tensor, isHead ? 1 : 0};
  return {tensor, isHead ? headDim(layout) : sequenceDim(layout)};
}

static Extent channelsOf(Value tensor) {
  return {tensor, cast<RankedTensorType>(tensor.getType()).getRank() - 1};
}

/// Call `read` with the places where each dimension of `op` can be read, in
/// the order of the fields of AttentionShape. Rows and keys are those of all
/// sequences, keys those of one page.
template <typename T, typename Read>
static T readShape(SdpaOp op, Read read) {
  Value q = op.getQuery(), k = op.getKey(), v = op.getValue();
  Layout ql = op.getQueryLayout(), kl = op.getKeyLayout(),
         vl = op.getValueLayout();
  SmallVector<Extent> batch;
  if (!op.hasPackedRows())
    batch.push_back({q, kBatchDim});
  if (op.isPaged())
    batch.push_back({op.getPageTable(), 0});
  else if (!op.hasPackedKeys())
    batch.append({{k, kBatchDim}, {v, kBatchDim}});
  // One more than there are sequences.
  if (batch.empty())
    batch.push_back({op.getCuSeqlensQ(), 0});
  return T{read(batch),
           read({extentOf(q, ql, true)}),
           read({extentOf(k, kl, true), extentOf(v, vl, true)}),
           read({extentOf(q, ql, false)}),
           read({extentOf(k, kl, false), extentOf(v, vl, false)}),
           read({channelsOf(q), channelsOf(k)}),
           read({channelsOf(v)})};
}

/// The same for linear attention, whose query has the steps of the key unless it
/// is not causal.
template <typename T, typename Read>
static T readShape(LinearAttentionOp op, Read read) {
  Value q = op.getQuery(), k = op.getKey(), v = op.getValue();
  Layout ql = op.getQueryLayout(), kl = op.getKeyLayout(),
         vl = op.getValueLayout();
  Extent queries{q, sequenceDim(ql)}, keys{k, sequenceDim(kl)},
      values{v, sequenceDim(vl)};
  bool together = !op.getNonCausal();
  return T{read({{q, kBatchDim}, {k, kBatchDim}, {v, kBatchDim}}),
           read({{q, headDim(ql)}}),
           read({{k, headDim(kl)}, {v, headDim(vl)}}),
           together ? read({queries, keys, values}) : read({queries}),
           together ? read({keys, values, queries}) : read({keys, values}),
           read({{q, kChannelDim}, {k, kChannelDim}}),
           read({{v, kChannelDim}})};
}

/// Return `extent` of what was cast to a type that says less.
static Extent withoutCast(Extent extent) {
  for (auto cast = extent.tensor.getDefiningOp<tensor::CastOp>();
       cast && isa<RankedTensorType>(cast.getSource().getType());
       cast = extent.tensor.getDefiningOp<tensor::CastOp>())
    extent.tensor = cast.getSource();
  return extent;
}

/// Return the first static size among `extents`, or build that of the first.
static OpFoldResult readExtent(OpBuilder &builder, Location loc,
                               ArrayRef<Extent> extents) {
  // Loops over sizes that become known later only are made anew then, and lose
  // what was written on them.
  int64_t size = staticSize(llvm::map_to_vector(extents, withoutCast));
  if (ShapedType::isStatic(size))
    return builder.getIndexAttr(size);
  return tensor::DimOp::create(builder, loc, extents[0].tensor, extents[0].dim)
      .getResult();
}

AttentionShape AttentionShape::get(SdpaOp op) {
  auto shape = readShape<AttentionShape>(op, staticSize);
  bool isCounted = op.hasPackedRows() && op.hasPackedKeys();
  if (isCounted && ShapedType::isStatic(shape.batch))
    --shape.batch;
  if (op.isPaged()) {
    int64_t pages = staticSize({{op.getPageTable(), 1}});
    bool isKnown =
        ShapedType::isStatic(pages) && ShapedType::isStatic(shape.keys);
    bool isNone = pages == 0 || shape.keys == 0;
    shape.keys = isNone    ? 0
                 : isKnown ? shape.keys * pages
                           : ShapedType::kDynamic;
  }
  // Those of a sequence are known when the program runs.
  if (op.hasPackedRows())
    shape.rows = ShapedType::kDynamic;
  if (op.hasPackedKeys())
    shape.keys = ShapedType::kDynamic;
  return shape;
}

AttentionDims AttentionDims::get(OpBuilder &builder, SdpaOp op) {
  Location loc = op.getLoc();
  auto read = [&](ArrayRef<Extent> extents) {
    return readExtent(builder, loc, extents);
  };
  auto dims = readShape<AttentionDims>(op, read);
  AffineExpr s0, s1;
  bindSymbols(builder.getContext(), s0, s1);
  if (op.hasPackedRows() && op.hasPackedKeys())
    dims.batch = affine::makeComposedFoldedAffineApply(builder, loc, s0 - 1,
                                                       {dims.batch});
  if (op.isPaged())
    dims.keys = affine::makeComposedFoldedAffineApply(
        builder, loc, s0 * s1, {dims.keys, read({{op.getPageTable(), 1}})});
  return dims;
}

AttentionShape AttentionShape::get(LinearAttentionOp op) {
  return readShape<AttentionShape>(op, staticSize);
}

AttentionDims AttentionDims::get(OpBuilder &builder, LinearAttentionOp op) {
  return readShape<AttentionDims>(op, [&](ArrayRef<Extent> extents) {
    return readExtent(builder, op.getLoc(), extents);
  });
}
