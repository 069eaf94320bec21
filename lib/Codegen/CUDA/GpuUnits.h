// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Units that all kernels are made of.

#ifndef ATTN_LIB_CODEGEN_CUDA_GPUUNITS_H
#define ATTN_LIB_CODEGEN_CUDA_GPUUNITS_H

#include <cstdint>

namespace mlir::attn {

/// Threads of a warp.
inline constexpr int64_t kWarp = 32;

/// Bytes of a chunk: what a thread copies, reads or writes at once, and what a load of
/// matrices takes of each row.
inline constexpr int64_t kChunkBytes = 16;

} // namespace mlir::attn

#endif // ATTN_LIB_CODEGEN_CUDA_GPUUNITS_H
