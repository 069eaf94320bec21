// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads of tiles of which no element is outside: a thread reads the columns that it has side by side at once.

#ifndef ATTN_LIB_CODEGEN_CUDA_INSIDEREADS_H
#define ATTN_LIB_CODEGEN_CUDA_INSIDEREADS_H

#include "FragmentDistributor.h"

namespace mlir::attn {

/// Says of a branch, which all threads of a block take or none, that both sides compute
/// the same, the first one from tiles that are inside of the memory which they are read
/// from. It need not be taken.
constexpr StringLiteral kInsideAttrName = "attn.inside";

/// Return whether a thread reads neighbours of the tile of `op` at once.
bool readsNeighbours(FragmentDistributor &d, vector::TransferReadOp op);

/// Return whether `op` stands on the second side of such a branch: what its tile has
/// outside of memory is excluded by the length of keys, or is a row that nobody writes.
bool mayReadAnyOutside(vector::TransferReadOp op);

/// Build `inside`, and whether rows of all memory that is read so in the first side of
/// `branch` are contiguous and begin where a thread's neighbours begin.
Value buildCanReadNeighbours(FragmentDistributor &d, scf::IfOp branch,
                             Value inside);

/// Read the thread's part of a Tile or a Column; rows of a Tile are split by `split`.
void loadNeighbours(FragmentDistributor &d, vector::TransferReadOp op,
                    FragmentLayout layout, RowSplit split, Fragment &out);

} // namespace mlir::attn

#endif // ATTN_LIB_CODEGEN_CUDA_INSIDEREADS_H
