// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops that are there twice, for few rows and for many.

#ifndef ATTN_LIB_TRANSFORMS_FEWROWS_H
#define ATTN_LIB_TRANSFORMS_FEWROWS_H

#include "mlir/IR/Builders.h"

namespace mlir::attn {

/// Replace `op` by a branch, built at `b`, on whether there are at most `most` `rows`.
/// On each side are the results of the op that `copy` makes of `op` there.
void branchOnRows(OpBuilder &b, Operation *op, Value rows, int64_t most,
                  function_ref<Operation *(OpBuilder &nested, bool few)> copy);

} // namespace mlir::attn

#endif // ATTN_LIB_TRANSFORMS_FEWROWS_H
