// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention by definition. For each batch, head and row:
//
//   s[j] = softcap(score_mod(scale * (q . k[j]))) + bias[j]    for each key j
//   P    = softmax of s over the keys that are not excluded, a sink in the denominator
//   o    = sum of P[j] * v[j]

#include "ReferenceParts.h"
#include "ReferencePlaces.h"

#include "attn/Execution/Reference.h"
#include "attn/Interpreter/FloatFormats.h"

#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

using namespace mlir::attn;
using namespace mlir::attn::reference;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

namespace {
/// A bias or a mask, read as if it had the shape [B, H, M, N]; a scale, read as if
/// it had [B, G, N].
class Broadcast {
public:
  explicit Broadcast(const HostTensor *tensor) : tensor(tensor) {
    if (!tensor)
      return;
    for (int64_t i = 0; i < tensor->getRank(); ++i)
      if (tensor->getDim(i) != 1)
        strides[4 - tensor->getRank() + i] = tensor->getStrides()[i];
  }

  double at(int64_t b, int64_t g, int64_t j) const { return at(0, b, g, j); }

  explicit operator bool() const { return tensor; }

  double at(int64_t b, int64_t h, int64_t i, int64_t j) const {
    return tensor->load(b * strides[0] + h * strides[1] + i * strides[2] +
                        j * strides[3]);
  }

private:
  const HostTensor *tensor;
  int64_t strides[4] = {0, 0, 0, 0};
};
} // namespace

/// Fails unless `got`, dimension `dim` of the operand `name`, is `wanted`.
static Error checkExtent(StringRef name, int64_t dim, int64_t wanted,
                         int64_t got) {
  if (wanted == got)
    return Error::success();
  return createStringError("expects dimension " + Twine(dim) + " of '" + name +
                           "' to be " + Twine(wanted) + ", got " + Twine(got));
}

/// Fails unless `tensor` broadcasts to `full`.
static Error checkBroadcast(StringRef name, const HostTensor *tensor,
                            llvm::ArrayRef<int64_t> full) {
  if (!tensor)
    return Error::success();
  int64_t most = full.size();
  if (tensor->getRank() > most)
    return createStringError("expects '" + name + "' of rank " + Twine(most) +
                             " or less, got " + Twine(tensor->getRank()));
  for (int64_t i = 0; i < tensor->getRank(); ++i)
    if (tensor->getDim(i) != 1)
      if (Error error = checkExtent(name, i, full[most - tensor->getRank() + i],
                                    tensor->getDim(i)))
        return error;
  return Error::success();
}

/// Fails unless `tensor` is a scalar, where one is allowed, or a vector of
/// `size` elements.
static Error checkVector(StringRef name, const HostTensor *tensor, int64_t size,
                         bool orScalar) {
  if (!tensor || (orScalar && tensor->getRank() == 0))
    return Error::success();
  if (tensor->getRank() != 1)
    return createStringError("expects '" + name + "' of rank 1, got " +
                             Twine(tensor->getRank()));
  return checkExtent(name, 0, size, tensor->getDim(0));
}

/// What dimension `dim` of the operand `name`, heads first, must be and is.
struct MainExtent {
  StringRef name;
  int64_t dim, wanted, got;
};

static Error checkProblem(const AttentionProblem &p, const Geometry &g) {
  const MainExtent extents[] = {{"key", 0, g.batch, g.key.getDim(0)},
                                {"value", 0, g.batch, g.value.getDim(0)},
                                {"value", 1, g.kvHeads, g.value.getDim(1)},
                                {"value", 2, g.keys, g.value.getDim(2)},
                                {"key", 3, g.headSize, g.key.getDim(3)}};
  for (const MainExtent &extent : extents)
    if (Error error =
            checkExtent(extent.name, extent.dim, extent.wanted, extent.got))
      return error;
  if (Error error = checkHeads(g))
    return error;
  if (p.queryOffset && p.causal == Diagonal::BottomRight)
    return createStringError("'query_offset' does not go with bottom_right");
  int64_t scores[] = {g.batch, g.heads, g.rows, g.keys};
  int64_t keys[] = {g.batch, g.kvHeads, g.keys};
  for (auto [name, tensor] :
       {std::pair<StringRef, const HostTensor *>{"bias", p.bias},
        {"mask", p.mask}})
    if (Error error = checkBroadcast(name, tensor, scores))
      return error;
  for (auto [name, tensor] :
       {std::pair<StringRef, const HostTensor *>{"key_scale", p.keyScale},
        {"value_scale", p.valueScale}})
    if (Error error = checkBroadcast(name, tensor, keys))
      return error;
  if (Error error = checkVector("kv_lengths", p.kvLengths, g.batch, false))
    return error;
  if (Error error = checkVector("query_offset", p.queryOffset, g.batch, true))
    return error;
  return checkVector("sinks", p.sinks, g.heads, false);
}

namespace {
/// Computes one problem in arithmetic of type T.
template <typename T>
class Attention {
public:
  Attention(const AttentionProblem &problem, const Geometry &geometry,
            AttentionResult &result)
      : p(problem), g(geometry), result(result), bias(p.bias), mask(p.mask),
        keyScale(p.keyScale), valueScale(p.valueScale),
        scale(static_cast<T>(getScale(p, g))), factorBits(p.factorBits),
        scores(g.keys), excluded(g.keys), shown(g.valueSize) {
    output = headsFirst(result.output, p.outputOrder);
    mayShow = headsFirst(result.mayShow, p.outputOrder);
  }

  void run() {
    for (int64_t b = 0; b < g.batch; ++b)
      for (int64_t head = 0; head < g.kvHeads; ++head)
        runGroup(b, head);
    note(result.largestFinalScore, result.largestScore);
  }

private:
  /// Compute the query heads that read key head `head`.
  void runGroup(int64_t b, int64_t head) {
    int64_t size = g.heads / g.kvHeads;
    keyLimit = g.keys;
    if (p.kvLengths) {
      int64_t stride = p.kvLengths->getStrides()[0];
      int64_t length = p.kvLengths->loadInteger(b * stride);
      keyLimit = std::min(std::max<int64_t>(length, 0), g.keys);
    }
    copyRows(g.key, keyScale, b, head, keyRows);
    copyRows(g.value, valueScale, b, head, valueRows);
    used.assign(g.keys, false);
    for (int64_t h = head * size; h < (head + 1) * size; ++h)
      for (int64_t i = 0; i < g.rows; ++i)
        runRow(b, h, i);
    lookAtValues();
    for (int64_t h = head * size; h < (head + 1) * size; ++h)
      for (int64_t i = 0; i < g.rows; ++i)
        for (int64_t e = 0; e < g.valueSize; ++e)
          mayShow.storeInteger(mayShow.getOffset({b, h, i, e}), shown[e]);
  }

  /// Note what the values hold that some row of the group attends to.
  void lookAtValues() {
    shown.assign(g.valueSize, false);
    for (int64_t j = 0; j < g.keys; ++j)
      for (int64_t e = 0; used[j] && e < g.valueSize; ++e) {
        double magnitude = std::fabs(double(valueRows[j * g.valueSize + e]));
        note(magnitude, result.largestValue);
        shown[e] = shown[e] || !std::isfinite(magnitude);
      }
  }

  /// Return an element as products take it.
  T asFactor(double element) const {
    return static_cast<T>(roundSignificand(element, factorBits));
  }

  /// Convert one head of `tensor` to T, row after row, each by its scale.
  void copyRows(const HostTensor &tensor, const Broadcast &scale, int64_t b,
                int64_t head, std::vector<T> &rows) const {
    rows.clear();
    for (int64_t j = 0; j < tensor.getDim(2); ++j) {
      T factor = scale ? static_cast<T>(scale.at(b, head, j)) : T(1);
      for (int64_t d = 0; d < tensor.getDim(3); ++d)
        rows.push_back(
            factor * asFactor(tensor.load(tensor.getOffset({b, head, j, d}))));
    }
  }

  int64_t positionOf(int64_t b, int64_t i) const {
    int64_t offset = 0;
    if (p.queryOffset)
      offset = p.queryOffset->loadInteger(
          p.queryOffset->getRank() == 0 ? 0
                                        : b * p.queryOffset->getStrides()[0]);
    else if (p.causal == Diagonal::BottomRight)
      offset = keyLimit - g.rows;
    return addSaturating(i, offset);
  }

  bool isExcludedByPlace(int64_t b, int64_t h, int64_t i, int64_t j) const {
    int64_t position = positionOf(b, i);
    if (j >= keyLimit || (mask && mask.at(b, h, i, j) == 0))
      return true;
    if (p.causal != Diagonal::None && j > position)
      return true;
    if (p.windowLeft && j < addSaturating(position, -*p.windowLeft))
      return true;
    return p.windowRight && j > addSaturating(position, *p.windowRight);
  }

  /// Return the score of a key, and note in `hidden` the largest |s| on the way.
  T scoreOf(int64_t b, int64_t h, int64_t i, int64_t j, double &hidden) const {
    constexpr T kNone = -std::numeric_limits<T>::infinity();
    T added = bias ? static_cast<T>(bias.at(b, h, i, j)) : T(0);
    // score_mod is not asked about it, and what the key holds is nothing.
    if (added == kNone)
      return kNone;
    T dot = 0;
    for (int64_t d = 0; d < g.headSize; ++d)
      dot += queryRow[d] * keyRows[j * g.headSize + d];
    T s = scale * dot;
    note(std::fabs(double(s)), hidden);
    if (p.scoreMod) {
      s = p.scoreMod->evaluateScore<T>(s, p.firstEntry + b, h, positionOf(b, i),
                                       j);
      // No cap makes a number of what the region leaves out.
      if (s == kNone)
        return s;
      note(std::fabs(double(s)), hidden);
    }
    if (p.softcap) {
      T cap = static_cast<T>(*p.softcap);
      s = cap * std::tanh(s / cap);
    }
    return bias ? s + added : s;
  }

  void runRow(int64_t b, int64_t h, int64_t i) {
    constexpr T kNone = -std::numeric_limits<T>::infinity();
    queryRow.clear();
    for (int64_t d = 0; d < g.headSize; ++d)
      queryRow.push_back(
          asFactor(g.query.load(g.query.getOffset({b, h, i, d}))));
    T reference = kNone;
    bool empty = true;
    for (int64_t j = 0; j < g.keys; ++j) {
      excluded[j] =
          isExcludedByPlace(b, h, i, j) ||
          (p.maskMod &&
           !p.maskMod->evaluateMask(p.firstEntry + b, h, positionOf(b, i), j));
      if (excluded[j])
        continue;
      double hidden = 0;
      scores[j] = scoreOf(b, h, i, j, hidden);
      excluded[j] = scores[j] == kNone;
      if (excluded[j])
        continue;
      empty = false;
      reference = std::max(reference, scores[j]);
      note(std::fabs(double(scores[j])), result.largestFinalScore);
      note(hidden, result.largestScore);
      ++result.attended;
    }
    finishRow(b, h, i, empty, reference);
  }

  static void note(double magnitude, double &largest) {
    if (std::isfinite(magnitude))
      largest = std::max(largest, magnitude);
  }

  /// Divide by the sum of the weights, then add up the values.
  void finishRow(int64_t b, int64_t h, int64_t i, bool empty, T reference) {
    T sink = -std::numeric_limits<T>::infinity();
    if (p.sinks)
      sink = static_cast<T>(p.sinks->load(h * p.sinks->getStrides()[0]));
    int64_t lseOffset = result.lse.getOffset({b, h, i});
    std::vector<T> sums(g.valueSize, T(0));
    if (empty) {
      result.lse.store(lseOffset, double(sink));
      return storeRow(b, h, i, sums);
    }
    reference = std::max(reference, sink);
    T sum = p.sinks ? std::exp(sink - reference) : T(0);
    for (int64_t j = 0; j < g.keys; ++j) {
      if (excluded[j])
        continue;
      scores[j] = std::exp(scores[j] - reference);
      sum += scores[j];
    }
    for (int64_t j = 0; j < g.keys; ++j) {
      if (excluded[j])
        continue;
      T weight = scores[j] / sum;
      used[j] = true;
      if (p.weights)
        result.weights.store(result.weights.getOffset({b, h, i, j}),
                             double(weight));
      for (int64_t e = 0; e < g.valueSize; ++e)
        sums[e] += weight * valueRows[j * g.valueSize + e];
    }
    result.lse.store(lseOffset, double(reference + std::log(sum)));
    storeRow(b, h, i, sums);
  }

  void storeRow(int64_t b, int64_t h, int64_t i, const std::vector<T> &row) {
    for (int64_t e = 0; e < g.valueSize; ++e)
      output.store(output.getOffset({b, h, i, e}), double(row[e]));
  }

  const AttentionProblem &p;
  const Geometry &g;
  AttentionResult &result;
  Broadcast bias, mask, keyScale, valueScale;
  T scale;
  unsigned factorBits;
  HostTensor output, mayShow;
  int64_t keyLimit = 0;
  std::vector<T> keyRows, valueRows, queryRow, scores;
  std::vector<char> excluded, used, shown;
};
} // namespace

/// Allocate the results of `problem`.
static Expected<AttentionResult> createResult(const AttentionProblem &problem,
                                              const Geometry &g,
                                              ElementKind outputKind,
                                              ElementKind lseKind,
                                              ElementKind weightsKind) {
  llvm::SmallVector<int64_t, 4> shape = {g.batch, g.heads, g.rows, g.valueSize};
  if (problem.outputOrder == AxisOrder::SequenceFirst)
    std::swap(shape[1], shape[2]);
  AttentionResult result;
  struct Slot {
    HostTensor *tensor;
    ElementKind kind;
    llvm::SmallVector<int64_t, 4> shape;
  };
  const Slot slots[] = {
      {&result.output, outputKind, shape},
      {&result.lse, lseKind, {g.batch, g.heads, g.rows}},
      {&result.weights,
       weightsKind,
       {g.batch, g.heads, g.rows, problem.weights ? g.keys : 0}},
      {&result.mayShow, ElementKind::I1, shape}};
  for (const Slot &slot : slots) {
    Expected<HostTensor> tensor = HostTensor::create(slot.kind, slot.shape);
    if (!tensor)
      return tensor.takeError();
    *slot.tensor = *tensor;
  }
  return result;
}

template <typename T>
static Expected<AttentionResult>
compute(const AttentionProblem &problem, ElementKind outputKind,
        ElementKind lseKind, ElementKind weightsKind) {
  // (No weights are asked for then.)
  if (problem.pageTable || problem.rowEnds)
    return computeByEntry(
        problem, outputKind, lseKind, [&](const AttentionProblem &entry) {
          return compute<T>(entry, outputKind, lseKind, weightsKind);
        });
  Expected<Geometry> geometry = readGeometry(problem);
  if (!geometry)
    return geometry.takeError();
  if (Error error = checkProblem(problem, *geometry))
    return std::move(error);
  Expected<AttentionResult> result =
      createResult(problem, *geometry, outputKind, lseKind, weightsKind);
  if (result)
    Attention<T>(problem, *geometry, *result).run();
  return result;
}

Expected<AttentionResult>
mlir::attn::computeReference(const AttentionProblem &problem) {
  constexpr ElementKind kWide = ElementKind::F64;
  if (problem.factorBits > 0) {
    AttentionProblem whole = problem;
    whole.factorBits = 0;
    return computeReference(whole);
  }
  // Of an f64 problem f64 would only be the plain computation again.
  if (problem.query && problem.query->getKind() == ElementKind::F64)
    return compute<long double>(problem, kWide, kWide, kWide);
  return compute<double>(problem, kWide, kWide, kWide);
}

Expected<AttentionResult>
mlir::attn::computePlain(const AttentionProblem &problem,
                         ElementKind outputKind) {
  bool isDouble = problem.query && problem.query->getKind() == ElementKind::F64;
  ElementKind sums = isDouble ? ElementKind::F64 : ElementKind::F32;
  ElementKind weights = problem.weights.value_or(sums);
  if (isDouble)
    return compute<double>(problem, outputKind, sums, weights);
  return compute<float>(problem, outputKind, sums, weights);
}
