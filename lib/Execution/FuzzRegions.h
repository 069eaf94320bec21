// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The regions of attention for the fuzzer.

#ifndef ATTN_LIB_EXECUTION_FUZZREGIONS_H
#define ATTN_LIB_EXECUTION_FUZZREGIONS_H

#include "attn/Execution/FuzzCase.h"

namespace mlir::attn {

/// Add what the regions of a case capture.
void addCaptured(const FuzzCase &fuzz, std::vector<FuzzValue> &operands);

/// Return ` score_mod(...) {...} mask_mod(...) {...}` as far as they are there.
std::string getRegionText(const FuzzCase &fuzz,
                          llvm::ArrayRef<FuzzValue> operands);

} // namespace mlir::attn

#endif // ATTN_LIB_EXECUTION_FUZZREGIONS_H
