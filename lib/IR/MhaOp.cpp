// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.mha: what it accepts and what shapes it gives.

#include "attn/IR/AttnOps.h"

using namespace mlir;
using namespace mlir::attn;

LogicalResult MhaOp::verify() { return success(); }

LogicalResult MhaOp::reifyResultShapes(OpBuilder &builder,
                                       ReifiedRankedShapedTypeDims &shapes) {
  return failure();
}
