// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements of matrix instructions as floats, fast for those of 16 bits.

#ifndef ATTN_LIB_EXECUTION_CUDAEMULATOR_ELEMENTS_H
#define ATTN_LIB_EXECUTION_CUDAEMULATOR_ELEMENTS_H

#include "attn/Conversion/HostCalls.h"
#include "attn/Interpreter/FloatFormats.h"

#include <cstring>

namespace mlir::attn::emulator {

inline float bitsToFloat(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

inline uint32_t floatToBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

/// Return the number that the 16 bits of an f16 stand for.
inline float f16ToFloat(uint32_t bits) {
  // The exponent is moved to where it is in f32; the factor makes up for its
  // other bias, subnormal numbers included.
  constexpr float kBias = 5.192296858534828e+33f; // 2^112
  float value = bitsToFloat((bits & 0x7fff) << 13) * kBias;
  uint32_t result = floatToBits(value);
  if ((bits & 0x7c00) == 0x7c00)
    result |= 0x7f800000;
  return bitsToFloat(result | (bits & 0x8000) << 16);
}

inline float bf16ToFloat(uint32_t bits) { return bitsToFloat(bits << 16); }

/// Return the number of bits of an element.
inline uint32_t getBits(host_calls::Element type) {
  using host_calls::Element;
  switch (type) {
  case Element::F16:
  case Element::BF16:
    return 16;
  case Element::TF32:
  case Element::F32:
  case Element::S32:
    return 32;
  case Element::F64:
    return 64;
  case Element::S8:
  case Element::U8:
  case Element::E4M3:
  case Element::E5M2:
    return 8;
  }
  return 32;
}

/// Return element `index` of the `type`s in `word`, of 32 bits or fewer, as a float.
inline float getElement(host_calls::Element type, uint32_t word,
                        uint32_t index) {
  using host_calls::Element;
  switch (type) {
  case Element::F16:
    return f16ToFloat(word >> 16 * index & 0xffff);
  case Element::BF16:
    return bf16ToFloat(word >> 16 * index & 0xffff);
  case Element::TF32:
    // The lowest 13 bits are not looked at.
    return bitsToFloat(word & ~0x1fffu);
  case Element::F32:
    return bitsToFloat(word);
  case Element::S8:
    return static_cast<float>(static_cast<int8_t>(word >> 8 * index));
  case Element::U8:
    return static_cast<float>(static_cast<uint8_t>(word >> 8 * index));
  case Element::E4M3:
    return static_cast<float>(
        decodeFloat(word >> 8 * index & 0xff, FloatFormat::F8E4M3FN));
  case Element::E5M2:
    return static_cast<float>(
        decodeFloat(word >> 8 * index & 0xff, FloatFormat::F8E5M2));
  case Element::S32:
  case Element::F64:
    break;
  }
  return 0;
}

} // namespace mlir::attn::emulator

#endif // ATTN_LIB_EXECUTION_CUDAEMULATOR_ELEMENTS_H
