// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic on indices, for classes that build much of it.

#ifndef ATTN_LIB_CODEGEN_CPU_INDEXBUILDER_H
#define ATTN_LIB_CODEGEN_CPU_INDEXBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::attn {

/// A base of what builds at the insertion point of `b`.
class IndexBuilder {
protected:
  IndexBuilder(OpBuilder &b, Location loc) : b(b), loc(loc) {}

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  template <typename Op>
  Value fold(Value x, Value y) {
    return b.createOrFold<Op>(loc, x, y);
  }

  OpBuilder &b;
  Location loc;
};

} // namespace mlir::attn

#endif // ATTN_LIB_CODEGEN_CPU_INDEXBUILDER_H
