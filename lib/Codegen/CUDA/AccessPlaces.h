// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where in memory the numbers of a thread's part of a vector stand.

#ifndef ATTN_CODEGEN_CUDA_ACCESSPLACES_H
#define ATTN_CODEGEN_CUDA_ACCESSPLACES_H

#include "FragmentDistributor.h"

namespace mlir::attn {

/// One dimension of a vector that is read or written: the thread's positions
/// along it, and the dimension of memory that it runs along (none: broadcast).
struct AccessAxis {
  std::optional<unsigned> dim;
  bool inBounds = true;
  SmallVector<Value> positions;
  /// Whether each position is inside; null where it is known to be.
  SmallVector<Value> valid;
};

/// Where one number stands, and whether that is inside; null where it is known
/// to be.
struct AccessPlace {
  SmallVector<Value> indices;
  Value valid;
};

/// Return whether both conditions hold, of which null is one that does.
Value conjunction(OpBuilder &b, Location loc, Value x, Value y);

/// Return the axes of a transfer of `type` in `layout`: one for each dimension of
/// the vector. `clamped`: what is outside is the last of memory, which has one.
FailureOr<SmallVector<AccessAxis>>
axesOf(FragmentDistributor &d, VectorTransferOpInterface op, VectorType type,
       FragmentLayout layout, bool clamped = false);

/// Return the place of number `i` of a fragment.
AccessPlace placeOf(FragmentDistributor &d, VectorTransferOpInterface op,
                    VectorType type, ArrayRef<AccessAxis> axes,
                    FragmentLayout layout, int64_t i);

} // namespace mlir::attn

#endif // ATTN_CODEGEN_CUDA_ACCESSPLACES_H
