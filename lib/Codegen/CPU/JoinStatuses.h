// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a function returns that calls tasks.

#ifndef ATTN_LIB_CODEGEN_CPU_JOINSTATUSES_H
#define ATTN_LIB_CODEGEN_CPU_JOINSTATUSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::attn {

/// Let `function`, which returns a status, return the largest of its own and those
/// of the tasks that it calls.
void joinStatuses(func::FuncOp function);

} // namespace mlir::attn

#endif // ATTN_LIB_CODEGEN_CPU_JOINSTATUSES_H
