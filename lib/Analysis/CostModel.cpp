// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses the sizes of a schedule.
//
// Register tile: rows x vectors accumulators, of which two FMA units with a latency of four cycles need at least 8 to be
// busy, and which leave registers for the vectors of a panel and one broadcast. Block of keys: its panels of K and V stay
// in half of the L2 cache while all strips of a task pass over them, and a strip's scores stay in L1. Block of rows: enough
// that packing keys, once a task, is a few percent of the work. Both blocks are cut evenly, so that 257 rows are one block
// of 264 and not one of 256 and one of 1.

#include "EvenBlock.h"

#include "attn/Analysis/CostModel.h"
#include "attn/Analysis/CudaCostModel.h"

using namespace mlir;
using namespace mlir::attn;

/// Query rows of a task and keys of a block where nothing speaks against it.
/// Measured on AVX2 and AVX-512: fewer rows repack keys more often (256 take 2 %
/// longer than 512), more keys leave the cache.
static constexpr int64_t kBlockRows = 512;
static constexpr int64_t kBlockKeys = 256;

/// Keys of a block whose panels take a quarter of the L2 cache at most. Measured
/// on AVX-512: a strip's state is rescaled half as often, which takes 2 to 4 % of
/// the time with a triangle or of up to 512 keys that are not known, and 0.6 % of
/// 2048; 1024 gain nothing more.
static constexpr int64_t kLongBlockKeys = 512;

/// Tasks that are known at compile time, below which blocks of rows become
/// smaller to give every core some.
static constexpr int64_t kEnoughTasks = 16;

/// Blocks of keys of one task where keys are split, about 2 MiB of f32 to read:
/// enough that starting and merging a task are lost in it.
static constexpr int64_t kChunkBlocks = 2;

/// The most chunks of one attention, and the bytes that the states of all of them
/// take at most.
static constexpr int64_t kMostChunks = 16;
static constexpr int64_t kChunkedBytes = 800 * 1024;

/// The bytes of one task of many rows, or of copies of keys of few rows whose
/// channels do not lie together, at most: with what is beside them, a thread holds
/// less than 4 MiB.
static constexpr int64_t kTaskBytes = 3840 * 1024;
static constexpr int64_t kCopiedBytes = 2560 * 1024;

/// What a size that is not known counts as.
static constexpr int64_t kUsualChannels = 128;

/// How many parts of a block of keys are read at once where few rows leave the
/// time to memory: one stream reaches half of what four do, eight no more.
static constexpr int64_t kStreams = 4;

/// Bytes of keys, in the accumulator's type, that a block holds there: streams
/// are long, and its scores stay in the cache.
static constexpr int64_t kStreamedBytes = 512 * 1024;

/// Of few rows of a head of keys, those from which on keys are worth packing. Measured
/// on AVX-512, beside keys where they are: 32 take 8 to 16 % less time, 64 take 30 %
/// less, 16 take 25 % more.
static constexpr int64_t kPackedRows = 32;

/// The most keys of a chunk that are packed: there is more to compute for each.
static constexpr int64_t kPackedChunk = 2048;

/// The most rows that are few where keys are not packed, as a number that is not known
/// may be 1, and where they are. Each head would pack them again: of 8 rows of each of
/// 32 heads that takes three times as long.
static constexpr int64_t kStreamedRows = 64;
static constexpr int64_t kMostFewRows = 256;

/// The most bytes that few rows of query and sums have, beside the states of chunks.
static constexpr int64_t kFewBytes = 1000 * 1024;

/// The most rows of a head that shares packed keys with others. Of more, to pack is
/// little beside products, and a head alone feeds a thread.
static constexpr int64_t kSharingRows = 32;

/// Keys of a block of few rows times strips of eight rows, each of which reads the
/// block again. Measured on AVX-512.
static constexpr int64_t kStripKeys = 1024;

int64_t attn::getGroupSize(const AttentionShape &shape) {
  if (ShapedType::isDynamic(shape.heads) ||
      ShapedType::isDynamic(shape.kvHeads))
    return ShapedType::kDynamic;
  return shape.kvHeads == 0 ? 1
                            : std::max<int64_t>(shape.heads / shape.kvHeads, 1);
}

int64_t attn::getStateBytes(ScheduleAttr schedule, int64_t valueSize,
                            int64_t bits) {
  int64_t channels =
      ShapedType::isDynamic(valueSize) ? kUsualChannels : valueSize;
  return schedule.getBlockM() * (1 + schedule.getColumns() + channels) * bits /
         8;
}

int64_t attn::getMostChunks(ScheduleAttr schedule, int64_t valueSize,
                            int64_t bits) {
  if (schedule.getWarps() > 0)
    return kMostBlockChunks;
  int64_t state = getStateBytes(schedule, valueSize, bits);
  return std::clamp<int64_t>(kChunkedBytes / state, 2, kMostChunks);
}

/// Return about how many rows a task should have: kBlockRows if that leaves enough
/// tasks and queries and sums stay in half of the L2 cache, else half of that, or
/// less where rows are long. A number that is not known counts as two.
static int64_t blockRows(const AttentionShape &shape, int64_t rowBytes,
                         int64_t keys, const TargetInfo &target) {
  int64_t tasks = 1;
  for (int64_t size : {shape.batch, shape.heads})
    tasks *= ShapedType::isDynamic(size) ? 2 : size;
  tasks *= ShapedType::isDynamic(shape.rows)
               ? 2
               : llvm::divideCeil(shape.rows, kBlockRows);
  bool fits = kBlockRows * rowBytes <= target.l2Bytes / 2;
  int64_t rows = fits && tasks >= kEnoughTasks ? kBlockRows : kBlockRows / 2;
  // Queries are there twice, and keys with copies of those that do not lie
  // together.
  while (rows > 1 && rows * rowBytes * 3 / 2 + 2 * keys * rowBytes > kTaskBytes)
    rows /= 2;
  return rows;
}

/// Return the bytes of a key and its value in the accumulator's type.
static int64_t getKeyBytes(const AttentionShape &shape, int64_t bytes) {
  int64_t channels = 0;
  for (int64_t size : {shape.headSize, shape.valueSize})
    channels += ShapedType::isDynamic(size) ? kUsualChannels : size;
  return std::max<int64_t>(channels, 1) * bytes;
}

/// Return whether keys are so many, or may be, that to pack them takes time.
static bool hasLongKeys(const AttentionShape &shape) {
  return ShapedType::isDynamic(shape.keys) || shape.keys > kBlockKeys;
}

int64_t attn::getFewRows(const AttentionShape &shape, int64_t bits) {
  int64_t group = getGroupSize(shape);
  if (group <= 1)
    return kPackedRows;
  bool packs = ShapedType::isDynamic(shape.rows) ? group >= kPackedRows
                                                 : shape.rows <= kSharingRows;
  if (!packs || !hasLongKeys(shape))
    return kStreamedRows;
  return std::clamp<int64_t>(kFewBytes / getKeyBytes(shape, bits / 8),
                             kStreamedRows, kMostFewRows);
}

/// Return the rows of all tasks that share the keys of a head, which of few are one.
static int64_t getTaskRows(const AttentionShape &shape, int64_t bits,
                           bool folds) {
  if (!folds)
    return shape.rows;
  return ShapedType::isDynamic(shape.rows) ? getFewRows(shape, bits)
                                           : shape.rows * getGroupSize(shape);
}

/// Return whether the values of all keys, of whole vectors each, take half of the L1
/// cache at most: then panels of them are read no faster than they are.
static bool staysInL1(const AttentionShape &shape, ScheduleAttr schedule,
                      int64_t bytes, const TargetInfo &target) {
  return ShapedType::isStatic(shape.keys) &&
         ShapedType::isStatic(shape.headSize) &&
         ShapedType::isStatic(shape.valueSize) &&
         shape.keys <= schedule.getBlockN() &&
         shape.valueSize % schedule.getLanes() == 0 &&
         shape.keys * shape.valueSize * bytes <= target.l1Bytes / 2;
}

/// Return `rows`, or up to a quarter less where strips of them fill with rows that
/// are not there: beside its rows, a strip takes the time of about one more.
static int64_t fittingRows(int64_t rows, int64_t all) {
  auto time = [&](int64_t some) {
    return llvm::divideCeil(all, some) * (some + 1);
  };
  int64_t best = rows;
  for (int64_t fewer = rows - 1; fewer >= rows - rows / 4; --fewer)
    if (time(fewer) < time(best))
      best = fewer;
  // Fewer rows read keys more often.
  return time(best) * 51 <= time(rows) * 50 ? best : rows;
}

/// Return the fewest rows of a head of keys: those of one token where the number of
/// tokens is not known.
static int64_t getLeastRows(const AttentionShape &shape) {
  int64_t group = getGroupSize(shape);
  return ShapedType::isDynamic(group) || ShapedType::isDynamic(shape.rows)
             ? group
             : shape.rows * group;
}

/// Return whether strips of eight of `rows` rows, which read keys half as often,
/// have no more rows that are not there than strips of four.
static bool fillsEight(int64_t rows) {
  return ShapedType::isStatic(rows) && rows > 4 &&
         llvm::alignTo(rows, 8) == llvm::alignTo(rows, 4);
}

/// Return the rows of the register tile, of `taskRows` in all.
static int64_t chooseRows(int64_t taskRows, bool manyRegisters, bool few) {
  // Four of few rows: a key is used from registers as often as need be.
  int64_t rows = manyRegisters && !few ? 8 : 4;
  if (ShapedType::isDynamic(taskRows))
    return rows;
  rows = std::min<int64_t>(rows,
                           llvm::PowerOf2Ceil(std::max<int64_t>(taskRows, 1)));
  return rows == 8 ? fittingRows(rows, taskRows) : rows;
}

/// Return about how many keys a block has for many rows: `keyBytes` are those of a
/// key and its value, `scoreBytes` those of its scores in a strip.
static int64_t chooseKeys(const AttentionShape &shape, int64_t keyBytes,
                          int64_t scoreBytes, int64_t columns,
                          const TargetInfo &target, bool skipsBlocks) {
  int64_t keys = kBlockKeys;
  if (!skipsBlocks && kLongBlockKeys * keyBytes <= target.l2Bytes / 4 &&
      kLongBlockKeys * scoreBytes <= target.l1Bytes * 2 / 3)
    keys = kLongBlockKeys;
  while (keys > columns && keys * keyBytes > target.l2Bytes / 2)
    keys /= 2;
  // All keys in one block, where their panels and a strip's scores stay in the
  // cache: strips are finished one by one, and no state is kept.
  if (!skipsBlocks && ShapedType::isStatic(shape.keys) && shape.keys > keys &&
      shape.keys * keyBytes <= target.l2Bytes / 2 &&
      shape.keys * scoreBytes <= target.l1Bytes * 2 / 3)
    keys = shape.keys;
  return keys;
}

/// Return whether many rows, in all, are those of many heads, which are better off
/// with one copy of their keys.
static bool sharesCopies(const AttentionShape &shape, int64_t bits,
                         const TargetInfo &target) {
  int64_t group = getGroupSize(shape);
  if (ShapedType::isDynamic(group) || ShapedType::isDynamic(shape.rows))
    return false;
  return group > 1 && shape.rows <= kSharingRows && hasLongKeys(shape) &&
         group <=
             blockRows(shape, getKeyBytes(shape, bits / 8), kBlockKeys, target);
}

/// Return the columns of the register tile of `rows` rows.
static int64_t chooseColumns(int64_t rows, int64_t lanes, bool manyRegisters,
                             bool packs) {
  // Vectors of a row: enough accumulators to hide the latency of an FMA.
  int64_t vectors = rows >= 4 ? 2 : 4;
  if (!packs)
    vectors = std::min<int64_t>((manyRegisters ? 16 : 8) / rows, 8);
  return vectors * lanes;
}

ScheduleAttr attn::chooseSchedule(MLIRContext *context,
                                  const AttentionShape &shape, int64_t bits,
                                  const TargetInfo &target, bool few,
                                  bool skipsBlocks, bool mayFold) {
  int64_t lanes = std::max<int64_t>(target.lanes(bits), 1);
  bool manyRegisters = target.vectorRegisters >= 32;

  bool folds = few || (mayFold && sharesCopies(shape, bits, target));
  int64_t taskRows = getTaskRows(shape, bits, folds);
  int64_t leastRows = getLeastRows(shape);
  bool packs = !few || leastRows >= kPackedRows;
  bool eight = !packs && manyRegisters && fillsEight(leastRows);
  int64_t rows = eight ? 8 : chooseRows(taskRows, manyRegisters, !packs);
  int64_t columns = chooseColumns(rows, lanes, manyRegisters, packs);

  int64_t bytes = bits / 8, most = getKeyBytes(shape, bytes);
  int64_t keys = std::clamp<int64_t>(
      kStreamedBytes / most * 2, 512 * most > kCopiedBytes ? 256 : 512, 4096);
  int64_t chunkKeys = kChunkBlocks * evenBlock(shape.keys, keys, columns);
  if (packs) {
    keys = chooseKeys(shape, most, rows * bytes, columns, target, skipsBlocks);
    chunkKeys = std::min(chunkKeys, kPackedChunk);
  } else if (eight) {
    keys = std::min(keys / 2, kStripKeys * rows / leastRows);
  }
  int64_t blockN = evenBlock(shape.keys, keys, columns);
  int64_t blockM =
      few ? llvm::alignTo(std::max<int64_t>(taskRows, 1), rows)
          : evenBlock(taskRows, blockRows(shape, most, blockN, target), rows);
  int64_t chunk = 0;
  chunkKeys = llvm::alignTo(chunkKeys, blockN);
  if (few && (ShapedType::isDynamic(shape.keys) || shape.keys > chunkKeys))
    chunk = chunkKeys;
  auto withChunk = [&](int64_t chunk) {
    return ScheduleAttr::get(context, blockM, blockN, rows, columns, lanes,
                             chunk, folds, packs ? 0 : kStreams,
                             target.prefetchBytes);
  };
  ScheduleAttr schedule = withChunk(chunk);
  if (!folds && !skipsBlocks && staysInL1(shape, schedule, bytes, target))
    return ScheduleAttr::get(context, blockM, blockN, rows, columns, lanes,
                             /*chunk=*/0, /*fold_heads=*/false, /*streams=*/0,
                             target.prefetchBytes, /*warps=*/0, /*stages=*/0,
                             Precision::Exact, /*in_place=*/true);
  if (chunk == 0 || ShapedType::isDynamic(shape.keys))
    return schedule;
  int64_t count = getMostChunks(schedule, shape.valueSize, bits);
  return withChunk(std::max<int64_t>(
      chunk, llvm::alignTo(llvm::divideCeil(shape.keys, count), blockN)));
}

/// Rows and output channels of a task of a projection. Measured on AVX-512: the
/// panels of a task stay in L2 while its strips pass over them, each of which
/// stays in L1; narrower tasks read strips more often, wider ones are too few for
/// the threads of a small layer.
static constexpr int64_t kProjectedRows = 128;
static constexpr int64_t kProjectedOuts = 64;

ScheduleAttr attn::chooseProjectionSchedule(MLIRContext *context, int64_t rows,
                                            int64_t outs, int64_t ins,
                                            int64_t bits,
                                            const TargetInfo &target,
                                            bool few) {
  int64_t lanes = std::max<int64_t>(target.lanes(bits), 1);
  // In place, every output is a stream of its own: of more than one vector of them
  // memory gives less, unless there are rows to keep the processor busy.
  bool manyFew = ShapedType::isStatic(rows) && rows > 4;
  int64_t columns = few && !manyFew ? lanes : 2 * lanes;
  int64_t tileRows = target.vectorRegisters >= 32 ? 8 : 4;
  if (ShapedType::isStatic(rows))
    tileRows = std::min<int64_t>(
        tileRows, llvm::PowerOf2Ceil(std::max<int64_t>(rows, 1)));
  int64_t channels = ShapedType::isDynamic(ins) ? 1024 : ins;
  int64_t width = few ? columns : kProjectedOuts;
  while (width > columns && width * channels * (bits / 8) > target.l2Bytes / 2)
    width /= 2;
  int64_t most = few && ShapedType::isDynamic(rows) ? kFewProjectedRows : rows;
  return ScheduleAttr::get(context, evenBlock(most, kProjectedRows, tileRows),
                           evenBlock(outs, width, columns), tileRows, columns,
                           lanes, /*chunk=*/0, /*fold_heads=*/false,
                           /*streams=*/few ? 1 : 0, /*prefetch=*/0);
}

/// Operations on registers that one weight takes: the maximum, a polynomial of
/// degree 5, its sum, and its way through the cache. Measured on AVX-512, where
/// attention of 64 channels reaches 77 % of the peak and its products alone 90 %.
static constexpr double kWeightOperations = 40;

TimeEstimate attn::estimateTime(double operations, double exponentials,
                                double bytes, bool wide,
                                const MachineLimits &limits) {
  double width = wide ? 2 : 1;
  TimeEstimate time;
  time.arithmetic = 1e-6 * width *
                    (operations / limits.gemmGflops +
                     exponentials * kWeightOperations / limits.fmaGflops);
  time.memory = 1e-6 * bytes / limits.readGbs;
  return time;
}
