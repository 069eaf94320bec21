// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two judges: the interpreter for every function, the references for one
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
  /// Whether the result is no sum of values: an lse, or weights.
  bool isNoSum = false;
  /// What the plain computation's error is multiplied by: less than 1 where it
  /// ran in f32 for want of anything between f64 and exact.
  double errorScale = 1;
  /// Error of `exact` itself.
  double ownError = 0;
};

/// The last place of f64 in units of that of f32.
constexpr double kDoublePerSingle = 0x1p-29;
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
    terms.plainError = expected.errorScale *
                       largestDifference(*expected.plain, *expected.exact);
    options.limit = expected.isNoSum ? lseLimit(terms) : outputLimit(terms);
    options.limit += expected.ownError;
    if (expected.errorScale == 1)
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

/// Let the reference judge a result as it is `expected`, and the interpreter with
/// the same limits.
static void judgeTwice(Verification &verification, int64_t number,
                       const HostTensor &result, Expectation expected,
                       const HostTensor &interpreted, const ErrorTerms &terms) {
  judge(verification, "the reference", number, result, expected, terms);
  // The interpreter's exact is f64, which for an f64 query has an error too.
  if (terms.kind == ElementKind::F64)
    expected.ownError = largestDifference(*expected.plain, *expected.exact);
  expected.exact = &interpreted;
  judge(verification, "the interpreter", number, result, expected, terms);
}

/// Return the coarser one of `kind` and of the types that weights in `function` may
/// be rounded to, which are those of its queries.
static ElementKind withRoundedWeights(func::FuncOp function, ElementKind kind) {
  auto hasQuery = [&](ElementKind wanted) {
    return function
        .walk([&](Operation *op) {
          bool isIt =
              isa<SdpaOp, MhaOp>(op) &&
              getElementKind(getElementTypeOrSelf(op->getOperand(0))) == wanted;
          return isIt ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  };
  if (kind == ElementKind::F64)
    return kind;
  if (kind == ElementKind::BF16 || hasQuery(ElementKind::BF16))
    return ElementKind::BF16;
  return hasQuery(ElementKind::F16) ? ElementKind::F16 : kind;
}

/// Return the fewest bits that factors of attention in `function` keep; 0: all.
static unsigned getLeastFactorBits(func::FuncOp function) {
  unsigned least = 0;
  auto note = [&](std::optional<Precision> precision) {
    unsigned bits = getFactorBits(precision);
    if (bits > 0 && (least == 0 || bits < least))
      least = bits;
  };
  function.walk([&](SdpaOp op) { note(op.getPrecision()); });
  function.walk([&](MhaOp op) { note(op.getPrecision()); });
  return least;
}

/// Return whether all that `function` computes has numbers of f64.
static bool isDouble(func::FuncOp function) {
  return !function
              .walk([](Operation *op) {
                bool isNarrow = llvm::any_of(op->getResultTypes(), [](Type t) {
                  auto element = dyn_cast<FloatType>(getElementTypeOrSelf(t));
                  return isa<RankedTensorType>(t) && element &&
                         !element.isF64();
                });
                return isNarrow ? WalkResult::interrupt()
                                : WalkResult::advance();
              })
              .wasInterrupted();
}

/// Let the interpreter alone judge `results`.
static llvm::Error
judgeFunction(Verification &verification, func::FuncOp function,
              ArrayRef<HostTensor> inputs, ArrayRef<HostTensor> results,
              ArrayRef<HostTensor> exact, const AttentionStatistics &statistics,
              bool onGpu) {
  AttentionStatistics ignored;
  bool hasDoubles =
      isDouble(function) && llvm::any_of(results, [](const HostTensor &result) {
        return result.getKind() == ElementKind::F64;
      });
  Arithmetic arithmetic = hasDoubles ? Arithmetic::Single
                          : onGpu    ? Arithmetic::Rounded
                                     : Arithmetic::Plain;
  auto plain = interpretOnHost(function, inputs, arithmetic, ignored);
  if (!plain)
    return plain.takeError();
  for (auto [number, result] : llvm::enumerate(results)) {
    ErrorTerms terms;
    terms.kind = result.getKind();
    // A sum in f64 of narrower numbers is as exact as they are.
    if (terms.kind == ElementKind::F64 && !hasDoubles)
      terms.kind = ElementKind::F32;
    terms.kind = withRoundedWeights(function, terms.kind);
    terms.factorBits = onGpu ? getLeastFactorBits(function) : 0;
    Expectation expected{&exact[number], &(*plain)[number]};
    if (terms.kind == ElementKind::F64)
      expected.errorScale = kDoublePerSingle;
    terms.largestScore = statistics.largestScore;
    terms.largestValue =
        std::max(statistics.largestValue, largestMagnitude(exact[number]));
    judge(verification, "the interpreter", number, result, expected, terms);
  }
  return llvm::Error::success();
}

llvm::Expected<ExpectedAttention>
mlir::attn::computeExpected(SdpaOp op, ArrayRef<HostTensor> inputs,
                            bool onGpu) {
  ExpectedAttention expected;
  expected.problem = getProblem(op, inputs);
  unsigned factorBits = onGpu ? getFactorBits(op.getPrecision()) : 0;
  expected.problem.factorBits = factorBits;
  auto exact = computeReference(expected.problem);
  if (!exact)
    return exact.takeError();
  auto plain = computePlain(
      expected.problem, *getElementKind(getElementTypeOrSelf(op.getOutput())));
  if (!plain)
    return plain.takeError();
  expected.terms.kind = expected.problem.query->getKind();
  expected.terms.factorBits = factorBits;
  expected.terms.largestScore = exact->largestScore;
  expected.terms.largestValue = exact->largestValue;
  expected.exact = std::move(*exact);
  expected.plain = std::move(*plain);
  return expected;
}

const HostTensor &mlir::attn::getResult(const AttentionResult &result,
                                        SdpaOp op, Value value) {
  if (value == op.getLse())
    return result.lse;
  return value == op.getWeights() ? result.weights : result.output;
}

/// Let the reference, and the interpreter with its limits, judge the results
/// of `op`, which is all that `function` computes.
static llvm::Error
judgeAttention(Verification &verification, func::FuncOp function, SdpaOp op,
               ArrayRef<HostTensor> inputs, ArrayRef<HostTensor> results,
               ArrayRef<HostTensor> interpreted, bool onGpu) {
  auto wanted = computeExpected(op, inputs, onGpu);
  if (!wanted)
    return wanted.takeError();
  Operation *terminator = function.getBody().front().getTerminator();
  for (auto [number, value] : llvm::enumerate(terminator->getOperands())) {
    Expectation expected{&getResult(wanted->exact, op, value),
                         &getResult(wanted->plain, op, value)};
    expected.isNoSum = value != op.getOutput();
    if (!expected.isNoSum)
      expected.mayShow = &wanted->exact.mayShow;
    judgeTwice(verification, number, results[number], expected,
               interpreted[number], wanted->terms);
  }
  return llvm::Error::success();
}

/// The same for a linear attention.
static llvm::Error judgeLinearAttention(Verification &verification,
                                        func::FuncOp function,
                                        LinearAttentionOp op,
                                        ArrayRef<HostTensor> inputs,
                                        ArrayRef<HostTensor> results,
                                        ArrayRef<HostTensor> interpreted) {
  LinearProblem problem = getProblem(op, inputs);
  auto exact = computeLinearReference(problem);
  if (!exact)
    return exact.takeError();
  auto plain = computeLinearPlain(
      problem, *getElementKind(getElementTypeOrSelf(op.getOutput())));
  if (!plain)
    return plain.takeError();
  Operation *terminator = function.getBody().front().getTerminator();
  for (auto [number, value] : llvm::enumerate(terminator->getOperands())) {
    bool isState = value == op.getNewState(),
         isOutput = value == op.getOutput();
    Expectation expected{isOutput  ? &exact->output
                         : isState ? &exact->state
                                   : &exact->normalizer,
                         isOutput  ? &plain->output
                         : isState ? &plain->state
                                   : &plain->normalizer};
    const LinearTerms &sums = isOutput  ? exact->outputTerms
                              : isState ? exact->stateTerms
                                        : exact->normalizerTerms;
    ErrorTerms terms;
    terms.kind =
        isOutput ? problem.query->getKind() : results[number].getKind();
    terms.largestValue = sums.size;
    terms.largestScore = sums.size > 0 ? sums.steps / sums.size : 0;
    judgeTwice(verification, number, results[number], expected,
               interpreted[number], terms);
  }
  return llvm::Error::success();
}

/// Let whoever knows `function` judge `results`.
static llvm::Error judgeAll(Verification &verification, func::FuncOp function,
                            ArrayRef<HostTensor> inputs,
                            ArrayRef<HostTensor> results,
                            ArrayRef<HostTensor> exact,
                            const AttentionStatistics &statistics, bool onGpu) {
  if (SdpaOp op = getSingleAttention(function))
    return judgeAttention(verification, function, op, inputs, results, exact,
                          onGpu);
  if (LinearAttentionOp op = getSingleLinearAttention(function))
    return judgeLinearAttention(verification, function, op, inputs, results,
                                exact);
  return judgeFunction(verification, function, inputs, results, exact,
                       statistics, onGpu);
}

llvm::Expected<Verification>
mlir::attn::verifyResults(func::FuncOp function, ArrayRef<HostTensor> inputs,
                          ArrayRef<HostTensor> results, bool onGpu) {
  AttentionStatistics statistics;
  auto exact = interpretOnHost(function, inputs, Arithmetic::Exact, statistics);
  if (!exact)
    return exact.takeError();
  Verification verification;
  verification.operations = statistics.operations;
  if (llvm::Error error = judgeAll(verification, function, inputs, results,
                                   *exact, statistics, onGpu))
    return std::move(error);
  return verification;
}
