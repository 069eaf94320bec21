// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.block_step, attn.block_weights, attn.merge, attn.finish and attn.merge_outputs by their definition. A state of a
// row is (r, s, a): the sum of the weights is s e^r, the sum of the weighted values a e^r; (-inf, 0, 0) is empty.

#include "Sdpa.h"

#include "ElementBody.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::attn;

constexpr double kNone = -std::numeric_limits<double>::infinity();

/// Return e^(from - to), 0 for the reference of an empty state.
template <typename T>
static T rescale(T from, T to) {
  return from == T(kNone) ? T(0) : std::exp(from - to);
}

/// Return the larger number; a NaN is passed over.
template <typename T>
static T larger(T a, T b) {
  return std::fmax(a, b);
}

namespace {
/// Where the elements of a state's tensors stand, packed into panels or plain.
struct StateShape {
  int64_t rows, lanes, channels;
  /// Rows of a strip and channels of a panel; 0 in the plain form.
  int64_t stripRows = 0, panelChannels = 0;

  StateShape(const TensorValue &reference, const TensorValue &sum,
             const TensorValue &acc)
      : rows(reference.getSize()),
        lanes(sum.getRank() > reference.getRank() ? sum.shape.back() : 1),
        channels(acc.shape.back()) {
    if (acc.getRank() == 2)
      return;
    stripRows = acc.shape[acc.getRank() - 2];
    panelChannels = acc.shape.back();
    channels = panelChannels * acc.shape[acc.getRank() - 3];
  }

  bool isPacked() const { return stripRows != 0; }

  int64_t accOffset(int64_t row, int64_t channel) const {
    if (!isPacked())
      return row * channels + channel;
    int64_t panels = channels / panelChannels;
    int64_t panel = (row / stripRows) * panels + channel / panelChannels;
    return (panel * stripRows + row % stripRows) * panelChannels +
           channel % panelChannels;
  }
};

/// The scores of the rows and the keys of one block in arithmetic of type T.
template <typename T>
class BlockScores {
public:
  template <typename Op>
  BlockScores(Machine &machine, Op op)
      : query(machine.getTensor(op.getQuery())),
        key(machine.getTensor(op.getKey())),
        bias(machine.getOptionalTensor(op.getBias())),
        mask(machine.getOptionalTensor(op.getMask())),
        row(machine.getInteger(op.getRow())),
        rowsPerHead(machine.getInteger(op.getRowsPerHead())),
        position(machine.getInteger(op.getPosition())),
        firstKey(machine.getInteger(op.getFirstKey())),
        length(machine.getInteger(op.getLength())), bounded(op.getBounded()),
        causal(op.getCausal()),
        scale(static_cast<T>(op.getScale().convertToDouble())) {
    if (std::optional<WindowAttr> window = op.getWindow()) {
      left = window->getLeft();
      right = window->getRight();
    }
    if (std::optional<APFloat> given = op.getSoftcap())
      softcap = static_cast<T>(given->convertToDouble());
    batch = machine.getInteger(op.getBatch());
    head = machine.getInteger(op.getHead());
    if (Region *body = op.getScoreMod())
      scoreMod.emplace(machine, body->front());
    if (Region *body = op.getMaskMod())
      maskMod.emplace(machine, body->front());
    bool packed = key.getRank() == 3;
    panelKeys = packed ? key.shape[2] : 1;
    keys = key.shape[0] * panelKeys;
    headSize = key.shape[1];
  }

  int64_t getKeys() const { return keys; }
  int64_t getHeadSize() const { return headSize; }

  /// Fails where a region could not be evaluated.
  LogicalResult getStatus() const { return success(!hasFailed); }

  /// Do not look at mask_mod.
  void dropMask() { maskMod.reset(); }

  /// Return the score of a key, -inf if it is excluded.
  T score(int64_t r, int64_t j) {
    int64_t taskRow = row + r, taskKey = firstKey + j;
    if (bounded &&
        (taskKey >= length ||
         isOutsideBand(taskKey, addSaturating(position, taskRow % rowsPerHead),
                       causal, left, right)))
      return T(kNone);
    if (mask && !broadcast(*mask, taskRow, taskKey).integer)
      return T(kNone);
    T added = bias ? T(broadcast(*bias, taskRow, taskKey).real) : T(0);
    // Regions are not asked about it, and what the key holds is nothing.
    if (added == T(kNone))
      return added;
    if (maskMod && !(evaluate(*maskMod, {}, taskRow, taskKey).integer & 1))
      return T(kNone);
    T product = 0;
    for (int64_t d = 0; d < headSize; ++d)
      product += queryAt(r, d) * keyAt(j, d);
    T s = scale * product;
    hidden = 0;
    noteMagnitude(s, hidden);
    if (scoreMod) {
      s = static_cast<T>(
          evaluate(*scoreMod, {realCell(s)}, taskRow, taskKey).real);
      if (s == T(kNone))
        return s;
      noteMagnitude(s, hidden);
    }
    if (softcap)
      s = *softcap * std::tanh(s / *softcap);
    return bias ? s + added : s;
  }

  /// Return the largest |s| that the last score had on its way.
  double getHidden() const { return hidden; }

private:
  /// Return what `body` yields for `cells` and the place of a score.
  Cell evaluate(ElementBody &body, SmallVector<Cell> cells, int64_t taskRow,
                int64_t taskKey) {
    int64_t place = addSaturating(position, taskRow % rowsPerHead);
    for (int64_t number : {batch, head + taskRow / rowsPerHead, place, taskKey})
      cells.push_back(integerCell(number));
    FailureOr<ArrayRef<Cell>> results = body.run(cells, {});
    if (succeeded(results))
      return results->front();
    hasFailed = true;
    return integerCell(0);
  }

  T queryAt(int64_t r, int64_t d) const {
    return static_cast<T>(query.cells[r * headSize + d].real);
  }

  T keyAt(int64_t j, int64_t d) const {
    return static_cast<T>(
        key.cells[((j / panelKeys) * headSize + d) * panelKeys + j % panelKeys]
            .real);
  }

  /// Return the element of a bias or mask `[heads, rows, keys]` of the task.
  /// Rows that only fill a strip read the last row.
  Cell broadcast(const TensorValue &tensor, int64_t taskRow,
                 int64_t taskKey) const {
    int64_t index[3] = {taskRow / rowsPerHead, taskRow % rowsPerHead, taskKey};
    for (int64_t i = 0; i < 3; ++i)
      index[i] = std::min(index[i], tensor.shape[i] - 1);
    return tensor.cells[tensor.offsetOf(index)];
  }

  const TensorValue &query, &key, *bias, *mask;
  int64_t row, rowsPerHead, position, firstKey, length;
  bool bounded, causal;
  std::optional<int64_t> left, right;
  T scale;
  std::optional<T> softcap;
  int64_t panelKeys, keys, headSize, batch, head;
  std::optional<ElementBody> scoreMod, maskMod;
  bool hasFailed = false;
  double hidden = 0;
};

/// One block step in arithmetic of type T.
template <typename T>
class BlockStep {
public:
  BlockStep(Machine &machine, BlockStepOp op, TensorValue &reference,
            TensorValue &sum, TensorValue &acc)
      : statistics(machine.statistics), value(machine.getTensor(op.getValue())),
        reference(reference), sum(sum), acc(acc), shape(reference, sum, acc),
        block(machine, op) {
    if (Value masked = op.getMasked())
      if (!(machine.getInteger(masked) & 1))
        block.dropMask();
  }

  LogicalResult run() {
    for (int64_t r = 0; r < shape.rows; ++r)
      runRow(r);
    return block.getStatus();
  }

private:
  T valueAt(int64_t j, int64_t e) const {
    int64_t at = j * shape.channels + e;
    if (value.getRank() == 4)
      at = value.offsetOf({e / value.shape[3], j / value.shape[2],
                           j % value.shape[2], e % value.shape[3]});
    return static_cast<T>(value.cells[at].real);
  }

  void runRow(int64_t r) {
    int64_t keys = block.getKeys();
    std::vector<T> scores(keys);
    T before = static_cast<T>(reference.cells[r].real), top = before;
    for (int64_t j = 0; j < keys; ++j) {
      scores[j] = block.score(r, j);
      top = larger(top, scores[j]);
      if (scores[j] == T(kNone))
        continue;
      noteMagnitude(scores[j], statistics.largestScore);
      noteMagnitude(block.getHidden(), statistics.largestScore);
    }
    T alpha = rescale(before, top);
    for (int64_t lane = 0; lane < shape.lanes; ++lane)
      sum.cells[r * shape.lanes + lane].real *= alpha;
    for (int64_t e = 0; e < shape.channels; ++e) {
      double &cell = acc.cells[shape.accOffset(r, e)].real;
      cell = static_cast<T>(static_cast<T>(cell) * alpha);
    }
    for (int64_t j = 0; j < keys; ++j)
      if (scores[j] != T(kNone))
        addKey(r, j, rescale(scores[j], top));
    reference.cells[r].real = top;
  }

  void addKey(int64_t r, int64_t j, T weight) {
    statistics.operations += 2 * (block.getHeadSize() + shape.channels);
    double &lane = sum.cells[r * shape.lanes + j % shape.lanes].real;
    lane = static_cast<T>(static_cast<T>(lane) + weight);
    for (int64_t e = 0; e < shape.channels; ++e) {
      double &cell = acc.cells[shape.accOffset(r, e)].real;
      T v = valueAt(j, e);
      cell = static_cast<T>(static_cast<T>(cell) + weight * v);
      if (std::isfinite(v))
        statistics.largestValue =
            std::max(statistics.largestValue, std::fabs(double(v)));
    }
  }

  AttentionStatistics &statistics;
  const TensorValue &value;
  TensorValue &reference, &sum, &acc;
  StateShape shape;
  BlockScores<T> block;
};
} // namespace

/// Count a state as it is everywhere, `forward`, or as `op` does.
static void recount(BlockStepOp op, TensorValue &reference, TensorValue &sum,
                    TensorValue &acc, bool forward) {
  double unit = op.getProducts() ? op.getScale().convertToDouble() : 1.0;
  double factor =
      std::ldexp(1.0, -static_cast<int>(op.getExponent().value_or(0)));
  for (Cell &cell : reference.cells)
    cell.real = forward ? cell.real * unit : cell.real / unit;
  for (TensorValue *sums : {&sum, &acc})
    for (Cell &cell : sums->cells)
      cell.real = forward ? cell.real * factor : cell.real / factor;
}

static LogicalResult runBlockStep(Machine &machine, BlockStepOp op) {
  TensorValue reference = machine.getTensor(op.getReference());
  TensorValue sum = machine.getTensor(op.getSum());
  TensorValue acc = machine.getTensor(op.getAcc());
  StateShape shape(reference, sum, acc);
  const TensorValue &query = machine.getTensor(op.getQuery());
  const TensorValue &key = machine.getTensor(op.getKey());
  const TensorValue &value = machine.getTensor(op.getValue());
  int64_t headSize = key.shape[1];
  if (query.getSize() != shape.rows * headSize)
    return op.emitOpError("expects a 'query' of ")
           << shape.rows << " rows and " << headSize << " channels, got "
           << query.getSize() << " elements";
  int64_t keys =
      key.getRank() == 3 ? key.shape[0] * key.shape[2] : key.shape[0];
  if (value.getSize() != keys * shape.channels)
    return op.emitOpError("expects a 'value' of ")
           << keys << " keys and " << shape.channels << " channels, got "
           << value.getSize() << " elements";
  auto fill = [](TensorValue &tensor, double number) {
    for (Cell &cell : tensor.cells)
      cell.real = number;
  };
  if (op.getFirst()) {
    fill(reference, -std::numeric_limits<double>::infinity());
    fill(sum, 0.0);
    fill(acc, 0.0);
  }
  if (machine.getInteger(op.getRowsPerHead()) <= 0 && shape.rows > 0)
    return op.emitOpError("expects rows in each head, got ")
           << machine.getInteger(op.getRowsPerHead());
  recount(op, reference, sum, acc, /*forward=*/true);
  LogicalResult ran =
      machine.sumsInDouble(acc.elementType)
          ? BlockStep<double>(machine, op, reference, sum, acc).run()
          : BlockStep<float>(machine, op, reference, sum, acc).run();
  if (failed(ran))
    return failure();
  recount(op, reference, sum, acc, /*forward=*/false);
  machine.set(op.getNewReference(), std::move(reference));
  machine.set(op.getNewSum(), std::move(sum));
  machine.set(op.getNewAcc(), std::move(acc));
  return success();
}

/// Fill `weights` [rows, keys] or [strips, panels, rows, keys].
template <typename T>
static LogicalResult computeWeights(Machine &machine, BlockWeightsOp op,
                                    TensorValue &weights) {
  const TensorValue &reference = machine.getTensor(op.getReference());
  const TensorValue &factor = machine.getTensor(op.getFactor());
  bool packed = weights.getRank() == 4;
  int64_t lanes = packed ? weights.shape[3] : 1;
  int64_t stripRows = packed ? weights.shape[2] : 0;
  BlockScores<T> block(machine, op);
  for (int64_t r = 0, e = reference.getSize(); r < e; ++r)
    for (int64_t j = 0; j < block.getKeys(); ++j) {
      T score = block.score(r, j);
      T weight = rescale(score, static_cast<T>(reference.cells[r].real)) *
                 static_cast<T>(factor.cells[r * lanes + j % lanes].real);
      if (score == -std::numeric_limits<T>::infinity())
        weight = 0;
      int64_t at = r * block.getKeys() + j;
      if (packed)
        at = weights.offsetOf({r / stripRows, j / weights.shape[3],
                               r % stripRows, j % weights.shape[3]});
      weights.cells[at].real = machine.round(weight, weights.elementType);
    }
  return block.getStatus();
}

static LogicalResult runBlockWeights(Machine &machine, BlockWeightsOp op) {
  const TensorValue &query = machine.getTensor(op.getQuery());
  const TensorValue &key = machine.getTensor(op.getKey());
  const TensorValue &reference = machine.getTensor(op.getReference());
  if (query.getSize() != reference.getSize() * key.shape[1])
    return op.emitOpError("expects a 'query' of ")
           << reference.getSize() << " rows and " << key.shape[1]
           << " channels, got " << query.getSize() << " elements";
  if (machine.getInteger(op.getRowsPerHead()) <= 0 && reference.getSize() > 0)
    return op.emitOpError("expects rows in each head, got ")
           << machine.getInteger(op.getRowsPerHead());
  SmallVector<int64_t, 4> shape = {reference.shape[0], key.shape[0]};
  if (key.getRank() == 3) {
    shape.push_back(reference.shape[1]);
    shape.push_back(key.shape[2]);
  }
  TensorValue weights(getElementTypeOrSelf(op.getWeights()), shape,
                      realCell(0));
  LogicalResult ran = machine.sumsInDouble(reference.elementType)
                          ? computeWeights<double>(machine, op, weights)
                          : computeWeights<float>(machine, op, weights);
  if (failed(ran))
    return failure();
  machine.set(op.getWeights(), std::move(weights));
  return success();
}

static LogicalResult runMerge(Machine &machine, MergeOp op) {
  TensorValue reference = machine.getTensor(op.getReference());
  TensorValue sum = machine.getTensor(op.getSum());
  TensorValue acc = machine.getTensor(op.getAcc());
  const TensorValue &otherReference = machine.getTensor(op.getOtherReference());
  const TensorValue &otherSum = machine.getTensor(op.getOtherSum());
  const TensorValue &otherAcc = machine.getTensor(op.getOtherAcc());
  if (reference.shape != otherReference.shape || sum.shape != otherSum.shape ||
      acc.shape != otherAcc.shape)
    return op.emitOpError("expects two states of one shape");
  StateShape shape(reference, sum, acc);
  Type type = acc.elementType;
  for (int64_t r = 0; r < shape.rows; ++r) {
    double first = reference.cells[r].real,
           second = otherReference.cells[r].real;
    double top = larger(first, second);
    double factor = machine.round(rescale(first, top), type),
           otherFactor = machine.round(rescale(second, top), type);
    auto blend = [&](double &cell, double other) {
      cell = machine.round(machine.round(cell * factor, type) +
                               machine.round(other * otherFactor, type),
                           type);
    };
    for (int64_t lane = r * shape.lanes, e = lane + shape.lanes; lane < e;
         ++lane)
      blend(sum.cells[lane].real, otherSum.cells[lane].real);
    for (int64_t e = 0; e < shape.channels; ++e) {
      int64_t at = shape.accOffset(r, e);
      blend(acc.cells[at].real, otherAcc.cells[at].real);
    }
    reference.cells[r].real = top;
  }
  machine.set(op.getNewReference(), std::move(reference));
  machine.set(op.getNewSum(), std::move(sum));
  machine.set(op.getNewAcc(), std::move(acc));
  return success();
}

static LogicalResult runFinish(Machine &machine, FinishOp op) {
  TensorValue lse = machine.getTensor(op.getReference());
  const TensorValue &sum = machine.getTensor(op.getSum());
  TensorValue output = machine.getTensor(op.getAcc());
  StateShape shape(lse, sum, output);
  Type type = output.elementType;
  output.elementType =
      cast<RankedTensorType>(op.getOutput().getType()).getElementType();
  for (int64_t r = 0; r < shape.rows; ++r) {
    double reference = lse.cells[r].real, total = 0;
    for (int64_t lane = 0; lane < shape.lanes; ++lane)
      total =
          machine.round(total + sum.cells[r * shape.lanes + lane].real, type);
    bool isEmpty = total == 0;
    double factor = 1;
    if (Value sinks = op.getSinks()) {
      const TensorValue &logits = machine.getTensor(sinks);
      int64_t head = (machine.getInteger(op.getRow()) + r) /
                     machine.getInteger(op.getRowsPerHead());
      // Rows that only fill a strip may lie behind the last head.
      double sink = logits.cells[std::min(head, logits.shape[0] - 1)].real;
      double top = larger(reference, sink);
      factor = rescale(reference, top);
      total = machine.round(total * factor + rescale(sink, top), type);
      reference = top;
    }
    for (int64_t e = 0; e < shape.channels; ++e) {
      double &cell = output.cells[shape.accOffset(r, e)].real;
      cell = isEmpty ? 0
                     : machine.round(cell * factor / total, output.elementType);
    }
    lse.cells[r].real = total == 0 ? kNone
                                   : machine.round(reference + std::log(total),
                                                   lse.elementType);
  }
  machine.set(op.getOutput(), std::move(output));
  machine.set(op.getLse(), std::move(lse));
  return success();
}

static LogicalResult runMergeOutputs(Machine &machine, MergeOutputsOp op) {
  TensorValue output = machine.getTensor(op.getOutputs().front());
  TensorValue lse = machine.getTensor(op.getLses().front());
  int64_t channels = output.shape.back();
  for (auto [part, partLse] : llvm::zip_equal(op.getOutputs(), op.getLses()))
    if (machine.getTensor(part).shape != output.shape ||
        machine.getTensor(partLse).shape != lse.shape)
      return op.emitOpError("expects parts of one shape");
  for (int64_t row = 0, e = lse.getSize(); row < e; ++row) {
    double reference = kNone, sum = 0;
    for (Value part : op.getLses())
      reference = larger(reference, machine.getTensor(part).cells[row].real);
    SmallVector<double> values(channels, 0);
    for (auto [part, partLse] :
         llvm::zip_equal(op.getOutputs(), op.getLses())) {
      double logSum = machine.getTensor(partLse).cells[row].real;
      if (logSum == kNone)
        continue;
      double weight = rescale(logSum, reference);
      sum += weight;
      for (int64_t c = 0; c < channels; ++c)
        values[c] +=
            weight * machine.getTensor(part).cells[row * channels + c].real;
    }
    lse.cells[row].real =
        machine.round(reference + std::log(sum), lse.elementType);
    for (int64_t c = 0; c < channels; ++c)
      output.cells[row * channels + c].real =
          machine.round(sum == 0 ? 0 : values[c] / sum, output.elementType);
  }
  machine.set(op.getOutput(), std::move(output));
  machine.set(op.getLse(), std::move(lse));
  return success();
}

void mlir::attn::addStateHandlers(Machine &machine) {
  addHandler<BlockStepOp, runBlockStep>(machine);
  addHandler<BlockWeightsOp, runBlockWeights>(machine);
  addHandler<MergeOp, runMerge>(machine);
  addHandler<FinishOp, runFinish>(machine);
  addHandler<MergeOutputsOp, runMergeOutputs>(machine);
}
