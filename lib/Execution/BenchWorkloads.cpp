// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The workloads of attn-bench.

#include "attn/Execution/BenchWorkloads.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::attn;

using Scores = NamedWorkload::Scores;

/// name, B, H, G, M, N, D, type, causal, scores
static constexpr NamedWorkload kWorkloads[] = {
    {"bert-512", 1, 12, 12, 512, 512, 64, "f32"},
    {"prefill-512", 1, 8, 8, 512, 512, 64, "f32"},
    {"prefill-1024", 1, 8, 8, 1024, 1024, 64, "f32"},
    {"prefill-2048", 1, 8, 8, 2048, 2048, 64, "f32"},
    {"prefill-4096", 1, 8, 8, 4096, 4096, 64, "f32"},
    {"prefill-1024-d128", 1, 8, 8, 1024, 1024, 128, "f32"},
    {"prefill-2048-d128", 1, 8, 8, 2048, 2048, 128, "f32"},
    {"causal-1024", 1, 8, 8, 1024, 1024, 64, "f32", true},
    {"causal-2048", 1, 8, 8, 2048, 2048, 64, "f32", true},
    {"causal-2048-d128", 1, 8, 8, 2048, 2048, 128, "f32", true},
    {"mask-1024", 1, 8, 8, 1024, 1024, 64, "f32", false, Scores::Mask},
    {"bias-1024", 1, 8, 8, 1024, 1024, 64, "f32", false, Scores::Bias},
    {"prefill-1024-bf16", 1, 8, 8, 1024, 1024, 64, "bf16"},
    {"prefill-1024-f16", 1, 8, 8, 1024, 1024, 64, "f16"},
    {"vit-197", 8, 12, 12, 197, 197, 64, "f32"},
    {"clip-77", 8, 12, 12, 77, 77, 64, "f32", true},
    {"vit-257-d80", 2, 16, 16, 257, 257, 80, "f32"},
    {"diffusion-1024-d40", 1, 8, 8, 1024, 1024, 40, "f32"},
    {"siglip-729-d72", 1, 16, 16, 729, 729, 72, "f32"},
    {"decode-2k", 1, 32, 8, 1, 2048, 128, "f32"},
    {"decode-8k", 1, 32, 8, 1, 8192, 128, "f32"},
    {"decode-32k", 1, 32, 8, 1, 32768, 128, "f32"},
    {"decode-8k-bf16", 1, 32, 8, 1, 8192, 128, "bf16"},
    {"decode-8k-f16", 1, 32, 8, 1, 8192, 128, "f16"}};

ArrayRef<NamedWorkload> mlir::attn::getNamedWorkloads() { return kWorkloads; }

std::string NamedWorkload::getModule() const {
  auto tensor = [&](int64_t heads, int64_t length) {
    return llvm::formatv("tensor<{0}x{1}x{2}x{3}x{4}>", batch, heads, length,
                         headSize, type)
        .str();
  };
  std::string query = tensor(heads, rows), key = tensor(kvHeads, keys);
  std::string argument, operand;
  if (scores != Scores::Plain) {
    bool isMask = scores == Scores::Mask;
    std::string extra =
        llvm::formatv("tensor<1x{0}x{1}x{2}x{3}>", isMask ? 1 : heads, rows,
                      keys, isMask ? "i1" : "f32");
    argument = ", %x: " + extra;
    operand = std::string(isMask ? " mask" : " bias") + "(%x : " + extra + ")";
  }
  return llvm::formatv("func.func @f(%q: {0}, %k: {1}, %v: {1}{2}) -> {0} {{\n"
                       "  %o = attn.sdpa %q, %k, %v{3}{4} : {0}, {1}, {1} -> "
                       "{0}\n  return %o : {0}\n}\n",
                       query, key, argument, operand,
                       causal ? " causal = top_left" : "");
}

std::string NamedWorkload::describe() const {
  return llvm::formatv("B={0} H={1} G={2} M={3} N={4} D={5} {6}{7}{8}", batch,
                       heads, kvHeads, rows, keys, headSize, type,
                       causal ? " causal" : "",
                       scores == Scores::Mask   ? " mask"
                       : scores == Scores::Bias ? " bias"
                                                : "");
}
