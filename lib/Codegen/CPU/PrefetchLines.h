// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Asks for the memory of tiles one line after the other, in loops over the steps of products.

#ifndef ATTN_LIB_CODEGEN_CPU_PREFETCHLINES_H
#define ATTN_LIB_CODEGEN_CPU_PREFETCHLINES_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::attn {

/// Bytes that come together from memory.
constexpr int64_t kLineBytes = 64;

/// Return the dimension of the rows of `tile`.
int64_t rowDimOf(Value tile);

/// Return how many rows of `tile` are asked for, `most` at most.
int64_t countRows(Value tile, int64_t most);

/// Return how many lines the first `most` rows of each of `tiles` have.
int64_t countLines(ArrayRef<Value> tiles, int64_t most);

/// Ask for a line in each iteration of `loops`, in `strips`, in a task: one after the
/// other of the first `most` rows of `tiles`, of each where its condition holds.
void askInLoops(ArrayRef<scf::ForOp> loops, scf::ForOp strips,
                ArrayRef<std::pair<Value, Value>> tiles, int64_t most);

} // namespace mlir::attn

#endif // ATTN_LIB_CODEGEN_CPU_PREFETCHLINES_H
