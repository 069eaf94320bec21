// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensor maps of the emulator: what cuTensorMapEncodeTiled is told, written down and checked as the driver would.

#include "TensorMap.h"

#include "attn/Execution/CudaEmulator.h"

#include "llvm/Support/MathExtras.h"

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

uint64_t TensorMap::getBoxBytes() const {
  uint64_t bytes = elementBytes;
  for (uint32_t i = 0; i < rank; ++i)
    bytes *= box[i];
  return bytes;
}

uint64_t TensorMap::getBytes() const {
  uint64_t bytes = sizes[0] * elementBytes;
  for (uint32_t i = 1; i < rank; ++i)
    bytes = llvm::SaturatingMultiplyAdd(sizes[i] - 1, strides[i - 1], bytes);
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

/// Bytes of the swizzled span by the driver's numbers.
constexpr uint8_t kSwizzles[] = {0, 32, 64, 128};

/// Say what is wrong with dimension `i` of a map.
static std::string checkDimension(uint32_t i, const uint64_t *sizes,
                                  const uint64_t *strides, const uint32_t *box,
                                  const uint32_t *steps) {
  constexpr uint64_t kMostSize = uint64_t(1) << 32;
  constexpr uint64_t kMostStride = uint64_t(1) << 40;
  constexpr uint32_t kMostBox = 256;
  std::string axis = " of dimension " + std::to_string(i);
  if (sizes[i] == 0 || sizes[i] > kMostSize)
    return "expects a size" + axis + " from 1 to 2^32, got " +
           std::to_string(sizes[i]);
  if (box[i] == 0 || box[i] > kMostBox)
    return "expects a box" + axis + " of 1 to 256 elements, got " +
           std::to_string(box[i]);
  if (steps[i] != 1)
    return "expects a step" + axis + " of 1, got " + std::to_string(steps[i]);
  if (i > 0 && (strides[i - 1] % 16 != 0 || strides[i - 1] >= kMostStride))
    return "expects a stride" + axis +
           " that is a multiple of 16 bytes and less than 2^40, got " +
           std::to_string(strides[i - 1]);
  return "";
}

std::string
mlir::attn::checkTensorMap(const void *to, int dataType, uint32_t rank,
                           const void *data, const uint64_t *sizes,
                           const uint64_t *strides, const uint32_t *box,
                           const uint32_t *steps, int interleave, int swizzle) {
  auto isAligned = [](const void *address, uint32_t alignment) {
    return reinterpret_cast<uintptr_t>(address) % alignment == 0;
  };
  if (!to || !isAligned(to, 64))
    return "expects a map at a multiple of 64 bytes";
  if (rank == 0 || rank > kMostDimensions)
    return "expects 1 to 5 dimensions, got " + std::to_string(rank);
  uint32_t elementBytes = getElementBytes(dataType);
  if (elementBytes == 0)
    return "expects a type of elements from 0 to 12, got " +
           std::to_string(dataType);
  if (interleave != 0)
    return "expects no interleaving";
  if (swizzle < 0 || swizzle > 3)
    return "expects a swizzle from 0 to 3, got " + std::to_string(swizzle);
  if (!isAligned(data, 16))
    return "expects a tensor at a multiple of 16 bytes";
  for (uint32_t i = 0; i < rank; ++i)
    if (std::string fault = checkDimension(i, sizes, strides, box, steps);
        !fault.empty())
      return fault;
  uint32_t rowBytes = box[0] * elementBytes;
  uint32_t span = kSwizzles[swizzle];
  if (rowBytes % 16 != 0)
    return "expects rows of a box of a multiple of 16 bytes, got " +
           std::to_string(rowBytes);
  if (span != 0 && rowBytes > span)
    return "expects rows of a box of up to the " + std::to_string(span) +
           " bytes of the swizzle, got " + std::to_string(rowBytes);
  return "";
}

extern "C" int mlir::attn::attn_cuda_encode_tensor_map(
    void *to, int dataType, uint32_t rank, void *data, const uint64_t *sizes,
    const uint64_t *strides, const uint32_t *box, const uint32_t *steps,
    int interleave, int swizzle, int promotion, int fill) {
  constexpr int kInvalidValue = 1;
  if (!checkTensorMap(to, dataType, rank, data, sizes, strides, box, steps,
                      interleave, swizzle)
           .empty())
    return kInvalidValue;
  TensorMap map = {};
  map.elementBytes = getElementBytes(dataType);
  map.mark = kMark;
  map.data = static_cast<char *>(data);
  map.rank = static_cast<uint8_t>(rank);
  map.swizzle = kSwizzles[swizzle];
  map.fillsNan = fill != 0;
  for (uint32_t i = 0; i < rank; ++i) {
    map.sizes[i] = sizes[i];
    map.box[i] = static_cast<uint16_t>(box[i]);
    if (i > 0)
      map.strides[i - 1] = strides[i - 1];
  }
  std::memcpy(to, &map, sizeof(map));
  return 0;
}
