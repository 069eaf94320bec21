// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions that are one attention, as the reference takes them.

#ifndef ATTN_EXECUTION_SINGLEATTENTION_H
#define ATTN_EXECUTION_SINGLEATTENTION_H

#include "attn/Execution/LinearReference.h"
#include "attn/IR/AttnOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::attn {

/// Return the attn.sdpa that `function` consists of, which takes arguments of
/// the function and gives its results; null where it is anything else.
SdpaOp getSingleAttention(func::FuncOp function);

/// Return the problem that `op`, a single attention, is for these arguments.
AttentionProblem getProblem(SdpaOp op, ArrayRef<HostTensor> arguments);

/// The same for attn.linear_attention.
LinearAttentionOp getSingleLinearAttention(func::FuncOp function);
LinearProblem getProblem(LinearAttentionOp op, ArrayRef<HostTensor> arguments);

} // namespace mlir::attn

#endif // ATTN_EXECUTION_SINGLEATTENTION_H
