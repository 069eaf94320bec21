// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.sdpa as upstream's tiler sees it: loops over batch, heads and rows.

#include "attn/IR/AttnOps.h"

using namespace mlir;
using namespace mlir::attn;

SmallVector<utils::IteratorType> SdpaOp::getLoopIteratorTypes() {
  return SmallVector<utils::IteratorType>(3, utils::IteratorType::parallel);
}

SmallVector<Range> SdpaOp::getIterationDomain(OpBuilder &builder) {
  return {};
}

FailureOr<TilingResult>
SdpaOp::getTiledImplementation(OpBuilder &builder,
                               ArrayRef<OpFoldResult> offsets,
                               ArrayRef<OpFoldResult> sizes) {
  return failure();
}

LogicalResult SdpaOp::getResultTilePosition(
    OpBuilder &builder, unsigned resultNumber, ArrayRef<OpFoldResult> offsets,
    ArrayRef<OpFoldResult> sizes, SmallVector<OpFoldResult> &resultOffsets,
    SmallVector<OpFoldResult> &resultSizes) {
  return failure();
}
