// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Replaces every attn op by linalg on tensors:
//
//   %o = attn.sdpa %q, %k, %v scale = 0.125 : ...
//
// becomes
//
//   %s = linalg.generic ... ins(%q, %k : ...)  // scores, scaled and selected
//   %m = linalg.generic ... ins(%s : ...)      // the maximum of each row
//   %p = linalg.generic ... ins(%s, %m : ...)  // exp(s - m)
//   %l = linalg.generic ... ins(%p : ...)      // the sum of each row
//   %a = linalg.generic ... ins(%p, %v : ...)  // the product with the values
//   %o = linalg.generic ... ins(%a, %l : ...)  // divided, rounded
//
// The definitions are the ops' own (decomposeOperation in lib/IR); this only
// asks until no attn op is left. What blocks of threads work on stays: attn-vectorize-blocks sees to it.

#include "attn/Conversion/Passes.h"
#include "attn/IR/AttnOps.h"
#include "attn/IR/Decompose.h"

namespace mlir::attn {
#define GEN_PASS_DEF_ATTNTOLINALG
#include "attn/Conversion/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

namespace {
struct AttnToLinalg : public mlir::attn::impl::AttnToLinalgBase<AttnToLinalg> {
  void runOnOperation() override {
    // A region becomes part of what its op is replaced by.
    auto isAttn = [](Operation *op) {
      return isa_and_nonnull<AttnDialect>(op->getDialect()) &&
             !isa<CallOp, ThreadsOp, YieldOp>(op) && !isForThreads(op);
    };
    if (failed(decomposeOps(getOperation(), isAttn)))
      signalPassFailure();
  }
};
} // namespace
