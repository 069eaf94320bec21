// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes the run-time library a part of an LLVM module.

#ifndef ATTN_TARGET_CPU_LINKRUNTIME_H
#define ATTN_TARGET_CPU_LINKRUNTIME_H

#include "llvm/Support/Error.h"

namespace llvm {
class Module;
} // namespace llvm

namespace mlir::attn {

/// Link the functions of lib/Runtime that `module` calls into it, with internal
/// linkage, for the triple and data layout of `module`. They and all functions
/// with kBaselineAttrName are compiled for the oldest CPU of the architecture. What
/// kernels call, where `module` stands for a GPU, becomes a part of it too.
llvm::Error linkRuntime(llvm::Module &module);

} // namespace mlir::attn

#endif // ATTN_TARGET_CPU_LINKRUNTIME_H
