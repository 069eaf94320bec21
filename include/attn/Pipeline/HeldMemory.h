// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How much memory compiled attention holds while it runs, read off the program that it becomes.

#ifndef ATTN_PIPELINE_HELDMEMORY_H
#define ATTN_PIPELINE_HELDMEMORY_H

#include "attn/Analysis/AttentionCost.h"

namespace mlir::attn {

/// Bytes that a call allocates, beside operands and results.
struct HeldMemory {
  /// In terms of sizes and `threads`; each allocation is rounded up to a cache
  /// line, which only the value has.
  Formula formula;
  std::optional<int64_t> bytes;
};

/// Compile the op of `cost` alone, for `target`, and return what it holds where
/// sizes are as in `sizes`, in which `threads` is one too; nothing where the
/// program does not say.
std::optional<HeldMemory> getHeldMemory(const AttentionCost &cost,
                                        const Sizes &sizes, StringRef target);

} // namespace mlir::attn

#endif // ATTN_PIPELINE_HELDMEMORY_H
