// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is known, when a function starts, of the extents that tensors in it will have.

#ifndef ATTN_ANALYSIS_KNOWNEXTENTS_H
#define ATTN_ANALYSIS_KNOWNEXTENTS_H

#include "mlir/IR/Value.h"

namespace mlir::attn {

/// A dimension of a tensor.
struct TensorDim {
  Value tensor;
  int64_t dim;
};

/// Return the dimension that `part` is a slice of, directly or through further
/// slices: its extent is as large at least. Return `part` if it is none.
TensorDim getWhole(TensorDim part);

/// Return whether the extent of `dim` follows from the arguments of the function
/// without what their elements hold, and without the loops round it.
bool isKnownOnEntry(TensorDim dim);

} // namespace mlir::attn

#endif // ATTN_ANALYSIS_KNOWNEXTENTS_H
