// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two judges: the interpreter for every function, the reference for one
// attention. docs/Numerics.md states the limits.

#include "attn/Execution/Verify.h"

#include "attn/Execution/InterpreterBridge.h"
#include "attn/Execution/SingleAttention.h"

#include <cmath>

using namespace mlir;
using namespace mlir::attn;

namespace {
/// What one judge expects of one result.
struct Expectation {
  const HostTensor *exact, *plain;
  const HostTensor *mayShow = nullptr;
  bool isLse = false;
};
} // namespace

/// Return the largest finite magnitude in `tensor`.
static double largestMagnitude(const HostTensor &tensor) {
  double largest = 0;
  tensor.forEach([&](int64_t offset) {
    double magnitude = std::fabs(tensor.load(offset));
    if (std::isfinite(magnitude))
      largest = std::max(largest, magnitude);
  });
  return largest;
}

/// Return how near `comparison` is to its limit; infinite beyond every limit.
static double severity(const Comparison &comparison) {
  if (comparison.maxError == 0)
    return 0;
  return comparison.limit > 0 ? comparison.maxError / comparison.limit
                              : INFINITY;
}

/// Let `judge` compare result `number` and add the verdict to `verification`.
static void judge(Verification &verification, StringRef judge, int64_t number,
                  const HostTensor &result, const Expectation &expected,
                  ErrorTerms terms) {
  CompareOptions options;
  if (isFloat(result.getKind())) {
    terms.plainError = largestDifference(*expected.plain, *expected.exact);
    options.limit = expected.isLse ? lseLimit(terms) : outputLimit(terms);
    options.plain = expected.plain;
    options.mayShow = expected.mayShow;
  }
  Comparison comparison = compareTensors(result, *expected.exact, options);
  verification.pass &= comparison.pass;
  verification.count = std::max(verification.count, comparison.count);
  bool isFirst = verification.judge.empty();
  if (!isFirst && severity(comparison) <= severity(verification.worst))
    return;
  verification.worst = comparison;
  verification.result = number;
  verification.judge = judge;
}

/// Let the interpreter alone judge `results`.
static llvm::Error judgeFunction(Verification &verification,
                                 func::FuncOp function,
                                 ArrayRef<HostTensor> inputs,
                                 ArrayRef<HostTensor> results,
                                 ArrayRef<HostTensor> exact,
                                 const AttentionStatistics &statistics) {
  AttentionStatistics ignored;
  auto plain = interpretOnHost(function, inputs, Arithmetic::Plain, ignored);
  if (!plain)
    return plain.takeError();
  for (auto [number, result] : llvm::enumerate(results)) {
    ErrorTerms terms;
    terms.kind = result.getKind();
    terms.largestScore = statistics.largestScore;
    terms.largestValue =
        std::max(statistics.largestValue, largestMagnitude(exact[number]));
    judge(verification, "the interpreter", number, result,
          {&exact[number], &(*plain)[number]}, terms);
  }
  return llvm::Error::success();
}

/// Let the reference, and the interpreter with its limits, judge the results
/// of `op`, which is all that `function` computes.
static llvm::Error judgeAttention(Verification &verification,
                                  func::FuncOp function, SdpaOp op,
                                  ArrayRef<HostTensor> inputs,
                                  ArrayRef<HostTensor> results,
                                  ArrayRef<HostTensor> interpreted) {
  AttentionProblem problem = getProblem(op, inputs);
  auto exact = computeReference(problem);
  if (!exact)
    return exact.takeError();
  auto outputType = cast<RankedTensorType>(op.getOutput().getType());
  auto plain =
      computePlain(problem, *getElementKind(outputType.getElementType()));
  if (!plain)
    return plain.takeError();
  ErrorTerms terms;
  terms.kind = problem.query->getKind();
  terms.largestScore = exact->largestScore;
  terms.largestValue = exact->largestValue;
  Operation *terminator = function.getBody().front().getTerminator();
  for (auto [number, value] : llvm::enumerate(terminator->getOperands())) {
    bool isLse = value == op.getLse();
    Expectation expected{isLse ? &exact->lse : &exact->output,
                         isLse ? &plain->lse : &plain->output,
                         isLse ? nullptr : &exact->mayShow, isLse};
    judge(verification, "the reference", number, results[number], expected,
          terms);
    expected.exact = &interpreted[number];
    judge(verification, "the interpreter", number, results[number], expected,
          terms);
  }
  return llvm::Error::success();
}

llvm::Expected<Verification>
mlir::attn::verifyResults(func::FuncOp function, ArrayRef<HostTensor> inputs,
                          ArrayRef<HostTensor> results) {
  AttentionStatistics statistics;
  auto exact = interpretOnHost(function, inputs, Arithmetic::Exact, statistics);
  if (!exact)
    return exact.takeError();
  Verification verification;
  verification.operations = statistics.operations;
  SdpaOp single = getSingleAttention(function);
  llvm::Error error = single ? judgeAttention(verification, function, single,
                                              inputs, results, *exact)
                             : judgeFunction(verification, function, inputs,
                                             results, *exact, statistics);
  if (error)
    return std::move(error);
  return verification;
}
