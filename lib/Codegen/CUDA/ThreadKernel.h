// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A linalg op as the work of many threads: each computes the elements of one place of the parallel dimensions.

#ifndef ATTN_LIB_CODEGEN_CUDA_THREADKERNEL_H
#define ATTN_LIB_CODEGEN_CUDA_THREADKERNEL_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::attn {

/// Return true if no two places of the parallel dimensions of `op` write the same
/// element, and no place writes more than one of each output.
bool canRunByThreads(linalg::LinalgOp op);

/// Return the product of the extents of the parallel dimensions of `op`.
Value countThreads(OpBuilder &builder, linalg::LinalgOp op);

/// Return the indices of the place number `place` in `extents`, the last dimension
/// being the fastest.
SmallVector<Value> delinearize(OpBuilder &builder, Location loc, Value place,
                               ArrayRef<OpFoldResult> extents);

/// Compute with what `builder` adds the place number `place` of `op`.
void emitThread(OpBuilder &builder, linalg::LinalgOp op, Value place);

/// Replace the linalg ops in `region` by loops.
LogicalResult lowerToLoops(Region &region);

} // namespace mlir::attn

#endif // ATTN_LIB_CODEGEN_CUDA_THREADKERNEL_H
