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

static void checkSdpa(CheckBuilder &checks, SdpaOp op) {
  Value q = op.getQuery(), k = op.getKey(), v = op.getValue();
  Layout ql = op.getQueryLayout(), kl = op.getKeyLayout(),
         vl = op.getValueLayout();
  NamedExtent batch("query", q, kBatchDim), heads("query", q, headDim(ql)),
      rows("query", q, sequenceDim(ql)), keys("key", k, sequenceDim(kl)),
      kvHeads("key", k, headDim(kl));
  agreeAll(checks, {batch, {"key", k, kBatchDim}, {"value", v, kBatchDim}});
  checks.agree(kvHeads, {"value", v, headDim(vl)});
  checks.agree(keys, {"value", v, sequenceDim(vl)});
  checks.agree({"query", q, kChannelDim}, {"key", k, kChannelDim});
  checks.divides(heads, kvHeads);
  checkBroadcast(checks, "bias", op.getBias(), {batch, heads, rows, keys});
  checkBroadcast(checks, "mask", op.getMask(), {batch, heads, rows, keys});
  checkFirst(checks, "kv_lengths", op.getKvLengths(), batch);
  checkFirst(checks, "query_offset", op.getQueryOffset(), batch);
  checkFirst(checks, "sinks", op.getSinks(), heads);
  checkRegions(checks, op,
               {&op.getScoreMod(), &op.getMaskMod(), batch, heads, rows, keys,
                op.getBias(), op.getMask(), op.getKvLengths(),
                op.getQueryOffset(), op.getCausal(), op.getWindow()});
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
  if (auto merge = dyn_cast<MergeOutputsOp>(op))
    return checkMergeOutputs(checks, merge);
}
