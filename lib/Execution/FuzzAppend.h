// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.cache_append for the fuzzer.

#ifndef ATTN_LIB_EXECUTION_FUZZAPPEND_H
#define ATTN_LIB_EXECUTION_FUZZAPPEND_H

#include "attn/Execution/FuzzCase.h"
#include "attn/Execution/FuzzRandom.h"

namespace mlir::attn {

/// Draw rows for a cache, of which extents are drawn already.
void drawAppend(FuzzCase &fuzz, FuzzRandom &random);

/// Let the cache have room for as many rows as there are. What `keep` names stays
/// as it is, if it can.
void makeRoom(FuzzCase &fuzz, llvm::StringRef keep);

/// Return rows, cache, positions, and what else there is.
std::vector<FuzzValue> getAppendOperands(const FuzzCase &fuzz);
std::string getAppendText(const FuzzCase &fuzz,
                          llvm::ArrayRef<FuzzValue> operands);

/// Fill the positions of rows, one of which is outside with `values=outside`.
void fillAppendPositions(const FuzzCase &fuzz, const HostTensor &tensor,
                         FuzzRandom &random);

} // namespace mlir::attn

#endif // ATTN_LIB_EXECUTION_FUZZAPPEND_H
