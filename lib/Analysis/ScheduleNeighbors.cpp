// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lists what a tuner tries round a schedule. From <block_m = 256, block_n = 256, rows = 8, columns = 32, lanes = 16>, among
// others,
//
//   <block_m = 256, block_n = 512, rows = 8, columns = 32, lanes = 16>   a block of twice the keys
//   <block_m = 256, block_n = 256, rows = 4, columns = 64, lanes = 16>   a register tile of another shape

#include "attn/Analysis/ScheduleNeighbors.h"
#include "attn/Analysis/CostModel.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::attn;

/// Rows of a group up to which both kernels are tried where they are known, and
/// from which on.
static constexpr int64_t kMostTriedRows = 128;
static constexpr int64_t kLeastTriedRows = 8;

/// Rows and vectors of a register tile at most: more is code of many KiB.
static constexpr int64_t kMostTileRows = 16;
static constexpr int64_t kMostTileVectors = 8;

/// Streams at most: the hardware follows no more.
static constexpr int64_t kMostStreams = 8;

/// Bytes to ask for in advance where a schedule asks for none, and at least: a few
/// lines of the cache.
static constexpr int64_t kPrefetch = 1024, kLeastPrefetch = 256;

/// Keys of a block at most.
static constexpr int64_t kMostBlockKeys = 8192;

namespace {
/// Sizes of a schedule that move. What must divide what is seen to at the end.
struct Sizes {
  int64_t blockM, blockN, rows, vectors, chunk, streams, prefetch;
};

/// Collects neighbours of one schedule.
class Neighborhood {
public:
  Neighborhood(ScheduleAttr center, const ScheduleSite &site)
      : center(center), site(site) {}

  SmallVector<ScheduleAttr> list();

private:
  bool isStreamed() const { return center.getStreams() > 0; }
  /// Whether a tile has all rows of its heads, so that keys may be split.
  bool isWhole() const { return isStreamed() || center.getChunk() > 0; }
  bool fits(int64_t rows, int64_t vectors) const;
  void add(Sizes sizes);
  void addOther(ScheduleAttr other);
  void addTiles(Sizes sizes);
  void addBlocks(Sizes sizes);
  void addChunks(Sizes sizes);
  void addReads(Sizes sizes);
  void addOtherKernel();

  ScheduleAttr center;
  const ScheduleSite &site;
  SmallVector<ScheduleAttr> found;
};
} // namespace

void Neighborhood::addOther(ScheduleAttr other) {
  if (other != center && !llvm::is_contained(found, other))
    found.push_back(other);
}

/// Add the schedule that has about these sizes.
void Neighborhood::add(Sizes sizes) {
  int64_t columns = sizes.vectors * center.getLanes();
  sizes.blockN = llvm::alignTo(sizes.blockN, columns);
  sizes.blockM = llvm::alignTo(sizes.blockM, sizes.rows);
  sizes.chunk = llvm::alignTo(sizes.chunk, sizes.blockN);
  const AttentionShape &shape = site.shape;
  if (ShapedType::isStatic(shape.keys) && sizes.chunk >= shape.keys)
    sizes.chunk = 0;
  addOther(ScheduleAttr::get(center.getContext(), sizes.blockM, sizes.blockN,
                             sizes.rows, columns, center.getLanes(),
                             sizes.chunk, center.getFoldHeads(), sizes.streams,
                             sizes.prefetch, /*warps=*/0, /*stages=*/0,
                             Precision::Exact, center.getInPlace()));
}

/// Return whether the accumulators of a tile, a row of vectors and one more value
/// have registers, and are enough to hide the latency of their sums.
bool Neighborhood::fits(int64_t rows, int64_t vectors) const {
  int64_t registers = site.target.vectorRegisters;
  return rows >= 1 && rows <= kMostTileRows && vectors >= 1 &&
         vectors <= kMostTileVectors &&
         rows * vectors + vectors + 1 <= registers &&
         (isStreamed() || 4 * rows * vectors >= registers);
}

/// Add tiles of powers of two of rows and vectors: panels are filled by
/// transposition.
void Neighborhood::addTiles(Sizes sizes) {
  std::pair<int64_t, int64_t> tiles[] = {
      {sizes.rows / 2, sizes.vectors * 2}, {sizes.rows * 2, sizes.vectors / 2},
      {sizes.rows, sizes.vectors * 2},     {sizes.rows, sizes.vectors / 2},
      {sizes.rows * 2, sizes.vectors},     {sizes.rows / 2, sizes.vectors}};
  for (auto [rows, vectors] : tiles) {
    if (!fits(rows, vectors) || rows > std::max(center.getBlockM(), sizes.rows))
      continue;
    Sizes next = sizes;
    next.rows = rows;
    next.vectors = vectors;
    add(next);
  }
}

/// Return the size that cuts `total` evenly into blocks of about `size`, or `size`.
static int64_t cutEvenly(int64_t total, int64_t size) {
  if (ShapedType::isDynamic(total) || total <= 0)
    return size;
  return llvm::divideCeil(total, llvm::divideCeil(total, size));
}

void Neighborhood::addBlocks(Sizes sizes) {
  const AttentionShape &shape = site.shape;
  for (int64_t blockN : {sizes.blockN * 2, sizes.blockN / 2}) {
    Sizes next = sizes;
    next.blockN = cutEvenly(shape.keys, blockN);
    if (blockN >= center.getColumns() && blockN <= kMostBlockKeys)
      add(next);
  }
  // A tile that heads share has the rows of all of them.
  if (center.getFoldHeads())
    return;
  for (int64_t blockM : {sizes.blockM / 2, sizes.blockM * 2}) {
    Sizes next = sizes;
    next.blockM = cutEvenly(shape.rows, blockM);
    if (blockM >= sizes.rows)
      add(next);
  }
}

void Neighborhood::addChunks(Sizes sizes) {
  if (!isWhole())
    return;
  for (int64_t chunk : {sizes.chunk / 2, sizes.chunk * 2}) {
    Sizes next = sizes;
    next.chunk = chunk;
    if (chunk > 0)
      add(next);
  }
  Sizes split = sizes;
  split.chunk = sizes.chunk > 0 ? 0 : sizes.blockN;
  if (site.canSplit)
    add(split);
}

/// Add other ways to read keys where they are.
void Neighborhood::addReads(Sizes sizes) {
  if (!isStreamed())
    return;
  for (int64_t prefetch : {sizes.prefetch > 0 ? 0 : kPrefetch,
                           sizes.prefetch * 2, sizes.prefetch / 2}) {
    Sizes next = sizes;
    next.prefetch = prefetch;
    if (prefetch == 0 || prefetch >= kLeastPrefetch)
      add(next);
  }
  for (int64_t streams : {sizes.streams * 2, sizes.streams / 2}) {
    Sizes next = sizes;
    next.streams = streams;
    if (streams >= 1 && streams <= kMostStreams)
      add(next);
  }
}

/// Add the choice of the kernel for few rows beside that for many, or the reverse,
/// where the number of rows is known and near the border.
void Neighborhood::addOtherKernel() {
  int64_t group = getGroupSize(site.shape);
  if (ShapedType::isDynamic(group) || ShapedType::isDynamic(site.shape.rows))
    return;
  int64_t rows = group * site.shape.rows;
  if (rows > kMostTriedRows || rows < kLeastTriedRows)
    return;
  bool few = rows <= getFewRows(site.shape, site.bits);
  ScheduleAttr other =
      chooseSchedule(center.getContext(), site.shape, site.bits, site.target,
                     !few, /*skipsBlocks=*/false, /*mayFold=*/false);
  if (other.getChunk() == 0 || site.canSplit)
    addOther(other);
}

SmallVector<ScheduleAttr> Neighborhood::list() {
  Sizes sizes = {center.getBlockM(),  center.getBlockN(),
                 center.getRows(),    center.getColumns() / center.getLanes(),
                 center.getChunk(),   center.getStreams(),
                 center.getPrefetch()};
  addOtherKernel();
  addReads(sizes);
  addChunks(sizes);
  addBlocks(sizes);
  addTiles(sizes);
  return std::move(found);
}

SmallVector<ScheduleAttr> attn::listNeighbors(ScheduleAttr schedule,
                                              const ScheduleSite &site) {
  return Neighborhood(schedule, site).list();
}
