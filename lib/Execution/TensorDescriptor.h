// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors as C entries take them.

#ifndef ATTN_LIB_EXECUTION_TENSORDESCRIPTOR_H
#define ATTN_LIB_EXECUTION_TENSORDESCRIPTOR_H

#include "../Runtime/DLTensor.h"

#include "attn/Execution/Tensor.h"

namespace mlir::attn {

/// How DLPack numbers devices.
constexpr int32_t kCpuDevice = 1, kCudaDevice = 2;

/// Bytes for the message of an entry.
constexpr size_t kMessageBytes = 1024;

/// Return how DLPack calls `kind`.
DLDataType getDataType(ElementKind kind);

/// Return `tensor` for a C entry, which only reads its shape and strides.
DLTensor toDLTensor(const HostTensor &tensor);

} // namespace mlir::attn

#endif // ATTN_LIB_EXECUTION_TENSORDESCRIPTOR_H
