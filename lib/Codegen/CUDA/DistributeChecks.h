// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Searches of checks as the work of all threads of a block.

#ifndef ATTN_LIB_CODEGEN_CUDA_DISTRIBUTECHECKS_H
#define ATTN_LIB_CODEGEN_CUDA_DISTRIBUTECHECKS_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::attn {

/// Let the `threads` threads of the one block of `kernel`, of which each runs all of
/// it, share the turns of its searches. All threads get the same answers: those of
/// the loops as they were. `words`, the argument with the status, lends its others.
void distributeSearches(gpu::GPUFuncOp kernel, int64_t threads, Value words);

} // namespace mlir::attn

#endif // ATTN_LIB_CODEGEN_CUDA_DISTRIBUTECHECKS_H
