// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What ExposeBuffers, ExposeCalls and ExposeTasks agree on: how a tensor lies in memory where it crosses a function's boundary.

#ifndef ATTN_LIB_CODEGEN_CPU_EXPOSEBUFFERS_H
#define ATTN_LIB_CODEGEN_CPU_EXPOSEBUFFERS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::attn {

/// Return the memory of a tensor or of a scalar. Its strides are not known but,
/// if `isDense`, the innermost, which is 1.
MemRefType getBufferType(Type type, bool isDense);

/// Turn a function that does nothing but call others into one on memory, without
/// a tensor in it.
void exposeCalls(func::FuncOp function, func::ReturnOp returnOp);

/// Turn a function of ShareTasks into one whose tensors are memory.
void exposeTask(func::FuncOp function, func::ReturnOp returnOp);

} // namespace mlir::attn

#endif // ATTN_LIB_CODEGEN_CPU_EXPOSEBUFFERS_H
