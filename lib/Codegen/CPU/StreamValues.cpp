// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits the product of weights with a block of values that are read where they are:
//
//   linalg.generic (strip, panel, row, channel, key): p[strip, row, key], v[key, channel] -> acc[strip, panel, row, channel]
//
// with 4 streams, strips of 4 rows and tiles of 4 vectors becomes
//
//   scf.for %r = 0 to n / 4 {
//     scf.for %strip {
//       scf.for %channel step 4 vectors {
//         16 reads of acc
//         scf.for %stream { 4 reads of a row of values, 4 of weights, 16 vector.fma }
//         16 writes of acc
//
// Rows of few bytes are read several at a time from each stream. acc stays in the nearest cache; channels that do not
// fill a tile are one vector at a time. Keys that do not fill the streams are one stream in a last round.

#include "StreamEmitter.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::attn;

/// The most bytes of a stream that are read before the next one's: with twice as
/// many, what is fetched ahead from memory comes a quarter later (measured).
static constexpr int64_t kStreamBytes = 512;

bool StreamEmitter::isValues() {
  return hasMaps({{0, 2, 4}, {4, 3}, {0, 1, 2, 3}}, 5) &&
         staticSize(result, 1) == 1 && staticSize(result, 2) == rows;
}

/// Return how many keys of a stream are read before the next stream's.
int64_t StreamEmitter::keysOfStream() {
  int64_t channels = staticSize(right, 1);
  if (ShapedType::isDynamic(channels))
    return 1;
  int64_t bits =
      cast<RankedTensorType>(right.getType()).getElementTypeBitWidth();
  int64_t bytes = std::max<int64_t>(channels * bits / 8, 1);
  return std::clamp<int64_t>(kStreamBytes / bytes, 1, 4);
}

/// Return the number of vectors of a tile of channels: the most that registers
/// have room for, or nearly so many that divide what there is.
int64_t StreamEmitter::tileVectors() {
  int64_t most = columns / lanes, channels = staticSize(right, 1);
  if (ShapedType::isDynamic(channels))
    return most;
  int64_t all = channels / lanes;
  for (int64_t vectors = most; 2 * vectors > most; --vectors)
    if (all % vectors == 0 && all > 0)
      return vectors;
  return std::max<int64_t>(std::min(most, all), 1);
}

Value StreamEmitter::emitValues() {
  zero = index(0);
  int64_t together = keysOfStream();
  Value keys = sizeOf(right, 0);
  Value whole = roundDown(keys, streams * together);
  Value each = partOf(whole, streams, 1);
  int64_t known = staticSize(right, 0);
  bool isEven =
      ShapedType::isStatic(known) && known % (streams * together) == 0;
  // What is left is a last visit of one stream.
  return emitLoop(
      zero, partOf(keys, streams, together), together, {result},
      [&](Value row, Values inner) -> Values {
        Visit visit{row, each, index(streams), index(together)};
        if (!isEven) {
          Value isLast = arith::CmpIOp::create(
              b, loc, arith::CmpIPredicate::sge, row, each);
          auto choose = [&](Value last, Value other) -> Value {
            return arith::SelectOp::create(b, loc, isLast, last, other);
          };
          visit.first = choose(whole, row);
          visit.streams = choose(index(1), visit.streams);
          visit.keys =
              choose(arith::SubIOp::create(b, loc, keys, whole), visit.keys);
        }
        return emitLoop(zero, sizeOf(left, 0), 1, inner,
                        [&](Value strip, Values inStrip) -> Values {
                          return {emitChannels(strip, visit, inStrip[0])};
                        });
      })[0];
}

/// Add the products with the keys of `visit` to the rows of a strip of acc.
Value StreamEmitter::emitChannels(Value strip, const Visit &visit, Value acc) {
  int64_t vectors = tileVectors(), width = vectors * lanes;
  int64_t known = staticSize(right, 1);
  bool isStatic = ShapedType::isStatic(known);
  Value channels = sizeOf(right, 1);
  auto rounded = [&](int64_t unit) -> Value {
    return isStatic ? index(known / unit * unit) : roundDown(channels, unit);
  };
  Value tiles = rounded(width), whole = rounded(lanes);
  auto tile = [&](int64_t size, bool masked) {
    return [&, size, masked](Value channel, Values inner) -> Values {
      return {emitTile(strip, {channel, size, masked}, visit, inner[0])};
    };
  };
  acc = emitLoop(zero, tiles, width, {acc}, tile(vectors, false))[0];
  if (!isStatic)
    return emitLoop(tiles, channels, lanes, {acc}, tile(1, true))[0];
  acc = emitLoop(tiles, whole, lanes, {acc}, tile(1, false))[0];
  return emitLoop(whole, channels, lanes, {acc}, tile(1, true))[0];
}

/// Add the products with the keys of `visit` to one tile of acc.
Value StreamEmitter::emitTile(Value strip, ChannelTile tile, const Visit &visit,
                              Value acc) {
  auto place = [&](int64_t at) -> Values {
    int64_t row = at / tile.vectors, vector = at % tile.vectors;
    return {strip, zero, index(row), add(tile.start, index(vector * lanes))};
  };
  Values sums;
  for (int64_t at = 0; at < rows * tile.vectors; ++at)
    sums.push_back(readVector(acc, place(at), !tile.masked));
  auto perKey = [&](Value row) {
    return [&, row](Value stream, Values inner) {
      Value start = arith::MulIOp::create(b, loc, stream, visit.each);
      return addKey(strip, tile, add(row, start), inner);
    };
  };
  sums = emitLoop(zero, visit.keys, 1, sums, [&](Value next, Values inner) {
    inner =
        emitLoop(zero, visit.streams, 1, inner, perKey(add(visit.first, next)));
    askAhead(inner);
    return inner;
  });
  for (int64_t at = 0; at < rows * tile.vectors; ++at)
    acc = vector::TransferWriteOp::create(b, loc, sums[at], acc, place(at),
                                          {!tile.masked})
              .getResult();
  return acc;
}

/// Add the products with one key to the sums of a tile.
StreamEmitter::Values StreamEmitter::addKey(Value strip, ChannelTile tile,
                                            Value key, Values sums) {
  Values values;
  for (int64_t i = 0; i < tile.vectors; ++i)
    values.push_back(readVector(right, {key, add(tile.start, index(i * lanes))},
                                !tile.masked));
  for (int64_t row = 0; row < rows; ++row) {
    Value weight = broadcast(tensor::ExtractOp::create(
        b, loc, left, ValueRange{strip, index(row), key}));
    for (int64_t i = 0; i < tile.vectors; ++i) {
      Value &sum = sums[row * tile.vectors + i];
      sum = fma(weight, values[i], sum);
    }
  }
  return sums;
}
