// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// numpy's file format for one array.

#ifndef ATTN_EXECUTION_NPY_H
#define ATTN_EXECUTION_NPY_H

#include "attn/Execution/Tensor.h"

namespace mlir::attn {

/// Read the array in `path`: versions 1 to 3, rows or columns first, little
/// endian, and bf16 as ml_dtypes stores it (`<V2`). Unsigned bytes come as i8
/// with the same bits.
llvm::Expected<HostTensor> readNpy(llvm::StringRef path);

/// Read an array from the bytes of a file; `name` is for messages.
llvm::Expected<HostTensor> parseNpy(llvm::StringRef bytes,
                                    llvm::StringRef name);

/// Write `tensor` to `path`, completely or not at all.
llvm::Error writeNpy(llvm::StringRef path, const HostTensor &tensor);

} // namespace mlir::attn

#endif // ATTN_EXECUTION_NPY_H
