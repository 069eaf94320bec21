// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is known of the indices of a function: a GPU counts in 32 bits at half the cost of 64.

#ifndef ATTN_CODEGEN_CUDA_INDEXRANGES_H
#define ATTN_CODEGEN_CUDA_INDEXRANGES_H

#include "mlir/Analysis/DataFlowFramework.h"

namespace mlir::attn {

/// The ranges of all integers of one function, as it is when they are computed.
class IndexRanges {
public:
  explicit IndexRanges(Operation *function);

  /// Return whether `value`, and it and `more`, are known to be numbers of 32
  /// bits with a sign.
  bool fitInWord(Value value, int64_t more = 0) const;

private:
  DataFlowSolver solver;
};

} // namespace mlir::attn

#endif // ATTN_CODEGEN_CUDA_INDEXRANGES_H
