// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention whose keys are in pages or whose sequences are in one tensor, by the reference of a plain one.

#ifndef ATTN_LIB_EXECUTION_REFERENCEPLACES_H
#define ATTN_LIB_EXECUTION_REFERENCEPLACES_H

#include "attn/Execution/Reference.h"

namespace mlir::attn {

/// Compute one entry of the batch after the other: `compute` gets a problem of one
/// entry, all of whose tensors are heads first.
llvm::Expected<AttentionResult>
computeByEntry(const AttentionProblem &problem, ElementKind outputKind,
               ElementKind lseKind,
               llvm::function_ref<
                   llvm::Expected<AttentionResult>(const AttentionProblem &)>
                   compute);

} // namespace mlir::attn

#endif // ATTN_LIB_EXECUTION_REFERENCEPLACES_H
