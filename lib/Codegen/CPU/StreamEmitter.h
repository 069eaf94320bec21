// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The two products of a step that reads keys and values where they are: what they share (StreamEmitter.cpp), scores
// (StreamScores.cpp) and values (StreamValues.cpp).

#ifndef ATTN_LIB_CODEGEN_CPU_STREAMEMITTER_H
#define ATTN_LIB_CODEGEN_CPU_STREAMEMITTER_H

#include "attn/IR/AttnDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::attn {

class StreamEmitter {
public:
  StreamEmitter(RewriterBase &rewriter, linalg::GenericOp op,
                ScheduleAttr schedule);

  /// Return the scores q . k, which start from 0.
  Value emitScores();
  /// Return acc + P . v.
  Value emitValues();

  /// Return whether the op is q . k from 0, or acc + P . v.
  bool isScores();
  bool isValues();

private:
  using Values = SmallVector<Value>;
  using LoopBody = function_ref<Values(Value iv, Values state)>;

  /// Where a tile of channels starts, how many vectors it has, and whether the
  /// last may reach beyond the last channel.
  struct ChannelTile {
    Value start;
    int64_t vectors;
    bool masked;
  };

  /// The keys whose values are added at once: so many in a row from `first`, and
  /// from where each further stream is then, `each` keys on.
  struct Visit {
    Value first, each, streams, keys;
  };

  /// How many streams one step works on, how many keys in a row of each, and how
  /// many steps come between two writes of scores.
  struct KeyStep {
    int64_t streams, keys, times;
  };

  bool hasMaps(ArrayRef<SmallVector<unsigned>> dims, unsigned loops);
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  Value add(Value x, Value y) {
    return b.createOrFold<arith::AddIOp>(loc, x, y);
  }
  Value sizeOf(Value tensor, int64_t dim) {
    return b.createOrFold<tensor::DimOp>(loc, tensor, dim);
  }
  static int64_t staticSize(Value tensor, int64_t dim) {
    return cast<RankedTensorType>(tensor.getType()).getDimSize(dim);
  }
  /// Return `size` rounded down to a multiple of `unit`.
  Value roundDown(Value size, int64_t unit);
  /// Return a part of `size` in `parts`, rounded up to a multiple of `unit`.
  Value partOf(Value size, int64_t parts, int64_t unit);
  /// Emit a loop, or the body alone where it runs once.
  Values emitLoop(Value from, Value to, int64_t step, Values state,
                  LoopBody body);
  /// Say of the loop that gave `values`, if one did, how many rows of keys or
  /// values ahead memory is to be asked for.
  void askAhead(ArrayRef<Value> values);
  Value readVector(Value tensor, ValueRange at, bool inBounds);
  Value broadcast(Value scalar);
  Value fma(Value x, Value y, Value z);

  KeyStep getKeyStep();
  Value emitStreamedKeys(KeyStep step);
  Value emitSingleKeys();
  Values emitStep(Value strip, ArrayRef<Value> starts, KeyStep step);
  Values emitDotProducts(Value strip, ArrayRef<Value> keys);
  Values addProducts(Value strip, ArrayRef<Value> keys, Value channel,
                     bool inBounds, Values sums);
  Values sumLanes(ArrayRef<Value> vectors);
  Value sumToLanes(Values vectors);
  Values interleave(Values vectors, int64_t unit);
  Value storeScores(Value strip, ArrayRef<Value> starts, int64_t count,
                    Values totals, Value scores);

  int64_t tileVectors();
  int64_t keysOfStream();
  Value emitChannels(Value strip, const Visit &visit, Value acc);
  Value emitTile(Value strip, ChannelTile tile, const Visit &visit, Value acc);
  Values addKey(Value strip, ChannelTile tile, Value key, Values sums);

  RewriterBase &b;
  linalg::GenericOp op;
  Location loc;
  int64_t lanes, rows, columns, streams, prefetch;
  /// Query or weights, keys or values, scores or acc.
  Value left, right, result;
  /// The type of sums, and a vector of it.
  Type element;
  VectorType vector;
  Value zero;
};

} // namespace mlir::attn

#endif // ATTN_LIB_CODEGEN_CPU_STREAMEMITTER_H
