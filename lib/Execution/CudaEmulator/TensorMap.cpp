// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensor maps of the emulator: what cuTensorMapEncodeTiled is told, written down and checked as the driver would.

#include "TensorMap.h"

#include "attn/Execution/CudaEmulator.h"

#include <algorithm>
#include <cstring>

using namespace mlir::attn;
using namespace mlir::attn::emulator;

/// What a map of ours starts with.
constexpr uint64_t kMark = 0x70616d2d6e747461; // "attn-map"

static_assert(sizeof(TensorMap) <= 128, "a tensor map has 128 bytes");

const TensorMap *TensorMap::get(const void *address) {
  auto *map = static_cast<const TensorMap *>(address);
  return map->mark == kMark ? map : nullptr;
}

uint32_t TensorMap::getBoxBytes() const {
  uint32_t bytes = elementBytes;
  for (uint32_t i = 0; i < rank; ++i)
    bytes *= box[i];
  return bytes;
}

uint32_t TensorMap::getAlignment() const {
  // Eight rows of the swizzled span repeat the pattern.
  return std::max<uint32_t>(128, 8 * swizzle);
}

/// Return the bytes of the driver's data type `type`, or 0 if it has no such type.
static uint8_t getElementBytes(int type) {
  // u8, u16, u32, s32, u64, s64, f16, f32, f64, bf16, f32 flushed, tf32, tf32 flushed
  constexpr uint8_t kBytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  return type >= 0 && type < static_cast<int>(sizeof(kBytes)) ? kBytes[type]
                                                              : 0;
}

/// Return whether the driver would take the sizes, strides and box.
static bool isValid(const TensorMap &map, const uint64_t *sizes,
                    const uint64_t *strides, const uint32_t *box,
                    const uint32_t *steps) {
  constexpr uint64_t kMostSize = uint64_t(1) << 32;
  constexpr uint64_t kMostStride = uint64_t(1) << 40;
  constexpr uint32_t kMostBox = 256;
  for (uint32_t i = 0; i < map.rank; ++i) {
    if (sizes[i] == 0 || sizes[i] > kMostSize || box[i] == 0 ||
        box[i] > kMostBox || steps[i] != 1)
      return false;
    if (i > 0 && (strides[i - 1] % 16 != 0 || strides[i - 1] >= kMostStride))
      return false;
  }
  uint32_t rowBytes = box[0] * map.elementBytes;
  return rowBytes % 16 == 0 && (map.swizzle == 0 || rowBytes <= map.swizzle) &&
         reinterpret_cast<uintptr_t>(map.data) % 16 == 0;
}

extern "C" int mlir::attn::attn_cuda_encode_tensor_map(
    void *to, int dataType, uint32_t rank, void *data, const uint64_t *sizes,
    const uint64_t *strides, const uint32_t *box, const uint32_t *steps,
    int interleave, int swizzle, int promotion, int fill) {
  constexpr int kInvalidValue = 1;
  constexpr uint8_t kSwizzles[] = {0, 32, 64, 128};
  TensorMap map = {};
  map.elementBytes = getElementBytes(dataType);
  if (!to || rank == 0 || rank > kMostDimensions || map.elementBytes == 0 ||
      interleave != 0 || swizzle < 0 || swizzle > 3)
    return kInvalidValue;
  map.mark = kMark;
  map.data = static_cast<char *>(data);
  map.rank = static_cast<uint8_t>(rank);
  map.swizzle = kSwizzles[swizzle];
  map.fillsNan = fill != 0;
  if (!isValid(map, sizes, strides, box, steps))
    return kInvalidValue;
  for (uint32_t i = 0; i < rank; ++i) {
    map.sizes[i] = static_cast<uint32_t>(sizes[i]);
    map.box[i] = static_cast<uint16_t>(box[i]);
    if (i > 0)
      map.strides[i - 1] = strides[i - 1];
  }
  std::memcpy(to, &map, sizeof(map));
  return 0;
}
