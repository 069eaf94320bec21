// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.merge and attn.finish: what they accept, and their definitions in linalg.

#include "attn/IR/AttnOps.h"

using namespace mlir;
using namespace mlir::attn;

LogicalResult MergeOp::reifyResultShapes(OpBuilder &builder,
                                         ReifiedRankedShapedTypeDims &shapes) {
  return failure();
}

FailureOr<SmallVector<Value>> MergeOp::decomposeOperation(OpBuilder &builder) {
  return failure();
}

LogicalResult FinishOp::reifyResultShapes(OpBuilder &builder,
                                          ReifiedRankedShapedTypeDims &shapes) {
  return failure();
}

FailureOr<SmallVector<Value>> FinishOp::decomposeOperation(OpBuilder &builder) {
  return failure();
}
