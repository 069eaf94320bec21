// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Judges the results of fuzzed functions within the limits of docs/Numerics.md.

#include "attn/Execution/FuzzJudge.h"

#include "attn/Execution/FuzzData.h"
#include "attn/Execution/InterpreterBridge.h"
#include "attn/Execution/SingleAttention.h"
#include "attn/Execution/Verify.h"

#include <cmath>

using namespace mlir;
using namespace mlir::attn;

/// Scores of this size and its negative differ by more than f32's smallest
/// exponential: e^-88 is the last normal number.
constexpr double kFarApart = 40;

/// Say where result `number` is how far off.
static std::string describe(const Comparison &comparison, size_t number,
                            const HostTensor &result,
                            const HostTensor *expected) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "result " << number << " [";
  llvm::interleaveComma(comparison.at, os);
  os << "] is off by " << comparison.maxError << ", limit " << comparison.limit
     << ", " << comparison.count << " of " << result.getSize();
  if (expected && comparison.at.size() == result.getShape().size() &&
      result.getShape() == expected->getShape())
    os << ": got " << result.load(result.getOffset(comparison.at))
       << ", expected " << expected->load(expected->getOffset(comparison.at));
  return text;
}

/// Return the largest score whose rounding matters. That is not always the
/// largest of all, `exact`: next to the lowest finite number no other one does,
/// and a limit that went by it would hold for anything.
static llvm::Expected<double> findLargestScore(AttentionProblem problem,
                                               double exact) {
  if (!problem.bias || exact < -kLowestBias)
    return exact;
  auto ordinary = withoutLowest(*problem.bias);
  if (!ordinary)
    return ordinary.takeError();
  problem.bias = &*ordinary;
  auto result = computeReference(problem);
  if (!result)
    return result.takeError();
  return result->largestScore;
}

/// Return whether weights of keys that are not excluded may be 0 in f32: scores
/// lie far apart, or a sink may be far above them.
static bool mayVanish(const AttentionProblem &problem,
                      const AttentionResult &exact) {
  return problem.sinks || exact.largestFinalScore > kFarApart;
}

/// Return a copy of `expected` with the numbers of `result` where a NaN would
/// have to show in it, if the weight of the value that brings it is not 0.
static llvm::Expected<HostTensor> takeFinite(const HostTensor &result,
                                             const HostTensor &expected,
                                             const HostTensor &mayShow) {
  auto copy = expected.convert(expected.getKind());
  if (!copy)
    return copy;
  SmallVector<int64_t> offsets;
  result.forEach([&](int64_t offset) { offsets.push_back(offset); });
  size_t next = 0;
  // Both are contiguous.
  copy->forEach([&](int64_t offset) {
    double got = result.load(offsets[next++]);
    if (mayShow.loadInteger(offset) && !std::isfinite(copy->load(offset)) &&
        std::isfinite(got))
      copy->store(offset, got);
  });
  return copy;
}

static llvm::Expected<Complaint>
judgeAttention(func::FuncOp function, SdpaOp op, ArrayRef<HostTensor> inputs,
               ArrayRef<HostTensor> results, bool onGpu) {
  auto expected = computeExpected(op, inputs, onGpu);
  if (!expected)
    return expected.takeError();
  const AttentionResult &exact = expected->exact;
  auto score = findLargestScore(expected->problem, exact.largestScore);
  if (!score)
    return score.takeError();
  ErrorTerms terms = expected->terms;
  Operation *terminator = function.getBody().front().getTerminator();
  for (auto [number, value] : llvm::enumerate(terminator->getOperands())) {
    const HostTensor &exactOne = getResult(exact, op, value);
    CompareOptions options;
    options.plain = &getResult(expected->plain, op, value);
    bool isSum = value == op.getOutput();
    options.mayShow = isSum ? &exact.mayShow : nullptr;
    terms.plainError = largestDifference(*options.plain, exactOne);
    // An lse next to the lowest number is such a number itself.
    terms.largestScore = value == op.getLse() ? exact.largestScore : *score;
    options.limit = isSum ? outputLimit(terms) : lseLimit(terms);
    HostTensor wanted = exactOne;
    if (isSum && mayVanish(expected->problem, exact)) {
      auto taken = takeFinite(results[number], exactOne, exact.mayShow);
      if (!taken)
        return taken.takeError();
      wanted = *taken;
    }
    Comparison comparison = compareTensors(results[number], wanted, options);
    if (!comparison.pass)
      return describe(comparison, number, results[number], &exactOne);
  }
  return Complaint();
}

Complaint mlir::attn::judgeFuzzResults(func::FuncOp function,
                                       ArrayRef<HostTensor> inputs,
                                       ArrayRef<HostTensor> results,
                                       bool onGpu) {
  if (SdpaOp op = getSingleAttention(function)) {
    auto complaint = judgeAttention(function, op, inputs, results, onGpu);
    if (!complaint)
      return "the reference: " + llvm::toString(complaint.takeError());
    return *complaint;
  }
  auto verification = verifyResults(function, inputs, results, onGpu);
  if (!verification)
    return "the interpreter: " + llvm::toString(verification.takeError());
  if (verification->pass)
    return std::nullopt;
  size_t number = verification->result;
  return describe(verification->worst, number, results[number], nullptr);
}
