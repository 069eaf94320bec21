// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.sdpa: what it accepts, what shapes it gives, what simplifies it.

#include "attn/IR/AttentionShape.h"
#include "attn/IR/AttnOps.h"

using namespace mlir;
using namespace mlir::attn;

Layout SdpaOp::getQueryLayout() {
  return getLayout() ? getLayout()->getQuery() : Layout::bhsd;
}
Layout SdpaOp::getKeyLayout() {
  return getLayout() ? getLayout()->getKey() : Layout::bhsd;
}
Layout SdpaOp::getValueLayout() {
  return getLayout() ? getLayout()->getValue() : Layout::bhsd;
}
Layout SdpaOp::getOutputLayout() {
  return getLayout() ? getLayout()->getOutput() : Layout::bhsd;
}

double SdpaOp::getScaleValue() {
  if (std::optional<APFloat> scale = getScale())
    return scale->convertToDouble();
  int64_t size = AttentionShape::get(*this).headSize;
  return size == 0 ? 1.0 : 1.0 / std::sqrt(static_cast<double>(size));
}

LogicalResult SdpaOp::verify() { return success(); }

LogicalResult
SdpaOp::reifyResultShapes(OpBuilder &builder,
                          ReifiedRankedShapedTypeDims &shapes) {
  return failure();
}

void SdpaOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                         MLIRContext *context) {}
