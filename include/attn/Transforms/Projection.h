// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The projections of a layer, as DecomposeLayers writes them.

#ifndef ATTN_TRANSFORMS_PROJECTION_H
#define ATTN_TRANSFORMS_PROJECTION_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::attn {

/// Return whether `op` is y[batch, row, out] += x[batch, row, in] w[out, in].
bool isProjection(linalg::GenericOp op);

} // namespace mlir::attn

#endif // ATTN_TRANSFORMS_PROJECTION_H
