// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Integers of the program as indices.

#ifndef ATTN_IR_INDICES_H
#define ATTN_IR_INDICES_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::attn {

/// Return `number`, a signed integer or an index, as an index.
Value toIndex(OpBuilder &b, Location loc, Value number);
inline Value toIndex(ImplicitLocOpBuilder &b, Value number) {
  return toIndex(b, b.getLoc(), number);
}

/// Return element `at` of a tensor of such numbers as an index.
Value readIndex(OpBuilder &b, Location loc, Value tensor, ValueRange at);
inline Value readIndex(ImplicitLocOpBuilder &b, Value tensor, ValueRange at) {
  return readIndex(b, b.getLoc(), tensor, at);
}

} // namespace mlir::attn

#endif // ATTN_IR_INDICES_H
