// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides whether a result is right: how far it may be from the exact one, how
// far it is, and where.

#ifndef ATTN_EXECUTION_COMPARE_H
#define ATTN_EXECUTION_COMPARE_H

#include "attn/Execution/Tensor.h"

namespace mlir::attn {

/// What the limits of docs/Numerics.md depend on.
struct ErrorTerms {
  /// Largest error of the plain computation against the exact one.
  double plainError = 0;
  /// Largest finite |s| and |value| that are not excluded.
  double largestScore = 0, largestValue = 0;
  /// The query's type.
  ElementKind kind = ElementKind::F32;
  /// How many bits weights keep as factors of values; 0: all.
  unsigned factorBits = 0;
};

/// Return the largest error that an output, or an lse, may have.
double outputLimit(const ErrorTerms &terms);
double lseLimit(const ErrorTerms &terms);

/// What compareTensors takes into account beside the expected numbers.
struct CompareOptions {
  double limit = 0;
  /// The plain computation's result: where it overflows although the exact
  /// number is finite, the result may overflow too.
  const HostTensor *plain = nullptr;
  /// An i1 tensor of the same shape: true where a result that is not finite is
  /// tolerated (AttentionResult::mayShow).
  const HostTensor *mayShow = nullptr;
};

/// How a result compares with what was expected.
struct Comparison {
  bool pass = true;
  double maxError = 0;
  llvm::SmallVector<int64_t, 4> at;
  double limit = 0;
  /// How many elements are further away than the limit.
  int64_t count = 0;
};

/// Compare `result` with `expected`: NaN matches NaN, an infinity the same
/// infinity, and a finite number one that is at most the limit away. Tensors
/// of different shapes do not match.
Comparison compareTensors(const HostTensor &result, const HostTensor &expected,
                          const CompareOptions &options);

/// Return the largest distance between elements that are finite in both, which
/// have the same shape.
double largestDifference(const HostTensor &a, const HostTensor &b);

} // namespace mlir::attn

#endif // ATTN_EXECUTION_COMPARE_H
