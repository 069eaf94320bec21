// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a tensor map says: how boxes of a tensor in global memory lie in shared memory.

#ifndef ATTN_LIB_EXECUTION_CUDAEMULATOR_TENSORMAP_H
#define ATTN_LIB_EXECUTION_CUDAEMULATOR_TENSORMAP_H

#include <cstdint>

namespace mlir::attn::emulator {

/// Dimensions of a tensor map at most.
constexpr uint32_t kMostDimensions = 5;

/// The 128 bytes of a map that the emulator's encoder fills. Dimension 0 is the
/// innermost; the strides, in bytes, are those of the others.
struct TensorMap {
  uint64_t mark;
  char *data;
  uint64_t strides[kMostDimensions - 1];
  uint64_t sizes[kMostDimensions];
  uint16_t box[kMostDimensions];
  uint8_t rank;
  uint8_t elementBytes;
  /// Bytes of the swizzled span: 0, 32, 64 or 128.
  uint8_t swizzle;
  uint8_t fillsNan;

  /// Return from where to behind where the tensor lies, in bytes.
  uint64_t getBytes() const;

  /// Return the map at `address`, or null if it is none of the emulator's.
  static const TensorMap *get(const void *address);

  /// Return the bytes of a box in shared memory.
  uint64_t getBoxBytes() const;
  /// Return to what a box must be aligned.
  uint32_t getAlignment() const;
};

/// Return where the byte lies that has `number` in shared memory without swizzle:
/// 16-byte units are exchanged by the number of the row of 128 bytes.
inline uint64_t swizzleNumber(uint64_t number, uint32_t span) {
  uint64_t mask = span == 0 ? 0 : span / 16 - 1;
  return number ^ ((number >> 7 & mask) << 4);
}

} // namespace mlir::attn::emulator

#endif // ATTN_LIB_EXECUTION_CUDAEMULATOR_TENSORMAP_H
