// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the threads of a block share a vector that belongs to the block as a whole. Warps split rows; within a warp,
// lane 4g + q holds of each 16 rows and 4n columns the rows g and g + 8 and the n columns from nq on. n is `lanes` of the
// schedule: 2, as the instructions that multiply matrices of 16 bits want it, or 4, so that a thread reads 16 bytes of
// f32 at once.
//
//   Tile    a matrix: for 16 rows x 4n columns two rows of n numbers
//   Row     a number for each row: two for 16 rows, the same in the four lanes of a row
//   Column  a number for each column: n for 4n columns, the same in all lanes with the same q
//   Left    the left side of a product, where it lies in shared memory: registers of two numbers, four for 16 rows x 16
//           columns. One that was computed is a Tile, whose numbers are in the right lanes already.
//   Right   the right side of a product: stays in shared memory until the product reads it

#ifndef ATTN_CODEGEN_CUDA_FRAGMENTLAYOUTS_H
#define ATTN_CODEGEN_CUDA_FRAGMENTLAYOUTS_H

#include "attn/IR/AttnGpuOps.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::attn {

enum class FragmentLayout : unsigned { Tile = 0, Row, Column, Left, Right };

/// The layouts in which loops and branches can carry a value.
constexpr FragmentLayout kCarriedLayouts[] = {
    FragmentLayout::Tile, FragmentLayout::Row, FragmentLayout::Column};

/// The layout of a matrix of the block, by its shape: with one column it is a
/// Row, with one row a Column.
FragmentLayout layoutOfShape(VectorType type);

/// Return the read of shared memory that `value` is, or is extended from to a
/// wider type; null if it is another value.
attn_gpu::ReadSharedOp sharedTileOf(Value value);

/// In which layouts each vector of a function is asked for by its uses.
class FragmentLayouts {
public:
  explicit FragmentLayouts(gpu::GPUFuncOp function);

  /// Return whether a use needs `value` in `layout`.
  bool needs(Value value, FragmentLayout layout) const {
    return needed.lookup(value) & bit(layout);
  }

private:
  static unsigned bit(FragmentLayout layout) {
    return 1u << static_cast<unsigned>(layout);
  }
  void need(Value value, unsigned layouts);
  void need(Value value, FragmentLayout layout) { need(value, bit(layout)); }
  void unify(ArrayRef<Value> values);
  void visit(Operation *op);
  void visitVectorOp(Operation *op);
  void visitControl(Operation *op);

  DenseMap<Value, unsigned> needed;
  bool changed = false;
};

} // namespace mlir::attn

#endif // ATTN_CODEGEN_CUDA_FRAGMENTLAYOUTS_H
