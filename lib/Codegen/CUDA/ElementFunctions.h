// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of f32 of which a GPU has instructions that are nearly them.

#ifndef ATTN_LIB_CODEGEN_CUDA_ELEMENTFUNCTIONS_H
#define ATTN_LIB_CODEGEN_CUDA_ELEMENTFUNCTIONS_H

#include "mlir/IR/Builders.h"

namespace mlir::attn {

/// Return `op`, a function of one number for each element of a vector, of `x`; null
/// where there are no instructions for it.
Value buildElementFunction(OpBuilder &b, Operation *op, Value x);

} // namespace mlir::attn

#endif // ATTN_LIB_CODEGEN_CUDA_ELEMENTFUNCTIONS_H
