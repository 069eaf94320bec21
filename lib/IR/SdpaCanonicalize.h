// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The canonicalization of attn.sdpa, in parts.

#ifndef ATTN_LIB_IR_SDPACANONICALIZE_H
#define ATTN_LIB_IR_SDPACANONICALIZE_H

#include "attn/IR/AttnOps.h"
#include "attn/IR/ScoreRegion.h"

namespace mlir::attn {

/// Add what simplifies a mask_mod.
void addMaskModPatterns(RewritePatternSet &patterns);

} // namespace mlir::attn

#endif // ATTN_LIB_IR_SDPACANONICALIZE_H
