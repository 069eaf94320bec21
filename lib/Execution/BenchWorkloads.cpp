// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The workloads of attn-bench.

#include "attn/Execution/BenchWorkloads.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace mlir::attn;

using Diagonal = NamedWorkload::Diagonal;
using Scores = NamedWorkload::Scores;

static constexpr Diagonal kNone = Diagonal::None, kTop = Diagonal::TopLeft,
                          kBottom = Diagonal::BottomRight;
static constexpr Scores kPlain = Scores::Plain;

/// The group of workloads that are attn.mha, with as many channels as its heads
/// have together, and not attn.sdpa.
static constexpr llvm::StringLiteral kLayers = "layers";

/// The group of those that are attn.linear_attention, with a state in and out.
static constexpr llvm::StringLiteral kLinear = "linear";

/// The group of workloads whose keys are chosen by a region. What a rule excludes
/// should cost nothing: their times are compared with that of the first.
static constexpr llvm::StringLiteral kRules = "rules";

/// The last 257 keys up to a row's own.
static constexpr llvm::StringLiteral kWindowRule = R"(
      %c256 = arith.constant 256 : index
      %distance = arith.subi %i, %j : index
      %near = arith.cmpi sle, %distance, %c256 : index
      %past = arith.cmpi sle, %j, %i : index
      %kept = arith.andi %near, %past : i1)";

/// A prefix of 2048 tokens, and what comes before a row.
static constexpr llvm::StringLiteral kPrefixRule = R"(
      %c2048 = arith.constant 2048 : index
      %inside = arith.cmpi slt, %j, %c2048 : index
      %past = arith.cmpi sle, %j, %i : index
      %kept = arith.ori %inside, %past : i1)";

// clang-format off
/// group, name, B, H, G, M, N, D, type, causal, scores, window, ragged, rule,
/// mask_mod, documents
static constexpr NamedWorkload kWorkloads[] = {
    // Encoders, and prompts of language models.
    {"prompts", "bert-512",             1, 12, 12,   512,   512,  64, "f32"},
    {"prompts", "prefill-512",          1,  8,  8,   512,   512,  64, "f32"},
    {"prompts", "prefill-1024",         1,  8,  8,  1024,  1024,  64, "f32"},
    {"prompts", "prefill-2048",         1,  8,  8,  2048,  2048,  64, "f32"},
    {"prompts", "prefill-4096",         1,  8,  8,  4096,  4096,  64, "f32"},
    {"prompts", "prefill-1024-d128",    1,  8,  8,  1024,  1024, 128, "f32"},
    {"prompts", "prefill-2048-d128",    1,  8,  8,  2048,  2048, 128, "f32"},
    {"prompts", "causal-1024",          1,  8,  8,  1024,  1024,  64, "f32", kTop},
    {"prompts", "causal-2048",          1,  8,  8,  2048,  2048,  64, "f32", kTop},
    {"prompts", "causal-2048-d128",     1,  8,  8,  2048,  2048, 128, "f32", kTop},
    {"prompts", "mask-1024",            1,  8,  8,  1024,  1024,  64, "f32", kNone, Scores::Mask},
    {"prompts", "bias-1024",            1,  8,  8,  1024,  1024,  64, "f32", kNone, Scores::Bias},
    {"prompts", "prefill-1024-bf16",    1,  8,  8,  1024,  1024,  64, "bf16"},
    {"prompts", "prefill-1024-f16",     1,  8,  8,  1024,  1024,  64, "f16"},
    // Images: lengths and head sizes that no tile divides.
    {"images",  "vit-197",              8, 12, 12,   197,   197,  64, "f32"},
    {"images",  "clip-77",              8, 12, 12,    77,    77,  64, "f32", kTop},
    {"images",  "vit-257-d80",          2, 16, 16,   257,   257,  80, "f32"},
    {"images",  "diffusion-1024-d40",   1,  8,  8,  1024,  1024,  40, "f32"},
    {"images",  "siglip-729-d72",       1, 16, 16,   729,   729,  72, "f32"},
    // One new token over a cache.
    {"decode",  "decode-2k",            1, 32,  8,     1,  2048, 128, "f32"},
    {"decode",  "decode-8k",            1, 32,  8,     1,  8192, 128, "f32"},
    {"decode",  "decode-32k",           1, 32,  8,     1, 32768, 128, "f32"},
    {"decode",  "decode-8k-bf16",       1, 32,  8,     1,  8192, 128, "bf16"},
    {"decode",  "decode-8k-f16",        1, 32,  8,     1,  8192, 128, "f16"},
    // Windows to one side and to both, and long prompts.
    {"more",    "window-2048",          1,  8,  8,  2048,  2048,  64, "f32", kTop,  kPlain, {255, -1}},
    {"more",    "local-4096",           1,  8,  8,  4096,  4096,  64, "f32", kNone, kPlain, {256, 256}},
    {"more",    "causal-16k",           1,  2,  2, 16384, 16384,  64, "f32", kTop},
    // Heads that share keys, and keys that are not the queries' own.
    {"more",    "causal-1024-gqa-d128", 1, 32,  8,  1024,  1024, 128, "f32", kTop},
    {"more",    "cross-448-1500",       1, 12, 12,   448,  1500,  64, "f32"},
    {"more",    "cross-4096-77-d40",    1,  8,  8,  4096,    77,  40, "f32"},
    // More caches: one key head for all, one for eight, several tokens at once, many
    // users.
    {"more",    "decode-8k-mqa",        1, 32,  1,     1,  8192, 128, "f32"},
    {"more",    "decode-8k-mqa-m8",     1, 32,  1,     8,  8192, 128, "f32", kBottom},
    {"more",    "decode-8k-g8",         1, 64,  8,     1,  8192, 128, "f32"},
    {"more",    "decode-8k-m4",         1, 32,  8,     4,  8192, 128, "f32", kBottom},
    {"more",    "decode-2k-b32",       32, 32,  8,     1,  2048, 128, "f32", kNone, kPlain, {}, true},
    // Other head sizes, and double precision.
    {"more",    "prefill-1024-d96",     1,  8,  8,  1024,  1024,  96, "f32"},
    {"more",    "prefill-1024-d256",    1,  8,  8,  1024,  1024, 256, "f32"},
    {"more",    "prefill-1024-f64",     1,  8,  8,  1024,  1024,  64, "f64"},
    // Rules written as regions.
    {kRules,    "rule-full-8192",        1, 1,  1,  8192,  8192,  64, "f32"},
    {kRules,    "rule-window-256-8192",  1, 1,  1,  8192,  8192,  64, "f32", kNone, kPlain, {}, false, "", kWindowRule},
    {kRules,    "rule-document-8-8192",  1, 1,  1,  8192,  8192,  64, "f32", kNone, kPlain, {}, false, "", "", 8},
    {kRules,    "rule-prefix-25-8192",   1, 1,  1,  8192,  8192,  64, "f32", kNone, kPlain, {}, false, "", kPrefixRule},
    // Whole layers, projections included.
    {kLayers,   "layer-bert-512",       1, 12, 12,   512,   512,  64, "f32"},
    {kLayers,   "layer-minilm-128",     1, 12, 12,   128,   128,  32, "f32"},
    {kLayers,   "layer-minilm-8x64",    8, 12, 12,    64,    64,  32, "f32"},
    {kLayers,   "layer-bert-1",         1, 12, 12,     1,     1,  64, "f32"},
    // Linear attention: prompts by each rule, and one step of many heads.
    {kLinear,   "linear-4096",          1,  8,  8,  4096,  4096,  64, "f32", kNone, kPlain, {}, false, "linear"},
    {kLinear,   "linear-4096-gated",    1,  8,  8,  4096,  4096,  64, "f32", kNone, kPlain, {}, false, "gated"},
    {kLinear,   "linear-4096-delta",    1,  8,  8,  4096,  4096,  64, "f32", kNone, kPlain, {}, false, "gated_delta"},
    {kLinear,   "linear-step",          1, 64, 64,     1,     1, 128, "f32", kNone, kPlain, {}, false, "gated_delta"}};
// clang-format on

ArrayRef<NamedWorkload> mlir::attn::getNamedWorkloads() { return kWorkloads; }

/// Return the word that IR and JSON have for `diagonal`.
static StringRef nameOf(Diagonal diagonal) {
  switch (diagonal) {
  case Diagonal::None:
    return "none";
  case Diagonal::TopLeft:
    return "top_left";
  case Diagonal::BottomRight:
    return "bottom_right";
  }
  llvm_unreachable("all are named");
}

static StringRef nameOf(Scores scores) {
  switch (scores) {
  case Scores::Plain:
    return "plain";
  case Scores::Mask:
    return "mask";
  case Scores::Bias:
    return "bias";
  }
  llvm_unreachable("all are named");
}

SmallVector<int64_t> NamedWorkload::getLengths() const {
  SmallVector<int64_t> lengths;
  // From a sixteenth of the keys to all of them, in no order: 1237 is prime.
  int64_t shortest = keys / 16;
  for (int64_t b = 0; ragged && b < batch; ++b)
    lengths.push_back(keys - b * 1237 % (keys - shortest));
  return lengths;
}

SmallVector<int64_t> NamedWorkload::getDocuments() const {
  SmallVector<int64_t> numbers;
  for (int64_t j = 0; documents != 0 && j < keys; ++j)
    numbers.push_back(j * documents / keys);
  return numbers;
}

/// Return the clause for `window`, or nothing.
static std::string windowClause(const NamedWorkload::Window &window) {
  std::string clause;
  if (window.left >= 0)
    clause = llvm::formatv("left = {0}", window.left);
  if (window.right >= 0)
    clause += llvm::formatv("{0}right = {1}", clause.empty() ? "" : ", ",
                            window.right);
  return clause.empty() ? clause : " window = <" + clause + ">";
}

/// Return the module of a layer: tokens, and weight and bias for query, key, value
/// and output.
static std::string getLayerModule(const NamedWorkload &w) {
  int64_t channels = w.heads * w.headSize;
  std::string x = llvm::formatv("tensor<{0}x{1}x{2}x{3}>", w.batch, w.rows,
                                channels, w.type);
  std::string arguments = "%x: " + x, clauses;
  for (StringRef role : {"query", "key", "value", "output"}) {
    std::string weight =
        llvm::formatv("%w_{0} : tensor<{1}x{1}x{2}>, %b_{0} : tensor<{1}x{2}>",
                      role, channels, w.type);
    arguments += ", " + weight;
    clauses += (" " + role + "(" + weight + ")").str();
  }
  return llvm::formatv("func.func @f({0}) -> {1} {{\n  %y = attn.mha %x{2} "
                       "heads = {3} : {1} -> {1}\n  return %y : {1}\n}\n",
                       arguments, x, clauses, w.heads);
}

/// Return the module of a linear attention: query, key, value, decay and beta if
/// the rule takes them, state.
static std::string getLinearModule(const NamedWorkload &w) {
  auto tensor = [&](int64_t heads, int64_t steps) -> std::string {
    return llvm::formatv("tensor<{0}x{1}x{2}x{3}x{4}>", w.batch, heads, steps,
                         w.headSize, w.type);
  };
  std::string query = tensor(w.heads, w.rows), key = tensor(w.kvHeads, w.keys);
  std::string state = llvm::formatv("tensor<{0}x{1}x{2}x{2}xf32>", w.batch,
                                    w.kvHeads, w.headSize);
  std::string vector =
      llvm::formatv("tensor<{0}x{1}x{2}xf32>", w.batch, w.kvHeads, w.keys);
  std::string arguments, clauses;
  auto add = [&](StringRef name, StringRef type) {
    arguments += (", %" + name + ": " + type).str();
    clauses += (" " + name + "(%" + name + " : " + type + ")").str();
  };
  if (w.rule.starts_with("gated"))
    add("decay", vector);
  if (w.rule.ends_with("delta"))
    add("beta", vector);
  add("state", state);
  return llvm::formatv(
      "func.func @f(%q: {0}, %k: {1}, %v: {1}{2}) -> ({0}, {3}) {{\n  %o, %s = "
      "attn.linear_attention %q, %k, %v{4} rule = {5} : {0}, {1}, {1} -> {0} "
      "state({3})\n  return %o, %s : {0}, {3}\n}\n",
      query, key, arguments, state, clauses, w.rule);
}

std::string NamedWorkload::getModule() const {
  if (group == kLayers)
    return getLayerModule(*this);
  if (group == kLinear)
    return getLinearModule(*this);
  auto tensor = [&](int64_t heads, int64_t length) {
    return llvm::formatv("tensor<{0}x{1}x{2}x{3}x{4}>", batch, heads, length,
                         headSize, type)
        .str();
  };
  std::string query = tensor(heads, rows), key = tensor(kvHeads, keys);
  std::string argument, clauses;
  auto addOperand = [&](StringRef name, const std::string &type) {
    argument = ", %x: " + type;
    clauses = llvm::formatv(" {0}(%x : {1})", name, type);
  };
  if (scores != Scores::Plain) {
    bool isMask = scores == Scores::Mask;
    addOperand(nameOf(scores),
               llvm::formatv("tensor<1x{0}x{1}x{2}x{3}>", isMask ? 1 : heads,
                             rows, keys, isMask ? "i1" : "f32"));
  }
  if (ragged)
    addOperand("kv_lengths", llvm::formatv("tensor<{0}xi32>", batch));
  if (causal != Diagonal::None)
    clauses += (" causal = " + nameOf(causal)).str();
  clauses += windowClause(window);
  if (documents != 0) {
    std::string type = llvm::formatv("tensor<{0}xi32>", keys);
    argument = ", %x: " + type;
    clauses += " mask_mod = documents(%x : " + type + ")";
  }
  if (!maskMod.empty())
    clauses += ("\n    mask_mod(%b: index, %h: index, %i: index, %j: index) {" +
                maskMod + "\n      attn.yield %kept : i1\n    }")
                   .str();
  return llvm::formatv("func.func @f(%q: {0}, %k: {1}, %v: {1}{2}) -> {0} {{\n"
                       "  %o = attn.sdpa %q, %k, %v{3} : {0}, {1}, {1} -> "
                       "{0}\n  return %o : {0}\n}\n",
                       query, key, argument, clauses);
}

std::string NamedWorkload::describe() const {
  std::string text =
      llvm::formatv("B={0} H={1} G={2} M={3} N={4} D={5} {6}", batch, heads,
                    kvHeads, rows, keys, headSize, type);
  if (causal != Diagonal::None)
    text += causal == Diagonal::TopLeft ? " causal" : " causal to the last key";
  if (scores != Scores::Plain)
    text += (" " + nameOf(scores)).str();
  text += windowClause(window);
  if (ragged)
    text += " ragged";
  if (!maskMod.empty() || documents != 0)
    text += " mask_mod";
  if (group == kLayers)
    text += " layer";
  if (group == kLinear)
    text += (" rule " + rule).str();
  return text;
}

void mlir::attn::printJson(ArrayRef<const NamedWorkload *> workloads,
                           raw_ostream &os) {
  llvm::json::OStream json(os, /*IndentSize=*/2);
  auto write = [&](const NamedWorkload &w) {
    json.attribute("name", w.name);
    json.attribute("group", w.group);
    json.attribute("batch", w.batch);
    json.attribute("heads", w.heads);
    json.attribute("kv_heads", w.kvHeads);
    json.attribute("rows", w.rows);
    json.attribute("keys", w.keys);
    json.attribute("head_size", w.headSize);
    json.attribute("type", w.type);
    json.attribute("causal", nameOf(w.causal));
    json.attribute("scores", nameOf(w.scores));
    json.attribute("left", w.window.left);
    json.attribute("right", w.window.right);
    json.attributeArray("lengths", [&] {
      for (int64_t length : w.getLengths())
        json.value(length);
    });
    json.attribute("module", w.getModule());
  };
  json.object([&] {
    json.attributeArray("workloads", [&] {
      // Readers know attention by softmax, with projections or without, and no
      // regions.
      for (const NamedWorkload *workload : workloads)
        if (workload->group != kLinear && workload->group != kRules)
          json.object([&] { write(*workload); });
    });
  });
  os << "\n";
}
