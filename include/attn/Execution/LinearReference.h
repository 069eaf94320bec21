// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linear attention by its definition, in straight loops over host tensors, as
// Reference.h has it for attention by softmax.

#ifndef ATTN_EXECUTION_LINEARREFERENCE_H
#define ATTN_EXECUTION_LINEARREFERENCE_H

#include "attn/Execution/Reference.h"

namespace mlir::attn {

/// What acts on queries and keys first.
enum class KeyFeature { Identity, Elu1, Relu, Exp };

/// One linear attention: operands (null = absent) and settings.
struct LinearProblem : HeadsProblem {
  const HostTensor *decay = nullptr, *beta = nullptr, *state = nullptr,
                   *normalizer = nullptr;
  KeyFeature feature = KeyFeature::Identity;
  bool normalize = false, causal = true;
};

/// How large the terms of a result's sums are. An element is a sum of products;
/// `size` is the largest sum of their magnitudes, and `steps` how many
/// exponentials these went through, weighted by them.
struct LinearTerms {
  double size = 0, steps = 0;
};

/// What one linear attention gives.
struct LinearResult {
  HostTensor output, state, normalizer;
  LinearTerms outputTerms, stateTerms, normalizerTerms;
  /// Multiplications and additions, twice the products.
  int64_t operations = 0;
};

/// Compute `problem` in f64, in long double for an f64 query. Fails where
/// shapes do not fit together.
llvm::Expected<LinearResult>
computeLinearReference(const LinearProblem &problem);

/// Compute `problem` as a plain program would: step by step in f32 (f64 for an
/// f64 query), one rounding to `outputKind` at the end.
llvm::Expected<LinearResult> computeLinearPlain(const LinearProblem &problem,
                                                ElementKind outputKind);

} // namespace mlir::attn

#endif // ATTN_EXECUTION_LINEARREFERENCE_H
