// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds out whether a region reads outside of a captured tensor, for a key that nothing else excludes:
//
//   %inside = the interval of the index, over all rows and keys, lies inside of the tensor
//   scf.if (not %inside) { loops over all rows and keys that evaluate the region }
//
// Nearly always the first line is enough, and costs nothing. The loops are there for a region whose index cannot be
// bounded so, and for one that does read outside.

#include "RegionChecks.h"
#include "SearchLoops.h"

#include "attn/Analysis/BlockRange.h"
#include "attn/IR/KeyExclusion.h"
#include "attn/IR/LinalgBuilder.h"
#include "attn/IR/ScoreRegion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::attn;

using Predicate = arith::CmpIPredicate;

/// Positions are clamped to this and moved by a number of rows; numbers of keys,
/// heads and entries are less than 2^48.
static constexpr unsigned kPositionBits = 62, kCountBits = 48;

namespace {
/// One index of one read.
struct RegionRead {
  Region *region;
  tensor::ExtractOp op;
  int64_t dim;
};

/// Builds the checks of the regions of one op.
class RegionChecker {
public:
  RegionChecker(CheckBuilder &checks, Operation *op, const RegionScores &scores)
      : checks(checks), scores(scores), b(op->getLoc(), checks.builder) {}

  void run();

private:
  Value number(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  Value flag(bool value) { return arith::ConstantIntOp::create(b, value, 1); }
  Value extentOf(RegionRead read) {
    return b.createOrFold<tensor::DimOp>(read.op.getTensor(), read.dim);
  }
  void collect(Region *region);
  Value clampLength(Value entry);
  Value offsetOf(Value entry);
  Interval boundPositions();
  Value isBounded();
  void boundDistances(Region &region, Intervals &intervals, Interval rows);
  SmallVector<Value> visit(ValueRange at, ValueRange state);
  Value isKept(ValueRange at, Value position);
  Value readBroadcast(Value tensor, ValueRange at);
  std::string describe(RegionRead read);

  CheckBuilder &checks;
  const RegionScores &scores;
  ImplicitLocOpBuilder b;
  SmallVector<RegionRead> reads;
  Value batch, heads, rows, keys;
};
} // namespace

/// Note all reads of `region`.
void RegionChecker::collect(Region *region) {
  if (!region || region->empty())
    return;
  for (auto read : region->front().getOps<tensor::ExtractOp>())
    for (int64_t dim = 0, e = read.getIndices().size(); dim < e; ++dim)
      reads.push_back({region, read, dim});
}

/// Return how many keys of entry `entry` count.
Value RegionChecker::clampLength(Value entry) {
  if (!scores.kvLengths)
    return keys;
  Value length =
      convertToI64(b, tensor::ExtractOp::create(b, scores.kvLengths, entry));
  length = arith::IndexCastOp::create(b, b.getIndexType(), length);
  length = arith::MaxSIOp::create(b, length, number(0));
  return arith::MinSIOp::create(b, length, keys);
}

/// Return the position of row 0 of entry `entry`, clamped.
Value RegionChecker::offsetOf(Value entry) {
  if (scores.causal == Causal::BottomRight)
    return arith::SubIOp::create(b, clampLength(entry), rows);
  Value offset = scores.queryOffset;
  if (!offset)
    return number(0);
  if (auto type = dyn_cast<RankedTensorType>(offset.getType()))
    offset = tensor::ExtractOp::create(
        b, offset, type.getRank() == 0 ? ValueRange() : ValueRange(entry));
  offset =
      arith::IndexCastOp::create(b, b.getIndexType(), convertToI64(b, offset));
  offset = arith::MaxSIOp::create(b, offset, number(-kFarthest));
  return arith::MinSIOp::create(b, offset, number(kFarthest));
}

/// Return the interval of all positions.
Interval RegionChecker::boundPositions() {
  auto loop = scf::ForOp::create(
      b, number(0), batch, number(1),
      ValueRange{number(kFarthest), number(-kFarthest)},
      [&](OpBuilder &nested, Location loc, Value entry, ValueRange so) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPoint(nested.getInsertionBlock(),
                            nested.getInsertionPoint());
        Value offset = offsetOf(entry);
        Value low = arith::MinSIOp::create(b, so[0], offset);
        Value high = arith::MaxSIOp::create(b, so[1], offset);
        scf::YieldOp::create(b, ValueRange{low, high});
      });
  Value high = arith::AddIOp::create(b, loop.getResult(1), rows);
  high = arith::SubIOp::create(b, high, number(1));
  return {loop.getResult(0), high, kPositionBits};
}

/// Add what causal and window say of the distance between a row and a key.
void RegionChecker::boundDistances(Region &region, Intervals &intervals,
                                   Interval rowsAt) {
  ScorePlace place = getPlace(region);
  Value least = arith::SubIOp::create(
      b, rowsAt.low, arith::SubIOp::create(b, keys, number(1)));
  Value most = rowsAt.high;
  auto raise = [&](int64_t bound) {
    least = arith::MaxSIOp::create(b, least, number(bound));
  };
  std::optional<WindowAttr> window = scores.window;
  if (scores.causal != Causal::None)
    raise(0);
  if (window && window->getRight())
    raise(-*window->getRight());
  if (window && window->getLeft())
    most = arith::MinSIOp::create(b, most, number(*window->getLeft()));
  for (auto op : region.front().getOps<arith::SubIOp>()) {
    if (op.getLhs() == place.position && op.getRhs() == place.key)
      intervals[op] = {least, most, kPositionBits + 1};
    if (op.getLhs() == place.key && op.getRhs() == place.position)
      intervals[op] = {arith::SubIOp::create(b, number(0), most),
                       arith::SubIOp::create(b, number(0), least),
                       kPositionBits + 1};
  }
}

/// Return whether intervals show that every read is inside of its tensor.
Value RegionChecker::isBounded() {
  Interval positions = boundPositions();
  auto upTo = [&](Value count) -> Interval {
    return {number(0), arith::SubIOp::create(b, count, number(1)), kCountBits};
  };
  Value bounded = flag(true);
  Region *analysed = nullptr;
  Intervals intervals;
  for (RegionRead read : reads) {
    if (read.region != analysed) {
      analysed = read.region;
      ScorePlace place = getPlace(*analysed);
      intervals.clear();
      intervals[place.batch] = upTo(batch);
      intervals[place.head] = upTo(heads);
      intervals[place.position] = positions;
      intervals[place.key] = upTo(keys);
      boundDistances(*analysed, intervals, positions);
      addIntervals(b, *analysed, intervals,
                   std::numeric_limits<int64_t>::max());
    }
    Value given = read.op.getIndices()[read.dim];
    Interval index = intervals.lookup(given);
    if (!index.low) // a value from outside that nothing else needs
      index = {given, given, 64};
    Value low = arith::CmpIOp::create(b, Predicate::sge, index.low, number(0));
    Value high =
        arith::CmpIOp::create(b, Predicate::slt, index.high, extentOf(read));
    bounded = arith::AndIOp::create(b, bounded, low);
    bounded = arith::AndIOp::create(b, bounded, high);
  }
  return bounded;
}

/// Return the element of `tensor` that broadcasts to the score at `at`.
Value RegionChecker::readBroadcast(Value tensor, ValueRange at) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<Value> indices;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    indices.push_back(type.getDimSize(dim) == 1 ? number(0)
                                                : at[4 - type.getRank() + dim]);
  return tensor::ExtractOp::create(b, tensor, indices);
}

/// Return whether anything but the regions excludes the key.
Value RegionChecker::isKept(ValueRange at, Value position) {
  auto i64 = [&](Value index) { return convertToI64(b, index); };
  Value excluded =
      arith::CmpIOp::create(b, Predicate::sge, at[3], clampLength(at[0]));
  if (Value outside =
          buildOutside(b, i64(at[3]), i64(position),
                       scores.causal != Causal::None, scores.window))
    excluded = arith::OrIOp::create(b, excluded, outside);
  Value kept = arith::XOrIOp::create(b, excluded, flag(true));
  if (scores.mask)
    kept = arith::AndIOp::create(b, kept, readBroadcast(scores.mask, at));
  if (scores.bias) {
    Value none = isMinusInfinity(b, readBroadcast(scores.bias, at));
    kept = arith::AndIOp::create(b, kept,
                                 arith::XOrIOp::create(b, none, flag(true)));
  }
  return kept;
}

/// Return `state`, which holds for each read whether it was outside and where,
/// after the score at `at`.
SmallVector<Value> RegionChecker::visit(ValueRange at, ValueRange state) {
  Value position = arith::AddIOp::create(b, offsetOf(at[0]), at[2]);
  ScorePlace place{at[0], at[1], position, at[3]};
  Value kept = isKept(at, position);
  SmallVector<Value> after(state);
  auto look = [&](Region *region, ReadListener listener) {
    return region == scores.maskMod
               ? inlineMaskMod(b, *region, place, nullptr, listener)
               : inlineScoreMod(
                     b, *region,
                     getFloat(b, region->getArgument(0).getType(), 0), place,
                     nullptr, listener);
  };
  for (Region *region : {scores.maskMod, scores.scoreMod}) {
    if (!region || region->empty())
      continue;
    auto listen = [&](tensor::ExtractOp op, int64_t dim, Value index) {
      for (auto [i, read] : llvm::enumerate(reads)) {
        if (read.op != op || read.dim != dim)
          continue;
        // One unsigned comparison covers both sides.
        Value outside =
            arith::CmpIOp::create(b, Predicate::uge, index, extentOf(read));
        outside = arith::AndIOp::create(b, outside, kept);
        keepFirst(b, b.getLoc(), outside, index,
                  MutableArrayRef(after).slice(2 * i, 2));
      }
    };
    Value yielded = look(region, listen);
    if (region == scores.maskMod)
      kept = arith::AndIOp::create(b, kept, yielded);
  }
  return after;
}

/// Return "'mask_mod' to read inside of dimension 0 of 'tensor<?xi32>'".
std::string RegionChecker::describe(RegionRead read) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "expects '"
     << (read.region == scores.maskMod ? "mask_mod" : "score_mod")
     << "' to read inside of dimension " << read.dim << " of '"
     << read.op.getTensor().getType() << "'";
  if (auto argument = dyn_cast<BlockArgument>(read.op.getTensor()))
    os << ", argument " << argument.getArgNumber();
  os << ", got index %lld of %lld";
  return text;
}

void RegionChecker::run() {
  collect(scores.maskMod);
  collect(scores.scoreMod);
  if (reads.empty())
    return;
  // Where tensors do not fit together there is nothing to be looked at.
  batch = checks.ifGoodSoFar(checks.readExtent(scores.batch));
  heads = checks.readExtent(scores.heads);
  rows = checks.readExtent(scores.rows);
  keys = checks.readExtent(scores.keys);
  SmallVector<Value> start;
  for (size_t i = 0; i < reads.size(); ++i)
    llvm::append_range(start, ValueRange{flag(false), number(0)});
  Value zero = number(0), one = number(1);
  Value bounded = isBounded();
  auto choice = scf::IfOp::create(
      b, bounded,
      [&](OpBuilder &nested, Location loc) {
        scf::YieldOp::create(nested, loc, start);
      },
      [&](OpBuilder &nested, Location loc) {
        scf::LoopNest nest = scf::buildLoopNest(
            nested, loc, {zero, zero, zero, zero}, {batch, heads, rows, keys},
            {one, one, one, one}, start,
            [&](OpBuilder &inner, Location, ValueRange at,
                ValueRange state) -> scf::ValueVector {
              OpBuilder::InsertionGuard guard(b);
              b.setInsertionPoint(inner.getInsertionBlock(),
                                  inner.getInsertionPoint());
              SmallVector<Value> after = visit(at, state);
              inner.setInsertionPointToEnd(inner.getInsertionBlock());
              return scf::ValueVector(after.begin(), after.end());
            });
        markSearch(nest.loops, SmallVector<int64_t>(reads.size(), 2));
        scf::YieldOp::create(nested, loc, nest.results);
      });
  for (auto [i, read] : llvm::enumerate(reads))
    checks.require(choice.getResult(2 * i), choice.getResult(2 * i + 1),
                   extentOf(read), describe(read));
}

void mlir::attn::checkRegions(CheckBuilder &checks, Operation *op,
                              const RegionScores &scores) {
  RegionChecker(checks, op, scores).run();
}
