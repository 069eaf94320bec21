// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests at run time how many rows an op has:
//
//   %r = op ...
//
// becomes
//
//   %few = arith.cmpi sle, %rows, %most
//   %r = scf.if %few { yield op for few rows } else { yield op for many }

#include "FewRows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::attn;

void attn::branchOnRows(
    OpBuilder &b, Operation *op, Value rows, int64_t most,
    function_ref<Operation *(OpBuilder &nested, bool few)> copy) {
  Location loc = op->getLoc();
  Value limit = arith::ConstantIndexOp::create(b, loc, most);
  Value few =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, rows, limit);
  auto side = [&](bool isFew) {
    return [&, isFew](OpBuilder &nested, Location) {
      Operation *own = copy(nested, isFew);
      scf::YieldOp::create(nested, loc, own->getResults());
    };
  };
  auto choice = scf::IfOp::create(b, loc, few, side(true), side(false));
  op->replaceAllUsesWith(choice);
  op->erase();
}
