// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks of the numbers that say where rows and keys lie: a loop over all of them that keeps what is wrong with the first.
//
//   %wrong, %page = scf.for %b ... scf.for %p = first page of %b to end of its pages {
//     %entry = tensor.extract %table[%b, %p]
//     ... whether it is a page
//   }

#include "attn/Codegen/RuntimeChecks.h"

#include "SearchLoops.h"

#include "attn/IR/AttentionShape.h"
#include "attn/IR/Indices.h"
#include "attn/IR/KeyExclusion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace mlir::attn;

static Value index(ImplicitLocOpBuilder &b, int64_t value) {
  return arith::ConstantIndexOp::create(b, value);
}

/// Return `value`, but no less than `low` and no more than `high`.
static Value clamp(ImplicitLocOpBuilder &b, Value value, Value low,
                   Value high) {
  return arith::MinSIOp::create(b, arith::MaxSIOp::create(b, value, low), high);
}

/// Return whether `value` is not one of the numbers from 0 to `count` - 1.
static Value isOutside(ImplicitLocOpBuilder &b, Value value, Value count) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::uge, value, count);
}

/// Return `value` where `condition` holds, and `old` elsewhere.
static Value keepIf(ImplicitLocOpBuilder &b, Value condition, Value value,
                    Value old) {
  return arith::SelectOp::create(b, condition, value, old);
}

Value CheckBuilder::ifGoodSoFar(Value count) {
  Value zero =
      arith::ConstantIntOp::create(builder, op->getLoc(), 0, /*width=*/64);
  Value good = arith::CmpIOp::create(builder, op->getLoc(),
                                     arith::CmpIPredicate::eq, number, zero);
  Value none = arith::ConstantIndexOp::create(builder, op->getLoc(), 0);
  return arith::SelectOp::create(builder, op->getLoc(), good, count, none);
}

/// Return the last of the elements of `ends` from `from` to before `to`, or 0 where
/// there is none.
static Value readLast(OpBuilder &builder, Location loc, Value ends, Value from,
                      Value to) {
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  auto loop = scf::ForOp::create(
      builder, loc, from, to, one, zero,
      [&](OpBuilder &b, Location, Value at, ValueRange) {
        ImplicitLocOpBuilder nested(loc, b);
        scf::YieldOp::create(b, loc, readIndex(nested, ends, at));
      });
  return loop.getResult(0);
}

void CheckBuilder::sequences(StringRef name, Value ends,
                             const NamedExtent &total) {
  Location loc = op->getLoc();
  using Predicate = arith::CmpIPredicate;
  auto differs = [&](Predicate predicate, Value a, Value b) -> Value {
    return arith::CmpIOp::create(builder, loc, predicate, a, b);
  };
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value count = builder.createOrFold<tensor::DimOp>(loc, ends, 0);
  std::string quoted = ("'" + name + "'").str();
  if (cast<RankedTensorType>(ends.getType()).isDynamicDim(0))
    require(differs(Predicate::slt, count, one), count, one,
            "expects " + quoted + " of at least 1 element, got %lld");
  Value used = ifGoodSoFar(count);
  Value falls = arith::ConstantIntOp::create(builder, loc, 0, /*width=*/1);
  auto loop = scf::ForOp::create(
      builder, loc, one, used, one, ValueRange{falls, zero, zero},
      [&](OpBuilder &b, Location, Value at, ValueRange given) {
        ImplicitLocOpBuilder nested(loc, b);
        Value previous = arith::SubIOp::create(nested, at, one);
        Value before = readIndex(nested, ends, previous);
        Value next = readIndex(nested, ends, at);
        Value wrong =
            arith::CmpIOp::create(nested, Predicate::slt, next, before);
        SmallVector<Value> state(given);
        keepFirst(nested, loc, wrong, {next, before}, state);
        scf::YieldOp::create(nested, state);
      });
  markSearch(loop, {3});
  // Of no elements neither is read.
  Value first = readLast(builder, loc, ends, zero,
                         arith::MinSIOp::create(builder, loc, used, one));
  Value end = arith::MaxSIOp::create(builder, loc, used, one);
  Value last = readLast(builder, loc, ends,
                        arith::SubIOp::create(builder, loc, end, one), used);
  Value extent = readExtent(total);
  require(differs(Predicate::ne, first, zero), first, zero,
          "expects " + quoted + " to begin with 0, got %lld");
  require(loop.getResult(0), loop.getResult(1), loop.getResult(2),
          "expects " + quoted + " never to fall, got %lld after %lld");
  Value isShort = differs(Predicate::ne, last, extent);
  require(isShort, last, extent,
          "expects " + quoted + " to end with the rows of '" + total.name +
              "', got %lld and %lld");
}

OpFoldResult CheckBuilder::longest(Value ends) {
  Location loc = op->getLoc();
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value count = ifGoodSoFar(builder.createOrFold<tensor::DimOp>(loc, ends, 0));
  auto loop =
      scf::ForOp::create(builder, loc, one, count, one, ValueRange{zero});
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  ImplicitLocOpBuilder b(loc, builder);
  Value at = loop.getInductionVar();
  Value before =
      readIndex(b, ends, arith::SubIOp::create(b, at, one).getResult());
  Value rows = arith::SubIOp::create(b, readIndex(b, ends, at), before);
  scf::YieldOp::create(
      b, arith::MaxSIOp::create(b, rows, loop.getRegionIterArg(0)).getResult());
  return loop.getResult(0);
}

/// Return the position of the first row of entry `entry`, which has `rows` rows and
/// keys up to `end`, clamped.
static Value readPosition(ImplicitLocOpBuilder &b, SdpaOp sdpa, Value entry,
                          Value end, Value rows) {
  Value position = index(b, 0);
  if (Value offset = sdpa.getQueryOffset())
    position = isa<RankedTensorType>(offset.getType())
                   ? readIndex(b, offset, entry)
                   : toIndex(b, offset);
  else if (sdpa.getCausal() == Causal::BottomRight)
    position = arith::SubIOp::create(b, end, rows);
  return clamp(b, position, index(b, -kFarthest), index(b, kFarthest));
}

/// Return the first and the end of those of `keys` keys that some row of entry
/// `entry` may see, if it has `rows` rows.
static std::pair<Value, Value> boundKeys(ImplicitLocOpBuilder &b, SdpaOp sdpa,
                                         Value entry, Value keys, Value rows) {
  Value end = keys, zero = index(b, 0), first = zero;
  if (sdpa.getKvLengths())
    end = clamp(b, readIndex(b, sdpa.getKvLengths(), entry), zero, keys);
  if (std::optional<WindowAttr> window = sdpa.getWindow()) {
    Value position = readPosition(b, sdpa, entry, end, rows);
    auto shift = [&](int64_t by) -> Value {
      return arith::AddIOp::create(b, position, index(b, by));
    };
    if (std::optional<int64_t> left = window->getLeft())
      first =
          arith::MaxSIOp::create(b, first, shift(-std::min(*left, kFarthest)));
    if (std::optional<int64_t> right = window->getRight()) {
      Value last =
          arith::AddIOp::create(b, shift(std::min(*right, kFarthest)), rows);
      end = arith::MinSIOp::create(b, end, last);
    }
    // Without a row there is no window.
    Value isEmpty =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, rows, zero);
    end = keepIf(b, isEmpty, zero, end);
  }
  end = arith::MaxSIOp::create(b, end, zero);
  return {arith::MinSIOp::create(b, first, keys), end};
}

void CheckBuilder::pages(SdpaOp sdpa) {
  ImplicitLocOpBuilder b(sdpa.getLoc(), builder);
  AttentionDims dims = AttentionDims::get(b, sdpa);
  auto value = [&](OpFoldResult extent) {
    return getValueOrCreateConstantIndexOp(b, b.getLoc(), extent);
  };
  auto extentOf = [&](Value tensor, int64_t dim) {
    return value(tensor::getMixedSize(b, b.getLoc(), tensor, dim));
  };
  Value table = sdpa.getPageTable(), zero = index(b, 0), one = index(b, 1);
  Value pool = extentOf(sdpa.getKey(), kBatchDim);
  Value page = arith::MaxSIOp::create(
      b, extentOf(sdpa.getKey(), sequenceDim(sdpa.getKeyLayout())), one);
  Value keys = value(dims.keys), batch = ifGoodSoFar(value(dims.batch));
  Value none = arith::ConstantIntOp::create(b, 0, /*width=*/1);
  auto outer = scf::ForOp::create(b, zero, batch, one, ValueRange{none, zero});
  b.setInsertionPointToStart(outer.getBody());
  Value entry = outer.getInductionVar(), rows;
  if (Value ends = sdpa.getCuSeqlensQ())
    rows = arith::SubIOp::create(
        b, readIndex(b, ends, arith::AddIOp::create(b, entry, one).getResult()),
        readIndex(b, ends, entry));
  else
    rows = value(dims.rows);
  auto [first, end] = boundKeys(b, sdpa, entry, keys, rows);
  Value from = arith::DivUIOp::create(b, first, page);
  Value to = arith::CeilDivUIOp::create(b, end, page);
  auto inner = scf::ForOp::create(
      b, from, to, one, outer.getRegionIterArgs(),
      [&](OpBuilder &at, Location loc, Value number, ValueRange state) {
        ImplicitLocOpBuilder nested(loc, at);
        Value given = readIndex(nested, table, {entry, number});
        Value wrong = isOutside(nested, given, pool);
        SmallVector<Value> next(state);
        keepFirst(nested, loc, wrong, given, next);
        scf::YieldOp::create(nested, next);
      });
  scf::YieldOp::create(b, inner.getResults());
  markSearch({outer, inner}, {2});
  require(outer.getResult(0), outer.getResult(1), pool,
          "expects 'page_table' to name pages of 'key', got page %lld of %lld");
}

/// Return the position that row `at`, an entry and a number, is to go to.
static Value readPlace(ImplicitLocOpBuilder &b, CacheAppendOp append,
                       ValueRange at) {
  Value positions = append.getPositions();
  if (cast<RankedTensorType>(positions.getType()).getRank() == 2)
    return readIndex(b, positions, at);
  // Saturating: any first position may be given.
  Value position = readIndex(b, positions, at[0]);
  position = arith::MinSIOp::create(b, position, index(b, kFarthest));
  Value next = arith::AddIOp::create(b, position, at[1]);
  Value below = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, position,
                                      index(b, 0));
  return keepIf(b, below, position, next);
}

/// Return the entry of `table` for `position` of entry `batch`, or 0 where that is
/// `outside` of it.
static Value readPage(ImplicitLocOpBuilder &b, Value table, Value batch,
                      Value position, Value page, Value outside) {
  auto choice = scf::IfOp::create(
      b, outside,
      [&](OpBuilder &at, Location loc) {
        ImplicitLocOpBuilder nested(loc, at);
        scf::YieldOp::create(nested, index(nested, 0));
      },
      [&](OpBuilder &at, Location loc) {
        ImplicitLocOpBuilder nested(loc, at);
        Value number = arith::DivUIOp::create(nested, position, page);
        scf::YieldOp::create(nested, readIndex(nested, table, {batch, number}));
      });
  return choice.getResult(0);
}

void CheckBuilder::places(CacheAppendOp append) {
  ImplicitLocOpBuilder b(append.getLoc(), builder);
  Value cache = append.getCache(), table = append.getPageTable();
  auto sizeOf = [&](Value tensor, int64_t dim) -> Value {
    return b.createOrFold<tensor::DimOp>(tensor, dim);
  };
  Value zero = index(b, 0), one = index(b, 1);
  Value page = sizeOf(cache, sequenceDim(append.getCacheLayout()));
  Value keys = page, pool = sizeOf(cache, kBatchDim);
  if (table)
    keys = arith::MulIOp::create(b, page, sizeOf(table, 1));
  Value unit = arith::MaxSIOp::create(b, page, one);
  Value batch = ifGoodSoFar(sizeOf(append.getRows(), kBatchDim)),
        count = sizeOf(append.getRows(), sequenceDim(append.getRowsLayout()));
  Value none = arith::ConstantIntOp::create(b, 0, /*width=*/1);
  // A position and a page that are wrong, if any.
  scf::LoopNest nest = scf::buildLoopNest(
      b, b.getLoc(), {zero, zero}, {batch, count}, {one, one},
      ValueRange{none, zero, none, zero},
      [&](OpBuilder &at, Location loc, ValueRange row,
          ValueRange state) -> scf::ValueVector {
        ImplicitLocOpBuilder nested(loc, at);
        Value position = readPlace(nested, append, row);
        Value outside = isOutside(nested, position, keys);
        scf::ValueVector next(state.begin(), state.end());
        MutableArrayRef<Value> answers(next);
        keepFirst(nested, loc, outside, position, answers.take_front(2));
        if (table) {
          // (Of what is outside of the table no page is missing.)
          Value given =
              readPage(nested, table, row[0], position, unit, outside);
          Value isInside = arith::XOrIOp::create(
              nested, outside,
              arith::ConstantIntOp::create(nested, 1, /*width=*/1));
          Value missing = arith::AndIOp::create(
              nested, isOutside(nested, given, pool), isInside);
          keepFirst(nested, loc, missing, given, answers.drop_front(2));
        }
        at.setInsertionPointToEnd(at.getInsertionBlock());
        return next;
      });
  markSearch(nest.loops, {2, 2});
  require(
      nest.results[0], nest.results[1], keys,
      "expects 'positions' to lie inside 'cache', got position %lld of %lld");
  if (table)
    require(
        nest.results[2], nest.results[3], pool,
        "expects 'page_table' to name pages of 'cache', got page %lld of %lld");
}
