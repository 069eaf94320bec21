// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.mha and attn.rope by their definition.

#include "Sdpa.h"

#include "attn/IR/AttentionShape.h"

using namespace mlir;
using namespace mlir::attn;

namespace {
/// The tables of a rotary embedding, and which channels rotate together.
struct Rotation {
  const TensorValue *cos, *sin, *positions;
  int64_t channels;
  Pairing pairing;
  Layout layout;
};
} // namespace

/// Return the row of the tables that token `s` of entry `b` reads, or an error
/// where there is none.
static FailureOr<int64_t> tableRow(Operation *op, const Rotation &rotation,
                                   int64_t b, int64_t s, int64_t sequence) {
  if (!rotation.positions)
    return b * sequence + s;
  int64_t position = rotation.positions->integer({b, s});
  if (position < 0 || position >= rotation.cos->shape[0])
    return op->emitOpError("expects positions in a table of ")
           << rotation.cos->shape[0] << " rows, got " << position << " at ["
           << b << ", " << s << "]";
  return position;
}

/// Fails unless the tables have a row for each token, and no more columns than
/// there are pairs.
static LogicalResult verifyRotation(Operation *op, const Rotation &rotation,
                                    const TensorValue &input) {
  int64_t batch = input.shape[kBatchDim];
  int64_t sequence = input.shape[sequenceDim(rotation.layout)];
  const TensorValue &rows =
      rotation.positions ? *rotation.positions : *rotation.cos;
  if (rows.shape[0] != batch || rows.shape[1] != sequence)
    return op->emitOpError("expects ")
           << (rotation.positions ? "'positions'" : "'cos'") << " for " << batch
           << "x" << sequence << " tokens, got " << rows.shape[0] << "x"
           << rows.shape[1];
  if (rotation.cos->shape != rotation.sin->shape)
    return op->emitOpError("expects 'cos' and 'sin' of one shape");
  if (2 * rotation.cos->shape.back() != rotation.channels ||
      rotation.channels > input.shape[kChannelDim])
    return op->emitOpError("expects tables of ")
           << rotation.channels / 2 << " columns for " << rotation.channels
           << " out of " << input.shape[kChannelDim] << " channels, got "
           << rotation.cos->shape.back();
  return success();
}

/// Rotate the channels of `tensor` in place.
static LogicalResult rotate(Machine &machine, Operation *op,
                            const Rotation &rotation, TensorValue &tensor) {
  if (failed(verifyRotation(op, rotation, tensor)))
    return failure();
  int64_t half = rotation.channels / 2;
  int64_t apart = rotation.pairing == Pairing::Half ? half : 1;
  int64_t next = rotation.pairing == Pairing::Half ? 1 : 2;
  int64_t size = tensor.shape[kChannelDim];
  SmallVector<int64_t> index(3, 0);
  ArrayRef<int64_t> outer = ArrayRef(tensor.shape).drop_back();
  if (tensor.cells.empty())
    return success();
  do {
    FailureOr<int64_t> row = tableRow(
        op, rotation, index[kBatchDim], index[sequenceDim(rotation.layout)],
        tensor.shape[sequenceDim(rotation.layout)]);
    if (failed(row))
      return failure();
    Cell *channels =
        &tensor.cells[((index[0] * outer[1] + index[1]) * outer[2] + index[2]) *
                      size];
    for (int64_t c = 0; c < half; ++c) {
      double cos = rotation.cos->cells[*row * half + c].real;
      double sin = rotation.sin->cells[*row * half + c].real;
      double &first = channels[c * next].real;
      double &second = channels[c * next + apart].real;
      double rotated = first * cos - second * sin;
      second = machine.round(first * sin + second * cos, tensor.elementType);
      first = machine.round(rotated, tensor.elementType);
    }
  } while (advanceIndex(index, outer));
  return success();
}

static LogicalResult runRope(Machine &machine, RopeOp op) {
  RuntimeValue value = machine.take(op.getInput(), op);
  TensorValue &tensor = value.getMutableTensor();
  Rotation rotation = {&machine.getTensor(op.getCos()),
                       &machine.getTensor(op.getSin()),
                       machine.getOptionalTensor(op.getPositions()),
                       static_cast<int64_t>(op.getRotaryDim().value_or(
                           tensor.shape[kChannelDim])),
                       op.getPairing(),
                       op.getLayout()};
  if (failed(rotate(machine, op, rotation, tensor)))
    return failure();
  machine.set(op, std::move(value));
  return success();
}

/// Compute `x W^T + b` for tokens `x [B, S, C]`, weights `[out, C]`.
static FailureOr<TensorValue> project(Machine &machine, MhaOp op,
                                      const TensorValue &tokens,
                                      const TensorValue &stored,
                                      const TensorValue *bias) {
  unsigned bits = machine.getFactorBits(op.getPrecision());
  TensorValue x = roundFactors(tokens, bits);
  TensorValue weight = roundFactors(stored, bits);
  int64_t channels = x.shape.back(), width = weight.shape[0];
  if (weight.shape[1] != channels)
    return op.emitOpError("expects weights for ")
           << channels << " channels, got " << weight.shape[1];
  if (bias && bias->shape[0] != width)
    return op.emitOpError("expects a bias of ")
           << width << " elements, got " << bias->shape[0];
  TensorValue result(x.elementType, {x.shape[0], x.shape[1], width},
                     realCell(0));
  bool isFloat = !machine.sumsInDouble(x.elementType);
  int64_t next = 0;
  for (int64_t row = 0, e = x.shape[0] * x.shape[1]; row < e; ++row)
    for (int64_t out = 0; out < width; ++out) {
      double sum = 0;
      for (int64_t c = 0; c < channels; ++c) {
        double product = x.cells[row * channels + c].real *
                         weight.cells[out * channels + c].real;
        sum = isFloat ? static_cast<float>(sum + static_cast<float>(product))
                      : sum + product;
      }
      sum += bias ? bias->cells[out].real : 0;
      result.cells[next++].real = machine.round(sum, x.elementType);
    }
  machine.statistics.operations += 2 * next * channels;
  return result;
}

/// Turn tokens `[B, S, heads * size]` into `[B, heads, S, size]`.
static FailureOr<TensorValue>
splitHeads(Operation *op, const TensorValue &tokens, int64_t heads) {
  int64_t batch = tokens.shape[0], sequence = tokens.shape[1];
  if (tokens.shape[2] % heads != 0)
    return op->emitOpError("expects the channels of ")
           << heads << " heads, got " << tokens.shape[2];
  int64_t size = tokens.shape[2] / heads;
  TensorValue result(tokens.elementType, {batch, heads, sequence, size},
                     realCell(0));
  SmallVector<int64_t> index(4, 0);
  for (Cell &cell : result.cells) {
    cell = tokens.cells[tokens.offsetOf(
        {index[0], index[2], index[1] * size + index[3]})];
    advanceIndex(index, result.shape);
  }
  return result;
}

/// Put `past` before `tensor` along the sequence, dimension 2.
static FailureOr<TensorValue> append(Operation *op, const TensorValue *past,
                                     TensorValue tensor) {
  if (!past)
    return tensor;
  for (int64_t dim : {0, 1, 3})
    if (past->shape[dim] != tensor.shape[dim])
      return op->emitOpError("expects ")
             << tensor.shape[dim] << " elements at dimension " << dim
             << " of the past, got " << past->shape[dim];
  SmallVector<int64_t, 4> shape = tensor.shape;
  shape[2] += past->shape[2];
  TensorValue result(tensor.elementType, shape, realCell(0));
  SmallVector<int64_t> index(4, 0);
  for (Cell &cell : result.cells) {
    int64_t s = index[2];
    bool isPast = s < past->shape[2];
    const TensorValue &from = isPast ? *past : tensor;
    cell = from.cells[from.offsetOf(
        {index[0], index[1], isPast ? s : s - past->shape[2], index[3]})];
    advanceIndex(index, shape);
  }
  return result;
}

namespace {
/// The parts of a layer between its projections.
struct Projected {
  TensorValue query, key, value;
};
} // namespace

/// Project, split into heads, rotate, and put the cache in front.
static FailureOr<Projected> projectInputs(Machine &machine, MhaOp op) {
  const TensorValue &x = machine.getTensor(op.getX());
  const TensorValue &memory =
      op.getMemory() ? machine.getTensor(op.getMemory()) : x;
  auto headsOf = [&](const TensorValue &input, Value weight, Value bias,
                     int64_t heads) -> FailureOr<TensorValue> {
    FailureOr<TensorValue> tokens =
        project(machine, op, input, machine.getTensor(weight),
                machine.getOptionalTensor(bias));
    if (failed(tokens))
      return failure();
    return splitHeads(op, *tokens, heads);
  };
  FailureOr<TensorValue> query =
      headsOf(x, op.getQWeight(), op.getQBias(), op.getNumHeads());
  FailureOr<TensorValue> key =
      headsOf(memory, op.getKWeight(), op.getKBias(), op.getKvHeads());
  FailureOr<TensorValue> value =
      headsOf(memory, op.getVWeight(), op.getVBias(), op.getKvHeads());
  if (failed(query) || failed(key) || failed(value))
    return failure();
  if (op.getCos()) {
    const TensorValue &cos = machine.getTensor(op.getCos());
    Rotation rotation = {&cos,
                         &machine.getTensor(op.getSin()),
                         machine.getOptionalTensor(op.getPositions()),
                         2 * cos.shape.back(),
                         op.getPairing(),
                         Layout::bhsd};
    if (failed(rotate(machine, op, rotation, *query)) ||
        failed(rotate(machine, op, rotation, *key)))
      return failure();
  }
  key = append(op, machine.getOptionalTensor(op.getPastKey()), *key);
  value = append(op, machine.getOptionalTensor(op.getPastValue()), *value);
  if (failed(key) || failed(value))
    return failure();
  return Projected{*query, *key, *value};
}

static SdpaInputs attentionOf(Machine &machine, MhaOp op,
                              const Projected &parts) {
  SdpaInputs in;
  in.query = &parts.query;
  in.key = &parts.key;
  in.value = &parts.value;
  readRules(machine, op, in);
  in.outputLayout = Layout::bshd;
  return in;
}

static LogicalResult runMha(Machine &machine, MhaOp op) {
  FailureOr<Projected> parts = projectInputs(machine, op);
  if (failed(parts))
    return failure();
  FailureOr<SdpaOutputs> outputs =
      computeSdpa(machine, op, attentionOf(machine, op, *parts));
  if (failed(outputs))
    return failure();
  TensorValue &tokens = outputs->output;
  for (Cell &cell : tokens.cells)
    cell.real = machine.round(cell.real, tokens.elementType);
  tokens.shape = {tokens.shape[0], tokens.shape[1],
                  tokens.shape[2] * tokens.shape[3]};
  FailureOr<TensorValue> result =
      project(machine, op, tokens, machine.getTensor(op.getOWeight()),
              machine.getOptionalTensor(op.getOBias()));
  if (failed(result))
    return failure();
  machine.set(op.getOutput(), std::move(*result));
  if (op.getPresentKey())
    machine.set(op.getPresentKey(), std::move(parts->key));
  if (op.getPresentValue())
    machine.set(op.getPresentValue(), std::move(parts->value));
  if (op.getLse()) {
    for (Cell &cell : outputs->lse.cells)
      cell.real = machine.round(
          cell.real,
          cast<RankedTensorType>(op.getLse().getType()).getElementType());
    machine.set(op.getLse(), std::move(outputs->lse));
  }
  return success();
}

void mlir::attn::addLayerHandlers(Machine &machine) {
  addHandler<RopeOp, runRope>(machine);
  addHandler<MhaOp, runMha>(machine);
}
