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
//     scf.for %stream {                            // 4 keys in a row of each stream in turn
//       scf.for %strip {                           // all rows meet a key while it is in the cache
//         %acc:16 = scf.for %k step 16 { 4 reads of keys, 4 of queries, 16 vector.fma }
//         16 vectors to the vector of their 16 sums, by halves: 15 additions
//         4 writes of 4 scores
//
// The last keys of a stream may be those before the end of the block once more: a score is the same whenever it is
// computed. A block with fewer keys than a step is computed one key at a time.

#include "StreamEmitter.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::attn;

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
  int64_t count = keysOfStep();
  int64_t keys = staticSize(right, 0);
  if (ShapedType::isStatic(keys))
    return keys >= count ? emitStreamedKeys(result) : emitSingleKeys(result);
  Value enough = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge,
                                       sizeOf(right, 0), index(count));
  auto choice = scf::IfOp::create(
      b, loc, enough,
      [&](OpBuilder &, Location) {
        scf::YieldOp::create(b, loc, emitStreamedKeys(result));
      },
      [&](OpBuilder &, Location) {
        scf::YieldOp::create(b, loc, emitSingleKeys(result));
      });
  return choice.getResult(0);
}

/// Return how many keys are worked on at once: as many accumulators as the tile
/// of values has, and at least one whole vector of sums.
int64_t StreamEmitter::keysOfStep() {
  int64_t sums = std::max(lanes, rows * columns / lanes);
  return std::max<int64_t>(sums / rows, 1);
}

/// Emit the loops over streams for a block of at least one step.
Value StreamEmitter::emitStreamedKeys(Value scores) {
  int64_t count = keysOfStep();
  Value keys = sizeOf(right, 0);
  int64_t known = staticSize(right, 0);
  bool even = ShapedType::isStatic(known) && known % (count * streams) == 0;
  Value each = partOf(keys, streams, count);
  Value last = arith::SubIOp::create(b, loc, keys, index(count));
  return emitLoop(
      zero, each, count, {scores}, [&](Value row, Values inRow) -> Values {
        return emitLoop(
            zero, index(streams), 1, inRow, [&](Value stream, Values inStream) {
              Value key = arith::MulIOp::create(b, loc, stream, each);
              key = add(key, row);
              if (!even)
                key = arith::MinSIOp::create(b, loc, key, last);
              return emitLoop(
                  zero, sizeOf(left, 0), 1, inStream,
                  [&](Value strip, Values inStrip) -> Values {
                    Values sums = emitDotProducts(strip, key, count);
                    return {storeScores(strip, key, count, sums, inStrip[0])};
                  });
            });
      })[0];
}

/// Emit the loop over single keys.
Value StreamEmitter::emitSingleKeys(Value scores) {
  return emitLoop(
      zero, sizeOf(right, 0), 1, {scores}, [&](Value key, Values inKey) {
        return emitLoop(
            zero, sizeOf(left, 0), 1, inKey, [&](Value strip, Values inStrip) {
              Values sums = emitDotProducts(strip, key, 1);
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

/// Return a vector for each row of a strip and each of `count` keys, whose lanes
/// add up to their product: those of the first row first.
StreamEmitter::Values
StreamEmitter::emitDotProducts(Value strip, Value firstKey, int64_t count) {
  Value none = arith::ConstantOp::create(b, loc, b.getZeroAttr(vector));
  Values sums(rows * count, none);
  Value channels = sizeOf(left, 2);
  int64_t known = staticSize(left, 2);
  Value whole = ShapedType::isStatic(known) ? index(known / lanes * lanes)
                                            : roundDown(channels, lanes);
  sums = emitLoop(zero, whole, lanes, sums, [&](Value channel, Values inner) {
    return addProducts(strip, firstKey, count, channel, /*inBounds=*/true,
                       inner);
  });
  if (ShapedType::isStatic(known) && known % lanes == 0)
    return sums;
  return addProducts(strip, firstKey, count, whole, /*inBounds=*/false, sums);
}

StreamEmitter::Values StreamEmitter::addProducts(Value strip, Value firstKey,
                                                 int64_t count, Value channel,
                                                 bool inBounds, Values sums) {
  Values keys;
  for (int64_t key = 0; key < count; ++key)
    keys.push_back(
        readVector(right, {add(firstKey, index(key)), channel}, inBounds));
  for (int64_t row = 0; row < rows; ++row) {
    Value query = readVector(left, {strip, index(row), channel}, inBounds);
    for (int64_t key = 0; key < count; ++key) {
      Value &sum = sums[row * count + key];
      sum = fma(keys[key], query, sum);
    }
  }
  return sums;
}

/// Return the vector of the sums over the lanes of each of as many vectors as a
/// vector has lanes. Two vectors become one of half as many terms of each, and so
/// on: lane i ends with the sum over vector i.
Value StreamEmitter::sumLanes(Values vectors) {
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

/// Write the sums of `count` keys for each row of a strip.
Value StreamEmitter::storeScores(Value strip, Value firstKey, int64_t count,
                                 Values sums, Value scores) {
  Values totals;
  for (size_t i = 0; i < sums.size(); i += lanes)
    totals.push_back(
        sumLanes(Values(sums.begin() + i, sums.begin() + i + lanes)));
  int64_t width = std::min(count, lanes);
  for (int64_t at = 0, e = rows * count; at < e; at += width) {
    Value part = totals[at / lanes];
    if (width < lanes)
      part = vector::ExtractStridedSliceOp::create(
          b, loc, part, ArrayRef<int64_t>{at % lanes}, ArrayRef<int64_t>{width},
          ArrayRef<int64_t>{1});
    Value key = add(firstKey, index(at % count));
    scores = vector::TransferWriteOp::create(
                 b, loc, part, scores,
                 ValueRange{strip, index(at / count), key}, {true})
                 .getResult();
  }
  return scores;
}
