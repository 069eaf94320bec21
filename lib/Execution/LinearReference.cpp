// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linear attention by definition. For each batch and key head, step by step:
//
//   S = exp(g) S;  v' = beta (v - S^T k)  or  v;  S = S + k v'^T;  o = scale S^T q
//
// Beside the numbers it follows how large the terms are that they are sums of,
// which is what an error is relative to.

#include "attn/Execution/LinearReference.h"

#include "ReferenceParts.h"

#include <cmath>
#include <vector>

using namespace mlir::attn;
using namespace mlir::attn::reference;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

namespace {
/// A state, the sizes of the terms of each element, and these times the number
/// of exponentials that they went through.
template <typename T>
struct Tracked {
  std::vector<T> value;
  std::vector<double> size, steps;

  explicit Tracked(int64_t count)
      : value(count, T(0)), size(count, 0), steps(count, 0) {}

  void start(int64_t i, double given) {
    value[i] = static_cast<T>(given);
    size[i] = std::fabs(given);
  }
  void scale(int64_t i, T factor) {
    value[i] = factor * value[i];
    steps[i] = double(factor) * (steps[i] + size[i]);
    size[i] *= double(factor);
  }
};

/// Computes one problem in arithmetic of type T.
template <typename T>
class LinearRunner {
public:
  LinearRunner(const LinearProblem &problem, const Geometry &geometry,
               LinearResult &result)
      : p(problem), g(geometry), result(result),
        matrix(g.headSize * g.valueSize), sums(g.headSize) {
    output = headsFirst(result.output, p.outputOrder);
    scale = static_cast<T>(getScale(p, g));
  }

  void run() {
    for (int64_t b = 0; b < g.batch; ++b)
      for (int64_t head = 0; head < g.kvHeads; ++head)
        runHead(b, head);
  }

private:
  T feature(double number) const {
    T x = static_cast<T>(number);
    switch (p.feature) {
    case KeyFeature::Identity:
      return x;
    case KeyFeature::Elu1:
      return x > 0 ? x + T(1) : std::exp(x);
    case KeyFeature::Relu:
      return x < 0 ? T(0) : x;
    case KeyFeature::Exp:
      return std::exp(x);
    }
    return x;
  }

  std::vector<T> features(const HostTensor &tensor, int64_t b, int64_t h,
                          int64_t t) const {
    std::vector<T> row;
    for (int64_t d = 0; d < g.headSize; ++d)
      row.push_back(feature(tensor.load(tensor.getOffset({b, h, t, d}))));
    return row;
  }

  void runHead(int64_t b, int64_t head) {
    start(b, head);
    int64_t group = g.heads / g.kvHeads;
    auto readAll = [&](int64_t t) {
      for (int64_t h = head * group; h < (head + 1) * group; ++h)
        read(b, h, t);
    };
    for (int64_t t = 0; t < g.keys; ++t) {
      decay(b, head, t);
      write(b, head, t);
      if (p.causal)
        readAll(t);
    }
    for (int64_t t = 0; !p.causal && t < g.rows; ++t)
      readAll(t);
    finish(b, head);
  }

  void start(int64_t b, int64_t head) {
    matrix = Tracked<T>(g.headSize * g.valueSize);
    sums = Tracked<T>(g.headSize);
    for (int64_t d = 0; d < g.headSize; ++d) {
      if (p.normalizer)
        sums.start(d,
                   p.normalizer->load(p.normalizer->getOffset({b, head, d})));
      for (int64_t e = 0; p.state && e < g.valueSize; ++e)
        matrix.start(d * g.valueSize + e,
                     p.state->load(p.state->getOffset({b, head, d, e})));
    }
  }

  void decay(int64_t b, int64_t head, int64_t t) {
    if (!p.decay)
      return;
    for (int64_t d = 0; d < g.headSize; ++d) {
      int64_t at = p.decay->getRank() == 4 ? p.decay->getOffset({b, head, t, d})
                                           : p.decay->getOffset({b, head, t});
      T factor = std::exp(static_cast<T>(p.decay->load(at)));
      sums.scale(d, factor);
      for (int64_t e = 0; e < g.valueSize; ++e)
        matrix.scale(d * g.valueSize + e, factor);
    }
  }

  void write(int64_t b, int64_t head, int64_t t) {
    std::vector<T> k = features(g.key, b, head, t);
    for (int64_t e = 0; e < g.valueSize; ++e) {
      T v = static_cast<T>(g.value.load(g.value.getOffset({b, head, t, e})));
      double size = std::fabs(double(v));
      if (p.beta) {
        int64_t shared = p.beta->getDim(1) == 1 ? 0 : head;
        T beta =
            static_cast<T>(p.beta->load(p.beta->getOffset({b, shared, t})));
        T known = 0;
        for (int64_t d = 0; d < g.headSize; ++d) {
          int64_t i = d * g.valueSize + e;
          known += k[d] * matrix.value[i];
          size += std::fabs(double(k[d]) * double(matrix.value[i]));
        }
        v = beta * (v - known);
        size *= std::fabs(double(beta));
      }
      for (int64_t d = 0; d < g.headSize; ++d) {
        int64_t i = d * g.valueSize + e;
        // A delta rule replaces what it finds, and with it its error.
        if (p.beta)
          matrix.size[i] = std::fabs(double(matrix.value[i]));
        matrix.value[i] += k[d] * v;
        matrix.size[i] += std::fabs(double(k[d])) * size;
      }
    }
    for (int64_t d = 0; d < g.headSize; ++d) {
      sums.value[d] += k[d];
      sums.size[d] += std::fabs(double(k[d]));
    }
    result.operations += 2 * (p.beta ? 2 : 1) * g.headSize * g.valueSize;
  }

  static void note(double size, double steps, LinearTerms &terms) {
    if (std::isfinite(size))
      terms.size = std::max(terms.size, size);
    if (std::isfinite(steps))
      terms.steps = std::max(terms.steps, steps);
  }

  void read(int64_t b, int64_t h, int64_t t) {
    std::vector<T> q = features(g.query, b, h, t);
    T below = 0;
    double belowSteps = 0;
    for (int64_t d = 0; d < g.headSize; ++d) {
      below += q[d] * sums.value[d];
      belowSteps += std::fabs(double(q[d])) * sums.steps[d];
    }
    double factor =
        p.normalize ? (below == 0 ? 0 : 1 / double(below)) : double(scale);
    factor = std::fabs(factor);
    for (int64_t e = 0; e < g.valueSize; ++e) {
      T sum = 0;
      double size = 0, steps = 0;
      for (int64_t d = 0; d < g.headSize; ++d) {
        int64_t i = d * g.valueSize + e;
        double magnitude = std::fabs(double(q[d]));
        sum += q[d] * matrix.value[i];
        size += magnitude * matrix.size[i];
        steps += magnitude * matrix.steps[i];
      }
      T o = scale * sum;
      if (p.normalize) {
        o = below == 0 ? T(0) : sum / below;
        // The denominator has an error as well.
        steps += std::fabs(double(o)) * belowSteps;
        size *= 2;
      }
      note(factor * size, factor * steps, result.outputTerms);
      output.store(output.getOffset({b, h, t, e}), double(o));
    }
    result.operations += 2 * g.headSize * g.valueSize;
  }

  void finish(int64_t b, int64_t head) {
    for (int64_t d = 0; d < g.headSize; ++d) {
      note(sums.size[d], sums.steps[d], result.normalizerTerms);
      result.normalizer.store(result.normalizer.getOffset({b, head, d}),
                              double(sums.value[d]));
      for (int64_t e = 0; e < g.valueSize; ++e) {
        int64_t i = d * g.valueSize + e;
        note(matrix.size[i], matrix.steps[i], result.stateTerms);
        result.state.store(result.state.getOffset({b, head, d, e}),
                           double(matrix.value[i]));
      }
    }
  }

  const LinearProblem &p;
  const Geometry &g;
  LinearResult &result;
  T scale;
  HostTensor output;
  Tracked<T> matrix, sums;
};
} // namespace

/// Fails unless `tensor`, if it is there, has `shape`.
static Error checkShape(StringRef name, const HostTensor *tensor,
                        llvm::ArrayRef<int64_t> shape) {
  if (!tensor || tensor->getShape() == shape)
    return Error::success();
  return createStringError("the shape of '" + name + "' does not fit, got " +
                           tensor->getTypeName());
}

static Error checkProblem(const LinearProblem &p, const Geometry &g) {
  if (Error error = checkHeads(g))
    return error;
  if (p.causal && g.rows != g.keys)
    return createStringError("expects as many queries as keys, got " +
                             Twine(g.rows) + " and " + Twine(g.keys));
  bool perChannel = p.decay && p.decay->getRank() == 4;
  bool sharedBeta = p.beta && p.beta->getRank() == 3 && p.beta->getDim(1) == 1;
  llvm::SmallVector<int64_t> decay = {g.batch, g.kvHeads, g.keys};
  if (perChannel)
    decay.push_back(g.headSize);
  struct Wanted {
    StringRef name;
    const HostTensor *tensor;
    llvm::SmallVector<int64_t> shape;
  };
  const Wanted all[] = {
      {"key", &g.key, {g.batch, g.kvHeads, g.keys, g.headSize}},
      {"value", &g.value, {g.batch, g.kvHeads, g.keys, g.valueSize}},
      {"decay", p.decay, decay},
      {"beta", p.beta, {g.batch, sharedBeta ? 1 : g.kvHeads, g.keys}},
      {"state", p.state, {g.batch, g.kvHeads, g.headSize, g.valueSize}},
      {"normalizer", p.normalizer, {g.batch, g.kvHeads, g.headSize}}};
  for (const Wanted &wanted : all)
    if (Error error = checkShape(wanted.name, wanted.tensor, wanted.shape))
      return error;
  return Error::success();
}

/// Allocate the results of a problem.
static Expected<LinearResult> createResult(const LinearProblem &problem,
                                           const Geometry &g,
                                           ElementKind outputKind,
                                           ElementKind stateKind) {
  llvm::SmallVector<int64_t, 4> shape = {g.batch, g.heads, g.rows, g.valueSize};
  if (problem.outputOrder == AxisOrder::SequenceFirst)
    std::swap(shape[1], shape[2]);
  LinearResult result;
  Expected<HostTensor> output = HostTensor::create(outputKind, shape);
  if (!output)
    return output.takeError();
  Expected<HostTensor> state = HostTensor::create(
      stateKind, {g.batch, g.kvHeads, g.headSize, g.valueSize});
  if (!state)
    return state.takeError();
  Expected<HostTensor> normalizer =
      HostTensor::create(stateKind, {g.batch, g.kvHeads, g.headSize});
  if (!normalizer)
    return normalizer.takeError();
  result.output = *output;
  result.state = *state;
  result.normalizer = *normalizer;
  return result;
}

template <typename T>
static Expected<LinearResult> compute(const LinearProblem &problem,
                                      ElementKind outputKind,
                                      ElementKind stateKind) {
  Expected<Geometry> geometry = readGeometry(problem);
  if (!geometry)
    return geometry.takeError();
  if (Error error = checkProblem(problem, *geometry))
    return std::move(error);
  Expected<LinearResult> result =
      createResult(problem, *geometry, outputKind, stateKind);
  if (result)
    LinearRunner<T>(problem, *geometry, *result).run();
  return result;
}

Expected<LinearResult>
mlir::attn::computeLinearReference(const LinearProblem &problem) {
  // Of an f64 problem f64 would only be the plain computation again.
  if (problem.query && problem.query->getKind() == ElementKind::F64)
    return compute<long double>(problem, ElementKind::F64, ElementKind::F64);
  return compute<double>(problem, ElementKind::F64, ElementKind::F64);
}

Expected<LinearResult>
mlir::attn::computeLinearPlain(const LinearProblem &problem,
                               ElementKind outputKind) {
  if (problem.query && problem.query->getKind() == ElementKind::F64)
    return compute<double>(problem, outputKind, ElementKind::F64);
  return compute<float>(problem, outputKind, ElementKind::F32);
}
