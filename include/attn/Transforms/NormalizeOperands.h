// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One way to say scale, alignment, masks, lengths and offsets of attention.

#ifndef ATTN_TRANSFORMS_NORMALIZEOPERANDS_H
#define ATTN_TRANSFORMS_NORMALIZEOPERANDS_H

#include "attn/IR/AttnOps.h"

namespace mlir::attn {

/// Rewrite `op` in place, without a change of meaning, so that
/// - the scale is an attribute, unless D is dynamic;
/// - `bottom_right` is `top_left` with a query offset;
/// - bias and mask have rank 4;
/// - lengths and query offsets are of type index.
void normalizeOperands(RewriterBase &rewriter, SdpaOp op);

} // namespace mlir::attn

#endif // ATTN_TRANSFORMS_NORMALIZEOPERANDS_H
