// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of attributes that passes over kernels leave for later ones.

#ifndef ATTN_LIB_CODEGEN_CUDA_KERNELATTRS_H
#define ATTN_LIB_CODEGEN_CUDA_KERNELATTRS_H

#include "llvm/ADT/StringRef.h"

namespace mlir::attn {

/// On a kernel of which there are two: whether it is the one for rows of whole chunks of
/// 16 bytes.
inline constexpr llvm::StringLiteral kAlignedAttrName = "attn.aligned";

/// On a vector.multi_reduction to a scalar: each warp may have an answer of its own.
inline constexpr llvm::StringLiteral kWarpUniformAttrName = "attn.warp_uniform";

} // namespace mlir::attn

#endif // ATTN_LIB_CODEGEN_CUDA_KERNELATTRS_H
