// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attributes of attention on packed sequences while it is tiled twice: for those of few rows, and for the others.

#ifndef ATTN_IR_PACKEDROWS_H
#define ATTN_IR_PACKEDROWS_H

#include "llvm/ADT/StringRef.h"

namespace mlir::attn {

/// Sequences with more rows than it says are not there.
inline constexpr llvm::StringLiteral kMostRowsAttrName = "attn.most_rows";

/// Sequences with no more rows than it says are not there.
inline constexpr llvm::StringLiteral kMoreRowsAttrName = "attn.more_rows_than";

} // namespace mlir::attn

#endif // ATTN_IR_PACKEDROWS_H
