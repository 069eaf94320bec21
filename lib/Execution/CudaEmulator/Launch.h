// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all blocks of a launch share.

#ifndef ATTN_LIB_EXECUTION_CUDAEMULATOR_LAUNCH_H
#define ATTN_LIB_EXECUTION_CUDAEMULATOR_LAUNCH_H

#include "Buffers.h"
#include "Reports.h"

#include "attn/Execution/CudaEmulator.h"

namespace mlir::attn::emulator {

struct Launch {
  std::string kernel;
  void (*entry)(void **) = nullptr;
  void **parameters = nullptr;
  uint32_t grid[3] = {1, 1, 1};
  uint32_t block[3] = {1, 1, 1};
  /// Bytes of shared memory, and how many of them the launch asked for.
  uint32_t sharedBytes = 0;
  uint32_t dynamicBytes = 0;
  CudaEmulatorOptions options;
  Reports *reports = nullptr;
  const Buffers *buffers = nullptr;
};

} // namespace mlir::attn::emulator

#endif // ATTN_LIB_EXECUTION_CUDAEMULATOR_LAUNCH_H
