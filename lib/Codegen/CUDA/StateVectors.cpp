// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.merge and attn.finish of a block of threads as vectors: the same formulas as in their definitions, one number a
// row, and the sum of a row in lanes until it ends.

#include "TileVectors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::attn;

/// Return e^(from - to), 0 where both are -inf.
static Value expUpTo(ImplicitLocOpBuilder &b, Value from, Value to) {
  auto type = cast<VectorType>(from.getType());
  Value lowest = splat(b, type, -std::numeric_limits<double>::infinity());
  Value empty = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, to, lowest);
  Value safe = arith::SelectOp::create(b, empty, splat(b, type, 0.0), to);
  return expOfDifference(b, from, safe);
}

/// Return `values` times one `factor` a row.
static Value timesRows(ImplicitLocOpBuilder &b, Value values, Value factor) {
  auto type = cast<VectorType>(values.getType());
  if (type.getRank() == 2)
    factor = spreadRows(b, factor, type.getDimSize(1));
  return arith::MulFOp::create(b, values, factor);
}

StateVectors attn::vectorizeMerge(ImplicitLocOpBuilder &b,
                                  const StateVectors &state,
                                  const StateVectors &other) {
  Value larger = arith::MaxNumFOp::create(b, state.reference, other.reference);
  Value factor = expUpTo(b, state.reference, larger);
  Value otherFactor = expUpTo(b, other.reference, larger);
  auto blend = [&](Value x, Value y) -> Value {
    return arith::AddFOp::create(b, timesRows(b, x, factor),
                                 timesRows(b, y, otherFactor));
  };
  return {larger, blend(state.sum, other.sum), blend(state.acc, other.acc)};
}

/// Return the logit of the sink of each row, in `type`.
static Value sinks(ImplicitLocOpBuilder &b, FinishOp op, VectorType type) {
  Value tensor = op.getSinks();
  auto given = cast<RankedTensorType>(tensor.getType());
  std::optional<int64_t> perHead = getConstantIntValue(op.getRowsPerHead());
  Value zero = arith::ConstantIndexOp::create(b, 0), read;
  auto readType = VectorType::get(type.getShape(), given.getElementType());
  if (perHead && *perHead >= type.getDimSize(0)) {
    Value sink = tensor::ExtractOp::create(b, tensor, zero);
    read = vector::BroadcastOp::create(b, readType, sink);
  } else {
    // Of several heads, each has one row.
    read = readTile(b, readType, tensor, zero);
  }
  if (readType == type)
    return read;
  return arith::ExtFOp::create(b, type, read);
}

std::pair<Value, Value> attn::vectorizeFinish(ImplicitLocOpBuilder &b,
                                              FinishOp op,
                                              const StateVectors &state) {
  Value reference = state.reference, sum = state.sum;
  auto type = cast<VectorType>(reference.getType());
  Value zero = splat(b, type, 0.0), factor = splat(b, type, 1.0);
  if (cast<VectorType>(sum.getType()).getRank() == 2)
    sum = vector::MultiDimReductionOp::create(
        b, sum, zero, ArrayRef<bool>{false, true}, vector::CombiningKind::ADD);
  Value empty = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, sum, zero);
  if (op.getSinks()) {
    Value sink = sinks(b, op, type);
    // An empty row's reference says nothing.
    Value lowest = splat(b, type, -std::numeric_limits<double>::infinity());
    reference = arith::SelectOp::create(b, empty, lowest, reference);
    Value larger = arith::MaxNumFOp::create(b, reference, sink);
    factor = expUpTo(b, reference, larger);
    Value scaled = arith::MulFOp::create(b, sum, factor);
    sum = arith::AddFOp::create(b, scaled, expUpTo(b, sink, larger));
    reference = larger;
  }
  Value weight = arith::DivFOp::create(b, factor, sum);
  weight = arith::SelectOp::create(b, empty, zero, weight);
  Value output = timesRows(b, state.acc, weight);
  auto outputType = cast<VectorType>(output.getType());
  Value noWeight =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, weight, zero);
  output = arith::SelectOp::create(
      b, spreadRows(b, noWeight, outputType.getDimSize(1)),
      splat(b, outputType, 0.0), output);
  Type element = getElementTypeOrSelf(op.getOutput());
  if (!element.isF32())
    output = element.getIntOrFloatBitWidth() < 32
                 ? arith::TruncFOp::create(b, outputType.clone(element), output)
                       .getResult()
                 : arith::ExtFOp::create(b, outputType.clone(element), output)
                       .getResult();
  if (op.getLse().use_empty())
    return {output, Value()};
  Value lse = arith::AddFOp::create(b, reference, math::LogOp::create(b, sum));
  if (!op.getSinks())
    lse = arith::SelectOp::create(
        b, empty, splat(b, type, -std::numeric_limits<double>::infinity()),
        lse);
  return {output, lse};
}
