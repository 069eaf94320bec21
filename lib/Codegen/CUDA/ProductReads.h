// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which tiles the products of a block of threads read.

#ifndef ATTN_LIB_CODEGEN_CUDA_PRODUCTREADS_H
#define ATTN_LIB_CODEGEN_CUDA_PRODUCTREADS_H

#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::attn {

/// Return whether a product reads `value`, maybe extended to a wider type, or as a
/// part of a larger tile.
bool isReadByProduct(Value value);

} // namespace mlir::attn

#endif // ATTN_LIB_CODEGEN_CUDA_PRODUCTREADS_H
