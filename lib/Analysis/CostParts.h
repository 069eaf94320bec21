// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What AttentionCost and LinearAttentionCost count with: the names of dimensions, and bytes of operands by them.

#ifndef ATTN_LIB_ANALYSIS_COSTPARTS_H
#define ATTN_LIB_ANALYSIS_COSTPARTS_H

#include "attn/Analysis/AttentionCost.h"

namespace mlir::attn {

using Names = std::vector<std::string>;

inline Formula named(StringRef name) { return Formula::size(name); }

inline int64_t dimOf(Value tensor, int64_t dim) {
  return cast<RankedTensorType>(tensor.getType()).getDimSize(dim);
}

/// Return the bytes of an element of `value` in memory.
int64_t elementBytes(Value value);

/// Return the bytes of `value`, whose dimensions have these names; a 1 has none.
Formula bytesOf(Value value, const Names &names);

/// Return the names of a rank-4 tensor, given with heads first.
Names inLayout(Layout layout, Names names);

/// Return the names of a tensor that broadcasts to [B, H, M, N]; a 1 has none.
Names broadcastNames(Value tensor);

/// Collects the operands of an op and the bytes that are read of them.
struct OperandReader {
  AttentionCost &cost;
  Formula read;

  /// Add `operand`, if it is there.
  void add(Value operand, const Names &names);

  /// Add `operand` of `count` elements, if it is there.
  void add(Value operand, const Names &names, const Formula &count);

  /// Add what is stored of keys or values, of which `elements` are theirs. Of the
  /// keys `N` those are read that some row sees, where that is known.
  void addKeys(Value operand, const Names &names, Names elements);

  /// Add a bias or a mask, if it is there.
  void addBroadcast(Value operand);
};

/// Return the cost of one op of linear attention.
AttentionCost getLinearCost(LinearAttentionOp op);

} // namespace mlir::attn

#endif // ATTN_LIB_ANALYSIS_COSTPARTS_H
