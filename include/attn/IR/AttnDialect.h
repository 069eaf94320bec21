// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dialect `attn`, its attributes and enums.

#ifndef ATTN_IR_ATTNDIALECT_H
#define ATTN_IR_ATTNDIALECT_H

#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"

#include "attn/IR/AttnDialect.h.inc"

#include "attn/IR/AttnEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "attn/IR/AttnAttrs.h.inc"

namespace mlir::attn {

/// Name of the attribute of a projection in linalg that is its layer's `precision`.
inline constexpr llvm::StringLiteral kPrecisionAttrName = "attn.precision";

/// Return how many bits of a factor of f32 a product keeps; 0: all.
inline unsigned getFactorBits(std::optional<Precision> precision) {
  switch (precision.value_or(Precision::Exact)) {
  case Precision::Exact:
    return 0;
  case Precision::Tf32:
    return 11;
  case Precision::Tf32x3:
    // Not these, but no worse: two factors of 22 bits are as far off as a product
    // without its smallest part.
    return 22;
  }
  return 0;
}

} // namespace mlir::attn

#endif // ATTN_IR_ATTNDIALECT_H
