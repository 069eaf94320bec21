// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the functions of all kinds of attention that the fuzzer writes have in common.

#ifndef ATTN_LIB_EXECUTION_FUZZTEXT_H
#define ATTN_LIB_EXECUTION_FUZZTEXT_H

#include "attn/Execution/FuzzCase.h"

namespace mlir::attn {

/// Return how tensor `number` of an attention is laid out: its letters, with
/// heads first or the sequence first.
std::string inLayout(const FuzzCase &fuzz, unsigned number,
                     llvm::StringRef letters);

/// Return ` layout = <query = bshd, ...>`, or nothing.
std::string getLayoutText(const FuzzCase &fuzz);

/// Return the element type and the shape of the scales of what is stored.
std::pair<std::string, std::string> getScaleParts(const FuzzCase &fuzz);

} // namespace mlir::attn

#endif // ATTN_LIB_EXECUTION_FUZZTEXT_H
