// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loops are written once, for any width of vector, and compiled for each set of instructions; which one runs is
// decided by what the processor says it has. Compiled with -ffp-contract=fast: a * b + c is one instruction.

#include "PeakKernels.h"

#include <cstring>

using namespace mlir::attn;

/// A register of `Bytes` bytes of floats.
template <int Bytes>
struct VectorOf {
  typedef float Type __attribute__((vector_size(Bytes)));
};

#define ALWAYS_INLINE __attribute__((always_inline)) static inline

/// Independent sums: enough to hide a latency of 5 in two units.
constexpr int kSums = 12;

template <int Bytes>
ALWAYS_INLINE float runFma(int64_t rounds) {
  using Vector = typename VectorOf<Bytes>::Type;
  Vector sums[kSums] = {};
  Vector factor = Vector{} + 0.5f, term = Vector{} + 1.0f;
  // The compiler must not know the numbers, or it would compute the result.
  asm volatile("" : "+m"(factor), "+m"(term));
  for (int64_t round = 0; round < rounds; ++round)
    for (int i = 0; i < kSums; ++i)
      sums[i] = sums[i] * factor + term;
  float total = 0;
  for (int i = 0; i < kSums; ++i)
    total += sums[i][0];
  return total;
}

template <int Bytes, int Rows>
ALWAYS_INLINE float runGemm(const float *a, const float *b, int64_t rounds) {
  using Vector = typename VectorOf<Bytes>::Type;
  constexpr int kLanes = Bytes / sizeof(float);
  Vector sums[Rows][2] = {};
  for (int64_t round = 0; round < rounds; ++round) {
    // Another round is not the same: memory may have changed.
    asm volatile("" ::: "memory");
    for (int64_t k = 0; k < kGemmDepth; ++k) {
      Vector right[2];
      std::memcpy(right, b + k * 2 * kLanes, sizeof(right));
      for (int row = 0; row < Rows; ++row) {
        float left = a[k * Rows + row];
        sums[row][0] = sums[row][0] + left * right[0];
        sums[row][1] = sums[row][1] + left * right[1];
      }
    }
  }
  float total = 0;
  for (int row = 0; row < Rows; ++row)
    total += sums[row][0][0] + sums[row][1][0];
  return total;
}

template <int Bytes>
ALWAYS_INLINE float runRead(const char *data, size_t apart, size_t streams,
                            size_t bytes) {
  using Vector = typename VectorOf<Bytes>::Type;
  constexpr int kReadSums = 4;
  Vector sums[kReadSums] = {};
  for (size_t at = 0; at < bytes; at += kReadPiece)
    for (size_t stream = 0; stream < streams; ++stream) {
      const char *piece = data + stream * apart + at;
      for (size_t i = 0; i < kReadPiece; i += kReadSums * Bytes) {
        Vector values[kReadSums];
        std::memcpy(values, piece + i, sizeof(values));
        for (int sum = 0; sum < kReadSums; ++sum)
          sums[sum] += values[sum];
      }
    }
  float total = 0;
  for (const Vector &sum : sums)
    total += sum[0];
  return total;
}

/// Define the loops for registers of `bytes` bytes and tiles of `rows` rows,
/// compiled with the attribute `target`.
#define DEFINE_KERNELS(name, target, bytes, rows)                              \
  target static float name##Fma(int64_t rounds) {                              \
    return runFma<bytes>(rounds);                                              \
  }                                                                            \
  target static float name##Gemm(const float *a, const float *b,               \
                                 int64_t rounds) {                             \
    return runGemm<bytes, rows>(a, b, rounds);                                 \
  }                                                                            \
  target static float name##Read(const char *data, size_t apart,               \
                                 size_t streams, size_t size) {                \
    return runRead<bytes>(data, apart, streams, size);                         \
  }                                                                            \
  static constexpr PeakKernels name##Kernels = {                               \
      name##Fma, 2 * kSums * (bytes / 4), name##Gemm,                          \
      rows,      2 * (bytes / 4),         name##Read};

DEFINE_KERNELS(generic, , 16, 4)
#if defined(__x86_64__)
#if defined(__clang__)
#define AVX512_TARGET __attribute__((target("avx512f"), min_vector_width(512)))
#else
#define AVX512_TARGET __attribute__((target("avx512f,prefer-vector-width=512")))
#endif
DEFINE_KERNELS(avx2, __attribute__((target("avx2,fma"))), 32, 6)
DEFINE_KERNELS(avx512, AVX512_TARGET, 64, 12)
#endif

PeakKernels mlir::attn::getPeakKernels() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f"))
    return avx512Kernels;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return avx2Kernels;
#endif
  return genericKernels;
}
