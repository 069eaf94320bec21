// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads B, H, G, M, N, D and E of an attn.sdpa from its types or its tensors.

#include "attn/IR/AttentionShape.h"

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

/// Call `read` with the places where each dimension of `op` can be read, in
/// the order of the fields of AttentionShape.
template <typename T, typename Read>
static T readShape(SdpaOp op, Read read) {
  Value q = op.getQuery(), k = op.getKey(), v = op.getValue();
  Layout ql = op.getQueryLayout(), kl = op.getKeyLayout(),
         vl = op.getValueLayout();
  return T{read({{q, kBatchDim}, {k, kBatchDim}, {v, kBatchDim}}),
           read({{q, headDim(ql)}}),
           read({{k, headDim(kl)}, {v, headDim(vl)}}),
           read({{q, sequenceDim(ql)}}),
           read({{k, sequenceDim(kl)}, {v, sequenceDim(vl)}}),
           read({{q, kChannelDim}, {k, kChannelDim}}),
           read({{v, kChannelDim}})};
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

template <typename OpT>
static AttentionShape getShape(OpT op) {
  return readShape<AttentionShape>(op, [](std::initializer_list<Extent> list) {
    return staticSize(ArrayRef<Extent>(list.begin(), list.size()));
  });
}

AttentionShape AttentionShape::get(SdpaOp op) { return getShape(op); }
AttentionShape AttentionShape::get(LinearAttentionOp op) {
  return getShape(op);
}

template <typename OpT>
static AttentionDims getDims(OpBuilder &builder, OpT op) {
  return readShape<AttentionDims>(
      op, [&](std::initializer_list<Extent> list) -> OpFoldResult {
        ArrayRef<Extent> extents(list.begin(), list.size());
        int64_t size = staticSize(extents);
        if (ShapedType::isStatic(size))
          return builder.getIndexAttr(size);
        return tensor::DimOp::create(builder, op.getLoc(), extents[0].tensor,
                                     extents[0].dim)
            .getResult();
      });
}

AttentionDims AttentionDims::get(OpBuilder &builder, SdpaOp op) {
  return getDims(builder, op);
}
AttentionDims AttentionDims::get(OpBuilder &builder, LinearAttentionOp op) {
  return getDims(builder, op);
}
