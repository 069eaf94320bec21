// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares tensors within limits; docs/Numerics.md says where these come from.

#include "attn/Execution/Compare.h"

#include "attn/IR/AttnDialect.h"

#include <cmath>
#include <limits>

using namespace mlir::attn;

/// Rounding steps of the accumulator that a score of size 1 may cost: 2 units
/// in the last place of f32, of f64.
constexpr double kScoreStep = 0x1p-22;
constexpr double kDoubleScoreStep = 0x1p-51;

static double scoreTerm(const ErrorTerms &terms) {
  double step = terms.kind == ElementKind::F64 ? kDoubleScoreStep : kScoreStep;
  return step * (8 + terms.largestScore);
}

/// Return how much rounding the weights to the type of the values, or to factors, may
/// cost.
static double weightRounding(const ErrorTerms &terms) {
  if (terms.kind == ElementKind::BF16)
    return 0x1p-8;
  if (terms.kind == ElementKind::F16)
    return 0x1p-11;
  int bits = static_cast<int>(terms.factorBits);
  return bits > 0 ? std::ldexp(1, -bits) : 0;
}

/// Return how many products an accumulator adds up for each one of numbers.
static double productsForOne(const ErrorTerms &terms) {
  return terms.factorBits == getFactorBits(Precision::Tf32x3) ? 3 : 1;
}

/// Return what sums may cost in another order.
static double sumTerm(const ErrorTerms &terms) {
  return 2 * productsForOne(terms) * terms.plainError;
}

double mlir::attn::outputLimit(const ErrorTerms &terms) {
  return sumTerm(terms) +
         (scoreTerm(terms) + weightRounding(terms)) * terms.largestValue;
}

double mlir::attn::lseLimit(const ErrorTerms &terms) {
  return sumTerm(terms) + scoreTerm(terms);
}

/// Return the distance between two elements: 0 for the same infinity or two
/// NaNs, infinity where only one of them is finite.
static double distance(double result, double expected) {
  if (std::isnan(result) || std::isnan(expected))
    return std::isnan(result) == std::isnan(expected)
               ? 0
               : std::numeric_limits<double>::infinity();
  return result == expected ? 0 : std::fabs(result - expected);
}

/// Return the distance between two elements of integer tensors, of which a
/// double need not tell one from the next.
static double distance(int64_t result, int64_t expected) {
  if (result == expected)
    return 0;
  return std::max(1.0, std::fabs(double(result) - double(expected)));
}

/// Call `visit` with each index of `shape`.
template <typename Visit>
static void forEachIndex(llvm::ArrayRef<int64_t> shape, Visit visit) {
  if (llvm::is_contained(shape, 0))
    return;
  llvm::SmallVector<int64_t, 4> index(shape.size(), 0);
  while (true) {
    visit(llvm::ArrayRef<int64_t>(index));
    int64_t dim = static_cast<int64_t>(shape.size()) - 1;
    for (; dim >= 0 && ++index[dim] == shape[dim]; --dim)
      index[dim] = 0;
    if (dim < 0)
      return;
  }
}

Comparison mlir::attn::compareTensors(const HostTensor &result,
                                      const HostTensor &expected,
                                      const CompareOptions &options) {
  Comparison comparison;
  comparison.limit = options.limit;
  if (result.getShape() != expected.getShape()) {
    comparison.pass = false;
    comparison.maxError = std::numeric_limits<double>::infinity();
    comparison.count = expected.getSize();
    return comparison;
  }
  comparison.at.assign(expected.getRank(), 0);
  bool integers = !isFloat(result.getKind()) && !isFloat(expected.getKind());
  forEachIndex(expected.getShape(), [&](llvm::ArrayRef<int64_t> index) {
    double got = result.load(result.getOffset(index));
    double want = expected.load(expected.getOffset(index));
    if (!std::isfinite(got)) {
      if (options.mayShow &&
          options.mayShow->loadInteger(options.mayShow->getOffset(index)))
        return;
      if (options.plain && std::isfinite(want) &&
          !std::isfinite(options.plain->load(options.plain->getOffset(index))))
        return;
    }
    double error =
        integers ? distance(result.loadInteger(result.getOffset(index)),
                            expected.loadInteger(expected.getOffset(index)))
                 : distance(got, want);
    comparison.count += !(error <= options.limit);
    if (error <= comparison.maxError)
      return;
    comparison.maxError = error;
    comparison.at.assign(index.begin(), index.end());
  });
  comparison.pass = comparison.count == 0;
  return comparison;
}

double mlir::attn::largestDifference(const HostTensor &a, const HostTensor &b) {
  double largest = 0;
  forEachIndex(a.getShape(), [&](llvm::ArrayRef<int64_t> index) {
    double first = a.load(a.getOffset(index));
    double second = b.load(b.getOffset(index));
    if (std::isfinite(first) && std::isfinite(second))
      largest = std::max(largest, std::fabs(first - second));
  });
  return largest;
}
