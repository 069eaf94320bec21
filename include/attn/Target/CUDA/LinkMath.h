// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes the functions of real numbers that kernels call a part of an LLVM module.

#ifndef ATTN_TARGET_CUDA_LINKMATH_H
#define ATTN_TARGET_CUDA_LINKMATH_H

#include "llvm/Support/Error.h"

namespace llvm {
class Module;
} // namespace llvm

namespace mlir::attn {

/// Link the functions of lib/Runtime/CudaMath.c that `module` calls, `__nv_expf` and
/// the like, into it, with internal linkage, for the triple and data layout of
/// `module`: a GPU's, or a processor's that stands for one. Fails if a function of
/// such a name is called that kernels do not have.
llvm::Error linkMath(llvm::Module &module);

} // namespace mlir::attn

#endif // ATTN_TARGET_CUDA_LINKMATH_H
