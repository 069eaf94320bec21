// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reference against numbers worked out by hand.

#include "Check.h"

#include "attn/Execution/Reference.h"
#include <cmath>

using namespace attn_unit;
using namespace mlir::attn;
using llvm::cantFail;

static HostTensor make(llvm::ArrayRef<int64_t> shape,
                       std::initializer_list<double> values,
                       ElementKind kind = ElementKind::F32) {
  HostTensor tensor = cantFail(HostTensor::create(kind, shape));
  int64_t i = 0;
  for (int64_t e = tensor.getSize(); i < e; ++i)
    tensor.store(i, values.begin()[i % values.size()]);
  return tensor;
}

static bool near(double a, double b) { return std::fabs(a - b) < 1e-12; }

namespace {
/// One row [1], keys 0 .. N-1 with score log(1 + j), values 10 j.
struct Ladder {
  explicit Ladder(int64_t keys, int64_t rows = 1)
      : query(make({1, 1, rows, 1}, {1}, ElementKind::F64)),
        key(cantFail(HostTensor::create(ElementKind::F64, {1, 1, keys, 1}))),
        value(cantFail(HostTensor::create(ElementKind::F64, {1, 1, keys, 1}))) {
    for (int64_t j = 0; j < keys; ++j) {
      key.store(j, std::log(1.0 + j));
      value.store(j, 10.0 * j);
    }
    problem.query = &query;
    problem.key = &key;
    problem.value = &value;
  }

  AttentionResult run() { return cantFail(computeReference(problem)); }

  HostTensor query, key, value;
  AttentionProblem problem;
};
} // namespace

/// Weights 1, 2, 3 over 6 of the values 0, 10, 20.
static void testBasic(Checker &checker) {
  AttentionResult result = Ladder(3).run();
  EXPECT(near(result.output.load(0), 80.0 / 6));
  EXPECT(near(result.lse.load(0), std::log(6.0)));
  EXPECT(near(result.largestScore, std::log(3.0)));
  EXPECT(result.largestValue == 20 && result.attended == 3);
}

/// Scores count before a cap, too, but only those of keys that are not excluded.
static void testLargestScore(Checker &checker) {
  Ladder ladder(3);
  ladder.problem.softcap = 0.5;
  AttentionResult result = ladder.run();
  EXPECT(near(result.largestScore, std::log(3.0)));
  EXPECT(near(result.largestFinalScore, 0.5 * std::tanh(2 * std::log(3.0))));
  HostTensor bias = make({3}, {1, 1, -INFINITY});
  ladder.problem.bias = &bias;
  result = ladder.run();
  EXPECT(
      near(result.largestFinalScore, 1 + 0.5 * std::tanh(2 * std::log(2.0))));
  EXPECT(result.largestScore == result.largestFinalScore);
}

/// A sink of log(6) takes half of the sum.
static void testSinks(Checker &checker) {
  Ladder ladder(3);
  HostTensor sinks = make({1}, {std::log(6.0)}, ElementKind::F64);
  ladder.problem.sinks = &sinks;
  AttentionResult result = ladder.run();
  EXPECT(near(result.output.load(0), 40.0 / 6));
  EXPECT(near(result.lse.load(0), std::log(12.0)));
  HostTensor none = make({1}, {0}, ElementKind::I32);
  ladder.problem.kvLengths = &none;
  result = ladder.run();
  EXPECT(result.output.load(0) == 0);
  EXPECT(near(result.lse.load(0), std::log(6.0)));
}

/// Both alignments of the triangle at M = 2, N = 3, and windows.
static void testPlaces(Checker &checker) {
  Ladder ladder(3, 2);
  ladder.problem.causal = Diagonal::TopLeft;
  EXPECT(ladder.run().attended == 3);
  EXPECT(ladder.run().output.load(0) == 0);
  ladder.problem.causal = Diagonal::BottomRight;
  EXPECT(near(ladder.run().output.load(0), 20.0 / 3));
  ladder.problem.windowLeft = 0;
  EXPECT(near(ladder.run().output.load(0), 10));
  EXPECT(near(ladder.run().output.load(1), 20));
  ladder.problem.causal = Diagonal::None;
  ladder.problem.windowLeft.reset();
  ladder.problem.windowRight = 0;
  HostTensor offset = make({}, {1}, ElementKind::I64);
  ladder.problem.queryOffset = &offset;
  EXPECT(near(ladder.run().output.load(0), 20.0 / 3));
  // Far below and far above: no key, every key.
  HostTensor low = make({1}, {-5}, ElementKind::I64);
  ladder.problem.queryOffset = &low;
  AttentionResult result = ladder.run();
  EXPECT(result.output.load(0) == 0 && std::isinf(result.lse.load(0)));
  low.storeInteger(0, INT64_MAX);
  EXPECT(near(ladder.run().output.load(1), 80.0 / 6));
}

/// What a row excludes does not show in it.
static void testExclusion(Checker &checker) {
  Ladder ladder(3);
  ladder.key.store(2, NAN);
  ladder.value.store(2, NAN);
  HostTensor mask = make({1, 3}, {1, 1, 0}, ElementKind::I1);
  ladder.problem.mask = &mask;
  AttentionResult result = ladder.run();
  EXPECT(near(result.output.load(0), 20.0 / 3));
  EXPECT(result.mayShow.loadInteger(0) == 0);
  ladder.key.store(2, 1000);
  HostTensor bias = make({3}, {0, 0, -INFINITY});
  ladder.problem.mask = nullptr;
  ladder.problem.bias = &bias;
  ladder.problem.softcap = 0.5;
  EXPECT(ladder.run().lse.load(0) <= 0.5 + std::log(2.0));
  ladder.problem.softcap.reset();
  HostTensor lowest = make({3}, {-3.4028234663852886e38});
  ladder.problem.bias = &lowest;
  ladder.value.store(2, 20);
  EXPECT(near(ladder.run().output.load(0), 10));
}

/// Head h reads key head h / (H / G), in every layout.
static void testGroups(Checker &checker) {
  HostTensor query = make({1, 2, 4, 3}, {1});
  HostTensor key = make({1, 5, 2, 3}, {1});
  HostTensor value = make({1, 5, 2, 1}, {7, 9});
  AttentionProblem problem;
  problem.query = &query;
  problem.key = &key;
  problem.value = &value;
  problem.queryOrder = problem.keyOrder = problem.valueOrder =
      problem.outputOrder = AxisOrder::SequenceFirst;
  AttentionResult result = cantFail(computePlain(problem, ElementKind::BF16));
  EXPECT(result.output.getShape() == llvm::ArrayRef<int64_t>({1, 2, 4, 1}));
  for (int64_t i = 0; i < 8; ++i)
    EXPECT(result.output.load(i) == (i % 4 < 2 ? 7 : 9));
}

static void testRefusals(Checker &checker) {
  Ladder ladder(3);
  HostTensor bias = make({2}, {0});
  ladder.problem.bias = &bias;
  llvm::Expected<AttentionResult> result = computeReference(ladder.problem);
  EXPECT(!result && llvm::toString(result.takeError()) ==
                        "expects dimension 0 of 'bias' to be 3, got 2");
  ladder.problem.bias = nullptr;
  HostTensor query = make({1, 3, 1, 1}, {1});
  HostTensor key = make({1, 2, 3, 1}, {1});
  ladder.problem.query = &query;
  ladder.problem.key = ladder.problem.value = &key;
  result = computeReference(ladder.problem);
  EXPECT(!result && llvm::toString(result.takeError()) ==
                        "3 query heads do not share 2 key heads evenly");
}

void attn_unit::testReference(Checker &checker) {
  testBasic(checker);
  testLargestScore(checker);
  testSinks(checker);
  testPlaces(checker);
  testExclusion(checker);
  testGroups(checker);
  testRefusals(checker);
}
