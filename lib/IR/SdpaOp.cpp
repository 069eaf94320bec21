// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.sdpa: what it accepts and what shapes it gives. Numbers such as sdpa-C3
// refer to the constraints in its description.

#include "attn/IR/AttnOps.h"

#include "attn/IR/AttentionShape.h"
#include "attn/IR/LinalgBuilder.h"
#include "attn/IR/ScoreRegion.h"
#include "attn/IR/ShapeChecks.h"

#include <cmath>

using namespace mlir;
using namespace mlir::attn;

Layout SdpaOp::getQueryLayout() {
  return getLayout() ? getLayout()->getQuery() : Layout::bhsd;
}
Layout SdpaOp::getKeyLayout() {
  return getLayout() ? getLayout()->getKey() : Layout::bhsd;
}
Layout SdpaOp::getValueLayout() {
  return getLayout() ? getLayout()->getValue() : Layout::bhsd;
}
Layout SdpaOp::getOutputLayout() {
  return getLayout() ? getLayout()->getOutput() : Layout::bhsd;
}

double SdpaOp::getScaleValue() {
  if (std::optional<APFloat> scale = getScale())
    return scale->convertToDouble();
  int64_t size = AttentionShape::get(*this).headSize;
  return size == 0 ? 1.0 : 1.0 / std::sqrt(static_cast<double>(size));
}

namespace {
/// A tensor of one layout under its name.
struct LaidOut {
  NamedType tensor;
  Layout layout;
};

/// The dimensions of an op: those of scores, and what else its tensors share.
struct SdpaDims {
  ScoreDims scores;
  SharedDim kvHeads, headSize, valueSize;
  /// Of the queries or keys of all sequences, of which there is one batch.
  SharedDim allRows, allKeys, one;
  /// Of keys and values in pages.
  SharedDim pool, page, pages;
};
} // namespace

/// Fails unless a tensor has these dimensions, in the order of its layout. With
/// `packed`, the rows of all sequences, it may have rank 3: rows, heads, channels.
static LogicalResult verifyHeads(SdpaOp op, LaidOut tensor, SharedDim &batch,
                                 SharedDim &heads, SharedDim &sequence,
                                 SharedDim &channels, bool packed) {
  auto type = cast<RankedTensorType>(tensor.tensor.type);
  // sdpa-C1
  if (packed && type.getRank() == 3)
    return verifyShape(op, {&sequence, &heads, &channels}, tensor.tensor);
  return verifyLaidOut(op, tensor.tensor, tensor.layout, batch, heads, sequence,
                       channels);
}

/// Fails unless `tensor` has elements of one of `widths` bits.
static LogicalResult verifyIntegers(SdpaOp op, NamedType tensor,
                                    ArrayRef<unsigned> widths) {
  Type type = getElementTypeOrSelf(tensor.type);
  if (llvm::any_of(widths, [&](unsigned bits) { return type.isInteger(bits); }))
    return success();
  InFlightDiagnostic error = op.emitOpError()
                             << "expects '" << tensor.name << "' of ";
  llvm::interleave(
      widths, [&](unsigned bits) { error << "'i" << bits << "'"; },
      [&] { error << " or "; });
  return error << ", got " << type;
}

/// Fails unless the operands that say where sequences and pages lie go together,
/// and states what follows from them in `dims`.
static LogicalResult verifyPlaces(SdpaOp op, SdpaDims &dims) {
  NamedType table("page_table", op.getPageTable()),
      queries("cu_seqlens_q", op.getCuSeqlensQ()),
      keys("cu_seqlens_k", op.getCuSeqlensK());
  // sdpa-C25
  if (table && keys)
    return op.emitOpError() << "expects no 'page_table' with 'cu_seqlens_k'";
  // sdpa-C27
  if (keys && !queries)
    return op.emitOpError() << "expects 'cu_seqlens_k' with 'cu_seqlens_q'";
  // sdpa-C28
  for (NamedType tensor :
       {NamedType("bias", op.getBias()), NamedType("mask", op.getMask())})
    if (queries && tensor)
      return op.emitOpError()
             << "expects no '" << tensor.name << "' with 'cu_seqlens_q'";
  // sdpa-C26
  SharedDim ends;
  for (NamedType numbers : {queries, keys})
    if (numbers && (failed(verifyShape(op, {&ends}, numbers)) ||
                    failed(verifyIntegers(op, numbers, {32, 64}))))
      return failure();
  if (ends.size == 0)
    return op.emitOpError()
           << "expects '" << ends.owner << "' of at least 1 element, got 0";
  if (ends.isStatic())
    dims.scores.batch = {ends.size - 1, ends.owner, SharedDim::kDerived};
  // sdpa-C29
  if (queries)
    dims.one = {1, queries.name, SharedDim::kDerived};
  return success();
}

/// Fails unless the table fits, and states the number of keys in `dims`.
static LogicalResult verifyTable(SdpaOp op, SdpaDims &dims) {
  NamedType table("page_table", op.getPageTable());
  if (!table)
    return success();
  // sdpa-C24
  if (failed(verifyShape(op, {&dims.scores.batch, &dims.pages}, table)) ||
      failed(verifyIntegers(op, table, {32})))
    return failure();
  if (dims.pages.isStatic() && dims.page.isStatic())
    dims.scores.keys = {dims.pages.size * dims.page.size, table.name,
                        SharedDim::kDerived};
  return success();
}

/// Fails unless the weights, where they are asked for, have a shape and a type for
/// `query`, and the schedule computes them.
static LogicalResult verifyWeights(SdpaOp op, NamedType query,
                                   ScoreDims &dims) {
  NamedType weights("weights", op.getWeights());
  if (!weights)
    return success();
  // sdpa-C30
  if (op.isPaged() || op.hasPackedRows())
    return op.emitOpError()
           << "expects no 'weights' with 'page_table' or 'cu_seqlens_q'";
  // sdpa-C18
  if (failed(verifyShape(op, {&dims.batch, &dims.heads, &dims.rows, &dims.keys},
                         weights)))
    return failure();
  // sdpa-C19
  if (getElementTypeOrSelf(weights.type) != getElementTypeOrSelf(query.type) &&
      failed(verifyAccumulatorType(op, query, weights)))
    return failure();
  // sdpa-C20
  ScheduleAttr schedule = op.getScheduleAttr();
  if (schedule && (schedule.getChunk() > 0 || schedule.getStreams() > 0 ||
                   schedule.getFoldHeads()))
    return op.emitOpError() << "expects a 'schedule' without 'chunk', "
                               "'streams' and 'fold_heads' with 'weights', got "
                            << schedule;
  return success();
}

/// Fails unless keys and values may be stored as they are under the query.
static LogicalResult verifyStoredTypes(SdpaOp op) {
  // sdpa-C2
  if (failed(verifyStoredUnder(op, {"query", op.getQuery()},
                               {"key", op.getKey()})))
    return failure();
  return verifySameElementType(op, {"key", op.getKey()},
                               {"value", op.getValue()});
}

/// Fails unless scales fit the keys and values that they are for.
static LogicalResult verifyScales(SdpaOp op, SdpaDims &dims) {
  SmallVector<SharedDim *> full = {&dims.scores.batch, &dims.kvHeads,
                                   &dims.scores.keys};
  if (op.isPaged())
    full = {&dims.pool, &dims.kvHeads, &dims.page};
  if (op.hasPackedKeys())
    full = {&dims.one, &dims.kvHeads, &dims.allKeys};
  NamedType query("query", op.getQuery());
  for (NamedType scale : {NamedType("key_scale", op.getKeyScale()),
                          NamedType("value_scale", op.getValueScale())}) {
    if (!scale)
      continue;
    // sdpa-C23
    if (Type key = getElementTypeOrSelf(op.getKey()); !isByte(key))
      return op.emitOpError() << "expects '" << scale.name
                              << "' with keys and values of i8, f8E4M3FN or "
                                 "f8E5M2, got "
                              << key;
    if (failed(verifyNoWiderThan(op, query, scale)))
      return failure();
    if (scale.tensor().getRank() > 0 &&
        failed(verifyBroadcast(op, full, scale)))
      return failure();
  }
  return success();
}

/// Fails unless query, key, value and output fit each other.
static LogicalResult verifyTensors(SdpaOp op, SdpaDims &dims) {
  bool packedRows = op.hasPackedRows(), packedKeys = op.hasPackedKeys();
  SharedDim &batch = dims.scores.batch, &heads = dims.scores.heads;
  SharedDim &rowBatch = packedRows ? dims.one : batch,
            &rows = packedRows ? dims.allRows : dims.scores.rows;
  SharedDim *keyBatch = &batch, *keys = &dims.scores.keys;
  if (op.isPaged())
    keyBatch = &dims.pool, keys = &dims.page;
  if (packedKeys)
    keyBatch = &dims.one, keys = &dims.allKeys;
  // sdpa-C3
  if (failed(verifyHeads(op, {{"query", op.getQuery()}, op.getQueryLayout()},
                         rowBatch, heads, rows, dims.headSize, packedRows)) ||
      failed(verifyHeads(op, {{"key", op.getKey()}, op.getKeyLayout()},
                         *keyBatch, dims.kvHeads, *keys, dims.headSize,
                         packedKeys)) ||
      failed(verifyHeads(op, {{"value", op.getValue()}, op.getValueLayout()},
                         *keyBatch, dims.kvHeads, *keys, dims.valueSize,
                         packedKeys)))
    return failure();
  // sdpa-C4
  if (failed(verifyHeads(op, {{"output", op.getOutput()}, op.getOutputLayout()},
                         rowBatch, heads, rows, dims.valueSize, packedRows)))
    return failure();
  // sdpa-C5
  return verifyHeadGroups(op, heads, dims.kvHeads);
}

LogicalResult SdpaOp::verify() {
  if (failed(verifyStoredTypes(*this)))
    return failure();
  // sdpa-C31
  NamedType query("query", getQuery());
  if (failed(verifyPrecision(*this, query, getPrecision())) ||
      (getSchedule() &&
       failed(verifyPrecision(*this, query, getSchedule()->getPrecision()))))
    return failure();
  SdpaDims dims;
  if (failed(verifyPlaces(*this, dims)) || failed(verifyTensors(*this, dims)) ||
      failed(verifyTable(*this, dims)) || failed(verifyScales(*this, dims)))
    return failure();
  NamedType lse("lse", getLse());
  // Its shape is [H, Tq] for all sequences; the rest is as ever.
  if (lse && hasPackedRows()) {
    SmallVector<SharedDim *> shape = {&dims.one, &dims.scores.heads,
                                      &dims.allRows};
    if (lse.tensor().getRank() == 2)
      shape.erase(shape.begin());
    if (failed(verifyShape(*this, shape, lse)) ||
        failed(verifyAccumulatorType(*this, {"query", getQuery()}, lse)))
      return failure();
    lse = {"lse", Value()};
  }
  if (failed(verifyScoreOperands(*this,
                                 {{"query", getQuery()},
                                  {"bias", getBias()},
                                  {"mask", getMask()},
                                  {"kv_lengths", getKvLengths()},
                                  {"query_offset", getQueryOffset()},
                                  {"sinks", getSinks()},
                                  lse,
                                  getScale(),
                                  getSoftcap(),
                                  getCausal()},
                                 dims.scores)))
    return failure();
  return verifyWeights(*this, {"query", getQuery()}, dims.scores);
}

LogicalResult SdpaOp::verifyRegions() {
  return verifyScoreRegions(
      *this, &getScoreMod(), &getMaskMod(),
      getAccumulatorType(getElementTypeOrSelf(getQuery())));
}

LogicalResult SdpaOp::reifyResultShapes(OpBuilder &builder,
                                        ReifiedRankedShapedTypeDims &shapes) {
  AttentionDims dims = AttentionDims::get(builder, *this);
  auto type = cast<RankedTensorType>(getOutput().getType());
  OpFoldResult batch =
      hasPackedRows() ? OpFoldResult(builder.getIndexAttr(1)) : dims.batch;
  SmallVector<OpFoldResult> output = {batch, dims.heads, dims.rows,
                                      dims.valueSize};
  SmallVector<OpFoldResult> lse(ArrayRef(output).drop_back());
  if (getOutputLayout() == Layout::bshd || type.getRank() == 3)
    std::swap(output[1], output[2]);
  if (type.getRank() == 3)
    output.erase(output.begin());
  shapes.push_back(withStaticExtents(builder, getOutput(), output));
  if (getLse() && cast<RankedTensorType>(getLse().getType()).getRank() == 2)
    lse.erase(lse.begin());
  if (getLse())
    shapes.push_back(withStaticExtents(builder, getLse(), lse));
  if (getWeights())
    shapes.push_back(withStaticExtents(
        builder, getWeights(), {dims.batch, dims.heads, dims.rows, dims.keys}));
  return success();
}
