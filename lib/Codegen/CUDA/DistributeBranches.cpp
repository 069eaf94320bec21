// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds the branches of a thread from those of its block, which all threads take, or none:
//
//   %s = scf.if %some -> (vector<128x64xf32>) { ... } else { scf.yield %t } {attn.rare}
//
// becomes
//
//   %s:64 = scf.if %some -> (f32, f32, ...) {
//     %same = nvvm.shfl.sync idx %thread, %lane         the thread's own number, but LLVM does not know it
//     ...                                               rows and columns are counted from %same
//   } else { scf.yield %t0, %t1, ... }

#include "FragmentDistributor.h"
#include "InsideReads.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::attn;

/// Count rows and columns that are built from here on from a thread that LLVM does not
/// know to be the thread's own. Return the op before which they are built.
Operation *FragmentDistributor::renewPositions() {
  rowIndices.clear();
  columnIndices.clear();
  thread = shuffleFrom(thread, lane);
  Value same = arith::AndIOp::create(b, loc, thread, integer(31));
  Operation *anchor = arith::ConstantIntOp::create(b, loc, 0, 32);
  positions.setInsertionPoint(anchor);
  makePositions(same);
  return anchor;
}

/// Distribute `block`, whose rows and columns are counted from a thread that LLVM does
/// not know to be its own: what is computed from them stays in the block, where
/// else it would wait in registers, through a loop, to be used in few iterations.
LogicalResult FragmentDistributor::distributeRare(Block &block) {
  auto outerRows = rowIndices;
  auto outerColumns = columnIndices;
  Value outerThread = thread, outerGroup = group, outerColumn = firstColumn;
  OpBuilder outer = positions;
  // (A loop of f16 that counts anew needs more registers, not fewer.)
  bool wasRare = std::exchange(isRare, side != kMatrixSide);
  Operation *anchor = renewPositions();
  LogicalResult done = distribute(block);
  anchor->erase();
  isRare = wasRare;
  positions = outer;
  thread = outerThread;
  group = outerGroup;
  firstColumn = outerColumn;
  rowIndices = std::move(outerRows);
  columnIndices = std::move(outerColumns);
  return done;
}

LogicalResult FragmentDistributor::distributeIf(scf::IfOp op) {
  SmallVector<Type> types;
  for (Value result : op.getResults()) {
    auto type = dyn_cast<VectorType>(result.getType());
    if (!type || type.getRank() == 0) {
      types.push_back(result.getType());
      continue;
    }
    for (FragmentLayout layout : kCarriedLayouts)
      if (needs(result, layout))
        types.append(fragmentSize(result, layout), type.getElementType());
  }
  bool hasElse = !op.getElseRegion().empty();
  bool isInside = hasElse && op->hasAttr(kInsideAttrName);
  Value condition = scalar(op.getCondition());
  if (isInside)
    condition = buildCanReadNeighbours(*this, op, condition);
  auto branch = scf::IfOp::create(b, op.getLoc(), types, condition, hasElse);
  branch->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  // The side that computes, if there is one.
  Block *rare = hasElse && !llvm::hasSingleElement(*op.elseBlock())
                    ? op.elseBlock()
                    : op.thenBlock();
  auto fill = [&](Block *from, Block *to) -> LogicalResult {
    OpBuilder::InsertionGuard guard(b);
    if (!to->empty())
      to->getTerminator()->erase();
    b.setInsertionPointToEnd(to);
    // Loops of exact products have registers for what waits for another branch.
    bool isMatrix = side == kMatrixSide || tf32Parts > 0;
    bool isSeldom = op->hasAttr(kRareAttrName) && from == rare &&
                    (isMatrix || isInside || !openLoop);
    isSeldom |= isInside && KernelSchedule::get(function).copiesNumbers;
    if (failed(isSeldom ? distributeRare(*from) : distribute(*from)))
      return failure();
    // LLVM does not join what both sides do last: what the one has read for it, and
    // the other, would wait in registers.
    if (isInside && from == op.elseBlock())
      NVVM::SyncWarpOp::create(b, op.getLoc(), integer(-1));
    SmallVector<Value> yielded;
    flatten(from->getTerminator()->getOperands(), yielded);
    scf::YieldOp::create(b, op.getLoc(), yielded);
    return success();
  };
  if (failed(fill(op.thenBlock(), branch.thenBlock())) ||
      (hasElse && failed(fill(op.elseBlock(), branch.elseBlock()))))
    return failure();
  unflatten(op.getResults(), branch.getResults());
  return success();
}
