// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the functions of a GPU, their kernels and their C entries agree on.

#ifndef ATTN_CODEGEN_WORKSPACE_H
#define ATTN_CODEGEN_WORKSPACE_H

#include "attn/Target/CUDA/KernelNames.h"

#include "llvm/ADT/StringRef.h"

#include <string>

namespace mlir::attn {

/// The module of all kernels.
inline constexpr llvm::StringLiteral kKernelModuleName = "kernels";

/// Attribute of a kernel whose last argument is the status: it does nothing where a
/// check of data has failed. Of a function: it has such kernels.
inline constexpr llvm::StringLiteral kGuardedAttrName = "attn.guarded";

/// Words of the status at the beginning of the workspace: the number of the failed
/// check, and the two numbers of its message.
inline constexpr int64_t kStatusWords = 3;
/// And with those behind it, through which threads of a check speak.
inline constexpr int64_t kCheckWords = 8;

/// Names of the private functions that belong to the public one of `name`: the
/// checks that read data, and the size of the workspace.
inline std::string dataCheckFunctionName(llvm::StringRef name) {
  return (name + ".data").str();
}
inline std::string workspaceFunctionName(llvm::StringRef name) {
  return (name + ".workspace").str();
}

} // namespace mlir::attn

#endif // ATTN_CODEGEN_WORKSPACE_H
