// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cases of the fuzzer that are linear attention:
//
//   op=linear rule=gated H=4 G=2 N=65 D=60 E=96 decay=f32:D state=io feature=elu1 normalize=1

#ifndef ATTN_LIB_EXECUTION_FUZZLINEAR_H
#define ATTN_LIB_EXECUTION_FUZZLINEAR_H

#include "attn/Execution/FuzzCase.h"
#include "attn/Execution/FuzzRandom.h"

namespace mlir::attn {

/// Fails where the values of a linear attention do not go together.
llvm::Error checkLinear(const FuzzCase &fuzz);

/// Draw what is linear attention's own, for extents that are drawn.
void drawLinear(FuzzCase &fuzz, FuzzRandom &random);

/// Return how large the numbers of queries and keys may be.
int64_t getMostLinearAmplitude(const FuzzCase &fuzz);

/// Return whether the reference would take too long.
bool isTooMuchLinear(const FuzzCase &fuzz);

/// Return the operands and results, and the op without its results.
std::vector<FuzzValue> getLinearOperands(const FuzzCase &fuzz);
std::vector<FuzzValue> getLinearResults(const FuzzCase &fuzz);
std::string getLinearText(const FuzzCase &fuzz,
                          llvm::ArrayRef<FuzzValue> operands,
                          llvm::ArrayRef<FuzzValue> results);

/// Fill an operand.
void fillLinear(const FuzzCase &fuzz, const FuzzValue &value,
                const HostTensor &tensor, FuzzRandom &random);

} // namespace mlir::attn

#endif // ATTN_LIB_EXECUTION_FUZZLINEAR_H
