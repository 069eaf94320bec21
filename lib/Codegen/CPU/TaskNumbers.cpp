// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers the tasks of a parallel loop: of scf.forall (%b, %h) in (8, 12) the task at (2, 3) is number 2 * 12 + 3.

#include "TaskNumbers.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"

using namespace mlir;
using namespace mlir::attn;

TaskNumbers::TaskNumbers(OpBuilder &b, scf::ForallOp op)
    : IndexBuilder(b, op.getLoc()) {
  lower = getValueOrCreateConstantIndexOp(b, loc, op.getMixedLowerBound());
  step = getValueOrCreateConstantIndexOp(b, loc, op.getMixedStep());
  SmallVector<Value> upper =
      getValueOrCreateConstantIndexOp(b, loc, op.getMixedUpperBound());
  all = index(1);
  for (auto [from, to, by] : llvm::zip(lower, upper, step)) {
    Value range = fold<arith::SubIOp>(to, from);
    Value count = fold<arith::CeilDivSIOp>(range, by);
    counts.push_back(fold<arith::MaxSIOp>(count, index(0)));
    all = fold<arith::MulIOp>(all, counts.back());
  }
}

Value TaskNumbers::numberOf(ValueRange place) {
  Value number = index(0);
  for (auto [at, from, by, count] : llvm::zip(place, lower, step, counts)) {
    Value done = fold<arith::SubIOp>(at, from);
    done = fold<arith::DivUIOp>(done, by);
    number = fold<arith::MulIOp>(number, count);
    number = fold<arith::AddIOp>(number, done);
  }
  return number;
}

SmallVector<Value> TaskNumbers::placeOf(Value number) {
  SmallVector<Value> place(counts.size());
  for (int64_t dim = counts.size() - 1; dim >= 0; --dim) {
    Value at = number;
    if (dim != 0) {
      at = fold<arith::RemUIOp>(number, counts[dim]);
      number = fold<arith::DivUIOp>(number, counts[dim]);
    }
    at = fold<arith::MulIOp>(at, step[dim]);
    place[dim] = fold<arith::AddIOp>(at, lower[dim]);
  }
  return place;
}
