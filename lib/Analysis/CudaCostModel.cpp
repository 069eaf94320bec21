// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tiles of a block of threads on a GPU, from what its registers and its shared memory hold:
//
//   a thread    rows * (block_n + E) / 32 sums of a warp's scores and output, in 255 registers
//   a block     block_m * D of the query, and of each stage block_n * (D + E) of keys and values
//
// A warp of 32 rows reads every key from shared memory half as often as two of 16; it has registers for that up to 64
// channels.

#include "attn/Analysis/CudaCostModel.h"

#include "attn/Analysis/CostModel.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::attn;

/// Elements that a matrix instruction takes along rows, channels and keys.
static constexpr int64_t kUnit = 16;

/// Columns of sums that one matrix instruction makes, and how many of a row a
/// thread holds.
static constexpr int64_t kColumns = 8, kLanes = 2;

/// Channels of a value up to which a warp has registers for 32 rows.
static constexpr int64_t kWideRowsChannels = 64;

/// Channels of a head up to which a block of 64 keys leaves registers.
static constexpr int64_t kLongBlockChannels = 192;

/// Copies of keys that are on their way while one block of them is worked on.
static constexpr int64_t kStages = 2;

/// Keys of a part of a split: a few blocks, so that copies of some hide behind the
/// work on others.
static constexpr int64_t kChunkKeys = 256;

namespace {
/// The rows of a task: of each warp, and how many warps.
struct TaskRows {
  int64_t rows, warps;
};
} // namespace

/// Return the rows of a task of `shape`, whose heads have up to `channels` channels
/// of `bits` bits.
static TaskRows chooseRows(const AttentionShape &shape, int64_t channels,
                           int64_t bits, bool few) {
  if (few)
    return {kUnit, 1};
  // Short sequences leave no warp without work.
  if (ShapedType::isStatic(shape.rows) && shape.rows <= 2 * kUnit)
    return {kUnit, 2};
  if (bits > 16)
    return {kUnit, 4};
  if (channels > kWideRowsChannels)
    return {kUnit, 8};
  bool isShort = ShapedType::isStatic(shape.rows) && shape.rows <= 4 * kUnit;
  return {isShort ? kUnit : 2 * kUnit, 4};
}

/// Return how many keys one block of threads of a split works on: the least, where
/// they are not known; 0 where they are too few.
static int64_t chooseChunk(int64_t keys, int64_t blockN) {
  int64_t least = kChunkKeys / blockN * blockN;
  if (ShapedType::isDynamic(keys))
    return least;
  if (keys <= 2 * least)
    return 0;
  int64_t part = llvm::divideCeil(keys, kMostBlockChunks);
  return std::max<int64_t>(least, llvm::alignTo(part, blockN));
}

/// Rows of all heads of a group that share a tile: 16 each of 8 warps.
static constexpr int64_t kMostFoldedRows = 128;

/// Return how many rows each head of a group has at most in a tile that they share;
/// 0 where they do not.
static int64_t getFoldedRows(const AttentionShape &shape) {
  int64_t group = getGroupSize(shape);
  if (ShapedType::isDynamic(group) || group <= 1 || group > kMostFoldedRows)
    return 0;
  int64_t most = std::min(kFewBlockRows, kMostFoldedRows / group);
  if (ShapedType::isDynamic(shape.rows))
    return most;
  return shape.rows <= most ? shape.rows : 0;
}

int64_t attn::getFewBlockRows(const AttentionShape &shape, bool folds) {
  int64_t folded = folds ? getFoldedRows(shape) : 0;
  return folded > 0 ? folded : kFewBlockRows;
}

ScheduleAttr attn::chooseBlockSchedule(MLIRContext *context,
                                       const AttentionShape &shape,
                                       int64_t bits, const TargetInfo &target,
                                       bool few, bool folds) {
  int64_t headSize = llvm::alignTo(shape.headSize, kUnit),
          valueSize = llvm::alignTo(shape.valueSize, kUnit),
          channels = std::max(headSize, valueSize);
  int64_t blockN = bits > 16 || channels > kLongBlockChannels ? 32 : 64,
          stages = kStages, group = getGroupSize(shape);
  TaskRows task = chooseRows(shape, channels, bits, few);
  // A single row of each head needs no more than the memory of the query.
  bool isSingle = few && shape.rows == 1 && group > 1 && group <= kFewBlockRows;
  int64_t folded = few && folds && !isSingle && chooseChunk(shape.keys, blockN)
                       ? getFoldedRows(shape)
                       : 0;
  if (folded > 0)
    task = {kUnit,
            static_cast<int64_t>(llvm::divideCeil(group * folded, kUnit))};
  int64_t blockM = task.rows * task.warps;
  auto bytes = [&] {
    int64_t elements =
        blockM * headSize + stages * blockN * (headSize + valueSize);
    return elements * (bits / 8);
  };
  while (bytes() > target.sharedBlockBytes && blockN > kUnit)
    blockN /= 2;
  if (bytes() > target.sharedBlockBytes)
    stages = 1;
  int64_t chunk = few ? chooseChunk(shape.keys, blockN) : 0;
  return ScheduleAttr::get(context, blockM, blockN, task.rows, kColumns, kLanes,
                           chunk, isSingle || folded > 0, /*streams=*/0,
                           /*prefetch=*/0, task.warps, stages);
}

/// Blocks of threads of a projection below which a GPU is better off with smaller
/// ones: about its multiprocessors.
static constexpr int64_t kFewBlocks = 128;

/// Stages of a projection of few rows, which waits for nothing but its weights.
static constexpr int64_t kFewRowsStages = 4;

ScheduleAttr attn::chooseBlockProjectionSchedule(MLIRContext *context,
                                                 int64_t rows, int64_t outs,
                                                 int64_t bits) {
  bool isKnown = ShapedType::isStatic(rows);
  TaskRows task = {2 * kUnit, 4};
  int64_t blockN = 64, stages = kStages;
  if (isKnown && rows <= kUnit) {
    task = {kUnit, 1};
    blockN = kUnit;
    stages = kFewRowsStages;
  } else if (bits > 16 || (isKnown && rows <= 4 * kUnit)) {
    task = {kUnit, 4};
  } else if (isKnown && ShapedType::isStatic(outs) &&
             llvm::divideCeil(rows, 128) * llvm::divideCeil(outs, 128) >=
                 kFewBlocks) {
    blockN = 128;
  }
  return ScheduleAttr::get(context, task.rows * task.warps, blockN, task.rows,
                           kColumns, kLanes, /*chunk=*/0, /*fold_heads=*/false,
                           /*streams=*/0, /*prefetch=*/0, task.warps, stages);
}
