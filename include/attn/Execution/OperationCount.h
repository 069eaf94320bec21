// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How many floating-point operations a function needs.

#ifndef ATTN_EXECUTION_OPERATIONCOUNT_H
#define ATTN_EXECUTION_OPERATIONCOUNT_H

#include "attn/Execution/Benchmark.h"
#include "attn/Execution/Reference.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::attn {

/// Return how many pairs of a row and a key of one head `problem` attends to,
/// summed over batch and heads, by length, diagonal and window; a mask is not
/// looked at.
int64_t countAttended(const AttentionProblem &problem);

/// Return the operations of `function` on `inputs`: 2 (D + E) for each attended
/// pair, and 2 for each product of a contraction. One attention is counted
/// from its shapes; anything else is interpreted, which takes its time.
llvm::Expected<int64_t> countOperations(func::FuncOp function,
                                        ArrayRef<HostTensor> inputs);

/// Return what a call of `function` on `inputs` does: its operations, and the
/// bytes that it must read, of keys and values those that any row may see.
llvm::Expected<Workload> describeWork(func::FuncOp function,
                                      ArrayRef<HostTensor> inputs);

} // namespace mlir::attn

#endif // ATTN_EXECUTION_OPERATIONCOUNT_H
