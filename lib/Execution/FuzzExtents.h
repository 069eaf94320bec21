// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Extents for the fuzzer.

#ifndef ATTN_LIB_EXECUTION_FUZZEXTENTS_H
#define ATTN_LIB_EXECUTION_FUZZEXTENTS_H

#include "attn/Execution/FuzzCase.h"
#include "attn/Execution/FuzzRandom.h"

namespace mlir::attn {

/// Draw the extents of an attention, of any size.
void drawExtents(FuzzCase &fuzz, FuzzRandom &random);

/// Make extents smaller until the case is cheap. Static ones keep their value
/// in `keep`.
void limitWork(FuzzCase &fuzz, llvm::StringRef keep);

} // namespace mlir::attn

#endif // ATTN_LIB_EXECUTION_FUZZEXTENTS_H
