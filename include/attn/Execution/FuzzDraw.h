// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Draws what the fuzzer tries, and makes what failed smaller.

#ifndef ATTN_EXECUTION_FUZZDRAW_H
#define ATTN_EXECUTION_FUZZDRAW_H

#include "attn/Execution/FuzzCase.h"
#include "attn/Execution/FuzzRandom.h"

namespace mlir::attn {

/// Draw a function for `device`, as the keyword has it: an op, its operands and
/// attributes, and all extents.
FuzzCase drawFunction(FuzzRandom &random, llvm::StringRef device);

/// Draw data for the function of `fuzz`, and other extents where they are
/// dynamic.
FuzzCase drawCall(const FuzzCase &fuzz, FuzzRandom &random);

/// Return the smallest case found, from `fuzz` on, for which `fails` holds; it
/// is asked at most `trials` times.
FuzzCase minimize(const FuzzCase &fuzz, unsigned trials,
                  llvm::function_ref<bool(const FuzzCase &)> fails);

} // namespace mlir::attn

#endif // ATTN_EXECUTION_FUZZDRAW_H
