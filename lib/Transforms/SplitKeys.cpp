// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gives threads work where rows are few: the keys of one attention are split in chunks.
//
//   %o = attn.sdpa %q, %k, %v schedule = <..., chunk = 1024, fold_heads = true> : ...
//
// becomes
//
//   %parts:3 = scf.forall (%b, %heads, %c) ... { state of the keys of chunk %c }
//   %o = scf.forall (%b, %heads) ... {
//     %s:3 = scf.for %c = 1 to chunks { attn.merge of the state so far and that of chunk %c }
//     attn.finish %s#0, %s#1, %s#2
//   }
//
// The size of a chunk is the schedule's, or, where keys are not known, larger if there would be too many chunks. States
// are merged in their order, so that the result does not depend on who computes what. Where the states of all tiles would
// take too much memory, some tiles are done after the others:
//
//   %o = scf.for %first = 0 to tiles step as many as their states may take memory {
//     %parts:3 = scf.forall (%t, %c) ...
//     scf.forall (%t) ...
//   }
//
// On a GPU the rows of all heads of a group are put together first, where there are several, and each head takes its own
// from the states in the end:
//
//   %rows = linalg.generic ... %q                                              [batch, tile, heads * rows, D]
//   %parts:3 = scf.forall (%b, %t, %c) ... { state of %rows[%b, %t] }
//   %o = scf.forall (%b, %head) ... { merge rows of %head of the states, finish }

#include "ValueParts.h"

#include "attn/Analysis/CostModel.h"
#include "attn/Analysis/KnownExtents.h"
#include "attn/IR/AttrNames.h"
#include "attn/IR/Decompose.h"
#include "attn/Transforms/BlockTask.h"
#include "attn/Transforms/FoldedHeads.h"
#include "attn/Transforms/Passes.h"
#include "attn/Transforms/SelectSchedule.h"
#include "attn/Transforms/TileBlocks.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::attn {
#define GEN_PASS_DEF_SPLITKEYS
#include "attn/Transforms/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// Bytes that the states of all chunks may take, for each thread: with those of a
/// task, less than 4 MiB.
static constexpr int64_t kStatesBytes = 1536 * 1024;

namespace {
/// Splits one op.
class KeySplitter {
public:
  KeySplitter(RewriterBase &rewriter, SdpaOp op)
      : b(rewriter), op(op), loc(op.getLoc()), schedule(op.getScheduleAttr()) {}

  LogicalResult run();

private:
  /// A tile: an entry of the batch, and some of its heads.
  struct Place {
    Value batch, head;
  };

  Place placeOf(ArrayRef<Value> at);
  FailureOr<SdpaOp> tileAt(Place place, int64_t count);
  scf::ForallOp loopOver(ArrayRef<OpFoldResult> sizes, ValueRange outputs,
                         ScheduleAttr schedule);
  bool foldsRows();
  void findChunks();
  OpFoldResult chunksOf(OpFoldResult keys);
  Value newParts(ArrayRef<OpFoldResult> shape, Type element);
  LogicalResult buildParts();
  FailureOr<scf::ForallOp> buildEnd(ValueRange outputs);
  SmallVector<Value> mergeParts(ArrayRef<Value> at);
  OpFoldResult tilesAtOnce(OpFoldResult all);
  LogicalResult buildAtOnce();
  LogicalResult buildInGroups(OpFoldResult all, OpFoldResult atOnce);
  Value slicePart(Value part, ArrayRef<Value> at);
  void insertAt(scf::ForallOp loop, Value value, Value dest,
                ArrayRef<Value> at);

  RewriterBase &b;
  SdpaOp op;
  Location loc;
  ScheduleAttr schedule;
  OpFoldResult batches, tiles, chunks, chunkSize;
  /// What `chunks` cannot exceed: known when the function starts.
  OpFoldResult mostChunks;
  AttentionDims dims;
  int64_t heads = 1;
  /// The tiles that are done at once, [batch, tile] or [tile], and for how many
  /// states have memory.
  SmallVector<OpFoldResult> grid, room;
  /// The number of the first of them, or null where they are all.
  Value firstTile;
  /// The states of all chunks: [grid, chunk, ...].
  SmallVector<Value> parts;
  /// The rows of the query of each tile, [batch, tile, heads * rows, D], where each
  /// head has several on a GPU; else null.
  Value foldedRows;
};
} // namespace

/// Return the tile at the indices `at` of the grid.
KeySplitter::Place KeySplitter::placeOf(ArrayRef<Value> at) {
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  Value batch = at[0], tile;
  if (firstTile) {
    Value number = arith::AddIOp::create(b, loc, firstTile, at[0]);
    Value count = getValueOrCreateConstantIndexOp(b, loc, tiles);
    batch = arith::DivUIOp::create(b, loc, number, count);
    tile = arith::RemUIOp::create(b, loc, number, count);
  } else {
    tile = at[1];
  }
  return {batch, arith::MulIOp::create(b, loc, tile, index(heads))};
}

/// Return `op` on `count` heads from `place` on.
FailureOr<SdpaOp> KeySplitter::tileAt(Place place, int64_t count) {
  OpFoldResult one = b.getIndexAttr(1), zero = b.getIndexAttr(0);
  FailureOr<TilingResult> tiled =
      op.getTiledImplementation(b, {place.batch, place.head, zero},
                                {one, b.getIndexAttr(count), dims.rows});
  if (failed(tiled))
    return failure();
  return cast<SdpaOp>(tiled->tiledOps.front());
}

/// Return a parallel loop from 0 to `sizes` that writes `outputs`, with the
/// insertion point in it.
scf::ForallOp KeySplitter::loopOver(ArrayRef<OpFoldResult> sizes,
                                    ValueRange outputs, ScheduleAttr schedule) {
  SmallVector<Attribute> mapping = getBlockMapping(schedule, sizes.size());
  auto loop = scf::ForallOp::create(
      b, loc, sizes, outputs,
      mapping.empty() ? std::nullopt : std::optional(b.getArrayAttr(mapping)));
  loop->setAttr(kScheduleAttrName, schedule);
  b.setInsertionPoint(loop.getTerminator());
  return loop;
}

/// Insert `value` as element `at` of the leading dimensions of `dest`.
void KeySplitter::insertAt(scf::ForallOp loop, Value value, Value dest,
                           ArrayRef<Value> at) {
  SmallVector<OpFoldResult> offsets(at.begin(), at.end()),
      sizes(at.size(), b.getIndexAttr(1));
  for (OpFoldResult size : tensor::getMixedSizes(b, loc, value)) {
    offsets.push_back(b.getIndexAttr(0));
    sizes.push_back(size);
  }
  SmallVector<OpFoldResult> ones(sizes.size(), b.getIndexAttr(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(loop.getTerminator().getBody());
  tensor::ParallelInsertSliceOp::create(b, loc, value, dest, offsets, sizes,
                                        ones);
}

/// Return element `at` of the leading dimensions of `part`.
Value KeySplitter::slicePart(Value part, ArrayRef<Value> at) {
  auto type = cast<RankedTensorType>(part.getType());
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, part);
  SmallVector<OpFoldResult> offsets(sizes.size(), b.getIndexAttr(0)),
      ones(sizes.size(), b.getIndexAttr(1));
  for (auto [i, index] : llvm::enumerate(at)) {
    offsets[i] = index;
    sizes[i] = b.getIndexAttr(1);
  }
  auto element = RankedTensorType::get(type.getShape().drop_front(at.size()),
                                       type.getElementType());
  return tensor::ExtractSliceOp::create(b, loc, element, part, offsets, sizes,
                                        ones);
}

/// Whether tiles hold several rows of several heads, for blocks of threads.
bool KeySplitter::foldsRows() {
  return schedule.getWarps() > 0 && heads > 1 &&
         getConstantIntValue(dims.rows) != 1;
}

/// Build the loop that computes the state of every chunk.
LogicalResult KeySplitter::buildParts() {
  auto type = cast<RankedTensorType>(op.getQuery().getType());
  Type element =
      type.getElementType().isF64() ? b.getF64Type() : b.getF32Type();
  OpFoldResult strips =
      getStrips(b, loc, schedule,
                affine::makeComposedFoldedAffineApply(
                    b, loc, b.getAffineSymbolExpr(0) * heads, {dims.rows}));
  SmallVector<Value> inits;
  for (ArrayRef<OpFoldResult> shape :
       getStateSizes(b, loc, schedule, strips, dims.valueSize))
    inits.push_back(newParts(shape, element));
  OpBuilder::InsertionGuard guard(b);
  SmallVector<OpFoldResult> sizes(grid);
  sizes.push_back(chunks);
  scf::ForallOp loop = loopOver(sizes, inits, schedule);
  SmallVector<Value> at(loop.getInductionVars());
  Value size = getValueOrCreateConstantIndexOp(b, loc, chunkSize);
  Value begin = arith::MulIOp::create(b, loc, at.back(), size);
  Value end = arith::AddIOp::create(b, loc, begin, size);
  FailureOr<SdpaOp> tile = tileAt(placeOf(ArrayRef(at).drop_back()), heads);
  if (failed(tile))
    return failure();
  BlockTask task(b, *tile);
  if (foldedRows)
    task.setFoldedRows(slicePart(foldedRows, ArrayRef(at).drop_back()));
  FailureOr<PackedState> state = task.buildState(begin, end);
  if (failed(state))
    return failure();
  ArrayRef<BlockArgument> outputs = loop.getRegionIterArgs();
  insertAt(loop, state->reference, outputs[0], at);
  insertAt(loop, state->sum, outputs[1], at);
  insertAt(loop, state->acc, outputs[2], at);
  b.eraseOp(*tile);
  parts.assign(loop.result_begin(), loop.result_end());
  return success();
}

/// Return the states of all chunks of the tile at `at`, merged in their order; of
/// the head at `at` where heads share a tile.
SmallVector<Value> KeySplitter::mergeParts(ArrayRef<Value> at) {
  auto partAt = [&](Value chunk) {
    SmallVector<Value> place(at);
    if (foldedRows)
      place.back() = arith::DivUIOp::create(
          b, loc, at.back(), arith::ConstantIndexOp::create(b, loc, heads));
    place.push_back(chunk);
    return llvm::map_to_vector(parts, [&](Value part) {
      Value state = slicePart(part, place);
      return foldedRows ? takeHead(b, loc, state, at.back(), heads, dims.rows)
                        : state;
    });
  };
  Value zero = arith::ConstantIndexOp::create(b, loc, 0),
        one = arith::ConstantIndexOp::create(b, loc, 1);
  SmallVector<Value> first = partAt(zero);
  Value count = getValueOrCreateConstantIndexOp(b, loc, chunks);
  auto merges = scf::ForOp::create(b, loc, one, count, one, first);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(merges.getBody());
  SmallVector<Value> so(merges.getRegionIterArgs().begin(),
                        merges.getRegionIterArgs().end());
  SmallVector<Value> next = partAt(merges.getInductionVar());
  auto merge =
      MergeOp::create(b, loc, so[0].getType(), so[1].getType(), so[2].getType(),
                      so[0], so[1], so[2], next[0], next[1], next[2]);
  scf::YieldOp::create(b, loc, merge.getResults());
  return SmallVector<Value>(merges.getResults());
}

/// Build the loop that merges the states of all chunks and finishes, into
/// `outputs`.
FailureOr<scf::ForallOp> KeySplitter::buildEnd(ValueRange outputs) {
  OpBuilder::InsertionGuard restore(b);
  int64_t together = foldedRows ? 1 : heads;
  SmallVector<OpFoldResult> ends(grid);
  ScheduleAttr endSchedule = schedule;
  if (foldedRows) {
    ends.back() = dims.heads;
    endSchedule = getHeadSchedule(schedule);
  }
  scf::ForallOp loop = loopOver(ends, outputs, endSchedule);
  SmallVector<Value> at(loop.getInductionVars());
  Place place = foldedRows ? Place{at[0], at[1]} : placeOf(at);
  FailureOr<SdpaOp> small = tileAt(place, together);
  if (failed(small))
    return failure();
  small->setScheduleAttr(endSchedule);
  BlockTask task(b, *small);
  SmallVector<Value> merged = mergeParts(at);
  std::pair<Value, Value> results =
      task.buildFinish({merged[0], merged[1], merged[2]});
  auto write = [&](unsigned number, function_ref<Value(Value)> unpack) {
    Value dest = loop.getRegionIterArgs()[number];
    SmallVector<OpFoldResult> offsets, sizes;
    (void)op.getResultTilePosition(
        b, number, {place.batch, place.head, b.getIndexAttr(0)},
        {b.getIndexAttr(1), b.getIndexAttr(together), dims.rows}, offsets,
        sizes);
    SmallVector<OpFoldResult> ones(sizes.size(), b.getIndexAttr(1));
    Value part =
        tensor::ExtractSliceOp::create(b, loc, dest, offsets, sizes, ones);
    Value value = unpack(part);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(loop.getTerminator().getBody());
    tensor::ParallelInsertSliceOp::create(b, loc, value, dest, offsets, sizes,
                                          ones);
  };
  write(0, [&](Value dest) { return task.unpackOutput(results.first, dest); });
  if (op.getLse())
    write(1, [&](Value dest) { return task.unpackLse(results.second, dest); });
  b.eraseOp(*small);
  return loop;
}

/// Find how many keys a chunk has, and how many chunks there are. The schedule says
/// it where keys are known; else what it says is the least.
void KeySplitter::findChunks() {
  int64_t least = schedule.getChunk();
  chunkSize = b.getIndexAttr(least);
  if (getConstantIntValue(dims.keys)) {
    chunks = mostChunks = chunksOf(dims.keys);
    return;
  }
  int64_t most = getMostChunks(schedule, AttentionShape::get(op).valueSize,
                               getAccumulatorBits(op));
  AffineExpr s0 = b.getAffineSymbolExpr(0);
  int64_t blockN = schedule.getBlockN();
  AffineExpr sizes[] = {b.getAffineConstantExpr(least),
                        s0.ceilDiv(most).ceilDiv(blockN) * blockN};
  TensorDim key{op.getKey(), sequenceDim(op.getKeyLayout())};
  TensorDim whole = getWhole(key);
  OpFoldResult allKeys = dims.keys;
  if (whole.tensor != key.tensor && !op.isPaged())
    allKeys = tensor::getMixedSize(b, loc, whole.tensor, whole.dim);
  // Of chunks of the least size there are enough.
  AffineExpr counts[] = {b.getAffineConstantExpr(most), s0};
  mostChunks = affine::makeComposedFoldedAffineMin(
      b, loc, AffineMap::get(0, 1, counts, b.getContext()),
      {chunksOf(allKeys)});
  chunkSize = affine::makeComposedFoldedAffineMax(
      b, loc, AffineMap::get(0, 1, sizes, b.getContext()), {dims.keys});
  chunks = chunksOf(dims.keys);
}

/// Return in how many chunks `keys` are cut: one where there is no key, whose
/// state is the empty one. (Of the ways to say max(ceil(n / c), 1), this one has a
/// bound that analyses find.)
OpFoldResult KeySplitter::chunksOf(OpFoldResult keys) {
  if (std::optional<int64_t> known = getConstantIntValue(keys)) {
    keys = b.getIndexAttr(std::max<int64_t>(*known, 1));
  } else {
    Value one = arith::ConstantIndexOp::create(b, loc, 1);
    keys = arith::MaxSIOp::create(b, loc, cast<Value>(keys), one).getResult();
  }
  AffineExpr s0 = b.getAffineSymbolExpr(0);
  if (std::optional<int64_t> size = getConstantIntValue(chunkSize))
    return affine::makeComposedFoldedAffineApply(
        b, loc, (s0 - 1).floorDiv(*size) + 1, {keys});
  Value count = arith::CeilDivUIOp::create(b, loc, cast<Value>(keys),
                                           cast<Value>(chunkSize));
  return count;
}

/// Return a tensor for one of the three parts of the states, each of `shape`. Its
/// memory has room for as many chunks as there can be.
Value KeySplitter::newParts(ArrayRef<OpFoldResult> shape, Type element) {
  SmallVector<OpFoldResult> whole(room), used(grid);
  whole.push_back(mostChunks);
  used.push_back(chunks);
  llvm::append_range(whole, shape);
  llvm::append_range(used, shape);
  Value all = tensor::EmptyOp::create(b, loc, whole, element);
  if (isEqualConstantIntOrValueArray(whole, used))
    return all;
  SmallVector<OpFoldResult> zeros(used.size(), b.getIndexAttr(0)),
      ones(used.size(), b.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(b, loc, all, zeros, used, ones);
}

/// Return for how many of `all` tiles states may take memory, or null for all of
/// them.
OpFoldResult KeySplitter::tilesAtOnce(OpFoldResult all) {
  // On a GPU the memory is the caller's.
  if (schedule.getWarps() > 0)
    return {};
  int64_t valueSize = AttentionShape::get(op).valueSize;
  int64_t bits = getAccumulatorBits(op);
  int64_t most = getConstantIntValue(mostChunks)
                     .value_or(getMostChunks(schedule, valueSize, bits));
  int64_t bytes = most * getStateBytes(schedule, valueSize, bits);
  std::optional<int64_t> known = getConstantIntValue(all);
  if (known && *known * bytes <= kStatesBytes)
    return {};
  Value threads = ThreadsOp::create(b, loc);
  AffineExpr s0 = b.getAffineSymbolExpr(0), s1 = b.getAffineSymbolExpr(1);
  AffineExpr counts[] = {b.getAffineConstantExpr(1),
                         (s0 * kStatesBytes).floorDiv(bytes)};
  OpFoldResult count = affine::makeComposedFoldedAffineMax(
      b, loc, AffineMap::get(0, 1, counts, b.getContext()), {threads});
  return affine::makeComposedFoldedAffineMin(
      b, loc, AffineMap::get(0, 2, {s0, s1}, b.getContext()), {count, all});
}

LogicalResult KeySplitter::buildAtOnce() {
  grid = room = {batches, tiles};
  if (failed(buildParts()))
    return failure();
  b.setInsertionPoint(op);
  FailureOr<SmallVector<Value>> outputs = createEmptyResults(b, op);
  if (failed(outputs))
    return failure();
  for (auto [output, place] : llvm::zip(*outputs, findPlaces(b, op)))
    if (place)
      output = place;
  FailureOr<scf::ForallOp> end = buildEnd(*outputs);
  if (failed(end))
    return failure();
  b.replaceOp(op, end->getResults());
  return success();
}

/// Build a loop over groups of `atOnce` tiles.
LogicalResult KeySplitter::buildInGroups(OpFoldResult all,
                                         OpFoldResult atOnce) {
  room = {atOnce};
  FailureOr<SmallVector<Value>> outputs = createEmptyResults(b, op);
  if (failed(outputs))
    return failure();
  auto valueOf = [&](OpFoldResult size) {
    return getValueOrCreateConstantIndexOp(b, loc, size);
  };
  // The least step is one, also where there is no tile.
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value step = arith::MaxSIOp::create(b, loc, valueOf(atOnce), one);
  auto groups = scf::ForOp::create(b, loc, valueOf(b.getIndexAttr(0)),
                                   valueOf(all), step, *outputs);
  b.setInsertionPointToStart(groups.getBody());
  firstTile = groups.getInductionVar();
  AffineExpr d0 = b.getAffineDimExpr(0), s0 = b.getAffineSymbolExpr(0),
             s1 = b.getAffineSymbolExpr(1);
  grid = {affine::makeComposedFoldedAffineMin(
      b, loc, AffineMap::get(1, 2, {s0, s1 - d0}, b.getContext()),
      {firstTile, atOnce, all})};
  if (failed(buildParts()))
    return failure();
  FailureOr<scf::ForallOp> end = buildEnd(groups.getRegionIterArgs());
  if (failed(end))
    return failure();
  scf::YieldOp::create(b, loc, end->getResults());
  b.replaceOp(op, groups.getResults());
  return success();
}

LogicalResult KeySplitter::run() {
  reportMaskMod(op);
  b.setInsertionPoint(op);
  dims = AttentionDims::get(b, op);
  heads = *getConstantIntValue(taskSizes(b, op)[1]);
  AffineExpr s0, s1;
  bindSymbols(b.getContext(), s0, s1);
  batches = dims.batch;
  tiles = affine::makeComposedFoldedAffineApply(b, loc, s0.floorDiv(heads),
                                                {dims.heads});
  findChunks();
  if (foldsRows())
    foldedRows = foldQuery(b, op, dims, heads);
  OpFoldResult all =
      affine::makeComposedFoldedAffineApply(b, loc, s0 * s1, {batches, tiles});
  OpFoldResult atOnce = tilesAtOnce(all);
  return atOnce ? buildInGroups(all, atOnce) : buildAtOnce();
}

LogicalResult attn::splitKeys(RewriterBase &rewriter, SdpaOp op) {
  return KeySplitter(rewriter, op).run();
}

namespace {
struct SplitKeys : public attn::impl::SplitKeysBase<SplitKeys> {
  void runOnOperation() override {
    SmallVector<SdpaOp> ops;
    getOperation()->walk([&](SdpaOp op) {
      if (op.getSchedule() && op.getScheduleAttr().getChunk() > 0)
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (SdpaOp op : ops)
      if (failed(splitKeys(rewriter, op))) {
        op.emitOpError() << "cannot be split as its schedule says";
        return signalPassFailure();
      }
  }
};
} // namespace
