// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Integers of the program as indices.

#include "attn/IR/Indices.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

Value mlir::attn::toIndex(OpBuilder &b, Location loc, Value number) {
  if (number.getType().isIndex())
    return number;
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), number);
}

Value mlir::attn::readIndex(OpBuilder &b, Location loc, Value tensor,
                            ValueRange at) {
  return toIndex(b, loc, tensor::ExtractOp::create(b, loc, tensor, at));
}
