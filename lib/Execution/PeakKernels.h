// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loops that peaks are measured with, in the widest form that this processor runs.

#ifndef ATTN_LIB_EXECUTION_PEAKKERNELS_H
#define ATTN_LIB_EXECUTION_PEAKKERNELS_H

#include <cstddef>
#include <cstdint>

namespace mlir::attn {

/// Depth of the product of matrices: its operands fit into 32 KiB.
constexpr int64_t kGemmDepth = 128;

/// Bytes that are read of one stream before it is another's turn.
constexpr size_t kReadPiece = 512;

/// Loops for one kind of vector register. Each returns something that depends
/// on all its work, so that none of it can be left out.
struct PeakKernels {
  /// Run `rounds` rounds of fused multiply-adds.
  float (*fma)(int64_t rounds);
  /// Floating-point operations of a round.
  int64_t fmaOperations;

  /// Multiply `a [kGemmDepth, rows]` and `b [kGemmDepth, columns]` into
  /// registers, `rounds` times.
  float (*gemm)(const float *a, const float *b, int64_t rounds);
  int64_t gemmRows, gemmColumns;

  /// Read `bytes` bytes, a multiple of kReadPiece, of each of `streams` streams,
  /// the first at `data` and the others `apart` bytes from one another.
  float (*read)(const char *data, size_t apart, size_t streams, size_t bytes);
};

/// Return the loops for this processor.
PeakKernels getPeakKernels();

} // namespace mlir::attn

#endif // ATTN_LIB_EXECUTION_PEAKKERNELS_H
