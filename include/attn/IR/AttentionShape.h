// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dimensions of an attention op, read once, under the names that all documents use.

#ifndef ATTN_IR_ATTENTIONSHAPE_H
#define ATTN_IR_ATTENTIONSHAPE_H

#include "attn/IR/AttnOps.h"

namespace mlir::attn {

/// Position of the head, the sequence and the batch dimension in a rank-4
/// tensor of the given layout; channels come last in both.
constexpr int64_t kBatchDim = 0;
constexpr int64_t kChannelDim = 3;
inline int64_t headDim(Layout layout) { return layout == Layout::bhsd ? 1 : 2; }
inline int64_t sequenceDim(Layout layout) {
  return layout == Layout::bhsd ? 2 : 1;
}

/// The extents that the types of an attn.sdpa state; ShapedType::kDynamic where
/// none of the tensors that share a dimension states it.
struct AttentionShape {
  int64_t batch, heads, kvHeads, rows, keys, headSize, valueSize;

  /// Read the shape of `op`, which must have passed its verifier. Where several
  /// sequences are in one tensor, their rows or keys count as dynamic. Of linear
  /// attention, `rows` are the steps of the query and `keys` those of the key.
  static AttentionShape get(SdpaOp op);
  static AttentionShape get(LinearAttentionOp op);
};

/// The same extents as attributes or values, with a tensor.dim for each that is
/// not static.
struct AttentionDims {
  OpFoldResult batch, heads, kvHeads, rows, keys, headSize, valueSize;

  /// Build the extents of `op` at the insertion point of `builder`. Where several
  /// sequences are in one tensor, rows or keys are those of all of them.
  static AttentionDims get(OpBuilder &builder, SdpaOp op);
  static AttentionDims get(OpBuilder &builder, LinearAttentionOp op);
};

} // namespace mlir::attn

#endif // ATTN_IR_ATTENTIONSHAPE_H
