// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NVIDIA's assembler, where it is installed.

#ifndef ATTN_TARGET_CUDA_PTXAS_H
#define ATTN_TARGET_CUDA_PTXAS_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>

namespace mlir::attn {

/// Return the path of ptxas: `wanted` if it is not empty, else the first of PATH, a
/// CUDA toolkit where they are installed, and Python's package nvidia-cuda-nvcc.
/// Nothing where it is not found; an error where `wanted` is not.
llvm::Expected<std::optional<std::string>> findPtxas(llvm::StringRef wanted);

/// What ptxas made of PTX.
struct PtxasResult {
  llvm::SmallVector<char, 0> cubin;
  /// Of `ptxas -v`.
  std::string log;
};

/// Assemble `ptx` for `architecture`. The error is what ptxas said.
llvm::Expected<PtxasResult> runPtxas(llvm::StringRef ptxas, llvm::StringRef ptx,
                                     llvm::StringRef architecture);

/// What ptxas -v says of one kernel.
struct KernelResources {
  int64_t registers = 0;
  /// Bytes of one thread.
  int64_t stackBytes = 0, spillBytes = 0;
  /// Bytes of one block that are not dynamic.
  int64_t sharedBytes = 0;
};

/// Read the log of ptxas -v, by the names of kernels.
llvm::StringMap<KernelResources> parsePtxasLog(llvm::StringRef log);

} // namespace mlir::attn

#endif // ATTN_TARGET_CUDA_PTXAS_H
