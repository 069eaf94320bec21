// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One task of a tiled attention: the rows of one tile against all keys, or a part of them, as loops over
// attn.block_step on packed operands.

#ifndef ATTN_TRANSFORMS_BLOCKTASK_H
#define ATTN_TRANSFORMS_BLOCKTASK_H

#include "attn/Analysis/BlockRange.h"
#include "attn/IR/AttentionShape.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::attn {

/// The three tensors of a state, packed: reference [strips, rows], sum [strips,
/// rows, columns], acc [strips, channel panels, rows, columns], of one panel of
/// all channels where the schedule has streams; plain where it has warps:
/// reference [rows], sum [rows, columns], acc [rows, channels].
struct PackedState {
  Value reference, sum, acc;
};

/// Keys [begin, end); `bounded` says that a row may not attend to all of them,
/// or that their last block is not a whole one.
struct KeyRange {
  Value begin, end;
  bool bounded;
};

/// The only block of keys of a task, packed for all of its strips; where they are
/// scaled, the query need not be.
struct PackedKeys {
  KeyRange range;
  Value key, value;
  bool scaled = false;
};

/// Builds the body of a task for a tile of attn.sdpa: one entry of the batch,
/// heads of one group, a block of rows. The tile carries its schedule and an
/// explicit query_offset; whoever uses the results erases it.
class BlockTask {
public:
  /// Prepare at `tile`, before it; `mayBeEmpty` says that it may have no rows.
  /// Where the keys are packed already, for one strip of rows.
  BlockTask(RewriterBase &rewriter, SdpaOp tile, bool mayBeEmpty = false,
            std::optional<PackedKeys> packed = std::nullopt);

  /// Take the rows of the query, all heads of a group one after the other, from
  /// `rows` [heads * rows, D].
  void setFoldedRows(Value rows) { foldedRows = rows; }

  /// Pack the keys where one block holds them all, so that a strip can be
  /// finished before the next one begins.
  std::optional<PackedKeys> packOnlyBlock();

  /// Build the loop over the keys that the rows attend to, of [begin, end) if
  /// given, and return the state after them.
  FailureOr<PackedState> buildState(Value begin = {}, Value end = {});

  /// Return whether a strip of rows can be finished where its last block of keys
  /// is worked on.
  bool canFinishStrips();

  /// Build the loop over the keys that the rows attend to, finish each strip in
  /// it, and return what becomes of `outputs`, slices as unpackOutput and
  /// unpackLse take them, without the dimensions of the batch and the head.
  FailureOr<SmallVector<Value>> buildOutputs(ValueRange outputs);

  /// Return the packed output and the packed lse of `state`.
  std::pair<Value, Value> buildFinish(const PackedState &state);

  /// Write packed `output` into `dest`, a [1, heads, rows, channels] slice in
  /// the layout of the output, and return it.
  Value unpackOutput(Value output, Value dest);

  /// Write packed `lse` into `dest`, a [1, heads, rows] slice.
  Value unpackLse(Value lse, Value dest);

  /// Compute the weights of rows with the packed `state` over all keys into
  /// `dest`, a [1, 1, rows, keys] slice, and return it without its leading
  /// dimensions.
  Value buildWeights(const PackedState &state, Value dest);

private:
  /// Keys of which the weights are computed: `count` from `firstKey` on.
  struct WeightsBlock {
    Value reference, factor, firstKey;
    OpFoldResult count;
    KeyRange range;
  };

  Value index(int64_t value);
  Value storage(ArrayRef<OpFoldResult> whole, ArrayRef<OpFoldResult> used,
                Type elementType);
  Value dropUnitDims(Value tensor, ArrayRef<int64_t> kept);
  Value queryScale();
  Value packQuery();
  Value scaledKeys(Value keys);
  bool isOfSums(Value operand);
  bool hasPlainValue();
  Value headOf(Value tensor, Layout layout, Value head);
  Value headRows(Value flat, Value head);
  Value forEachHead(Value flat, function_ref<Value(Value, Value)> body);
  Value copyHeads(Value flat, Value dest, int64_t headDim);
  Value mapRows(Value source, Value init,
                function_ref<Value(OpBuilder &, Value)> body);
  Value keys(Value tensor, Layout layout, Value begin, Value end);
  Value toAccumulator(Value rows, Value scale);
  Value scales(Value tensor, Value begin, Value end);
  OpFoldResult keysIn(Value begin, Value end);
  int64_t pageSize();
  bool areBlocksInPages();
  bool arePagesInBlocks();
  Value entryOf(Value number);
  Value readPage(Value tensor, ArrayRef<int64_t> dims, int64_t sequence,
                 Value entry, OpFoldResult from, OpFoldResult count);
  Value readPages(Value tensor, ArrayRef<int64_t> dims, int64_t sequence,
                  Value first, OpFoldResult count);
  Value copyPages(Value tensor, ArrayRef<int64_t> dims, int64_t sequence,
                  Value first, OpFoldResult count);
  Value readPageTiles(Value tensor, ArrayRef<int64_t> dims, int64_t sequence,
                      Value first, OpFoldResult count);
  void readPages(BlockStepOp step);
  PackedState newState();
  PackedState emptied(const PackedState &state);
  PackedState emptiedWhere(Value condition, const PackedState &state);
  PackedState begun(const PackedState &state, const KeyRange &range);
  Value hasNaN(Value acc);
  KeyRange keyRange(Value begin, Value end);
  BlockStepOp buildStep(const KeyRange &range, Value key, Value value,
                        PackedState state);
  PackedState buildOnlyStep(PackedState state);
  FailureOr<PackedState> buildLoop(const KeyRange &range, PackedState state);
  LogicalResult packStep(BlockStepOp step);
  bool finishesStrips() const { return !carried.empty(); }
  scf::ForOp carryThrough(scf::ForOp loop);
  void yieldCarried(scf::ForOp loop);
  Value isInLastBlock(BlockStepOp step);
  scf::ForOp runOnce(scf::ForOp loop);
  void shareState(scf::ForOp strips, BlockStepOp strip);
  void finishStrip(scf::ForOp strips, BlockStepOp strip, Value isLast);
  Value unpackStrip(Value packed, Value dest, Value row);
  Value packKeys(Value keys, Value scale, bool value);
  Value takeValues(BlockStepOp step, Value from, Value count);
  void narrow(BlockStepOp step);
  bool hasMaskMod() { return !tile.getMaskMod().empty(); }
  unsigned countRegions();
  void copyRegions(MutableArrayRef<Region> mods);
  void analyseRows(BlockStepOp step);
  LogicalResult finishStep(BlockStepOp step);
  void addPlace(Intervals &intervals);
  void skipMaskedBlock(BlockStepOp step);
  void skipMaskedStrip(BlockStepOp step);
  void skipMasked(BlockStepOp step, const Interval &verdict);
  bool isStreamed() const { return schedule.getStreams() > 0; }
  bool isForThreads() const { return schedule.getWarps() > 0; }
  Value padQuery();
  PackedState emptyTileState();
  bool comparesProducts();
  void countInProducts(BlockStepOp step);
  void padStep(BlockStepOp step);
  FailureOr<PackedState> buildTileStates(KeyRange range);
  PackedState inNaturalUnits(const PackedState &state, int64_t exponent);
  FailureOr<PackedState> buildTileState(Value begin, Value end);
  Value unpadResult(Value result, ArrayRef<OpFoldResult> counts);
  Value emptyRows();
  Value rowsToStrips(Value rows, Value init);
  Value unpackStreamed(Value output, Value dest);
  IntegerAttr countedChannels();
  Value clampedLength();
  Value rowsPerHead();
  Value broadcastToTask(Value tensor);
  Value clearKeys(Value dest, Value begin, Value end);
  std::pair<Value, Value> buildFinish(const PackedState &state,
                                      Type outputType);
  Value factorOfRows(const PackedState &state);
  Value writeStripWeights(Value dest, Value strip, Value key,
                          const WeightsBlock &block);

  RewriterBase &rewriter;
  SdpaOp tile;
  bool mayBeEmpty;
  Location loc;
  ScheduleAttr schedule;
  AttentionDims dims;
  /// The type of scores and sums: f32, or f64 for f64.
  Type accumulator;
  /// Heads times rows, and the number of strips that hold them.
  OpFoldResult taskRows, strips;
  Value query;
  /// Rows of the query where several heads have several each, for threads.
  Value foldedRows;
  /// The first key, whose block finds the state of each strip not begun; or null
  /// where all of the state is begun before.
  Value startKey;
  /// Whether values of weight 0 are left out.
  Value skipZeros;
  /// The outputs, and at last whether a sum of values was not finite, as they are
  /// where ops are built; none where strips are finished after the loop.
  SmallVector<Value> carried;
  /// Whether there is one block of keys, known when the task runs.
  Value isOnlyBlock;
  /// What is known of mask_mod for all rows of the task, and for all keys of the
  /// block that is worked on.
  Intervals ofRows, ofKeys;
  std::optional<PackedKeys> packed;
  /// Keys of one step of a block of threads.
  int64_t stepKeys;
};

/// Note on `loop`, over strips of a task of `schedule`, for how many rows or keys
/// of what comes next it may ask ahead of time.
void setAhead(Operation *loop, ScheduleAttr schedule);

/// Say in a remark whether blocks can be skipped for the mask_mod of `op`.
void reportMaskMod(SdpaOp op);
/// Return how many strips hold `rows` rows, all of a task. Where few rows are
/// not known, the schedule says how many there can be.
OpFoldResult getStrips(OpBuilder &b, Location loc, ScheduleAttr schedule,
                       OpFoldResult rows);

/// Return the channels of a tile of a block of threads that holds `channels`,
/// which are known.
int64_t paddedChannels(OpFoldResult channels);

/// Return `tensor`, whose sizes are at most `shape`, with zeros up to that.
Value padTile(OpBuilder &b, Location loc, Value tensor,
              ArrayRef<int64_t> shape);

/// Return the sizes of the tensors of the state of `strips` strips.
SmallVector<SmallVector<OpFoldResult>> getStateSizes(OpBuilder &b, Location loc,
                                                     ScheduleAttr schedule,
                                                     OpFoldResult strips,
                                                     OpFoldResult channels);

} // namespace mlir::attn

#endif // ATTN_TRANSFORMS_BLOCKTASK_H
