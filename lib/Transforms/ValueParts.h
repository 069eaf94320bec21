// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention whose value has more channels than a block of threads adds up.

#ifndef ATTN_LIB_TRANSFORMS_VALUEPARTS_H
#define ATTN_LIB_TRANSFORMS_VALUEPARTS_H

#include "attn/IR/AttnOps.h"

#include "mlir/IR/PatternMatch.h"

namespace mlir::attn {

/// Replace `op`, whose schedule is of blocks of threads, by one attention for each
/// part of the channels of its value, if there is more than one. The first gives
/// the lse.
void splitValue(RewriterBase &rewriter, SdpaOp op);

/// Return for each result of `op` the place where it is inserted, if that is all that
/// becomes of it and `op` is for blocks of threads; else null. Builds at `op`.
SmallVector<Value> findPlaces(RewriterBase &rewriter, SdpaOp op);

} // namespace mlir::attn

#endif // ATTN_LIB_TRANSFORMS_VALUEPARTS_H
