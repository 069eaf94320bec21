// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.sdpa by its definition, one row of scores after the other.

#include "Sdpa.h"

#include "ElementBody.h"

#include "attn/IR/AttentionShape.h"

#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::attn;

int64_t mlir::attn::addSaturating(int64_t a, int64_t b) {
  int64_t sum;
  if (!llvm::AddOverflow(a, b, sum))
    return sum;
  return a < 0 ? std::numeric_limits<int64_t>::min()
               : std::numeric_limits<int64_t>::max();
}

bool mlir::attn::isOutsideBand(int64_t key, int64_t position, bool causal,
                               std::optional<int64_t> left,
                               std::optional<int64_t> right) {
  return (causal && key > position) ||
         (left && key < addSaturating(position, -*left)) ||
         (right && key > addSaturating(position, *right));
}

Cell mlir::attn::broadcast(const TensorValue &tensor, ArrayRef<int64_t> index) {
  int64_t offset = 0;
  ArrayRef<int64_t> own = index.take_back(tensor.getRank());
  for (auto [i, extent] : llvm::zip_equal(own, tensor.shape))
    offset = offset * extent + (extent == 1 ? 0 : i);
  return tensor.cells[offset];
}

namespace {
/// One attention in arithmetic of type T.
template <typename T>
class SdpaRunner {
public:
  SdpaRunner(Machine &machine, const SdpaInputs &in, SdpaOutputs &outputs)
      : in(in), statistics(machine.statistics), outputs(outputs),
        query(*in.query, in.queryLayout), key(*in.key, in.keyLayout),
        value(*in.value, in.valueLayout),
        output(outputs.output, in.outputLayout) {
    used.resize(in.value->shape[kBatchDim] * value.heads * value.sequence);
    double size = static_cast<double>(query.channels);
    scale = static_cast<T>(
        in.scale.value_or(size == 0 ? 1.0 : 1.0 / std::sqrt(size)));
    if (in.scoreMod)
      scoreMod.emplace(machine, in.scoreMod->front());
    if (in.maskMod)
      maskMod.emplace(machine, in.maskMod->front());
  }

  /// Fails where a region cannot be evaluated.
  LogicalResult run() {
    ++statistics.count;
    for (int64_t b = 0, e = in.query->shape[kBatchDim]; b < e; ++b)
      for (int64_t h = 0; h < query.heads; ++h)
        for (int64_t i = 0; i < query.sequence; ++i)
          if (failed(runRow(b, h, i)))
            return failure();
    return success();
  }

private:
  /// Return element `cell` of `stored`, a key or a value, as a number.
  static T number(const Heads &stored, Cell cell) {
    return stored.tensor.isFloat() ? static_cast<T>(cell.real)
                                   : static_cast<T>(cell.integer);
  }

  /// Return what key `j` of key head `head` is multiplied by.
  static T factor(const TensorValue *scale, int64_t b, int64_t head,
                  int64_t j) {
    return scale ? static_cast<T>(broadcast(*scale, {b, head, j}).real) : T(1);
  }

  int64_t keyCount(int64_t b) const {
    if (!in.lengths)
      return key.sequence;
    return std::clamp<int64_t>(in.lengths->cells[b].integer, 0, key.sequence);
  }

  int64_t positionOf(int64_t b, int64_t i) const {
    int64_t offset = 0;
    if (in.causal == Causal::BottomRight)
      offset = keyCount(b) - query.sequence;
    else if (in.offset && in.offset->isTensor())
      offset = in.offset->getTensor()
                   .cells[in.offset->getTensor().getRank() == 0 ? 0 : b]
                   .integer;
    else if (in.offset)
      offset = in.offset->getScalar().integer;
    return addSaturating(i, offset);
  }

  T biasAt(int64_t b, int64_t h, int64_t i, int64_t j) const {
    return T(broadcast(*in.bias, {b, h, i, j}).real);
  }

  /// Steps 1 to 4 of the definition.
  FailureOr<T> score(int64_t b, int64_t h, int64_t i, int64_t j) {
    const Cell *q = query.tensor.cells.data() + query.rowOffset(b, h, i);
    const Cell *k = key.tensor.cells.data() + key.rowOffset(b, keyHead(h), j);
    T by = factor(in.keyScale, b, keyHead(h), j);
    T product = 0;
    for (int64_t d = 0; d < query.channels; ++d)
      product += static_cast<T>(q[d].real) * (number(key, k[d]) * by);
    T s = scale * product;
    hidden = std::fabs(double(s));
    if (scoreMod) {
      FailureOr<Cell> changed = evaluate(
          *scoreMod, {realCell(s)}, in.firstEntry + b, h, positionOf(b, i), j);
      if (failed(changed))
        return failure();
      s = static_cast<T>(changed->real);
      if (s == kNone)
        return kNone;
      noteMagnitude(s, hidden);
    }
    if (in.softcap)
      s = T(*in.softcap) * std::tanh(s / T(*in.softcap));
    return in.bias ? s + biasAt(b, h, i, j) : s;
  }

  /// Return what `body` yields for `cells` and the place of a score.
  static FailureOr<Cell> evaluate(ElementBody &body, SmallVector<Cell> cells,
                                  int64_t b, int64_t h, int64_t position,
                                  int64_t j) {
    for (int64_t number : {b, h, position, j})
      cells.push_back(integerCell(number));
    FailureOr<ArrayRef<Cell>> results = body.run(cells, {});
    if (failed(results))
      return failure();
    return results->front();
  }

  /// Return whether the regions leave out a key that nothing else does.
  FailureOr<bool> isMasked(int64_t b, int64_t h, int64_t i, int64_t j) {
    if (!maskMod)
      return false;
    FailureOr<Cell> kept =
        evaluate(*maskMod, {}, in.firstEntry + b, h, positionOf(b, i), j);
    if (failed(kept))
      return failure();
    return !(kept->integer & 1);
  }

  int64_t keyHead(int64_t h) const { return h / (query.heads / key.heads); }

  /// Step 5: collect the keys that nothing excludes, and their scores.
  LogicalResult collect(int64_t b, int64_t h, int64_t i) {
    kept.clear();
    int64_t position = positionOf(b, i);
    for (int64_t j = 0, e = keyCount(b); j < e; ++j) {
      if (isOutsideBand(j, position, in.causal != Causal::None, in.left,
                        in.right) ||
          (in.mask && !broadcast(*in.mask, {b, h, i, j}).integer))
        continue;
      // Regions are not asked about it, and what the key holds is nothing.
      if (in.bias && biasAt(b, h, i, j) == kNone)
        continue;
      FailureOr<bool> masked = isMasked(b, h, i, j);
      if (failed(masked))
        return failure();
      if (*masked)
        continue;
      FailureOr<T> s = score(b, h, i, j);
      if (failed(s))
        return failure();
      if (*s == kNone)
        continue;
      kept.emplace_back(j, *s);
      noteMagnitude(*s, statistics.largestScore);
      noteMagnitude(hidden, statistics.largestScore);
    }
    statistics.operations +=
        2 * (query.channels + value.channels) * int64_t(kept.size());
    return success();
  }

  /// Steps 6 and 7.
  LogicalResult runRow(int64_t b, int64_t h, int64_t i) {
    if (failed(collect(b, h, i)))
      return failure();
    std::vector<T> result(value.channels, T(0));
    T sink = -std::numeric_limits<T>::infinity();
    if (in.sinks)
      sink = static_cast<T>(in.sinks->cells[h].real);
    T logSum = sink;
    if (!kept.empty()) {
      T largest = sink;
      for (auto [j, s] : kept)
        largest = s > largest ? s : largest;
      T sum = in.sinks ? std::exp(sink - largest) : T(0);
      for (auto [j, s] : kept)
        sum += std::exp(s - largest);
      int64_t row = (b * query.heads + h) * query.sequence + i;
      for (auto [j, s] : kept) {
        T weight = std::exp(s - largest) / sum;
        addValue(b, h, j, weight, result);
        if (in.weights)
          outputs.weights.cells[row * key.sequence + j].real = weight;
      }
      logSum = largest + std::log(sum);
    }
    for (int64_t e = 0; e < value.channels; ++e)
      outputs.output.cells[output.rowOffset(b, h, i) + e].real = result[e];
    outputs.lse.cells[(b * query.heads + h) * query.sequence + i].real = logSum;
    return success();
  }

  void addValue(int64_t b, int64_t h, int64_t j, T weight,
                std::vector<T> &result) {
    if (value.channels == 0)
      return;
    const Cell *v =
        value.tensor.cells.data() + value.rowOffset(b, keyHead(h), j);
    T by = factor(in.valueScale, b, keyHead(h), j);
    for (int64_t e = 0; e < value.channels; ++e)
      result[e] += weight * (number(value, v[e]) * by);
    int64_t row = value.rowOffset(b, keyHead(h), j) / value.channels;
    if (used[row])
      return;
    used[row] = true;
    for (int64_t e = 0; e < value.channels; ++e)
      noteMagnitude(number(value, v[e]) * by, statistics.largestValue);
  }

  static constexpr T kNone = -std::numeric_limits<T>::infinity();
  const SdpaInputs &in;
  AttentionStatistics &statistics;
  /// Largest |s| that the last score had on its way.
  double hidden = 0;
  SdpaOutputs &outputs;
  Heads query, key, value, output;
  T scale;
  std::optional<ElementBody> scoreMod, maskMod;
  std::vector<std::pair<int64_t, T>> kept;
  /// The rows of the value that some row of the query attends to.
  std::vector<char> used;
};

/// An extent of an operand and what it must be.
struct Extent {
  StringRef operand;
  int64_t dim, got, wanted;
};
} // namespace

static LogicalResult verifyExtents(Operation *op, ArrayRef<Extent> extents) {
  for (const Extent &extent : extents)
    if (extent.got != extent.wanted)
      return op->emitOpError("expects ")
             << extent.wanted << " elements at dimension " << extent.dim
             << " of '" << extent.operand << "', got " << extent.got;
  return success();
}

static LogicalResult verifyBroadcast(Operation *op, StringRef name,
                                     const TensorValue *tensor,
                                     ArrayRef<int64_t> full) {
  if (!tensor)
    return success();
  SmallVector<Extent> extents;
  for (auto [i, extent] : llvm::enumerate(tensor->shape))
    if (extent != 1)
      extents.push_back({name, int64_t(i), extent,
                         full[full.size() - tensor->getRank() + i]});
  return verifyExtents(op, extents);
}

TensorValue mlir::attn::roundFactors(TensorValue tensor, unsigned bits) {
  if (bits == 0)
    return tensor;
  for (Cell &cell : tensor.cells)
    cell.real = roundSignificand(cell.real, bits);
  return tensor;
}

/// Fails unless the tensors fit together; types have not said so where a
/// dimension is dynamic.
static LogicalResult verifyInputs(Operation *op, const SdpaInputs &in) {
  Heads query(*in.query, in.queryLayout), key(*in.key, in.keyLayout),
      value(*in.value, in.valueLayout);
  int64_t batch = in.query->shape[kBatchDim];
  SmallVector<Extent> extents = {
      {"key", kBatchDim, in.key->shape[kBatchDim], batch},
      {"value", kBatchDim, in.value->shape[kBatchDim], batch},
      {"key", kChannelDim, key.channels, query.channels},
      {"value", headDim(in.valueLayout), value.heads, key.heads},
      {"value", sequenceDim(in.valueLayout), value.sequence, key.sequence}};
  if (in.lengths)
    extents.push_back({"kv_lengths", 0, in.lengths->shape[0], batch});
  int64_t scales[3] = {batch, key.heads, key.sequence};
  if (failed(verifyBroadcast(op, "key_scale", in.keyScale, scales)) ||
      failed(verifyBroadcast(op, "value_scale", in.valueScale, scales)))
    return failure();
  if (in.sinks)
    extents.push_back({"sinks", 0, in.sinks->shape[0], query.heads});
  if (in.offset && in.offset->isTensor() &&
      in.offset->getTensor().getRank() == 1)
    extents.push_back(
        {"query_offset", 0, in.offset->getTensor().shape[0], batch});
  if (failed(verifyExtents(op, extents)))
    return failure();
  if (key.heads == 0 ? query.heads != 0 : query.heads % key.heads != 0)
    return op->emitOpError("expects the heads of 'query' to be a multiple of "
                           "those of 'key', got ")
           << query.heads << " and " << key.heads;
  int64_t full[4] = {batch, query.heads, query.sequence, key.sequence};
  return success(succeeded(verifyBroadcast(op, "bias", in.bias, full)) &&
                 succeeded(verifyBroadcast(op, "mask", in.mask, full)));
}

FailureOr<SdpaOutputs> mlir::attn::computeSdpa(Machine &machine, Operation *op,
                                               const SdpaInputs &in) {
  if (failed(verifyInputs(op, in)))
    return failure();
  if (in.factorBits > 0 && in.value->isFloat()) {
    TensorValue rounded[] = {roundFactors(*in.query, in.factorBits),
                             roundFactors(*in.key, in.factorBits),
                             roundFactors(*in.value, in.factorBits)};
    SdpaInputs inner = in;
    inner.query = &rounded[0];
    inner.key = &rounded[1];
    inner.value = &rounded[2];
    inner.factorBits = 0;
    return computeSdpa(machine, op, inner);
  }
  Heads query(*in.query, in.queryLayout), value(*in.value, in.valueLayout);
  SmallVector<int64_t, 4> shape(4);
  shape[kBatchDim] = in.query->shape[kBatchDim];
  shape[headDim(in.outputLayout)] = query.heads;
  shape[sequenceDim(in.outputLayout)] = query.sequence;
  shape[kChannelDim] = value.channels;
  Type type = in.query->elementType;
  SdpaOutputs outputs{
      TensorValue(type, shape, realCell(0)),
      TensorValue(type, {shape[kBatchDim], query.heads, query.sequence},
                  realCell(0)),
      TensorValue(type, {0}, realCell(0))};
  if (in.weights)
    outputs.weights =
        TensorValue(type,
                    {shape[kBatchDim], query.heads, query.sequence,
                     in.key->shape[sequenceDim(in.keyLayout)]},
                    realCell(0));
  LogicalResult ran = machine.sumsInDouble(type)
                          ? SdpaRunner<double>(machine, in, outputs).run()
                          : SdpaRunner<float>(machine, in, outputs).run();
  if (failed(ran))
    return failure();
  return outputs;
}

void mlir::attn::setRounded(Machine &machine, Value result,
                            TensorValue tensor) {
  tensor.elementType =
      cast<RankedTensorType>(result.getType()).getElementType();
  for (Cell &cell : tensor.cells)
    cell.real = machine.round(cell.real, tensor.elementType);
  machine.set(result, std::move(tensor));
}

static LogicalResult runSdpa(Machine &machine, SdpaOp op) {
  SdpaInputs in;
  in.query = &machine.getTensor(op.getQuery());
  in.key = &machine.getTensor(op.getKey());
  in.value = &machine.getTensor(op.getValue());
  in.keyScale = machine.getOptionalTensor(op.getKeyScale());
  in.valueScale = machine.getOptionalTensor(op.getValueScale());
  readRules(machine, op, in);
  in.queryLayout = op.getQueryLayout();
  in.keyLayout = op.getKeyLayout();
  in.valueLayout = op.getValueLayout();
  in.outputLayout = op.getOutputLayout();
  in.weights = bool(op.getWeights());
  SdpaPlaces places{machine.getOptionalTensor(op.getPageTable()),
                    machine.getOptionalTensor(op.getCuSeqlensQ()),
                    machine.getOptionalTensor(op.getCuSeqlensK())};
  FailureOr<SdpaOutputs> outputs =
      places ? computePlacedSdpa(machine, op, in, places)
             : computeSdpa(machine, op, in);
  if (failed(outputs))
    return failure();
  setRounded(machine, op.getOutput(), std::move(outputs->output));
  if (op.getLse())
    setRounded(machine, op.getLse(), std::move(outputs->lse));
  if (op.getWeights())
    setRounded(machine, op.getWeights(), std::move(outputs->weights));
  return success();
}

void mlir::attn::addAttentionHandlers(Machine &machine) {
  addHandler<SdpaOp, runSdpa>(machine);
}
