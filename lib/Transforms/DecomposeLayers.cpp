// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Replaces whole layers by their parts:
//
//   %y = attn.mha %x query(%wq : ...) key(%wk : ...) value(%wv : ...)
//        output(%wo : ...) heads = 2 : ...
//
// becomes
//
//   %q = linalg.generic ... ins(%x, %wq : ...)
//   %qh = tensor.expand_shape %q ...
//   %o = attn.sdpa %qh, %kh, %vh layout = bshd : ...
//   %oh = tensor.collapse_shape %o ...
//   %y = linalg.generic ... ins(%oh, %wo : ...)
//
// and attn.rope, also where it came out of attn.mha, becomes a
// linalg.generic on slices, attn.cache_append a loop over rows. The parts are the ops' own definitions
// (decomposeOperation); nothing is decided here.

#include "attn/IR/AttnOps.h"
#include "attn/IR/Decompose.h"
#include "attn/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::attn {
#define GEN_PASS_DEF_DECOMPOSELAYERS
#include "attn/Transforms/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

namespace {
struct DecomposeLayers
    : public mlir::attn::impl::DecomposeLayersBase<DecomposeLayers> {
  void runOnOperation() override {
    if (failed(decomposeOps(getOperation(),
                            llvm::IsaPred<CacheAppendOp, MhaOp, RopeOp>)))
      signalPassFailure();
  }
};
} // namespace
