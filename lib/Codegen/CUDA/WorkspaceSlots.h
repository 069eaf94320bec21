// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which allocations of a function can have the same memory.

#ifndef ATTN_LIB_CODEGEN_CUDA_WORKSPACESLOTS_H
#define ATTN_LIB_CODEGEN_CUDA_WORKSPACESLOTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::attn {

/// Allocations that share memory, as large as the largest of them.
using WorkspaceSlot = SmallVector<memref::AllocOp, 2>;

/// Return true if `a` and `b` are of one size whatever their extents are.
bool haveSameSize(memref::AllocOp a, memref::AllocOp b);

/// Return the bytes of `type`, all dynamic extents taken to be 1.
int64_t countKnownBytes(MemRefType type);

/// Return `allocs`, of `function`, by the memory that they get. Allocations share it
/// if everything that needs the one comes before anything that needs the other.
SmallVector<WorkspaceSlot> findSlots(func::FuncOp function,
                                     ArrayRef<memref::AllocOp> allocs);

} // namespace mlir::attn

#endif // ATTN_LIB_CODEGEN_CUDA_WORKSPACESLOTS_H
