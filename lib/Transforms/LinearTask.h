// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One task of a tiled linear attention: the state of one key head, or some columns of it, through all steps.

#ifndef ATTN_LIB_TRANSFORMS_LINEARTASK_H
#define ATTN_LIB_TRANSFORMS_LINEARTASK_H

#include "attn/IR/AttentionShape.h"
#include "attn/IR/LinalgBuilder.h"

namespace mlir::attn {

/// Where a task works: an entry of the batch, a key head, and the columns of the
/// state, which are channels of the value, from one on.
struct LinearPlace {
  Value batch, head, column;
};

/// What a task changes: the state, and its part of the output.
struct LinearCarried {
  Value state, output;
};

/// Builds the body of a task.
class LinearTask {
public:
  /// Prepare the task of `op` at the insertion point of `b`. Its part of the
  /// state is packed: [D, panels, columns], of which D is rounded up to rows of
  /// the register tile. With `normalize` the sums of keys are one more column.
  LinearTask(ImplicitLocOpBuilder &b, LinearAttentionOp op, LinearPlace place);

  /// Return the state before the first step.
  Value startState();

  /// Take all steps.
  LinearCarried run(LinearCarried carried);

  /// Write the state into its place in the tensors of all states, and return
  /// them: [D, columns], and [D] of the sums of keys.
  Value storeState(Value state, Value dest);
  Value storeNormalizer(Value state, Value dest);

  /// Return how many columns of the output are the task's.
  OpFoldResult getWidth() const { return width; }

private:
  /// Return `x`, a product with a decay, or 0 where next to nothing is left of it:
  /// below the smallest normal number processors take a hundred times as long.
  /// With `normalize` all of it counts: the quotient of two such numbers may be of
  /// any size.
  Value dropTiny(Value x);

  /// The operands of a chunk of steps.
  struct Chunk {
    /// The first step, how many there are, and how many strips hold them.
    Value first;
    OpFoldResult count, strips, padded;
    /// Keys [steps, D], by panels [step panels, D, columns], and what is written
    /// [steps, panels, columns].
    Value keys, panels, values;
    /// Betas [steps].
    Value betas;
    /// Of a decay per step: the products of factors from behind step s up to
    /// step t, [t, s panels, columns], and from the start up to t, [t].
    Value between, since;
    /// Of a decay per channel: keys times the factors behind them up to the last
    /// step, [D / rows, rows, s], and the factors up to t, [t, D]; queries of all
    /// heads, [heads, t, D]; weights of keys in queries [heads, t, s], and in
    /// keys [t, s].
    Value decayedKeys, channels, queries, weights, keyWeights;
  };

  /// What a step multiplies rows of the state by: all by `one`, or by `each`, [D].
  struct Factors {
    Value one, each;
  };

  using Body = function_ref<SmallVector<Value>(Value, ValueRange)>;

  OpFoldResult index(int64_t value) { return b.getIndexAttr(value); }
  Value valueOf(OpFoldResult size);
  OpFoldResult times(OpFoldResult value, int64_t factor);
  Value plus(Value value, OpFoldResult other);
  Value getZero() { return getFloat(b, type, 0.0); }

  // LinearTask.cpp
  SmallVector<Value> loop(OpFoldResult count, int64_t step, ValueRange state,
                          Body body);
  Value tile(ArrayRef<OpFoldResult> whole, ArrayRef<OpFoldResult> used);
  Value filled(ArrayRef<OpFoldResult> whole, ArrayRef<OpFoldResult> used,
               Value value);
  Value insert(Value part, Value whole, ArrayRef<OpFoldResult> offsets,
               ArrayRef<OpFoldResult> sizes);
  Value map(Value from, Value to, function_ref<Value(Value)> body);
  Value addProducts(const Indexed &rows, const Indexed &panels,
                    const Indexed &sums);
  Value takeRows(Value tensor, Layout layout, OpFoldResult head, Value first,
                 OpFoldResult count, OpFoldResult channel, OpFoldResult width);
  Value takeSteps(Value tensor, Value head, Value first, OpFoldResult count);
  Value toFlat(Value panels) { return joinDims(b, panels, 1); }
  Value toPanels(Value flat);
  Value lastColumn(Value flat, OpFoldResult height);
  Value queryHead(Value number);

  // LinearTaskChunk.cpp
  Value stepOfColumn(unsigned panel, unsigned column);
  OpFoldResult clampSteps(Value first, OpFoldResult total);
  Chunk loadChunk(Value first);
  Value loadFeatures(Value source, const Chunk &chunk, bool scaled);
  Value loadQuery(Value number, const Chunk &chunk);
  Value loadValues(const Chunk &chunk);
  Value loadVector(Value source, const Chunk &chunk, double padding,
                   function_ref<Value(Value)> body);
  Value packKeys(const Chunk &chunk);
  void loadDecay(Chunk &chunk);
  void loadChannelDecay(Chunk &chunk);
  Value splitRow(Value row);
  Value weigh(Value row, Value decayed);
  std::pair<Value, Value> passStep(Value step, Value factors, Value row,
                                   Value decayed);
  Value loadQueries(const Chunk &chunk);
  Value transposeKeys(const Chunk &chunk);
  Value weighHeads(Value step, const Chunk &chunk, Value first, Value decayed,
                   Value weights);
  SmallVector<Value> passChannels(Value step, const Chunk &chunk, Value factors,
                                  ValueRange now);
  Value write(const Chunk &chunk, Value state);

  // LinearTaskRows.cpp
  Value strip(Value tensor, Value row);
  Value weighRows(Value row, const Chunk &chunk, Value vectors, bool strictly);
  Value maskRows(Value row, ArrayRef<Indexed> inputs, const Indexed &weights,
                 bool strictly);
  Value readState(Value vectors, Value state);
  Value readDecayed(Value row, const Chunk &chunk, Value vectors, Value state);
  Value addValues(Value weights, Value values, OpFoldResult count, Value sums);
  Value invert(Value row, const Chunk &chunk, Value weights);
  Value solveStrip(Value row, const Chunk &chunk, Value state, Value values);
  Value solve(const Chunk &chunk, Value state);
  Value finishStrip(Value sums, Value row, Value head, const Chunk &chunk,
                    Value output);
  Value readStrip(Value row, Value head, const Chunk &chunk, Value query,
                  LinearCarried carried);
  Value readHead(Value head, const Chunk &chunk, LinearCarried carried);
  LinearCarried runChunk(Value first, LinearCarried carried);

  // LinearTaskSteps.cpp
  Value takeRow(Value tensor, Layout layout, OpFoldResult head, Value step,
                OpFoldResult channel, OpFoldResult width);
  Value loadRow(Value source, OpFoldResult whole, OpFoldResult used,
                double padding, function_ref<Value(Value)> body);
  Value correct(Value value, Value key, Value state, Value step);
  Factors loadFactors(Value step);
  Value decayRows(const Factors &factors, ArrayRef<Indexed> inputs,
                  const Indexed &to,
                  function_ref<Value(Value factor, ValueRange)> body);
  Value readGroup(Value step, LinearCarried carried);
  LinearCarried runStep(Value step, LinearCarried carried);

  ImplicitLocOpBuilder &b;
  LinearAttentionOp op;
  LinearPlace place;
  ScheduleAttr schedule;
  AttentionDims dims;
  Type type;
  /// The register tile, steps of a chunk, and what a row of its weights holds.
  int64_t rows, columns, steps, paddedSteps;
  /// Columns of the output, panels of them and at most, rounded rows of the
  /// state, query heads of a key head, and at most, as it is known on entry.
  OpFoldResult width, panels, size, group, mostHeads;
  int64_t mostPanels;
  Value scale;
};

} // namespace mlir::attn

#endif // ATTN_LIB_TRANSFORMS_LINEARTASK_H
