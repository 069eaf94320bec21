// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks the ops on tiles in shared memory.

#include "attn/IR/AttnGpuOps.h"

using namespace mlir;
using namespace mlir::attn_gpu;

/// Bytes that one asynchronous copy moves; rows are made of whole ones.
constexpr int64_t kChunkBytes = 16;

/// Whether `type` has two dimensions, and rows of whole chunks.
static bool isSharedTile(VectorType type) {
  if (type.getRank() != 2 || !type.getElementType().isIntOrFloat())
    return false;
  int64_t bits = type.getElementTypeBitWidth() * type.getDimSize(1);
  return bits % (8 * kChunkBytes) == 0;
}

LogicalResult CopyToSharedOp::verify() {
  auto source = cast<MemRefType>(getSource().getType());
  int64_t rank = source.getRank();
  // copy_to_shared-C1
  if (static_cast<int64_t>(getIndices().size()) != rank)
    return emitOpError() << "expects an index for each of the " << rank
                         << " dimensions of 'source', got "
                         << getIndices().size();
  // copy_to_shared-C2
  if (getTileType().getElementType() != source.getElementType() ||
      !isSharedTile(getTileType()))
    return emitOpError() << "expects a tile of rank 2 of "
                         << source.getElementType()
                         << " with rows of a multiple of 16 bytes, got "
                         << getTileType();
  // copy_to_shared-C3
  auto isDim = [&](int64_t dim) { return dim >= 0 && dim < rank; };
  if (getDims().size() != 2 || !llvm::all_of(getDims(), isDim) ||
      getDims()[0] == getDims()[1] || getInBounds().size() != 2)
    return emitOpError() << "expects 'dims' to be two dimensions of 'source', "
                            "with two entries of 'in_bounds'";
  return success();
}

LogicalResult ReadSharedOp::verify() {
  // read_shared-C1
  auto type = cast<VectorType>(getResult().getType());
  if (!isSharedTile(type))
    return emitOpError() << "expects a tile of rank 2 with rows of a multiple "
                            "of 16 bytes, got "
                         << type;
  return success();
}
