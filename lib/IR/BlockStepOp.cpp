// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.block_step: what it accepts, and loops over rows and keys.

#include "attn/IR/AttnOps.h"

using namespace mlir;
using namespace mlir::attn;

MutableOperandRange BlockStepOp::getDpsInitsMutable() {
  return MutableOperandRange(getOperation(),
                             getReferenceMutable().getOperandNumber(), 3);
}

LogicalResult
BlockStepOp::reifyResultShapes(OpBuilder &builder,
                               ReifiedRankedShapedTypeDims &shapes) {
  return failure();
}

SmallVector<utils::IteratorType> BlockStepOp::getLoopIteratorTypes() {
  return {utils::IteratorType::parallel, utils::IteratorType::reduction};
}

SmallVector<Range> BlockStepOp::getIterationDomain(OpBuilder &builder) {
  return {};
}

FailureOr<TilingResult>
BlockStepOp::getTiledImplementation(OpBuilder &builder,
                                    ArrayRef<OpFoldResult> offsets,
                                    ArrayRef<OpFoldResult> sizes) {
  return failure();
}

LogicalResult BlockStepOp::getResultTilePosition(
    OpBuilder &builder, unsigned resultNumber, ArrayRef<OpFoldResult> offsets,
    ArrayRef<OpFoldResult> sizes, SmallVector<OpFoldResult> &resultOffsets,
    SmallVector<OpFoldResult> &resultSizes) {
  return failure();
}
