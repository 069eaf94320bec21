// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks of about the same size.

#ifndef ATTN_LIB_ANALYSIS_EVENBLOCK_H
#define ATTN_LIB_ANALYSIS_EVENBLOCK_H

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::attn {

/// Return the size, a multiple of `unit`, of the blocks that cut `total` into
/// pieces of about `size`.
inline int64_t evenBlock(int64_t total, int64_t size, int64_t unit) {
  if (ShapedType::isDynamic(total))
    return llvm::alignTo(size, unit);
  int64_t pieces = std::max<int64_t>((total + size / 2) / size, 1);
  int64_t block = llvm::divideCeil(std::max<int64_t>(total, 1), pieces);
  return llvm::alignTo(block, unit);
}

} // namespace mlir::attn

#endif // ATTN_LIB_ANALYSIS_EVENBLOCK_H
