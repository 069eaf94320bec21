// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef ATTN_LIB_TARGET_CPU_STEPPOINTERS_H
#define ATTN_LIB_TARGET_CPU_STEPPOINTERS_H

#include "llvm/IR/PassManager.h"

namespace mlir::attn {

/// Lets loops over register tiles step through memory with pointers.
struct StepPointers : llvm::PassInfoMixin<StepPointers> {
  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &manager);
};

} // namespace mlir::attn

#endif // ATTN_LIB_TARGET_CPU_STEPPOINTERS_H
