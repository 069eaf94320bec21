// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.rope: what it accepts and what shapes it gives.

#include "attn/IR/AttnOps.h"

#include "attn/IR/ShapeChecks.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::attn;

LogicalResult RopeOp::verify() {
  NamedType input("input", getInput());
  SharedDim batch, heads, sequence, channels, width;
  SmallVector<SharedDim *> shape = {&batch, &heads, &sequence, &channels};
  if (getLayout() == Layout::bshd)
    std::swap(shape[1], shape[2]);
  // rope-C1
  if (failed(verifyShape(*this, shape, input)) ||
      failed(verifyRotaryTables(*this,
                                {input,
                                 {"cos", getCos()},
                                 {"sin", getSin()},
                                 {"positions", getPositions()}},
                                batch, sequence, width)))
    return failure();
  // rope-C4
  int64_t rotated = getRotaryDim().value_or(channels.size);
  if (ShapedType::isDynamic(rotated) && !getRotaryDim())
    return success();
  if (rotated < 0 || rotated % 2 != 0 ||
      (channels.isStatic() && rotated > channels.size)) {
    InFlightDiagnostic error =
        emitOpError() << "expects 'rotary_dim' to be even and at least 0";
    if (channels.isStatic())
      error << " and at most " << channels.size;
    return error << ", got " << rotated;
  }
  // rope-C5
  if (width.isStatic() && width.size != rotated / 2)
    return emitOpError() << "expects '" << width.owner << "' to have "
                         << rotated / 2 << " columns for " << rotated
                         << " rotated channels, got " << width.size;
  return success();
}

LogicalResult RopeOp::reifyResultShapes(OpBuilder &builder,
                                        ReifiedRankedShapedTypeDims &shapes) {
  shapes.push_back(tensor::getMixedSizes(builder, getLoc(), getInput()));
  return success();
}
