// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers the tasks of a parallel loop: of scf.forall (%b, %h) in (8, 12) the task at (2, 3) is number 2 * 12 + 3.

#include "TaskNumbers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"

using namespace mlir;
using namespace mlir::attn;

Value TaskNumbers::index(int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

TaskNumbers::TaskNumbers(OpBuilder &b, scf::ForallOp op)
    : b(b), loc(op.getLoc()) {
  lower = getValueOrCreateConstantIndexOp(b, loc, op.getMixedLowerBound());
  step = getValueOrCreateConstantIndexOp(b, loc, op.getMixedStep());
  SmallVector<Value> upper =
      getValueOrCreateConstantIndexOp(b, loc, op.getMixedUpperBound());
  all = index(1);
  for (auto [from, to, by] : llvm::zip(lower, upper, step)) {
    Value range = b.createOrFold<arith::SubIOp>(loc, to, from);
    Value count = b.createOrFold<arith::CeilDivSIOp>(loc, range, by);
    counts.push_back(b.createOrFold<arith::MaxSIOp>(loc, count, index(0)));
    all = b.createOrFold<arith::MulIOp>(loc, all, counts.back());
  }
}

Value TaskNumbers::numberOf(ValueRange place) {
  Value number = index(0);
  for (auto [at, from, by, count] : llvm::zip(place, lower, step, counts)) {
    Value done = b.createOrFold<arith::SubIOp>(loc, at, from);
    done = b.createOrFold<arith::DivUIOp>(loc, done, by);
    number = b.createOrFold<arith::MulIOp>(loc, number, count);
    number = b.createOrFold<arith::AddIOp>(loc, number, done);
  }
  return number;
}

SmallVector<Value> TaskNumbers::placeOf(Value number) {
  SmallVector<Value> place(counts.size());
  for (int64_t dim = counts.size() - 1; dim >= 0; --dim) {
    Value at = number;
    if (dim != 0) {
      at = b.createOrFold<arith::RemUIOp>(loc, number, counts[dim]);
      number = b.createOrFold<arith::DivUIOp>(loc, number, counts[dim]);
    }
    at = b.createOrFold<arith::MulIOp>(loc, at, step[dim]);
    place[dim] = b.createOrFold<arith::AddIOp>(loc, at, lower[dim]);
  }
  return place;
}
