// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rounds doubles to the smaller formats and reads them back.

#include "attn/Interpreter/FloatFormats.h"

#include "llvm/ADT/bit.h"
#include "llvm/Support/ErrorHandling.h"

#include <cmath>

using namespace mlir::attn;

/// Bits of the fraction of a double.
constexpr int kDoubleFraction = 52;

/// A format of 16 or 8 bits: how many bits the exponent and the fraction have, and
/// whether it has numbers with the largest exponent, and no infinity: its only NaN
/// is all ones.
struct SmallFormat {
  int exponentBits, fractionBits;
  bool isFinite = false;

  int bias() const { return (1 << (exponentBits - 1)) - 1; }
  /// What is too large becomes this: an infinity, or the NaN.
  uint64_t infinity() const {
    if (isFinite)
      return (uint64_t(1) << (exponentBits + fractionBits)) - 1;
    return ((uint64_t(1) << exponentBits) - 1) << fractionBits;
  }
};

static constexpr SmallFormat kF16 = {5, 10};
static constexpr SmallFormat kBF16 = {8, 7};
static constexpr SmallFormat kF8E4M3FN = {4, 3, /*isFinite=*/true};
static constexpr SmallFormat kF8E5M2 = {5, 2};

/// Return `significand` without its last `shift` bits, to nearest, ties to
/// even.
static uint64_t shiftRounded(uint64_t significand, int shift) {
  if (shift > kDoubleFraction + 1)
    return 0;
  uint64_t quotient = significand >> shift;
  uint64_t rest = significand & ((uint64_t(1) << shift) - 1);
  uint64_t half = uint64_t(1) << (shift - 1);
  bool up = rest > half || (rest == half && (quotient & 1));
  return quotient + up;
}

static uint64_t encodeSmall(double value, SmallFormat format) {
  uint64_t bits = llvm::bit_cast<uint64_t>(value);
  uint64_t sign = (bits >> 63) << (format.exponentBits + format.fractionBits);
  uint64_t fraction = bits & ((uint64_t(1) << kDoubleFraction) - 1);
  int exponent = static_cast<int>((bits >> kDoubleFraction) & 0x7ff);
  if (exponent == 0x7ff) {
    uint64_t quiet =
        format.isFinite ? 0 : uint64_t(1) << (format.fractionBits - 1);
    return sign | format.infinity() | (fraction ? quiet : 0);
  }
  if (exponent == 0)
    return sign;
  int unbiased = exponent - 1023;
  int smallest = 1 - format.bias();
  int below = unbiased < smallest ? smallest - unbiased : 0;
  uint64_t rounded =
      shiftRounded(fraction | (uint64_t(1) << kDoubleFraction),
                   kDoubleFraction - format.fractionBits + below);
  uint64_t code = rounded;
  // A carry out of the fraction moves into the exponent, as it should.
  if (below == 0)
    code += static_cast<uint64_t>(unbiased - smallest) << format.fractionBits;
  return sign | (code < format.infinity() ? code : format.infinity());
}

static double decodeSmall(uint64_t bits, SmallFormat format) {
  uint64_t fraction = bits & ((uint64_t(1) << format.fractionBits) - 1);
  uint64_t exponent = (bits >> format.fractionBits) &
                      ((uint64_t(1) << format.exponentBits) - 1);
  uint64_t sign = (bits >> (format.exponentBits + format.fractionBits)) & 1;
  uint64_t wide = fraction << (kDoubleFraction - format.fractionBits);
  double magnitude;
  uint64_t ones =
      (uint64_t(1) << (format.exponentBits + format.fractionBits)) - 1;
  if (format.isFinite && (bits & ones) != ones && exponent != 0)
    magnitude = llvm::bit_cast<double>(
        ((exponent + 1023 - format.bias()) << 52) | wide);
  else if (exponent == (uint64_t(1) << format.exponentBits) - 1)
    magnitude = llvm::bit_cast<double>((uint64_t(0x7ff) << 52) | wide);
  else if (exponent == 0)
    magnitude = static_cast<double>(fraction) *
                llvm::bit_cast<double>(
                    uint64_t(1024 - format.bias() - format.fractionBits) << 52);
  else
    magnitude = llvm::bit_cast<double>(
        ((exponent + 1023 - format.bias()) << 52) | wide);
  return sign ? -magnitude : magnitude;
}

uint64_t mlir::attn::encodeFloat(double value, FloatFormat format) {
  switch (format) {
  case FloatFormat::F16:
    return encodeSmall(value, kF16);
  case FloatFormat::BF16:
    return encodeSmall(value, kBF16);
  case FloatFormat::F8E4M3FN:
    return encodeSmall(value, kF8E4M3FN);
  case FloatFormat::F8E5M2:
    return encodeSmall(value, kF8E5M2);
  case FloatFormat::F32:
    return llvm::bit_cast<uint32_t>(static_cast<float>(value));
  case FloatFormat::F64:
    return llvm::bit_cast<uint64_t>(value);
  }
  llvm_unreachable("all formats are handled");
}

double mlir::attn::decodeFloat(uint64_t bits, FloatFormat format) {
  switch (format) {
  case FloatFormat::F16:
    return decodeSmall(bits, kF16);
  case FloatFormat::BF16:
    return decodeSmall(bits, kBF16);
  case FloatFormat::F8E4M3FN:
    return decodeSmall(bits, kF8E4M3FN);
  case FloatFormat::F8E5M2:
    return decodeSmall(bits, kF8E5M2);
  case FloatFormat::F32:
    return llvm::bit_cast<float>(static_cast<uint32_t>(bits));
  case FloatFormat::F64:
    return llvm::bit_cast<double>(bits);
  }
  llvm_unreachable("all formats are handled");
}

double mlir::attn::roundFloat(double value, FloatFormat format) {
  if (format == FloatFormat::F64)
    return value;
  if (format == FloatFormat::F32)
    return static_cast<float>(value);
  return decodeFloat(encodeFloat(value, format), format);
}

double mlir::attn::roundSignificand(double value, unsigned bits) {
  if (bits == 0 || !std::isfinite(value))
    return value;
  int exponent;
  double significand = std::frexp(value, &exponent);
  int shift = static_cast<int>(bits);
  return std::ldexp(std::round(std::ldexp(significand, shift)),
                    exponent - shift);
}
