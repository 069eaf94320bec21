// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.merge_outputs: what it accepts, and its definition in linalg.

#include "attn/IR/AttnOps.h"

using namespace mlir;
using namespace mlir::attn;

LogicalResult MergeOutputsOp::verify() { return success(); }

LogicalResult
MergeOutputsOp::reifyResultShapes(OpBuilder &builder,
                                  ReifiedRankedShapedTypeDims &shapes) {
  return failure();
}

FailureOr<SmallVector<Value>>
MergeOutputsOp::decomposeOperation(OpBuilder &builder) {
  return failure();
}
