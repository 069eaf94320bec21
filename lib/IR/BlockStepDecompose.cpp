// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.block_step as linalg on a tile.

#include "attn/IR/AttnOps.h"

using namespace mlir;
using namespace mlir::attn;

FailureOr<SmallVector<Value>>
BlockStepOp::decomposeOperation(OpBuilder &builder) {
  return failure();
}
