// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The GPUs that kernels are compiled for.

#ifndef ATTN_TARGET_CUDA_ARCHITECTURES_H
#define ATTN_TARGET_CUDA_ARCHITECTURES_H

#include "attn/Target/TargetInfo.h"

namespace mlir::attn {

/// Limits of one architecture, from the tables of the CUDA C++ Programming Guide.
struct Architecture {
  llvm::StringLiteral name;
  /// Bytes of shared memory of a multiprocessor. One block may use all of it but
  /// 1 KiB, which the system keeps.
  int64_t sharedBytes;
  /// Of a multiprocessor, resident at once.
  int64_t warps, blocks;
  /// A product that has it, and what its data sheet promises: GFLOP/s in f32, with
  /// matrix instructions on 16-bit floats, and GB/s of memory.
  llvm::StringLiteral product;
  double fmaGflops, matrixGflops, readGbs;
};

/// 32-bit registers of a multiprocessor, and of one thread at most.
inline constexpr int64_t kProcessorRegisters = 65536;
inline constexpr int64_t kThreadRegisters = 255;

/// Bytes of shared memory that the system keeps for each resident block.
inline constexpr int64_t kReservedSharedBytes = 1024;

/// Return the row of `name`, or null.
const Architecture *findArchitecture(llvm::StringRef name);

/// Return true if `text`, as TargetInfo::parse takes it, is about architectures.
inline bool namesArchitectures(llvm::StringRef text) {
  return text.starts_with("sm_");
}

/// Return the target of the architectures in `text`, separated by commas: what
/// fits all of them, each once, the least capable first. Fails with a message
/// that lists what is known and what is nearest.
llvm::Expected<TargetInfo> parseArchitectures(llvm::StringRef text);

} // namespace mlir::attn

#endif // ATTN_TARGET_CUDA_ARCHITECTURES_H
