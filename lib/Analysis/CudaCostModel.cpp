// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tiles of a block of threads on a GPU, from what its registers and its shared memory hold:
//
//   a thread    rows * (block_n + E) / 32 sums of a warp's scores and output, in 255 registers
//   a block     block_m * D of the query, and of each stage block_n * (D + E) of keys and values
//
// Where D is large, a stage is a part of the channels of block_m rows and of block_n keys, and values have room once; where
// E is, there are several attentions.
//
// A warp of 32 rows reads every key from shared memory half as often as two of 16. It has registers for that up to 128
// channels, of 32 keys at once where there are many; of numbers of 32 bits also where twice as many would leave no room for
// two blocks. Eight warps keep the tensor cores of a multiprocessor busy: two
// blocks of four such warps, or one of eight warps of 16 rows where shared memory has no room for two blocks.

#include "attn/Analysis/CudaCostModel.h"

#include "attn/Analysis/CostModel.h"
#include "attn/Target/CUDA/Architectures.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::attn;

/// Elements that a matrix instruction takes along rows, channels and keys.
static constexpr int64_t kUnit = 16;

/// Columns of sums that four threads of a warp share, and how many of a row a
/// thread holds: as one matrix instruction makes them, and as a thread reads 32-bit
/// numbers at once.
static constexpr int64_t kColumns = 8, kLanes = 2;
static constexpr int64_t kWideColumns = 16, kWideLanes = 4;

/// Keys that a block of threads takes at once, at most and where there are few
/// registers.
static constexpr int64_t kManyKeys = 64, kSomeKeys = 32;

/// Channels up to which a warp of 32 rows has registers for many keys, and for some.
static constexpr int64_t kManyKeysChannels = 80, kWideRowsChannels = 128;

/// Without matrix instructions, where a number that a thread reads serves all its
/// rows: channels for 32 rows, and for some keys beside them.
static constexpr int64_t kWideTileChannels = 128, kWideBlockChannels = 96;

/// Channels up to which a warp of 16 rows has registers for many keys.
static constexpr int64_t kLongBlockChannels = 192;

/// Keys of a block where registers hold the sums of many channels of 16 rows, and the
/// query lies in shared memory: of 64, sm_90a spills 40 to 56 bytes.
static constexpr int64_t kPartKeys = 48;

/// Channels of a value that registers add up, 16 rows of a warp; and without matrix
/// instructions where the query has more than so many, too: of 256 and 256, with
/// sizes that are not known, sm_80 spills 124 bytes, sm_90a 704.
static constexpr int64_t kMostSummedChannels = 256, kLeastSummedChannels = 192;

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

/// The tile of a block of threads.
struct BlockTile {
  TaskRows task;
  int64_t keys;

  /// Return the bytes of shared memory for `stages` of keys and values.
  int64_t sharedBytes(int64_t headSize, int64_t valueSize, int64_t bits,
                      int64_t stages) const {
    int64_t rows = task.rows * task.warps;
    int64_t elements = rows * headSize + stages * keys * (headSize + valueSize);
    if (headSize > kMostWholeChannels) {
      int64_t part = getPartChannels(bits);
      // Keys that are taken again one by one need room, too.
      elements = keys * valueSize +
                 std::max(stages * (rows + keys) * part,
                          (rows + kUnit) * part + kUnit * valueSize);
    }
    return elements * (bits / 8);
  }
};
} // namespace

/// Return how many keys a block of heads of `channels` channels of `bits` bits has
/// where rows are few; `inParts` says that scores are added up by parts of channels.
static int64_t chooseKeys(int64_t channels, int64_t bits, bool inParts,
                          Precision precision) {
  // (Two numbers for each want registers, too.)
  if (precision != Precision::Exact && channels > kManyKeysChannels)
    return precision == Precision::Tf32 ? kSomeKeys : kUnit;
  if (precision != Precision::Exact)
    return kManyKeys;
  if (bits > 16)
    return channels > kWideBlockChannels ? kUnit : kSomeKeys;
  if (channels <= kLongBlockChannels)
    return kManyKeys;
  return inParts ? kPartKeys : kSomeKeys;
}

/// Return the tile of a task of `shape`, whose heads have `headSize` and `valueSize`
/// channels of `bits` bits.
static BlockTile chooseTile(const AttentionShape &shape, int64_t headSize,
                            int64_t valueSize, int64_t bits,
                            const TargetInfo &target, bool few,
                            Precision precision) {
  bool inParts = headSize > kMostWholeChannels;
  int64_t channels = inParts ? valueSize : std::max(headSize, valueSize);
  int64_t keys = chooseKeys(channels, bits, inParts, precision);
  if (few)
    return {{kUnit, 1}, keys};
  // Short sequences leave no warp without work.
  bool isKnown = ShapedType::isStatic(shape.rows);
  if (isKnown && shape.rows <= 2 * kUnit)
    return {{kUnit, 2}, keys};
  auto hasRoomForTwo = [&](const BlockTile &tile) {
    int64_t bytes = tile.sharedBytes(headSize, valueSize, bits, kStages) +
                    kReservedSharedBytes;
    return 2 * bytes <= target.sharedProcessorBytes;
  };
  // Copies of parts need registers, too.
  if (bits > 16) {
    int64_t most = inParts ? kWideBlockChannels : kWideTileChannels;
    TaskRows task{channels > most ? kUnit : 2 * kUnit, 4};
    bool isShorter = precision != Precision::Exact && keys > kSomeKeys &&
                     !hasRoomForTwo({task, keys}) &&
                     hasRoomForTwo({task, kSomeKeys});
    return {task, isShorter ? kSomeKeys : keys};
  }
  if (isKnown && shape.rows <= 4 * kUnit)
    return {{kUnit, 4}, keys};
  if (inParts)
    return {{kUnit, 8}, keys};
  for (auto [some, most] : {std::pair(kManyKeys, kManyKeysChannels),
                            std::pair(kSomeKeys, kWideRowsChannels)}) {
    BlockTile tile{{2 * kUnit, 4}, some};
    if (channels <= most && hasRoomForTwo(tile))
      return tile;
  }
  return {{kUnit, 8}, keys};
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

int64_t attn::getValuePart(const AttentionShape &shape, int64_t bits) {
  bool isTight = bits > 16 && shape.headSize > kLeastSummedChannels;
  int64_t most = isTight ? kLeastSummedChannels : kMostSummedChannels,
          parts = std::max<int64_t>(llvm::divideCeil(shape.valueSize, most), 1);
  return llvm::alignTo(llvm::divideCeil(shape.valueSize, parts), kUnit);
}

int64_t attn::getFewBlockRows(const AttentionShape &shape, bool folds) {
  int64_t folded = folds ? getFoldedRows(shape) : 0;
  return folded > 0 ? folded : kFewBlockRows;
}

ScheduleAttr attn::chooseBlockSchedule(MLIRContext *context,
                                       const AttentionShape &shape,
                                       int64_t bits, const TargetInfo &target,
                                       bool few, bool folds,
                                       Precision precision) {
  int64_t headSize = llvm::alignTo(shape.headSize, kUnit),
          valueSize = llvm::alignTo(shape.valueSize, kUnit), stages = kStages,
          group = getGroupSize(shape);
  BlockTile tile =
      chooseTile(shape, headSize, valueSize, bits, target, few, precision);
  // A single row of each head needs no more than the memory of the query.
  bool isSingle = few && shape.rows == 1 && group > 1 && group <= kFewBlockRows;
  bool isSplit = few && chooseChunk(shape.keys, tile.keys) > 0;
  int64_t folded = isSplit && folds && !isSingle ? getFoldedRows(shape) : 0;
  TaskRows &task = tile.task;
  if (folded > 0)
    task = {kUnit,
            static_cast<int64_t>(llvm::divideCeil(group * folded, kUnit))};
  auto fits = [&] {
    return tile.sharedBytes(headSize, valueSize, bits, stages) <=
           target.sharedBlockBytes;
  };
  while (!fits() && tile.keys > kUnit)
    tile.keys = std::max<int64_t>(tile.keys / 2 / kUnit, 1) * kUnit;
  if (!fits())
    stages = 1;
  int64_t chunk = few ? chooseChunk(shape.keys, tile.keys) : 0;
  bool isWide = bits > 16;
  return ScheduleAttr::get(context, task.rows * task.warps, tile.keys,
                           task.rows, isWide ? kWideColumns : kColumns,
                           isWide ? kWideLanes : kLanes, chunk,
                           isSingle || folded > 0, /*streams=*/0,
                           /*prefetch=*/0, task.warps, stages, precision);
}

/// Blocks of threads of a projection below which a GPU is better off with smaller
/// ones: about its multiprocessors.
static constexpr int64_t kFewBlocks = 128;

/// Stages of a projection of few rows, which waits for nothing but its weights.
static constexpr int64_t kFewRowsStages = 4;

ScheduleAttr attn::chooseBlockProjectionSchedule(MLIRContext *context,
                                                 int64_t rows, int64_t outs,
                                                 int64_t bits,
                                                 Precision precision) {
  bool isKnown = ShapedType::isStatic(rows);
  TaskRows task = {2 * kUnit, 4};
  int64_t blockN = 64, stages = kStages;
  if (isKnown && rows <= kUnit) {
    task = {kUnit, 1};
    blockN = kUnit;
    stages = kFewRowsStages;
  } else if (isKnown && rows <= 4 * kUnit) {
    task = {kUnit, 4};
  } else if (bits > 16) {
    // (What follows is for matrix instructions.)
  } else if (isKnown && ShapedType::isStatic(outs) &&
             llvm::divideCeil(rows, 128) * llvm::divideCeil(outs, 128) >=
                 kFewBlocks) {
    blockN = 128;
  }
  bool isWide = bits > 16;
  return ScheduleAttr::get(context, task.rows * task.warps, blockN, task.rows,
                           isWide ? kWideColumns : kColumns,
                           isWide ? kWideLanes : kLanes, /*chunk=*/0,
                           /*fold_heads=*/false,
                           /*streams=*/0, /*prefetch=*/0, task.warps, stages,
                           precision);
}
