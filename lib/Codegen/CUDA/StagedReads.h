// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a kernel's products read of memory, and when that can be known ahead.

#ifndef ATTN_LIB_CODEGEN_CUDA_STAGEDREADS_H
#define ATTN_LIB_CODEGEN_CUDA_STAGEDREADS_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::attn {

/// A tile that products read: one read of memory, or several that are its rows from
/// `row` on.
struct StagedRead {
  struct Part {
    vector::TransferReadOp read;
    int64_t row;
  };

  Operation *tile;
  SmallVector<Part, 1> parts;
  SmallVector<int64_t> dims;
  int64_t bytes;
  /// The memory as far as a loop reads it; null where that is not known.
  Value bounded;

  StagedRead(Operation *tile, ArrayRef<Part> parts);

  VectorType getType() const {
    return cast<VectorType>(tile->getResult(0).getType());
  }
  int64_t elementBytes() const {
    return getType().getElementTypeBitWidth() / 8;
  }
  int64_t rowBytes() const { return getType().getDimSize(1) * elementBytes(); }
};

/// Return the tiles of memory that products of `function` read. Fails with a
/// diagnostic at one that cannot be copied.
FailureOr<SmallVector<StagedRead>> findStagedReads(gpu::GPUFuncOp function);

/// Return the loop in which `staged` can be read ahead of time; null if there is
/// none. It is done whether a branch inside the loop asks for it or not. A loop over
/// single keys runs rarely and waits for its reads, those in loops in it, too.
scf::ForOp findLoopAhead(const StagedRead &staged);

/// Where `loop` reads one block of rows of `staged` after the other, cut the memory
/// at the end of the last block: then the bounds of a copy say when to stop, and no
/// iteration has to ask whether there is a next one.
void boundRead(OpBuilder &b, StagedRead &staged, scf::ForOp loop);

} // namespace mlir::attn

#endif // ATTN_LIB_CODEGEN_CUDA_STAGEDREADS_H
