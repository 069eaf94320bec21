// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits the scores of a block of keys that are read where they are:
//
//   linalg.generic (strip, row, key, k): q[strip, row, k], k[key, k] -> s[strip, row, key]
//
// with 4 streams, 16 lanes and strips of 4 rows becomes
//
//   scf.for %r = 0 to n / 4 step 4 {
//     scf.for %strip {                             // all rows meet a key while it is in the cache
//       scf.for %i = 0 to 4 {                      // key %r + %i of each of the 4 streams
//         %acc:16 = scf.for %k step 16 { 4 reads of keys, 4 of queries, 16 vector.fma }
//         16 vectors to the vector of their 16 sums, by halves: 15 additions
//         a write to %staged[%i]
//       }
//       4 reads of %staged, whose lanes become those of 4 keys in a row: 8 shuffles
//       16 writes of 4 scores
//
// The last keys of a stream may be those before the end of the block once more: a score is the same whenever it is
// computed. A block with fewer keys than a stream is worked on at once is computed one key at a time.

#include "StreamEmitter.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::attn;

/// Scores that are written together: a vector of any target, and few stores.
static constexpr int64_t kScoresInARow = 4;

bool StreamEmitter::isScores() {
  if (!hasMaps({{0, 1, 3}, {2, 3}, {0, 1, 2}}, 4))
    return false;
  auto fill = result.getDefiningOp<linalg::FillOp>();
  if (!fill || !matchPattern(fill.getInputs()[0], m_AnyZeroFloat()))
    return false;
  // Powers of two, of which all are made.
  return llvm::isPowerOf2_64(lanes) && llvm::isPowerOf2_64(rows) && lanes > 1 &&
         staticSize(left, 1) == rows;
}

Value StreamEmitter::emitScores() {
  zero = index(0);
  result = result.getDefiningOp<linalg::FillOp>().getOutputs()[0];
  KeyStep step = getKeyStep();
  int64_t keys = staticSize(right, 0), least = step.keys * step.times;
  if (ShapedType::isStatic(keys))
    return keys >= least ? emitStreamedKeys(step) : emitSingleKeys();
  Value enough = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge,
                                       sizeOf(right, 0), index(least));
  auto choice = scf::IfOp::create(
      b, loc, enough,
      [&](OpBuilder &, Location) {
        scf::YieldOp::create(b, loc, emitStreamedKeys(step));
      },
      [&](OpBuilder &, Location) {
        scf::YieldOp::create(b, loc, emitSingleKeys());
      });
  return choice.getResult(0);
}

/// Return how many keys are worked on at once: as many accumulators as the tile
/// of values has, and at least one whole vector of sums, of as many streams as
/// there are.
StreamEmitter::KeyStep StreamEmitter::getKeyStep() {
  int64_t sums = std::max(lanes, rows * columns / lanes);
  int64_t all = std::max<int64_t>(sums / rows, 1), together = 1;
  while (2 * together <= all && streams % (2 * together) == 0)
    together *= 2;
  int64_t keys = all / together;
  return {together, keys, std::max<int64_t>(kScoresInARow / keys, 1)};
}

/// Emit the loops over streams for a block of at least one step.
Value StreamEmitter::emitStreamedKeys(KeyStep step) {
  int64_t inARow = step.keys * step.times;
  Value keys = sizeOf(right, 0);
  Value each = partOf(keys, streams, inARow);
  Value last = arith::SubIOp::create(b, loc, keys, index(inARow));
  auto perStrip = [&](ArrayRef<Value> starts) {
    return [&, starts](Value strip, Values inner) -> Values {
      Values totals = emitStep(strip, starts, step);
      return {storeScores(strip, starts, inARow, totals, inner[0])};
    };
  };
  auto perStreams = [&](Value row) {
    return [&, row](Value stream, Values inner) -> Values {
      Values starts;
      for (int64_t i = 0; i < step.streams; ++i) {
        Value start =
            arith::MulIOp::create(b, loc, add(stream, index(i)), each);
        start = add(start, row);
        starts.push_back(arith::MinSIOp::create(b, loc, start, last));
      }
      return emitLoop(zero, sizeOf(left, 0), 1, inner, perStrip(starts));
    };
  };
  return emitLoop(zero, each, inARow, {result},
                  [&](Value row, Values inner) -> Values {
                    return emitLoop(zero, index(streams), step.streams, inner,
                                    perStreams(row));
                  })[0];
}

/// Return the scores of a strip with keys in a row from each of `starts`, those of
/// the first row first, then those of the first start.
StreamEmitter::Values
StreamEmitter::emitStep(Value strip, ArrayRef<Value> starts, KeyStep step) {
  auto totalsOf = [&](Value offset) {
    Values keys;
    for (Value start : starts)
      for (int64_t i = 0; i < step.keys; ++i)
        keys.push_back(add(add(start, offset), index(i)));
    return sumLanes(emitDotProducts(strip, keys));
  };
  if (step.times == 1)
    return totalsOf(zero);
  // Through memory: the code of a step is there once.
  int64_t sums = rows * step.streams * step.keys;
  Value staged = bufferization::AllocTensorOp::create(
      b, loc, RankedTensorType::get({step.times, sums}, element), ValueRange());
  staged = emitLoop(
      zero, index(step.times), 1, {staged}, [&](Value time, Values inner) {
        Value offset = time;
        if (step.keys > 1)
          offset = arith::MulIOp::create(b, loc, time, index(step.keys));
        for (auto [i, total] : llvm::enumerate(totalsOf(offset)))
          inner[0] = vector::TransferWriteOp::create(
                         b, loc, total, inner[0],
                         ValueRange{time, index(i * lanes)}, {true})
                         .getResult();
        return inner;
      })[0];
  Values all;
  for (int64_t at = 0; at < sums; at += lanes) {
    Values times;
    for (int64_t time = 0; time < step.times; ++time)
      times.push_back(readVector(staged, {index(time), index(at)}, true));
    llvm::append_range(all, interleave(times, step.keys));
  }
  return all;
}

/// Return the elements of `vectors` in turn, `unit` at a time.
StreamEmitter::Values StreamEmitter::interleave(Values vectors, int64_t unit) {
  if (vectors.size() == 1 || unit == lanes)
    return vectors;
  Values even, odd, all;
  for (auto [i, value] : llvm::enumerate(vectors))
    (i % 2 == 0 ? even : odd).push_back(value);
  even = interleave(even, unit);
  odd = interleave(odd, unit);
  SmallVector<int64_t> order;
  for (int64_t at = 0; at < lanes; at += unit)
    for (int64_t from : {at, lanes + at})
      for (int64_t i = 0; i < unit; ++i)
        order.push_back(from + i);
  ArrayRef<int64_t> lanesOf(order);
  for (auto [first, second] : llvm::zip(even, odd))
    for (ArrayRef<int64_t> half :
         {lanesOf.take_front(lanes), lanesOf.drop_front(lanes)})
      all.push_back(vector::ShuffleOp::create(b, loc, first, second, half));
  return all;
}

/// Emit the loop over single keys.
Value StreamEmitter::emitSingleKeys() {
  return emitLoop(
      zero, sizeOf(right, 0), 1, {result}, [&](Value key, Values inKey) {
        return emitLoop(
            zero, sizeOf(left, 0), 1, inKey, [&](Value strip, Values inStrip) {
              Values sums = emitDotProducts(strip, {key});
              Value written = inStrip[0];
              for (int64_t row = 0; row < rows; ++row) {
                Value sum = vector::ReductionOp::create(
                    b, loc, vector::CombiningKind::ADD, sums[row],
                    arith::FastMathFlags::reassoc);
                written = tensor::InsertOp::create(
                    b, loc, sum, written, ValueRange{strip, index(row), key});
              }
              return Values{written};
            });
      })[0];
}

/// Return a vector for each row of a strip and each of `keys`, whose lanes add up
/// to their product: those of the first row first.
StreamEmitter::Values StreamEmitter::emitDotProducts(Value strip,
                                                     ArrayRef<Value> keys) {
  Value none = arith::ConstantOp::create(b, loc, b.getZeroAttr(vector));
  Values sums(rows * keys.size(), none);
  Value channels = sizeOf(left, 2);
  int64_t known = staticSize(left, 2);
  Value whole = ShapedType::isStatic(known) ? index(known / lanes * lanes)
                                            : roundDown(channels, lanes);
  sums = emitLoop(zero, whole, lanes, sums, [&](Value channel, Values inner) {
    return addProducts(strip, keys, channel, /*inBounds=*/true, inner);
  });
  askAhead(sums);
  if (ShapedType::isStatic(known) && known % lanes == 0)
    return sums;
  return addProducts(strip, keys, whole, /*inBounds=*/false, sums);
}

StreamEmitter::Values StreamEmitter::addProducts(Value strip,
                                                 ArrayRef<Value> keys,
                                                 Value channel, bool inBounds,
                                                 Values sums) {
  Values vectors;
  for (Value key : keys)
    vectors.push_back(readVector(right, {key, channel}, inBounds));
  for (int64_t row = 0; row < rows; ++row) {
    Value query = readVector(left, {strip, index(row), channel}, inBounds);
    for (auto [i, key] : llvm::enumerate(vectors)) {
      Value &sum = sums[row * keys.size() + i];
      sum = fma(key, query, sum);
    }
  }
  return sums;
}

/// Return the sums over the lanes of each of `vectors`.
StreamEmitter::Values StreamEmitter::sumLanes(ArrayRef<Value> vectors) {
  Values totals;
  for (size_t at = 0; at < vectors.size(); at += lanes)
    totals.push_back(sumToLanes(Values(vectors.slice(at, lanes))));
  return totals;
}

/// Return the vector of the sums over the lanes of each of as many vectors as a
/// vector has lanes. Two vectors become one of half as many terms of each, and so
/// on: lane i ends with the sum over vector i.
Value StreamEmitter::sumToLanes(Values vectors) {
  auto join = [&](Value x, Value y, ArrayRef<int64_t> some,
                  ArrayRef<int64_t> others) -> Value {
    Value first = vector::ShuffleOp::create(b, loc, x, y, some);
    Value second = vector::ShuffleOp::create(b, loc, x, y, others);
    return arith::AddFOp::create(b, loc, first, second);
  };
  // The last two steps on groups of four lanes have shuffles of their own: the
  // natural order needs a permutation of any lanes.
  bool fours = lanes >= 4 && element.isF32();
  for (int64_t half = lanes / 2; half > (fours ? 2 : 0); half /= 2) {
    SmallVector<int64_t> kept, moved;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      int64_t from = lane & half ? lanes : 0;
      kept.push_back(from + lane);
      moved.push_back(from + (lane ^ half));
    }
    for (int64_t i = 0; i < half; ++i)
      vectors[i] = join(vectors[i], vectors[i + half], kept, moved);
    vectors.resize(half);
  }
  if (!fours)
    return vectors[0];
  auto inFours = [&](ArrayRef<int64_t> four) {
    SmallVector<int64_t> all;
    for (int64_t start = 0; start < lanes; start += 4)
      for (int64_t lane : four)
        all.push_back(start + (lane < 4 ? lane : lanes + lane - 4));
    return all;
  };
  Value low = join(vectors[0], vectors[1], inFours({0, 1, 6, 7}),
                   inFours({2, 3, 4, 5}));
  Value high = join(vectors[2], vectors[3], inFours({0, 1, 6, 7}),
                    inFours({2, 3, 4, 5}));
  return join(low, high, inFours({0, 2, 4, 6}), inFours({1, 3, 5, 7}));
}

/// Write `totals`, the scores of each row of a strip with `count` keys in a row
/// from each of `starts`.
Value StreamEmitter::storeScores(Value strip, ArrayRef<Value> starts,
                                 int64_t count, Values totals, Value scores) {
  int64_t width = std::min(count, lanes), at = 0;
  for (int64_t row = 0; row < rows; ++row)
    for (Value start : starts)
      for (int64_t offset = 0; offset < count; offset += width, at += width) {
        Value part = totals[at / lanes];
        if (width < lanes)
          part = vector::ExtractStridedSliceOp::create(
              b, loc, part, ArrayRef<int64_t>{at % lanes},
              ArrayRef<int64_t>{width}, ArrayRef<int64_t>{1});
        scores = vector::TransferWriteOp::create(
                     b, loc, part, scores,
                     ValueRange{strip, index(row), add(start, index(offset))},
                     {true})
                     .getResult();
      }
  return scores;
}
