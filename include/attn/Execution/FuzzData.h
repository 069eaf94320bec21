// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the fuzzer's operands hold, and how they lie in memory.

#ifndef ATTN_EXECUTION_FUZZDATA_H
#define ATTN_EXECUTION_FUZZDATA_H

#include "attn/Execution/FuzzCase.h"
#include "attn/Execution/GuardedTensor.h"

namespace mlir::attn {

/// Allocate `value`, which is number `number` among those of `fuzz`. Only an
/// input may have an innermost stride other than 1 or the same element twice.
llvm::Expected<GuardedTensor> allocate(const FuzzCase &fuzz,
                                       const FuzzValue &value, unsigned number,
                                       bool isInput);

/// Make and fill all operands of `fuzz`, and forbid writes to them.
llvm::Expected<std::vector<GuardedTensor>> makeFuzzInputs(const FuzzCase &fuzz);

/// A bias beyond this is taken for the lowest number of its type.
inline constexpr double kLowestBias = -1e30;

/// Return a copy of `bias` in which -inf replaces the lowest numbers, which push a
/// key out of every row with another: what remains says how large scores are that
/// matter.
llvm::Expected<HostTensor> withoutLowest(const HostTensor &bias);

} // namespace mlir::attn

#endif // ATTN_EXECUTION_FUZZDATA_H
