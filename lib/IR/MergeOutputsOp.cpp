// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.merge_outputs: what it accepts and what shapes it gives.

#include "attn/IR/AttnOps.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::attn;

/// Fails unless every one of `parts`, called `part`, has the type of `result`,
/// called `whole`.
static LogicalResult verifyPartTypes(Operation *op, StringRef part,
                                     ValueRange parts, StringRef whole,
                                     Value result) {
  for (auto [index, value] : llvm::enumerate(parts))
    if (value.getType() != result.getType())
      return op->emitOpError()
             << "expects " << part << " " << index << " to have the type of '"
             << whole << "', got " << value.getType() << " and "
             << result.getType();
  return success();
}

LogicalResult MergeOutputsOp::verify() {
  // merge_outputs-C1
  if (getOutputs().empty())
    return emitOpError() << "expects at least one part, got none";
  // merge_outputs-C2
  if (failed(verifyPartTypes(*this, "output", getOutputs(), "output",
                             getOutput())) ||
      failed(verifyPartTypes(*this, "lse", getLses(), "lse", getLse())))
    return failure();
  // merge_outputs-C3
  auto output = cast<RankedTensorType>(getOutput().getType());
  auto lse = cast<RankedTensorType>(getLse().getType());
  if (output.getRank() != lse.getRank() + 1 ||
      failed(
          verifyCompatibleShape(output.getShape().drop_back(), lse.getShape())))
    return emitOpError() << "expects 'lse' to have the shape of 'output' "
                            "without its last dimension, got "
                         << lse << " and " << output;
  return success();
}

LogicalResult
MergeOutputsOp::reifyResultShapes(OpBuilder &builder,
                                  ReifiedRankedShapedTypeDims &shapes) {
  shapes.push_back(
      tensor::getMixedSizes(builder, getLoc(), getOutputs().front()));
  shapes.push_back(tensor::getMixedSizes(builder, getLoc(), getLses().front()));
  return success();
}
