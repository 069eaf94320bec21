// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether the results of a fuzzed function are right.

#ifndef ATTN_EXECUTION_FUZZJUDGE_H
#define ATTN_EXECUTION_FUZZJUDGE_H

#include "attn/Execution/FuzzRun.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::attn {

/// Judge `results` of `function` on `inputs`: one attention by the reference,
/// anything else by the interpreter. Where `onGpu`, a `precision` is heeded.
Complaint judgeFuzzResults(func::FuncOp function, ArrayRef<HostTensor> inputs,
                           ArrayRef<HostTensor> results, bool onGpu);

} // namespace mlir::attn

#endif // ATTN_EXECUTION_FUZZJUDGE_H
