// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the schedule of a kernel says of the fragments of its threads.

#ifndef ATTN_LIB_CODEGEN_CUDA_KERNELSCHEDULE_H
#define ATTN_LIB_CODEGEN_CUDA_KERNELSCHEDULE_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::attn {

/// Columns of the sum of a matrix instruction that a thread has side by side.
constexpr int64_t kMatrixSide = 2;

struct KernelSchedule {
  /// Columns that a thread has side by side.
  int64_t side = kMatrixSide;
  /// Numbers of tf32 that stand for one of f32 in a product; 0: none.
  int64_t tf32Parts = 0;
  /// Copies are of single numbers, and need registers.
  bool copiesNumbers = false;

  /// Return what `attn.schedule` and `attn.aligned` of `function` say; the above without
  /// them.
  static KernelSchedule get(gpu::GPUFuncOp function);
};

} // namespace mlir::attn

#endif // ATTN_LIB_CODEGEN_CUDA_KERNELSCHEDULE_H
