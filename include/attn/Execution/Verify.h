// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares what a function gave with what it should give.

#ifndef ATTN_EXECUTION_VERIFY_H
#define ATTN_EXECUTION_VERIFY_H

#include "attn/Execution/Compare.h"
#include "attn/Execution/Reference.h"
#include "attn/IR/AttnOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::attn {

/// What a function that is one attention should give.
struct ExpectedAttention {
  AttentionProblem problem;
  AttentionResult exact, plain;
  /// Of all results, but for the error of the plain computation.
  ErrorTerms terms;
};

/// Let the reference compute `op`, a single attention, on `inputs`. Where `onGpu`, its
/// `precision` is heeded.
llvm::Expected<ExpectedAttention>
computeExpected(SdpaOp op, ArrayRef<HostTensor> inputs, bool onGpu);

/// Return what `value`, a result of `op`, is in `result`.
const HostTensor &getResult(const AttentionResult &result, SdpaOp op,
                            Value value);

/// The verdict on all results of a function.
struct Verification {
  /// The comparison that is nearest to its limit, or furthest beyond.
  Comparison worst;
  /// Which result that is, and whom it was compared with.
  int64_t result = 0;
  StringRef judge;
  bool pass = true;
  /// How many elements are off, in the result where there are most.
  int64_t count = 0;
  /// Floating-point operations that the function needs.
  int64_t operations = 0;
};

/// Compare `results` of `function` on `inputs` with the interpreter's in f64
/// and, where the function is one attn.sdpa, with the straight-loop reference. Where
/// `onGpu`, a `precision` of ops is heeded.
llvm::Expected<Verification> verifyResults(func::FuncOp function,
                                           ArrayRef<HostTensor> inputs,
                                           ArrayRef<HostTensor> results,
                                           bool onGpu = false);

} // namespace mlir::attn

#endif // ATTN_EXECUTION_VERIFY_H
