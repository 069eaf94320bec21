// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of attributes that ops of other dialects carry from where they are made to the passes that read them.

#ifndef ATTN_IR_ATTRNAMES_H
#define ATTN_IR_ATTRNAMES_H

#include "llvm/ADT/StringRef.h"

namespace mlir::attn {

/// On a linalg op, a loop over tiles, or a kernel made of one: the schedule that passes
/// obey, which is an attribute of its own on ops of this dialect.
inline constexpr llvm::StringLiteral kScheduleAttrName = "attn.schedule";

/// On an arith.minsi that keeps an index inside of a tensor: what lies beyond is of
/// keys that are excluded, so it need not be the last element there.
inline constexpr llvm::StringLiteral kUnusedBeyondAttrName =
    "attn.unused_beyond";

/// On a math.exp: its argument is never positive.
inline constexpr llvm::StringLiteral kNonpositiveAttrName = "attn.nonpositive";

} // namespace mlir::attn

#endif // ATTN_IR_ATTRNAMES_H
