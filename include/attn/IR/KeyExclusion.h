// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which keys a row leaves out because of where they are, in saturating 64-bit
// arithmetic.

#ifndef ATTN_IR_KEYEXCLUSION_H
#define ATTN_IR_KEYEXCLUSION_H

#include "attn/IR/AttnDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::attn {

/// No position, window or length goes beyond this in compiled code: sums of a few
/// stay in 64 bits.
inline constexpr int64_t kFarthest = int64_t(1) << 61;

/// Return the position of row `row`, at least 0, shifted by `offset`; both and
/// the result are i64.
Value buildPosition(ImplicitLocOpBuilder &b, Value row, Value offset);

/// Return whether key `key` is behind `position` (if `causal`) or outside of
/// `window` (if there is one), both i64; nothing if neither can be.
Value buildOutside(ImplicitLocOpBuilder &b, Value key, Value position,
                   bool causal, std::optional<WindowAttr> window);

/// Return the disjunction of two i1, of which the first may be absent.
Value orElse(ImplicitLocOpBuilder &b, Value condition, Value other);

} // namespace mlir::attn

#endif // ATTN_IR_KEYEXCLUSION_H
