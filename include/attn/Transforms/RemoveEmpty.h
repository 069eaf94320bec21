// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention with an extent that is known to be 0.

#ifndef ATTN_TRANSFORMS_REMOVEEMPTY_H
#define ATTN_TRANSFORMS_REMOVEEMPTY_H

#include "attn/IR/AttnOps.h"

namespace mlir::attn {

/// Replace `op` by what it gives, or by attention with zeros, if one of its
/// static extents is 0. Return the attention that is left, null if none is.
SdpaOp removeEmpty(RewriterBase &rewriter, SdpaOp op);

} // namespace mlir::attn

#endif // ATTN_TRANSFORMS_REMOVEEMPTY_H
