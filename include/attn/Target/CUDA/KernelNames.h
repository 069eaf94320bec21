// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What passes that make kernels and the code generator that makes binaries of them agree on.

#ifndef ATTN_TARGET_CUDA_KERNELNAMES_H
#define ATTN_TARGET_CUDA_KERNELNAMES_H

#include "llvm/ADT/StringRef.h"

namespace mlir::attn {

/// Attribute of a kernel: the bytes of dynamic shared memory that it needs.
inline constexpr llvm::StringLiteral kSharedBytesAttrName = "attn.shared_bytes";

/// What the host calls the machine code of all kernels.
inline constexpr llvm::StringLiteral kCodeSymbolName = "attn.code";

} // namespace mlir::attn

#endif // ATTN_TARGET_CUDA_KERNELNAMES_H
