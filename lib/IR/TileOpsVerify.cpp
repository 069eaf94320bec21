// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What attn.block_step, attn.merge and attn.finish accept. Rows, and keys, are a dimension of their own, or are packed:
// strips of rows, panels of keys and of channels. Numbers such as block_step-C3 refer to the constraints in the ops'
// descriptions.

#include "attn/IR/AttnOps.h"

#include "attn/IR/ScoreRegion.h"
#include "attn/IR/ShapeChecks.h"

using namespace mlir;
using namespace mlir::attn;

namespace {
/// A state under the names of its three tensors.
struct NamedState {
  NamedType reference, sum, acc;

  bool isPacked() const { return acc.tensor().getRank() == 4; }
};

/// The dimensions of a state: rows by channels, or strips of rows by panels of
/// channels; and the lanes of a sum that is kept in parts.
struct StateDims {
  SharedDim rows, channels, strips, stripRows, panels, lanes;
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
  SmallVector<SharedDim *> rows = {&dims.rows};
  SmallVector<SharedDim *> acc = {&dims.rows, &dims.channels};
  if (state.isPacked()) {
    rows = {&dims.strips, &dims.stripRows};
    acc = {&dims.strips, &dims.panels, &dims.stripRows, &dims.channels};
  }
  SmallVector<SharedDim *> sum = rows;
  if (state.sum.tensor().getRank() > static_cast<int64_t>(rows.size()))
    sum.push_back(&dims.lanes);
  if (failed(verifyShape(op, acc, state.acc)) ||
      failed(verifyShape(op, rows, state.reference)))
    return failure();
  return verifyShape(op, sum, state.sum);
}

/// Fails unless query, key and value have the shapes of a streamed step.
static LogicalResult verifyStreamed(BlockStepOp op, const NamedState &state,
                                    StateDims &dims) {
  SharedDim headSize, keys;
  NamedType query("query", op.getQuery());
  // block_step-C7
  if (!state.isPacked())
    return op->emitOpError()
           << "expects 'acc' of rank 4 under a schedule with streams, got "
           << state.acc.type;
  if (dims.panels.size != 1)
    return op->emitOpError()
           << "expects dimension 1 of 'acc' to be 1 under a schedule with "
              "streams, got "
           << state.acc.type;
  if (failed(
          verifyShape(op, {&dims.strips, &dims.stripRows, &headSize}, query)) ||
      failed(verifyShape(op, {&keys, &headSize}, {"key", op.getKey()})) ||
      failed(
          verifyShape(op, {&keys, &dims.channels}, {"value", op.getValue()})))
    return failure();
  // block_step-C6
  if (failed(verifyStaticUnit(op, state.reference)))
    return failure();
  return verifyStaticUnit(op, state.sum);
}

/// Fails unless query, key and value fit each other and the state, in so far as
/// they are packed alike: keys may be packed before rows are, or after.
static LogicalResult verifyProducts(BlockStepOp op, bool packedRows,
                                    StateDims &dims) {
  NamedType query("query", op.getQuery()), key("key", op.getKey()),
      value("value", op.getValue());
  bool packedKeys = op.hasPackedKeys();
  SharedDim headSize, keys, keyPanels, otherChannels, otherPanels, otherLanes;
  bool alike = packedRows == packedKeys;
  SharedDim &channels = alike ? dims.channels : otherChannels;
  SharedDim &panels = alike ? dims.panels : otherPanels;
  SharedDim &panelKeys = alike ? dims.lanes : otherLanes;
  SmallVector<SharedDim *> queryShape = {&dims.rows, &headSize};
  if (packedRows)
    queryShape = {&dims.strips, &dims.stripRows, &headSize};
  SmallVector<SharedDim *> keyShape = {&keys, &headSize};
  SmallVector<SharedDim *> valueShape = {&keys, &channels};
  if (packedKeys) {
    keyShape = {&keyPanels, &headSize, &panelKeys};
    valueShape = {&panels, &keyPanels, &panelKeys, &channels};
  }
  // Values may stay where they are.
  SharedDim plainKeys, plainChannels;
  bool isPlain = packedRows && packedKeys && value.tensor().getRank() == 2;
  if (isPlain)
    valueShape = {&plainKeys, &plainChannels};
  // block_step-C3
  if (failed(verifyShape(op, queryShape, query)) ||
      failed(verifyShape(op, keyShape, key)) ||
      failed(verifyShape(op, valueShape, value)))
    return failure();
  // block_step-C14
  if (isPlain && (!plainChannels.isStatic() || !dims.channels.isStatic() ||
                  !dims.panels.isStatic() ||
                  llvm::divideCeil(plainChannels.size, dims.channels.size) !=
                      static_cast<uint64_t>(dims.panels.size)))
    return op.emitOpError()
           << "expects channels of a plain 'value' to be those "
              "of the panels of 'acc', got "
           << value.type << " and " << op.getAcc().getType();
  // block_step-C6
  if (packedRows &&
      failed(verifyStaticUnit(op, {"reference", op.getReference()})))
    return failure();
  return packedKeys ? verifyStaticUnit(op, key) : success();
}

/// Fails where the number of channels that count is not one of the value's.
static LogicalResult verifyChannels(BlockStepOp op) {
  std::optional<uint64_t> channels = op.getChannels();
  if (!channels)
    return success();
  auto type = cast<RankedTensorType>(op.getValue().getType());
  // block_step-C8
  if (type.getRank() != 4)
    return op->emitOpError()
           << "expects 'value' of rank 4 where 'channels' is given, got "
           << type;
  int64_t most = type.isDynamicDim(0) || type.isDynamicDim(3)
                     ? std::numeric_limits<int64_t>::max()
                     : type.getDimSize(0) * type.getDimSize(3);
  int64_t count = static_cast<int64_t>(*channels);
  if (count <= 0 || count > most)
    return op->emitOpError() << "expects 'channels' to be above 0 and at most "
                                "those of 'value', got "
                             << count << " and " << type;
  return success();
}

/// Fails unless scales are one number, or one for each key that is read.
static LogicalResult verifyScales(BlockStepOp op) {
  SharedDim keys;
  if (failed(verifyDim(op, keys, {"key", op.getKey()}, 0)))
    return failure();
  // block_step-C12
  for (NamedType scale : {NamedType("key_scale", op.getKeyScale()),
                          NamedType("value_scale", op.getValueScale())}) {
    if (!scale)
      continue;
    if (op.hasPackedKeys())
      return op.emitOpError()
             << "expects no '" << scale.name << "' for keys that are packed";
    if (failed(verifyRank(op, scale, 1)) ||
        failed(verifyBroadcast(op, {&keys}, scale)) ||
        failed(verifyNoWiderThan(op, {"query", op.getQuery()}, scale)))
      return failure();
  }
  return success();
}

LogicalResult BlockStepOp::verify() {
  NamedType query("query", getQuery());
  NamedState state = {
      {"reference", getReference()}, {"sum", getSum()}, {"acc", getAcc()}};
  StateDims dims;
  // block_step-C1
  if (failed(verifyAccumulatorType(*this, query, state.reference)) ||
      failed(verifyState(*this, state, dims)) ||
      ((state.isPacked() || !getExponent()) &&
       failed(verifyRank(*this, state.sum, state.isPacked() ? 3 : 1))))
    return failure();
  // block_step-C2
  if (failed(verifyFinite(*this, "scale", getScale())) ||
      failed(verifySoftcap(*this, getSoftcap())))
    return failure();
  if (failed(isStreamed() ? verifyStreamed(*this, state, dims)
                          : verifyProducts(*this, state.isPacked(), dims)) ||
      failed(verifyChannels(*this)) || failed(verifyScales(*this)))
    return failure();
  // block_step-C4
  for (NamedType tensor :
       {NamedType("key", getKey()), NamedType("value", getValue())})
    if (failed(verifyNoWiderThan(*this, query, tensor)))
      return failure();
  // block_step-C5
  // Heads, rows and keys of the whole task, from which the block takes its own.
  for (NamedType tensor :
       {NamedType("bias", getBias()), NamedType("mask", getMask())})
    if (failed(verifyRank(*this, tensor, 3)) ||
        failed(verifyNoWiderThan(*this, query, tensor)))
      return failure();
  // block_step-C13
  if ((getProducts() || getExponent()) && state.isPacked())
    return emitOpError() << "expects a plain state with 'products' or "
                            "'exponent', got 'acc' "
                         << state.acc.type;
  if (getProducts() &&
      (getScoreMod() || getSoftcap() || getBias() || getKeyScale()))
    return emitOpError() << "expects nothing that changes scores with "
                            "'products'";
  if (getProducts() && getScale().convertToDouble() <= 0.0)
    return emitOpError()
           << "expects 'scale' to be above 0 with 'products', got "
           << getScale().convertToDouble();
  // block_step-C11
  if (getMasked() && !getMaskMod())
    return emitOpError() << "expects 'mask_mod' with 'masked'";
  return success();
}

LogicalResult BlockStepOp::verifyRegions() {
  return verifyScoreRegions(*this, getScoreMod(), getMaskMod(),
                            getElementTypeOrSelf(getReference()));
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
  NamedType reference("reference", getReference()), acc("acc", getAcc()),
      output("output", getOutput()), lse("lse", getLse()),
      sinks("sinks", getSinks()), row("row", getRow()),
      rowsPerHead("rows_per_head", getRowsPerHead());
  StateDims dims;
  // finish-C1
  if (failed(verifyState(*this, {reference, {"sum", getSum()}, acc}, dims)))
    return failure();
  // finish-C2
  if (failed(verifySameElementType(*this, reference, lse)) ||
      failed(verifySameShape(*this, acc, output)) ||
      failed(verifySameShape(*this, reference, lse)))
    return failure();
  // finish-C3
  if (failed(verifyTogether(*this, sinks, row)) ||
      failed(verifyTogether(*this, sinks, rowsPerHead)) ||
      failed(verifyRank(*this, sinks, 1)))
    return failure();
  return verifyNoWiderThan(*this, reference, sinks);
}
