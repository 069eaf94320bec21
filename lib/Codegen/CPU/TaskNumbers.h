// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tasks of a parallel loop as one row of numbers.

#ifndef ATTN_LIB_CODEGEN_CPU_TASKNUMBERS_H
#define ATTN_LIB_CODEGEN_CPU_TASKNUMBERS_H

#include "IndexBuilder.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::attn {

/// Numbers the iterations of a loop from 0 on, the last dimension fastest.
class TaskNumbers : IndexBuilder {
public:
  /// Build the number of iterations of `op` at the insertion point of `b`, which the
  /// other functions need to dominate theirs.
  TaskNumbers(OpBuilder &b, scf::ForallOp op);

  /// Return how many there are.
  Value getCount() const { return all; }

  /// Return the number of the iteration at `place`.
  Value numberOf(ValueRange place);

  /// Return the place of iteration `number`.
  SmallVector<Value> placeOf(Value number);

private:
  SmallVector<Value> lower, step, counts;
  Value all;
};

} // namespace mlir::attn

#endif // ATTN_LIB_CODEGEN_CPU_TASKNUMBERS_H
