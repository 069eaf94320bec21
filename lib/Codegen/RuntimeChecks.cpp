// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which extents of an op must agree, and which values must be in range. What is static has been checked by the
// verifier; only a static 1 broadcasts.

#include "attn/Codegen/RuntimeChecks.h"

#include "RegionChecks.h"

#include "attn/IR/AttentionShape.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::attn;

/// Check that `extents` are all equal.
static void agreeAll(CheckBuilder &checks, ArrayRef<NamedExtent> extents) {
  for (const NamedExtent &extent : extents.drop_front())
    checks.agree(extents.front(), extent);
}

static int64_t getRank(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getRank();
}

/// Check that `tensor`, called `name`, has the extents `full` if it is there.
static void checkShape(CheckBuilder &checks, StringRef name, Value tensor,
                       ArrayRef<NamedExtent> full) {
  if (!tensor)
    return;
  for (auto [dim, extent] : llvm::enumerate(full))
    checks.agree(NamedExtent(name, tensor, dim), extent);
}

/// Check that `tensor`, called `name`, broadcasts right-aligned to `full`.
static void checkBroadcast(CheckBuilder &checks, StringRef name, Value tensor,
                           ArrayRef<NamedExtent> full) {
  if (!tensor)
    return;
  auto type = cast<RankedTensorType>(tensor.getType());
  int64_t skipped = full.size() - type.getRank();
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.getDimSize(dim) != 1)
      checks.agree(NamedExtent(name, tensor, dim), full[skipped + dim]);
}

/// Check that the first dimension of `tensor`, if it is there and has one,
/// equals `extent`.
static void checkFirst(CheckBuilder &checks, StringRef name, Value tensor,
                       const NamedExtent &extent) {
  if (tensor && isa<RankedTensorType>(tensor.getType()) && getRank(tensor) > 0)
    checks.agree(NamedExtent(name, tensor, 0), extent);
}

/// Return dimension heads or rows of a tensor of attention, which may lack the
/// batch: then it is rows, heads, channels.
static NamedExtent headsOf(StringRef name, Value tensor, Layout layout) {
  return {name, tensor, getRank(tensor) == 3 ? 1 : headDim(layout)};
}
static NamedExtent rowsOf(StringRef name, Value tensor, Layout layout) {
  return {name, tensor, getRank(tensor) == 3 ? 0 : sequenceDim(layout)};
}
static NamedExtent channelsOf(StringRef name, Value tensor) {
  return {name, tensor, getRank(tensor) - 1};
}

/// The batch, the heads, the rows and the keys of the scores of an op, those of its
/// tensors where sequences have their own, and the batch and rows of keys.
struct SdpaExtents {
  NamedExtent batch, heads, rows, keys, keyBatch, keyRows;
};

/// Check which sequences and pages there are, and return the extents.
static SdpaExtents checkPlaces(CheckBuilder &checks, SdpaOp op) {
  Value q = op.getQuery(), k = op.getKey();
  Value table = op.getPageTable(), rowEnds = op.getCuSeqlensQ(),
        keyEnds = op.getCuSeqlensK();
  NamedExtent rows = rowsOf("query", q, op.getQueryLayout()),
              keyRows = rowsOf("key", k, op.getKeyLayout());
  NamedExtent keyBatch("key", k, kBatchDim), batch("query", q, kBatchDim);
  if (rowEnds) {
    batch = table ? NamedExtent("page_table", table, 0)
            : keyEnds
                ? NamedExtent("the sequences of 'cu_seqlens_q'",
                              AttentionDims::get(checks.builder, op).batch)
                : keyBatch;
    NamedExtent after("the sequences and one",
                      checks.sum(batch, {"1", checks.builder.getIndexAttr(1)}));
    if (!keyEnds)
      checks.agree({"cu_seqlens_q", rowEnds, 0}, after);
    else
      checks.agree({"cu_seqlens_q", rowEnds, 0}, {"cu_seqlens_k", keyEnds, 0});
  }
  NamedExtent keys = keyRows;
  if (table) {
    checks.agree({"page_table", table, 0}, batch);
    keys = NamedExtent("the keys of all pages",
                       AttentionDims::get(checks.builder, op).keys);
  } else if (!keyEnds) {
    checks.agree(batch, keyBatch);
  }
  return {batch,    headsOf("query", q, op.getQueryLayout()),
          rows,     keys,
          keyBatch, keyRows};
}

static void checkSdpa(CheckBuilder &checks, SdpaOp op) {
  Value q = op.getQuery(), k = op.getKey(), v = op.getValue();
  SdpaExtents extents = checkPlaces(checks, op);
  const NamedExtent &batch = extents.batch, &heads = extents.heads,
                    &rows = extents.rows, &keys = extents.keys;
  NamedExtent kvHeads = headsOf("key", k, op.getKeyLayout());
  if (getRank(k) == 4 && getRank(v) == 4)
    checks.agree(extents.keyBatch, {"value", v, kBatchDim});
  checks.agree(kvHeads, headsOf("value", v, op.getValueLayout()));
  checks.agree(extents.keyRows, rowsOf("value", v, op.getValueLayout()));
  checks.agree(channelsOf("query", q), channelsOf("key", k));
  checks.divides(heads, kvHeads);
  checkBroadcast(checks, "bias", op.getBias(), {batch, heads, rows, keys});
  checkBroadcast(checks, "mask", op.getMask(), {batch, heads, rows, keys});
  checkFirst(checks, "kv_lengths", op.getKvLengths(), batch);
  checkFirst(checks, "query_offset", op.getQueryOffset(), batch);
  checkFirst(checks, "sinks", op.getSinks(), heads);
  checkBroadcast(checks, "key_scale", op.getKeyScale(),
                 {extents.keyBatch, kvHeads, extents.keyRows});
  checkBroadcast(checks, "value_scale", op.getValueScale(),
                 {extents.keyBatch, kvHeads, extents.keyRows});
  if (op.getCuSeqlensQ())
    checks.sequences("cu_seqlens_q", op.getCuSeqlensQ(), rows);
  if (op.getCuSeqlensK())
    checks.sequences("cu_seqlens_k", op.getCuSeqlensK(), extents.keyRows);
  if (op.isPaged())
    checks.pages(op);
  auto longest = [&](StringRef name, Value ends, const NamedExtent &all) {
    if (!ends || (op.getScoreMod().empty() && op.getMaskMod().empty()))
      return all;
    return NamedExtent(("the longest sequence of '" + name + "'").str(),
                       checks.longest(ends));
  };
  checkRegions(checks, op,
               {&op.getScoreMod(), &op.getMaskMod(), batch, heads,
                longest("query", op.getCuSeqlensQ(), rows),
                longest("key", op.getCuSeqlensK(), keys), op.getBias(),
                op.getMask(), op.getKvLengths(), op.getQueryOffset(),
                op.getCausal(), op.getWindow()});
}

/// Check the tables of a rotary embedding of `batch` by `rows` positions.
static void checkTables(CheckBuilder &checks, Value cos, Value sin,
                        Value positions, const NamedExtent &batch,
                        const NamedExtent &rows) {
  for (int64_t dim = 0; dim < getRank(cos); ++dim)
    checks.agree({"cos", cos, dim}, {"sin", sin, dim});
  if (!positions) {
    checks.agree({"cos", cos, 0}, batch);
    checks.agree({"cos", cos, 1}, rows);
    return;
  }
  checks.agree({"positions", positions, 0}, batch);
  checks.agree({"positions", positions, 1}, rows);
  checks.inTable("positions", positions, "cos", cos);
}

static void checkRope(CheckBuilder &checks, RopeOp op) {
  Value input = op.getInput();
  checkTables(checks, op.getCos(), op.getSin(), op.getPositions(),
              {"input", input, kBatchDim},
              {"input", input, sequenceDim(op.getLayout())});
}

/// Check a projection: `weight [out, in]` by `input [.., in]`, `bias [out]`.
static void checkProjection(CheckBuilder &checks, StringRef name, Value weight,
                            StringRef biasName, Value bias,
                            const NamedExtent &channels) {
  checks.agree({name, weight, 1}, channels);
  if (bias)
    checks.agree({biasName, bias, 0}, {name, weight, 0});
}

static void checkMha(CheckBuilder &checks, MhaOp op) {
  Builder b(op.getContext());
  Value x = op.getX(), source = op.getMemory() ? op.getMemory() : x;
  StringRef sourceName = op.getMemory() ? "memory" : "x";
  NamedExtent batch("x", x, 0), rows("x", x, 1), keys(sourceName, source, 1);
  NamedExtent heads("'heads'", b.getIndexAttr(op.getNumHeads())),
      kvHeads("'kv_heads'", b.getIndexAttr(op.getKvHeads()));
  checkFirst(checks, "memory", op.getMemory(), batch);
  checkProjection(checks, "q_weight", op.getQWeight(), "q_bias", op.getQBias(),
                  {"x", x, 2});
  checkProjection(checks, "k_weight", op.getKWeight(), "k_bias", op.getKBias(),
                  {sourceName, source, 2});
  checkProjection(checks, "v_weight", op.getVWeight(), "v_bias", op.getVBias(),
                  {sourceName, source, 2});
  if (op.getOBias())
    checks.agree({"o_bias", op.getOBias(), 0},
                 {"o_weight", op.getOWeight(), 0});
  checks.divides({"q_weight", op.getQWeight(), 0}, heads);
  checks.divides({"k_weight", op.getKWeight(), 0}, kvHeads);
  checks.divides({"v_weight", op.getVWeight(), 0}, kvHeads);
  if (op.getCos())
    checkTables(checks, op.getCos(), op.getSin(), op.getPositions(), batch,
                rows);
  checkFirst(checks, "kv_lengths", op.getKvLengths(), batch);
  checkFirst(checks, "query_offset", op.getQueryOffset(), batch);
  checkFirst(checks, "sinks", op.getSinks(), heads);
  checkFirst(checks, "past_key", op.getPastKey(), batch);
  checkFirst(checks, "past_value", op.getPastValue(), batch);
  if (op.getPastKey())
    checks.agree({"past_key", op.getPastKey(), 2},
                 {"past_value", op.getPastValue(), 2});
  // With a past the keys are its and the new ones together.
  NamedExtent allKeys = keys;
  if (op.getPastKey())
    allKeys = NamedExtent("the keys, past ones included",
                          checks.sum({"past_key", op.getPastKey(), 2}, keys));
  checkBroadcast(checks, "bias", op.getBias(), {batch, heads, rows, allKeys});
  checkBroadcast(checks, "mask", op.getMask(), {batch, heads, rows, allKeys});
  checkRegions(checks, op,
               {&op.getScoreMod(), &op.getMaskMod(), batch, heads, rows,
                allKeys, op.getBias(), op.getMask(), op.getKvLengths(),
                op.getQueryOffset(), op.getCausal(), op.getWindow()});
}

static void checkLinearAttention(CheckBuilder &checks, LinearAttentionOp op) {
  Value q = op.getQuery(), k = op.getKey(), v = op.getValue();
  Layout ql = op.getQueryLayout(), kl = op.getKeyLayout(),
         vl = op.getValueLayout();
  NamedExtent batch("query", q, kBatchDim), steps("key", k, sequenceDim(kl)),
      kvHeads("key", k, headDim(kl)), size("query", q, kChannelDim),
      width("value", v, kChannelDim);
  agreeAll(checks, {batch, {"key", k, kBatchDim}, {"value", v, kBatchDim}});
  checks.agree(kvHeads, {"value", v, headDim(vl)});
  checks.agree(steps, {"value", v, sequenceDim(vl)});
  checks.agree(size, {"key", k, kChannelDim});
  if (!op.getNonCausal())
    checks.agree({"query", q, sequenceDim(ql)}, steps);
  checks.divides({"query", q, headDim(ql)}, kvHeads);
  SmallVector<NamedExtent> perStep = {batch, kvHeads, steps},
                           perChannel = {batch, kvHeads, steps, size};
  checkShape(checks, "decay", op.getDecay(),
             op.hasChannelDecay() ? perChannel : perStep);
  // Only a static 1 is the beta of all heads.
  if (Value beta = op.getBeta()) {
    if (cast<RankedTensorType>(beta.getType()).getDimSize(1) == 1)
      perStep[1] = NamedExtent("beta", beta, 1);
    checkShape(checks, "beta", beta, perStep);
  }
  checkShape(checks, "state", op.getState(), {batch, kvHeads, size, width});
  checkShape(checks, "normalizer", op.getNormalizer(), {batch, kvHeads, size});
}

static void checkMergeOutputs(CheckBuilder &checks, MergeOutputsOp op) {
  Value output = op.getOutputs().front();
  for (Value other : op.getOutputs().drop_front())
    for (int64_t dim = 0; dim < getRank(output); ++dim)
      checks.agree({"outputs", output, dim}, {"outputs", other, dim});
  for (Value lse : op.getLses())
    for (int64_t dim = 0; dim < getRank(lse); ++dim)
      checks.agree({"outputs", output, dim}, {"lses", lse, dim});
}

static void checkCacheAppend(CheckBuilder &checks, CacheAppendOp op) {
  if (!op.getResult())
    return;
  Value rows = op.getRows(), cache = op.getCache(), table = op.getPageTable();
  NamedExtent batch("rows", rows, kBatchDim),
      count = rowsOf("rows", rows, op.getRowsLayout()),
      heads = headsOf("cache", cache, op.getCacheLayout()),
      kept = rowsOf("cache", cache, op.getCacheLayout()),
      entries("cache", cache, kBatchDim);
  if (!table)
    checks.agree(batch, entries);
  checks.agree(headsOf("rows", rows, op.getRowsLayout()), heads);
  checks.agree(channelsOf("rows", rows), channelsOf("cache", cache));
  checkFirst(checks, "positions", op.getPositions(), batch);
  if (getRank(op.getPositions()) == 2)
    checks.agree({"positions", op.getPositions(), 1}, count);
  checkFirst(checks, "page_table", table, batch);
  checkBroadcast(checks, "scale", op.getScale(), {entries, heads, kept});
  checks.places(op);
}

void attn::addRuntimeChecks(CheckBuilder &checks, Operation *op) {
  checks.setOp(op);
  if (auto sdpa = dyn_cast<SdpaOp>(op))
    return checkSdpa(checks, sdpa);
  if (auto mha = dyn_cast<MhaOp>(op))
    return checkMha(checks, mha);
  if (auto rope = dyn_cast<RopeOp>(op))
    return checkRope(checks, rope);
  if (auto linear = dyn_cast<LinearAttentionOp>(op))
    return checkLinearAttention(checks, linear);
  if (auto append = dyn_cast<CacheAppendOp>(op))
    return checkCacheAppend(checks, append);
  if (auto merge = dyn_cast<MergeOutputsOp>(op))
    return checkMergeOutputs(checks, merge);
}
