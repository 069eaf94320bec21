// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The floating-point formats of tensors and how a double becomes one of
// them: to nearest, ties to even, in one step (a double that goes to f16 by way
// of f32 would be rounded twice).

#ifndef ATTN_INTERPRETER_FLOATFORMATS_H
#define ATTN_INTERPRETER_FLOATFORMATS_H

#include <cstdint>

namespace mlir::attn {

enum class FloatFormat { F16, BF16, F32, F64, F8E4M3FN, F8E5M2 };

/// Return the bits of `value` in `format`, in the low bytes.
uint64_t encodeFloat(double value, FloatFormat format);

/// Return the number that `bits` stand for in `format`.
double decodeFloat(uint64_t bits, FloatFormat format);

/// Return `value` as `format` can hold it.
double roundFloat(double value, FloatFormat format);

/// Return `value` with a significand of `bits` bits, to nearest, ties away from 0; as
/// it is for 0 bits.
double roundSignificand(double value, unsigned bits);

} // namespace mlir::attn

#endif // ATTN_INTERPRETER_FLOATFORMATS_H
