// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Leaves keys out of a tile of scores: by causal, window, length and mask_mod.
//
//   %some = the first row may not see the last key ...       of all rows at once, on scalars
//   %s = scf.if %some { arith.select %kept, %scores, -inf } else { %scores }

#include "FragmentDistributor.h"
#include "StepVectorizer.h"

#include "attn/IR/KeyExclusion.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::attn;

/// Distances within a block are counted in 32 bits, up to this.
static constexpr int64_t kFar = int64_t(1) << 30;

/// Return whether causal, window or length may take a key of the block from a row.
Value StepVectorizer::hasExclusions() {
  // The positions of the tile; of a whole head where it holds several.
  Value first = op.getPosition(), count = index(rows);
  if (isOneHead())
    first = add(first, op.getRow());
  else
    count = op.getRowsPerHead();
  Value limit = op.getLength();
  WindowAttr window = op.getWindowAttr();
  if (op.getCausal())
    limit = min(limit, add(first, index(1)));
  if (window && window.getRight())
    limit = min(limit,
                add(first, index(std::min(*window.getRight(), kFarthest) + 1)));
  Value end = add(op.getFirstKey(), index(keys));
  Value some =
      b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::sgt, end, limit);
  if (!window || !window.getLeft())
    return some;
  Value last = add(first, sub(count, index(1)));
  Value left = add(last, index(-std::min(*window.getLeft(), kFarthest)));
  Value before = b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::slt,
                                               op.getFirstKey(), left);
  return b.createOrFold<arith::OrIOp>(some, before);
}

/// Return a number of keys from the first of the block on, in 32 bits.
Value StepVectorizer::distance(Value number) {
  number = sub(number, op.getFirstKey());
  number = max(number, index(-kFar));
  number = min(number, index(kFar));
  return arith::IndexCastOp::create(b, b.getI32Type(), number);
}

/// Return which keys causal, window and length leave to each row.
Value StepVectorizer::keptByBounds() {
  TileValue key = tile.number(Spread::Columns, b.getI32Type());
  TileValue length{distance(op.getLength()), Spread::Uniform};
  WindowAttr window = op.getWindowAttr();
  auto compare = [&](arith::CmpIPredicate predicate, const TileValue &bound) {
    Spread all =
        bound.spread == Spread::Uniform ? Spread::Columns : Spread::Full;
    Value kept = arith::CmpIOp::create(b, predicate, tile.spread(key, all),
                                       tile.spread(bound, all));
    return tile.full({kept, all});
  };
  bool hasRight = op.getCausal() || (window && window.getRight()),
       hasLeft = window && window.getLeft();
  if (!hasRight && !hasLeft)
    return compare(arith::CmpIPredicate::slt, length);
  TileValue row = rowInHead(b.getI32Type());
  // What a row may attend to moves on by one key a row.
  auto moved = [&](Value ofRow0) -> Value {
    return arith::AddIOp::create(
        b, row.value,
        tile.spread({distance(ofRow0), Spread::Uniform}, Spread::Rows));
  };
  Value end = tile.spread(length, Spread::Rows);
  auto endAt = [&](int64_t after) {
    Value limit = moved(add(op.getPosition(), index(after)));
    end = arith::MinSIOp::create(b, end, limit);
  };
  if (op.getCausal())
    endAt(1);
  if (window && window.getRight())
    endAt(std::min(*window.getRight(), kFarthest) + 1);
  Value kept = compare(arith::CmpIPredicate::slt, {end, Spread::Rows});
  if (!hasLeft)
    return kept;
  Value first = moved(
      add(op.getPosition(), index(-std::min(*window.getLeft(), kFarthest))));
  return arith::AndIOp::create(
      b, kept, compare(arith::CmpIPredicate::sge, {first, Spread::Rows}));
}

/// Return `scores`, but -inf for each key that is excluded.
Value StepVectorizer::isExcluded(Value scores) {
  Value kept;
  if (Region *maskMod = op.getMaskMod())
    kept = tile.full(applyRegion(*maskMod, scores));
  if (op.getBounded()) {
    Value bounds = keptByBounds();
    kept = kept ? arith::AndIOp::create(b, kept, bounds).getResult() : bounds;
  }
  return arith::SelectOp::create(b, kept, scores, lowest());
}

/// Return `scores` after exclusion, which is looked at where there may be some.
Value StepVectorizer::excluded(Value scores) {
  Value some;
  if (op.getBounded())
    some = hasExclusions();
  if (op.getMaskMod()) {
    Value masked = op.getMasked();
    if (!masked)
      return isExcluded(scores);
    some = some ? b.createOrFold<arith::OrIOp>(some, masked) : masked;
  }
  if (!some)
    return scores;
  auto choice = scf::IfOp::create(b, scores.getType(), some,
                                  /*withElseRegion=*/true);
  choice->setAttr(kRareAttrName, b.getUnitAttr());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(b, isExcluded(scores));
  b.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(b, scores);
  return choice.getResult(0);
}
