// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic of a GPU that a CPU has no instruction for.

#include "Elements.h"
#include "HostFunctions.h"

#include <cfloat>
#include <cmath>

using namespace mlir::attn;
using namespace mlir::attn::emulator;

/// Return 0, with its sign, for a subnormal number.
static float flush(float x) {
  return std::fabs(x) < FLT_MIN ? std::copysign(0.f, x) : x;
}

static float exp2Flushed(float x) { return flush(std::exp2(flush(x))); }
static float exp2Subnormal(float x) { return std::exp2(x); }
static float log2Flushed(float x) { return std::log2(flush(x)); }
static float reciprocal(float x) { return flush(1.f / flush(x)); }
static float inverseRoot(float x) { return 1.f / std::sqrt(flush(x)); }
static float root(float x) { return std::sqrt(flush(x)); }
static float hyperbolicTangent(float x) { return std::tanh(x); }
static float sine(float x) { return std::sin(x); }
static float cosine(float x) { return std::cos(x); }

/// Return `x` rounded to the 10 bits of a tf32's mantissa, ties away from 0.
static uint32_t toTf32(float x) {
  uint32_t bits = floatToBits(x);
  if ((bits & 0x7f800000) == 0x7f800000)
    return bits;
  return (bits + 0x1000) & ~0x1fffu;
}

/// Return the number of the byte that mode `mode` puts at `place`.
static uint32_t selectByte(uint32_t selector, uint32_t mode, uint32_t place) {
  uint32_t start = selector & 3;
  switch (mode) {
  case 1: // forward
    return start + place;
  case 2: // backward
    return (start - place) & 7;
  case 3: // replicate 8 bits
    return start;
  case 4: // clamp on the left
    return std::max(start, place);
  case 5: // clamp on the right
    return std::min(start, place);
  case 6: // replicate 16 bits
    return 2 * (start & 1) + (place & 1);
  default:
    return selector >> 4 * place & 7;
  }
}

static uint32_t permute(uint32_t low, uint32_t high, uint32_t selector,
                        uint32_t mode) {
  uint64_t pool = low | static_cast<uint64_t>(high) << 32;
  uint32_t result = 0;
  for (uint32_t place = 0; place < 4; ++place) {
    uint32_t byte = pool >> 8 * selectByte(selector, mode, place) & 0xff;
    // In the plain mode bit 3 of a nibble asks for eight copies of the sign.
    if (mode == 0 && (selector >> 4 * place & 8))
      byte = byte & 0x80 ? 0xff : 0;
    result |= byte << 8 * place;
  }
  return result;
}

llvm::ArrayRef<HostFunction> emulator::getMathFunctions() {
  static const HostFunction functions[] = {
      {"attn_cuda_exp2", exp2Flushed},
      {"attn_cuda_exp2_subnormal", exp2Subnormal},
      {"attn_cuda_log2", log2Flushed},
      {"attn_cuda_reciprocal", reciprocal},
      {"attn_cuda_rsqrt", inverseRoot},
      {"attn_cuda_sqrt", root},
      {"attn_cuda_tanh", hyperbolicTangent},
      {"attn_cuda_sin", sine},
      {"attn_cuda_cos", cosine},
      {"attn_cuda_to_tf32", toTf32},
      {"attn_cuda_permute", permute}};
  return functions;
}
