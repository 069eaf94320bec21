// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls of OpenMP's run-time library that take nothing and return an i32.

#ifndef ATTN_LIB_CODEGEN_CPU_OPENMPCALLS_H
#define ATTN_LIB_CODEGEN_CPU_OPENMPCALLS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::attn {

/// Return, as an index, what the function `name` gives, declaring it where it is
/// not yet.
inline Value callOpenMP(OpBuilder &b, Location loc, StringRef name) {
  auto module =
      b.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  if (!module.lookupSymbol(name)) {
    OpBuilder::InsertionGuard restore(b);
    b.setInsertionPointToStart(module.getBody());
    auto declared = func::FuncOp::create(
        b, loc, name, b.getFunctionType({}, {b.getI32Type()}));
    declared.setPrivate();
  }
  Value number =
      func::CallOp::create(b, loc, name, b.getI32Type()).getResult(0);
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), number);
}

} // namespace mlir::attn

#endif // ATTN_LIB_CODEGEN_CPU_OPENMPCALLS_H
