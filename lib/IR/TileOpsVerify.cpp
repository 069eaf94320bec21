// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What attn.block_step, attn.merge and attn.finish accept. The plain form, rows
// by channels, is checked in full. Of operands packed into panels only element
// types and the dimensions that query and state share are: how panels are cut
// is known to the pass that packs them and to the one that takes them apart.

#include "attn/IR/AttnOps.h"

#include "attn/IR/ShapeChecks.h"

using namespace mlir;
using namespace mlir::attn;

namespace {
/// A state under the names of its three tensors.
struct NamedState {
  NamedType reference, sum, acc;

  /// Return whether rows are a dimension of their own, not cut into panels.
  bool isPlain() const { return acc.tensor().getRank() == 2; }
};

/// The dimensions of a plain state, and the lanes of a sum that is kept in
/// parts.
struct StateDims {
  SharedDim rows, valueSize, lanes;
};
} // namespace

/// Fails unless the three tensors of `state` fit each other.
static LogicalResult verifyState(Operation *op, const NamedState &state,
                                 StateDims &dims) {
  if (failed(verifySameElementType(op, state.reference, state.sum)) ||
      failed(verifySameElementType(op, state.reference, state.acc)))
    return failure();
  Type element = state.reference.tensor().getElementType();
  if (!element.isF32() && !element.isF64())
    return op->emitOpError()
           << "expects 'reference' of 'f32' or 'f64', got " << element;
  if (state.reference.tensor().getRank() == 0)
    return verifyRank(op, state.reference, 1);
  if (!state.isPlain())
    return success();
  SmallVector<SharedDim *> sum = {&dims.rows};
  if (state.sum.tensor().getRank() == 2)
    sum.push_back(&dims.lanes);
  if (failed(verifyShape(op, {&dims.rows}, state.reference)) ||
      failed(verifyShape(op, sum, state.sum)))
    return failure();
  return verifyShape(op, {&dims.rows, &dims.valueSize}, state.acc);
}

/// Fails unless the plain ones among rows and keys fit each other: either may be
/// packed while the other is not yet.
static LogicalResult verifyPlainStep(BlockStepOp op, bool plainRows,
                                     bool plainKeys, StateDims &dims) {
  NamedType query("query", op.getQuery()), key("key", op.getKey()),
      value("value", op.getValue()), bias("bias", op.getBias()),
      mask("mask", op.getMask());
  SharedDim keys, headSize;
  // block_step-C3
  if (plainRows && failed(verifyShape(op, {&dims.rows, &headSize}, query)))
    return failure();
  if (plainKeys && (failed(verifyShape(op, {&keys, &headSize}, key)) ||
                    failed(verifyShape(op, {&keys, &dims.valueSize}, value))))
    return failure();
  if (!plainRows || !plainKeys)
    return success();
  // block_step-C4
  for (NamedType tensor : {key, value})
    if (failed(verifySameElementType(op, query, tensor)))
      return failure();
  // block_step-C5
  // Heads, rows and keys of the whole task, from which the block takes its own.
  for (NamedType tensor : {bias, mask})
    if (failed(verifyRank(op, tensor, 3)))
      return failure();
  return success();
}

/// Fails unless the rows of a packed query and of its state agree.
static LogicalResult verifyPackedStep(Operation *op, NamedType query,
                                      NamedType reference) {
  int64_t rank = query.tensor().getRank();
  if (rank != 2 && rank != 3)
    return op->emitOpError()
           << "expects a packed 'query' of rank 2 or 3, got " << query.type;
  SharedDim strips, rows;
  int64_t stateRank = reference.tensor().getRank();
  if (failed(verifyDim(op, rows, query, rank - 1)) ||
      failed(verifyDim(op, rows, reference, stateRank - 1)))
    return failure();
  if (rank != 3 || stateRank != 2)
    return success();
  if (failed(verifyDim(op, strips, query, 0)))
    return failure();
  return verifyDim(op, strips, reference, 0);
}

LogicalResult BlockStepOp::verify() {
  NamedType query("query", getQuery());
  NamedState state = {
      {"reference", getReference()}, {"sum", getSum()}, {"acc", getAcc()}};
  StateDims dims;
  // block_step-C1
  if (failed(verifyAccumulatorType(*this, query, state.reference)) ||
      failed(verifyState(*this, state, dims)))
    return failure();
  // block_step-C2
  if (failed(verifyFinite(*this, "scale", getScale())) ||
      failed(verifySoftcap(*this, getSoftcap())))
    return failure();
  bool plainKeys = cast<RankedTensorType>(getKey().getType()).getRank() == 2;
  if (failed(verifyPlainStep(*this, state.isPlain(), plainKeys, dims)))
    return failure();
  // block_step-C6
  return state.isPlain() ? success()
                         : verifyPackedStep(*this, query, state.reference);
}

LogicalResult MergeOp::verify() {
  StateDims dims;
  // merge-C1
  return verifyState(
      *this,
      {{"reference", getReference()}, {"sum", getSum()}, {"acc", getAcc()}},
      dims);
}

LogicalResult FinishOp::verify() {
  NamedType reference("reference", getReference()),
      output("output", getOutput()), lse("lse", getLse()),
      sinks("sinks", getSinks()), row("row", getRow()),
      rowsPerHead("rows_per_head", getRowsPerHead());
  NamedState state = {reference, {"sum", getSum()}, {"acc", getAcc()}};
  StateDims dims;
  // finish-C1
  if (failed(verifyState(*this, state, dims)))
    return failure();
  // finish-C2
  if (failed(verifySameElementType(*this, reference, lse)))
    return failure();
  if (state.isPlain() &&
      (failed(verifyShape(*this, {&dims.rows, &dims.valueSize}, output)) ||
       failed(verifyShape(*this, {&dims.rows}, lse))))
    return failure();
  // finish-C3
  if (failed(verifyTogether(*this, sinks, row)) ||
      failed(verifyTogether(*this, sinks, rowsPerHead)) ||
      failed(verifyRank(*this, sinks, 1)))
    return failure();
  return verifyNoWiderThan(*this, reference, sinks);
}
