// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What every search of a check does with an element:
//
//   %any1 = arith.ori %any, %wrong
//   %value1 = arith.select (%wrong and not %any), %element, %value

#include "SearchLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::attn;

void attn::keepFirst(OpBuilder &builder, Location loc, Value wrong,
                     ValueRange values, MutableArrayRef<Value> state) {
  // Where the answer is there already, it is kept.
  for (auto [own, value] : llvm::zip_equal(state.drop_front(), values)) {
    Value next = arith::SelectOp::create(builder, loc, wrong, value, own);
    own = arith::SelectOp::create(builder, loc, state[0], own, next);
  }
  state[0] = arith::OrIOp::create(builder, loc, state[0], wrong);
}

void attn::markSearch(ArrayRef<scf::ForOp> loops, ArrayRef<int64_t> sizes) {
  for (scf::ForOp loop : loops)
    loop->setAttr(kSearchAttrName,
                  DenseI64ArrayAttr::get(loop.getContext(), sizes));
}
