// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the regions of an op read from tensors, checked before anything is written.

#ifndef ATTN_LIB_CODEGEN_REGIONCHECKS_H
#define ATTN_LIB_CODEGEN_REGIONCHECKS_H

#include "attn/Codegen/RuntimeChecks.h"
#include "attn/IR/AttnOps.h"

namespace mlir::attn {

/// Regions, the extents of the scores that they are evaluated for, and all that
/// excludes a key beside them. Null is absent; a region may be empty.
struct RegionScores {
  Region *scoreMod, *maskMod;
  NamedExtent batch, heads, rows, keys;
  Value bias, mask, kvLengths, queryOffset;
  Causal causal;
  std::optional<WindowAttr> window;
};

/// Check that the regions of `op` read inside of tensors wherever a key counts.
void checkRegions(CheckBuilder &checks, Operation *op,
                  const RegionScores &scores);

} // namespace mlir::attn

#endif // ATTN_LIB_CODEGEN_REGIONCHECKS_H
