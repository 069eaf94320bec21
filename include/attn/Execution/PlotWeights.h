// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pictures of what each head attends to.

#ifndef ATTN_EXECUTION_PLOTWEIGHTS_H
#define ATTN_EXECUTION_PLOTWEIGHTS_H

#include "attn/Execution/Picture.h"
#include "attn/Execution/Tensor.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::attn {

/// Let `function` return the weights of each of its attention ops behind its own
/// results, layers taken apart, and return which results these are. Ops inside of
/// loops and branches are left alone.
FailureOr<SmallVector<unsigned>> exposeWeights(func::FuncOp function);

/// Draw the weights [rows, keys] of head `head` of entry `entry` in `weights`
/// [B, H, M, N] as a heat map with axes and a scale. `labels` are for rows and
/// keys where there is one for each, or for the rows and then the keys.
Picture drawWeights(const HostTensor &weights, int64_t entry, int64_t head,
                    ArrayRef<std::string> labels);

/// Write a picture of each head of each tensor of `weights`, and a page with all of
/// them, into `folder`, which is made.
llvm::Error plotWeights(StringRef folder, ArrayRef<HostTensor> weights,
                        ArrayRef<std::string> labels);

/// Return the lines of the file at `path`.
llvm::Expected<std::vector<std::string>> readLabels(StringRef path);

} // namespace mlir::attn

#endif // ATTN_EXECUTION_PLOTWEIGHTS_H
