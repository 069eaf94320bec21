// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops of checks that look for the first element with which something is wrong. Their turns need nothing of one
// another, so that many threads can share them.

#ifndef ATTN_LIB_CODEGEN_SEARCHLOOPS_H
#define ATTN_LIB_CODEGEN_SEARCHLOOPS_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::attn {

/// Attribute of each loop of a search: for every question the number of values that
/// the loop carries for it, first whether something was wrong, then what.
inline constexpr llvm::StringLiteral kSearchAttrName = "attn.search";

/// Let `state`, an answer and its values, be that after an element of `values` which
/// is wrong where `wrong` holds: the first stays.
void keepFirst(OpBuilder &builder, Location loc, Value wrong, ValueRange values,
               MutableArrayRef<Value> state);

/// Say that `loops` search, with an answer of so many values a question.
void markSearch(ArrayRef<scf::ForOp> loops, ArrayRef<int64_t> sizes);

} // namespace mlir::attn

#endif // ATTN_LIB_CODEGEN_SEARCHLOOPS_H
