// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Follows a tile to the products that read it.

#include "ProductReads.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::attn;

bool attn::isReadByProduct(Value value) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    if (auto extend = dyn_cast<arith::ExtFOp>(user))
      return isReadByProduct(extend.getResult());
    if (auto insert = dyn_cast<vector::InsertStridedSliceOp>(user))
      return isReadByProduct(insert.getResult());
    auto contract = dyn_cast<vector::ContractionOp>(user);
    return contract &&
           (contract.getLhs() == value || contract.getRhs() == value);
  });
}
