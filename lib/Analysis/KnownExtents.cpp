// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Follows an extent back to where it comes from:
//
//   %n = tensor.extract %lengths[%i]                               // not known when the function starts
//   %k = tensor.extract_slice %cache[0, 0, 0, 0] [1, 2, %n, 64]    // but no larger than that of %cache

#include "attn/Analysis/KnownExtents.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::attn;

static bool isStatic(TensorDim dim) {
  auto type = cast<RankedTensorType>(dim.tensor.getType());
  return !type.isDynamicDim(dim.dim);
}

/// Return the dimension of the source that becomes `dim` of the result of `slice`.
static int64_t getSourceDim(tensor::ExtractSliceOp slice, int64_t dim) {
  llvm::SmallBitVector dropped = slice.getDroppedDims();
  for (int64_t source = 0;; ++source)
    if (!dropped.test(source) && dim-- == 0)
      return source;
}

TensorDim attn::getWhole(TensorDim part) {
  while (!isStatic(part)) {
    if (auto slice = part.tensor.getDefiningOp<tensor::ExtractSliceOp>())
      part = {slice.getSource(), getSourceDim(slice, part.dim)};
    else if (auto cast = part.tensor.getDefiningOp<tensor::CastOp>();
             cast && isa<RankedTensorType>(cast.getSource().getType()))
      part.tensor = cast.getSource();
    else
      break;
  }
  return part;
}

/// Return whether `value` is one of the function's arguments.
static bool isArgument(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument &&
         isa<FunctionOpInterface>(argument.getOwner()->getParentOp());
}

/// Return the tensor that has the shape of `value` before the loop or the op that
/// hands it on, or null.
static Value getInit(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    OpOperand *init = loop ? loop.getTiedLoopInit(argument) : nullptr;
    return init ? init->get() : Value();
  }
  auto result = cast<OpResult>(value);
  if (auto loop = dyn_cast<scf::ForOp>(result.getOwner()))
    return loop.getTiedLoopInit(result)->get();
  if (auto op = dyn_cast<DestinationStyleOpInterface>(result.getOwner()))
    return op.getTiedOpOperand(result)->get();
  return {};
}

/// Return whether the integer `value` is known when the function starts.
static bool isKnownOnEntry(Value value) {
  if (isArgument(value))
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || !isPure(op) || isa<tensor::ExtractOp>(op))
    return false;
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    std::optional<int64_t> index = dim.getConstantIndex();
    return index && isa<RankedTensorType>(dim.getSource().getType()) &&
           isKnownOnEntry(TensorDim{dim.getSource(), *index});
  }
  return llvm::all_of(op->getOperands(),
                      [](Value operand) { return isKnownOnEntry(operand); });
}

bool attn::isKnownOnEntry(TensorDim dim) {
  if (isStatic(dim) || isArgument(dim.tensor))
    return true;
  Operation *op = dim.tensor.getDefiningOp();
  if (auto empty = dyn_cast_or_null<tensor::EmptyOp>(op))
    return ::isKnownOnEntry(empty.getDynamicSize(dim.dim));
  if (auto slice = dyn_cast_or_null<tensor::ExtractSliceOp>(op)) {
    OpFoldResult size = slice.getMixedSizes()[getSourceDim(slice, dim.dim)];
    return ::isKnownOnEntry(cast<Value>(size));
  }
  if (auto cast = dyn_cast_or_null<tensor::CastOp>(op))
    return isa<RankedTensorType>(cast.getSource().getType()) &&
           isKnownOnEntry(TensorDim{cast.getSource(), dim.dim});
  if (Value init = getInit(dim.tensor))
    return isKnownOnEntry(TensorDim{init, dim.dim});
  // Of other ops, their own shape inference knows, unless a loop makes them.
  return op && !op->getParentOfType<LoopLikeOpInterface>();
}
