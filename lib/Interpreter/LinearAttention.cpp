// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.linear_attention by its definition, one step after the other.

#include "Sdpa.h"

#include <cmath>

using namespace mlir;
using namespace mlir::attn;

namespace {
/// The tensors of one op; null is absent.
struct LinearOperands {
  const TensorValue *query, *key, *value, *decay, *beta, *state, *normalizer;
};

/// One linear attention in arithmetic of type T.
template <typename T>
class LinearMachine {
public:
  LinearMachine(LinearAttentionOp op, const LinearOperands &in,
                AttentionStatistics &statistics)
      : op(op), in(in), statistics(statistics),
        query(*in.query, op.getQueryLayout()), key(*in.key, op.getKeyLayout()),
        value(*in.value, op.getValueLayout()),
        batch(in.query->shape[kBatchDim]), size(key.channels),
        width(value.channels) {
    Type type = in.query->elementType;
    SmallVector<int64_t> shape = {batch, query.heads, query.sequence, width};
    if (op.getOutputLayout() == Layout::bshd)
      std::swap(shape[1], shape[2]);
    output = TensorValue(type, shape, realCell(0));
    state = TensorValue(type, {batch, key.heads, size, width}, realCell(0));
    normalizer = TensorValue(type, {batch, key.heads, size}, realCell(0));
    scale = size == 0 ? T(1) : T(1 / std::sqrt(double(size)));
    if (std::optional<APFloat> given = op.getScale())
      scale = T(given->convertToDouble());
  }

  void run() {
    if (op.isGated())
      statistics.largestScore =
          std::max(statistics.largestScore, double(key.sequence));
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t head = 0; head < key.heads; ++head)
        runHead(b, head);
  }

  TensorValue output, state, normalizer;

private:
  T feature(T x) {
    switch (op.getFeatureMap()) {
    case FeatureMap::Identity:
      return x;
    case FeatureMap::Elu1:
      return x > 0 ? x + 1 : std::exp(x);
    case FeatureMap::Relu:
      return x < 0 ? T(0) : x;
    case FeatureMap::Exp:
      return std::exp(x);
    }
    llvm_unreachable("all feature maps are handled");
  }

  std::vector<T> features(const Cell *row) {
    std::vector<T> result;
    for (int64_t d = 0; d < size; ++d)
      result.push_back(feature(T(row[d].real)));
    return result;
  }

  void runHead(int64_t b, int64_t head) {
    int64_t at = b * key.heads + head;
    S.assign(size * width, T(0));
    z.assign(size, T(0));
    sizes.assign(size * width, 0);
    for (int64_t i = 0; in.state && i < size * width; ++i) {
      S[i] = T(in.state->cells[at * size * width + i].real);
      sizes[i] = std::fabs(double(S[i]));
    }
    for (int64_t d = 0; in.normalizer && d < size; ++d)
      z[d] = T(in.normalizer->cells[at * size + d].real);
    for (int64_t t = 0; t < key.sequence; ++t) {
      write(b, head, t);
      if (!op.getNonCausal())
        readAll(b, head, t);
    }
    for (int64_t t = 0; op.getNonCausal() && t < query.sequence; ++t)
      readAll(b, head, t);
    for (int64_t i = 0; i < size * width; ++i)
      state.cells[at * size * width + i].real = S[i];
    for (int64_t d = 0; d < size; ++d)
      normalizer.cells[at * size + d].real = z[d];
  }

  void decay(int64_t at) {
    bool perChannel = op.hasChannelDecay();
    for (int64_t d = 0; d < size; ++d) {
      T factor =
          std::exp(T(in.decay->cells[perChannel ? at * size + d : at].real));
      z[d] = factor * z[d];
      for (int64_t i = d * width; i < (d + 1) * width; ++i) {
        S[i] = factor * S[i];
        sizes[i] *= double(factor);
      }
    }
  }

  void write(int64_t b, int64_t head, int64_t t) {
    int64_t at = (b * key.heads + head) * key.sequence + t;
    if (in.decay)
      decay(at);
    std::vector<T> k = features(key.row(b, head, t));
    const Cell *v = value.row(b, head, t);
    for (int64_t e = 0; e < width; ++e) {
      T written = T(v[e].real);
      double magnitude = std::fabs(double(written));
      if (in.beta) {
        T known = 0;
        for (int64_t d = 0; d < size; ++d) {
          known += S[d * width + e] * k[d];
          magnitude += std::fabs(double(S[d * width + e]) * double(k[d]));
        }
        bool isShared = in.beta->shape[1] == 1;
        T beta = T(in.beta->cells[isShared ? b * key.sequence + t : at].real);
        written = beta * (written - known);
        magnitude *= std::fabs(double(beta));
      }
      for (int64_t d = 0; d < size; ++d) {
        T &element = S[d * width + e];
        double &before = sizes[d * width + e];
        before = in.beta ? std::fabs(double(element)) : before;
        before += std::fabs(double(k[d])) * magnitude;
        element += k[d] * written;
      }
    }
    for (int64_t d = 0; d < size; ++d)
      z[d] += k[d];
    statistics.operations += 2 * (in.beta ? 2 : 1) * size * width;
  }

  void readAll(int64_t b, int64_t head, int64_t t) {
    int64_t group = query.heads / key.heads;
    Heads place(output, op.getOutputLayout());
    for (int64_t h = head * group; h < (head + 1) * group; ++h)
      read(features(query.row(b, h, t)),
           output.cells.data() + place.rowOffset(b, h, t));
    statistics.operations += 2 * group * size * width;
  }

  void read(const std::vector<T> &q, Cell *o) {
    T below = 0;
    for (int64_t d = 0; d < size; ++d)
      below += z[d] * q[d];
    for (int64_t e = 0; e < width; ++e) {
      T sum = 0;
      double magnitude = 0;
      for (int64_t d = 0; d < size; ++d) {
        sum += S[d * width + e] * q[d];
        magnitude += sizes[d * width + e] * std::fabs(double(q[d]));
      }
      T factor = op.getNormalize() ? (below == 0 ? T(0) : 1 / below) : scale;
      o[e].real =
          op.getNormalize() ? (below == 0 ? T(0) : sum / below) : scale * sum;
      magnitude *= std::fabs(double(factor));
      if (std::isfinite(magnitude))
        statistics.largestValue = std::max(statistics.largestValue, magnitude);
    }
  }

  LinearAttentionOp op;
  const LinearOperands &in;
  AttentionStatistics &statistics;
  Heads query, key, value;
  int64_t batch, size, width;
  T scale;
  /// The state of a head, and the magnitudes of what its elements are sums of.
  std::vector<T> S, z;
  std::vector<double> sizes;
};
} // namespace

/// Fails unless `tensor`, if it is there, has `shape`.
static LogicalResult verifyShape(Operation *op, StringRef name,
                                 const TensorValue *tensor,
                                 ArrayRef<int64_t> shape) {
  if (!tensor || ArrayRef<int64_t>(tensor->shape) == shape)
    return success();
  InFlightDiagnostic error = op->emitOpError()
                             << "expects '" << name << "' of shape [";
  llvm::interleaveComma(shape, error);
  error << "], got [";
  llvm::interleaveComma(tensor->shape, error);
  return error << "]";
}

/// Fails unless the tensors fit together; types have not said so where a
/// dimension is dynamic.
static LogicalResult verifyOperands(LinearAttentionOp op,
                                    const LinearOperands &in) {
  Heads query(*in.query, op.getQueryLayout()), key(*in.key, op.getKeyLayout());
  int64_t batch = in.query->shape[kBatchDim], heads = key.heads,
          steps = key.sequence, size = query.channels,
          width = in.value->shape[kChannelDim];
  auto inLayout = [&](Layout layout, int64_t channels) {
    SmallVector<int64_t> shape = {batch, heads, steps, channels};
    if (layout == Layout::bshd)
      std::swap(shape[1], shape[2]);
    return shape;
  };
  if (heads == 0 ? query.heads != 0 : query.heads % heads != 0)
    return op.emitOpError("expects the heads of 'query' to be a multiple of "
                          "those of 'key', got ")
           << query.heads << " and " << heads;
  if (!op.getNonCausal() && query.sequence != steps)
    return op.emitOpError("expects as many queries as keys, got ")
           << query.sequence << " and " << steps;
  SmallVector<int64_t> decay = {batch, heads, steps};
  if (op.hasChannelDecay())
    decay.push_back(size);
  bool isShared = in.beta && in.beta->shape[1] == 1;
  return success(succeeded(verifyShape(op, "key", in.key,
                                       inLayout(op.getKeyLayout(), size))) &&
                 succeeded(verifyShape(op, "value", in.value,
                                       inLayout(op.getValueLayout(), width))) &&
                 succeeded(verifyShape(op, "decay", in.decay, decay)) &&
                 succeeded(verifyShape(op, "beta", in.beta,
                                       {batch, isShared ? 1 : heads, steps})) &&
                 succeeded(verifyShape(op, "state", in.state,
                                       {batch, heads, size, width})) &&
                 succeeded(verifyShape(op, "normalizer", in.normalizer,
                                       {batch, heads, size})));
}

template <typename T>
static void runIn(Machine &machine, LinearAttentionOp op,
                  const LinearOperands &in) {
  LinearMachine<T> linear(op, in, machine.statistics);
  linear.run();
  auto give = [&](Value result, TensorValue tensor) {
    if (result)
      setRounded(machine, result, std::move(tensor));
  };
  give(op.getOutput(), std::move(linear.output));
  give(op.getNewState(), std::move(linear.state));
  give(op.getNewNormalizer(), std::move(linear.normalizer));
}

static LogicalResult runLinearAttention(Machine &machine,
                                        LinearAttentionOp op) {
  LinearOperands in = {&machine.getTensor(op.getQuery()),
                       &machine.getTensor(op.getKey()),
                       &machine.getTensor(op.getValue()),
                       machine.getOptionalTensor(op.getDecay()),
                       machine.getOptionalTensor(op.getBeta()),
                       machine.getOptionalTensor(op.getState()),
                       machine.getOptionalTensor(op.getNormalizer())};
  if (failed(verifyOperands(op, in)))
    return failure();
  if (machine.sumsInDouble(in.query->elementType))
    runIn<double>(machine, op, in);
  else
    runIn<float>(machine, op, in);
  return success();
}

void mlir::attn::addLinearAttentionHandlers(Machine &machine) {
  addHandler<LinearAttentionOp, runLinearAttention>(machine);
}
