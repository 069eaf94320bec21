// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles read as vectors from the tensors that they are parts of.

#ifndef ATTN_LIB_CODEGEN_CUDA_TILEREADS_H
#define ATTN_LIB_CODEGEN_CUDA_TILEREADS_H

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::attn {

/// Return the type of the vector that `tensor`, a tile, becomes.
VectorType vectorTypeOf(Value tensor);

/// Return `pad` as a read of the tensor that it, or the slice which it pads, is
/// taken from.
Value readPadded(ImplicitLocOpBuilder &b, tensor::PadOp pad);

/// Return all of `tensor`, read from where it is a slice of.
Value readWhole(ImplicitLocOpBuilder &b, Value tensor);

/// Return whether columns of `tile` can be read without the others.
bool canReadParts(Value tile);

/// Return `count` columns of `tile` from `first` on, a multiple of `count`, with
/// zeros behind its last one.
Value readPart(ImplicitLocOpBuilder &b, Value tile, Value first, int64_t count);

} // namespace mlir::attn

#endif // ATTN_LIB_CODEGEN_CUDA_TILEREADS_H
