// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "IndexRanges.h"

#include "mlir/Analysis/DataFlow/ConstantPropagationAnalysis.h"
#include "mlir/Analysis/DataFlow/DeadCodeAnalysis.h"
#include "mlir/Analysis/DataFlow/IntegerRangeAnalysis.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::attn;

IndexRanges::IndexRanges(Operation *function) {
  solver.load<dataflow::DeadCodeAnalysis>();
  solver.load<dataflow::SparseConstantPropagation>();
  solver.load<dataflow::IntegerRangeAnalysis>();
  // Of what it has not got to nothing is known.
  (void)solver.initializeAndRun(function);
}

bool IndexRanges::fitInWord(Value value, int64_t more) const {
  auto *state = solver.lookupState<dataflow::IntegerValueRangeLattice>(value);
  if (!state || state->getValue().isUninitialized())
    return false;
  const ConstantIntRanges &range = state->getValue().getValue();
  if (range.smin().getSignificantBits() > 32 ||
      range.smax().getSignificantBits() > 32)
    return false;
  return llvm::isInt<32>(range.smin().getSExtValue() + more) &&
         llvm::isInt<32>(range.smax().getSExtValue() + more);
}
