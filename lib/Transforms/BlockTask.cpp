// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds the loops of one task. For a tile of attn.sdpa with one entry of the batch, heads of one group and rows p to
// p + rows - 1:
//
//   %qp = linalg.pack (scale * %q) ... inner_tiles = [rows]
//   %s:3 = empty state
//   scf.for %j = lo to hi step block_n
//     %kp = linalg.pack %k[%j ...];  %vp = linalg.pack %v[%j ...]
//     scf.for %strip ...
//       attn.block_step %qp[%strip], %kp, %vp state(...) ...
//
// Blocks outside [lo, hi) cost nothing. Within a block a strip works on the panels that its rows can see, and looks for
// excluded keys, once a block, only where there can be some: such a step is bounded.

#include "attn/Transforms/BlockTask.h"

#include "attn/IR/Indices.h"
#include "attn/IR/KeyExclusion.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

#include <cmath>

using namespace mlir;
using namespace mlir::attn;

/// Return `expr` over the symbols `operands`, folded.
static OpFoldResult apply(OpBuilder &b, Location loc, AffineExpr expr,
                          ArrayRef<OpFoldResult> operands) {
  return affine::makeComposedFoldedAffineApply(b, loc, expr, operands);
}

void attn::setAhead(Operation *loop, ScheduleAttr schedule) {
  if (schedule.getPrefetch() == 0)
    return;
  int64_t most = std::max(schedule.getBlockM(), schedule.getBlockN());
  loop->setAttr("attn.ahead", Builder(loop->getContext()).getIndexAttr(most));
}

BlockTask::BlockTask(RewriterBase &rewriter, SdpaOp tile, bool mayBeEmpty,
                     std::optional<PackedKeys> packed)
    : rewriter(rewriter), tile(tile), mayBeEmpty(mayBeEmpty),
      loc(tile.getLoc()), schedule(tile.getScheduleAttr()), packed(packed),
      stepKeys(schedule.getBlockN()) {
  rewriter.setInsertionPoint(tile);
  dims = AttentionDims::get(rewriter, tile);
  auto queryType = cast<RankedTensorType>(tile.getQuery().getType());
  accumulator = queryType.getElementType().isF64() ? rewriter.getF64Type()
                                                   : rewriter.getF32Type();
  AffineExpr s0, s1;
  bindSymbols(rewriter.getContext(), s0, s1);
  taskRows = apply(rewriter, loc, s0 * s1, {dims.heads, dims.rows});
  strips = packed ? OpFoldResult(rewriter.getIndexAttr(1))
                  : getStrips(rewriter, loc, schedule, taskRows);
}

Value BlockTask::index(int64_t value) {
  return arith::ConstantIndexOp::create(rewriter, loc, value);
}

/// Return how many rows of the task belong to one head: those of the tile, or,
/// where there is one head, the most that a task can have.
Value BlockTask::rowsPerHead() {
  if (getConstantIntValue(dims.heads) == 1)
    return index(schedule.getBlockM());
  return getValueOrCreateConstantIndexOp(rewriter, loc, dims.rows);
}

/// Return n: the number of keys, or the given length clamped to it.
Value BlockTask::clampedLength() {
  Value keys = getValueOrCreateConstantIndexOp(rewriter, loc, dims.keys);
  Value lengths = tile.getKvLengths();
  if (!lengths)
    return keys;
  Value length = readIndex(rewriter, loc, lengths, index(0));
  length = arith::MaxSIOp::create(rewriter, loc, length, index(0));
  return arith::MinSIOp::create(rewriter, loc, length, keys);
}

/// Return whether the scale is a power of two, which rounds nothing: it may then be
/// that of keys instead of queries.
static bool isExactScale(SdpaOp op) {
  constexpr int kLeast = -16;
  int exponent;
  return std::frexp(op.getScaleValue(), &exponent) == 0.5 &&
         exponent > kLeast && exponent <= 1;
}

std::optional<PackedKeys> BlockTask::packOnlyBlock() {
  std::optional<int64_t> count = getConstantIntValue(dims.keys);
  if (isStreamed() || getConstantIntValue(dims.heads) != 1 || !count ||
      *count > schedule.getBlockN() || tile.getWeights() ||
      countRegions() != 0 || mayBeEmpty || tile.isPaged() ||
      tile.getKeyScale() || tile.getValueScale())
    return std::nullopt;
  KeyRange range = keyRange({}, {});
  std::optional<int64_t> end = getConstantIntValue(range.end);
  if (end && getConstantIntValue(range.begin) == end)
    return std::nullopt;
  Value key = keys(tile.getKey(), tile.getKeyLayout(), range.begin, range.end);
  Value value =
      keys(tile.getValue(), tile.getValueLayout(), range.begin, range.end);
  // Queries in whole strips need no copy if it is not for their scale.
  std::optional<int64_t> rows = getConstantIntValue(taskRows);
  bool scaled = schedule.getInPlace() && rows &&
                *rows % schedule.getRows() == 0 && isOfSums(tile.getQuery()) &&
                isExactScale(tile);
  if (scaled)
    key = scaledKeys(key);
  key = packKeys(key, /*scale=*/Value(), /*value=*/false);
  if (!hasPlainValue())
    value = packKeys(value, /*scale=*/Value(), /*value=*/true);
  return PackedKeys{range, key, value, scaled};
}

/// Return whether `operand` has the type of sums, and a known number of channels.
bool BlockTask::isOfSums(Value operand) {
  auto type = cast<RankedTensorType>(operand.getType());
  return type.getElementType() == accumulator &&
         !type.isDynamicDim(kChannelDim);
}

/// Return whether values are read where they are, as the schedule says: with other
/// heads between them they would meet in few places of the first cache.
bool BlockTask::hasPlainValue() {
  return schedule.getInPlace() && isOfSums(tile.getValue()) &&
         tile.getValueLayout() == Layout::bhsd;
}

/// Return the keys of [begin, end) that some row of the task may attend to.
KeyRange BlockTask::keyRange(Value begin, Value end) {
  auto add = [&](Value a, Value b) -> Value {
    return rewriter.createOrFold<arith::AddIOp>(loc, a, b);
  };
  auto min = [&](Value a, Value b) -> Value {
    return rewriter.createOrFold<arith::MinSIOp>(loc, a, b);
  };
  auto max = [&](Value a, Value b) -> Value {
    return rewriter.createOrFold<arith::MaxSIOp>(loc, a, b);
  };
  Value lo = begin ? begin : index(0);
  Value hi = end ? min(end, clampedLength()) : clampedLength();
  Value first = tile.getQueryOffset();
  Value rows = getValueOrCreateConstantIndexOp(rewriter, loc, dims.rows);
  Value last = add(first, add(rows, index(-1)));
  WindowAttr window = tile.getWindowAttr();
  bool causal = tile.getCausal() != Causal::None;
  if (causal)
    hi = min(hi, add(last, index(1)));
  if (window && window.getRight())
    hi = min(hi, add(last, index(std::min(*window.getRight(), kFarthest) + 1)));
  if (window && window.getLeft())
    lo = max(lo, add(first, index(-std::min(*window.getLeft(), kFarthest))));
  // No block has keys of two pages, and none begins within one of several.
  if (areBlocksInPages() || arePagesInBlocks()) {
    AffineExpr s0 = rewriter.getAffineSymbolExpr(0);
    int64_t block = schedule.getBlockN();
    lo = getValueOrCreateConstantIndexOp(rewriter, loc,
                                         apply(rewriter, loc,
                                               s0.floorDiv(block) * block,
                                               {getAsOpFoldResult(lo)}));
  }
  hi = max(hi, lo);
  if (mayBeEmpty) {
    Value none = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq,
                                       rows, index(0));
    hi = arith::SelectOp::create(rewriter, loc, none, lo, hi);
  }
  // Without exclusions, whole blocks hold nothing that is padded.
  std::optional<int64_t> from = getConstantIntValue(lo),
                         to = getConstantIntValue(hi);
  bool isWhole = from && to && (*to - *from) % schedule.getBlockN() == 0;
  return {lo, hi, causal || window || !isWhole};
}

/// Return keys `begin` to `end` of a [1, 1, N, C] tile as [keys, C]. Those in pages
/// have none of their own: what readPages puts in their place block by block.
Value BlockTask::keys(Value tensor, Layout layout, Value begin, Value end) {
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, loc, tensor);
  SmallVector<OpFoldResult> offsets(4, rewriter.getIndexAttr(0)),
      ones(4, rewriter.getIndexAttr(1));
  offsets[sequenceDim(layout)] = getAsOpFoldResult(begin);
  OpFoldResult count = keysIn(begin, end);
  sizes[sequenceDim(layout)] = count;
  sizes[kBatchDim] = sizes[headDim(layout)] = rewriter.getIndexAttr(1);
  auto type = cast<RankedTensorType>(tensor.getType());
  if (tile.isPaged())
    return tensor::EmptyOp::create(
        rewriter, loc, ArrayRef<OpFoldResult>{count, sizes[kChannelDim]},
        type.getElementType());
  SmallVector<int64_t> shape = {
      getConstantIntValue(count).value_or(ShapedType::kDynamic),
      type.getDimSize(kChannelDim)};
  return tensor::ExtractSliceOp::create(
      rewriter, loc, RankedTensorType::get(shape, type.getElementType()),
      tensor, offsets, sizes, ones);
}

/// Return the number of channels of the packed value, if it does not fill its panels.
IntegerAttr BlockTask::countedChannels() {
  std::optional<int64_t> size = getConstantIntValue(dims.valueSize);
  if (!size || schedule.getStreams() > 0 || *size % schedule.getColumns() == 0)
    return {};
  return rewriter.getI64IntegerAttr(*size);
}

/// Return a bias or a mask of a tile without the batch.
Value BlockTask::broadcastToTask(Value tensor) {
  if (!tensor)
    return {};
  auto type = cast<RankedTensorType>(tensor.getType());
  int64_t rank = type.getRank();
  if (rank == 4)
    return dropUnitDims(tensor, {1, 2, 3});
  SmallVector<ReassociationIndices> groups(rank);
  for (int64_t dim = 0; dim < rank; ++dim)
    groups[dim] = {dim + 3 - rank};
  for (int64_t dim = 0; rank > 0 && dim < 3 - rank; ++dim)
    groups[0].insert(groups[0].begin() + dim, dim);
  SmallVector<int64_t> shape(3 - rank, 1);
  llvm::append_range(shape, type.getShape());
  return tensor::ExpandShapeOp::create(
      rewriter, loc, RankedTensorType::get(shape, type.getElementType()),
      tensor, groups);
}

/// Return one step over all of `range`, whose keys are `key` and `value`.
BlockStepOp BlockTask::buildStep(const KeyRange &range, Value key, Value value,
                                 PackedState state) {
  WindowAttr window = range.bounded ? tile.getWindowAttr() : WindowAttr();
  bool causal = range.bounded && tile.getCausal() != Causal::None;
  UnitAttr unit = rewriter.getUnitAttr();
  return BlockStepOp::create(
      rewriter, loc, state.reference.getType(), state.sum.getType(),
      state.acc.getType(), query, key, value, broadcastToTask(tile.getBias()),
      broadcastToTask(tile.getMask()),
      scales(tile.getKeyScale(), range.begin, range.end),
      scales(tile.getValueScale(), range.begin, range.end), state.reference,
      state.sum, state.acc, index(0), index(0), index(0), rowsPerHead(),
      tile.getQueryOffset(), range.begin, range.end, skipZeros,
      /*masked=*/Value(), rewriter.getF64FloatAttr(1.0),
      causal ? unit : UnitAttr(), window, tile.getSoftcapAttr(),
      range.bounded ? unit : UnitAttr(), packed ? unit : UnitAttr(),
      packed && !hasPlainValue() ? countedChannels() : IntegerAttr(),
      /*products=*/UnitAttr(),
      /*exponent=*/IntegerAttr(), schedule, countRegions());
}

/// Return the state of one strip after the only block of keys.
PackedState BlockTask::buildOnlyStep(PackedState state) {
  BlockStepOp step =
      buildStep(packed->range, packed->key, packed->value, state);
  OpBuilder::InsertionGuard guard(rewriter);
  narrow(step);
  return {step.getNewReference(), step.getNewSum(), step.getNewAcc()};
}

/// Build the loop over blocks of keys, by upstream's tiler on a step over all of
/// them.
FailureOr<PackedState> BlockTask::buildLoop(const KeyRange &range,
                                            PackedState state) {
  Value key = keys(tile.getKey(), tile.getKeyLayout(), range.begin, range.end);
  Value value =
      keys(tile.getValue(), tile.getValueLayout(), range.begin, range.end);
  BlockStepOp step = buildStep(range, key, value, state);
  if (isForThreads())
    countInProducts(step);
  copyRegions(step.getMods());
  analyseRows(step);
  scf::SCFTilingOptions options;
  options.setTileSizes(
      {rewriter.getIndexAttr(0), rewriter.getIndexAttr(stepKeys)});
  FailureOr<scf::SCFTilingResult> tiled = scf::tileUsingSCF(
      rewriter, cast<TilingInterface>(step.getOperation()), options);
  if (failed(tiled))
    return failure();
  PackedState result{tiled->replacements[0], tiled->replacements[1],
                     tiled->replacements[2]};
  rewriter.replaceOp(step, tiled->replacements);
  OpBuilder::InsertionGuard guard(rewriter);
  scf::ForOp loop;
  if (finishesStrips())
    loop = carryThrough(runOnce(cast<scf::ForOp>(tiled->loops.front())));
  for (Operation *op : tiled->tiledOps) {
    auto part = cast<BlockStepOp>(op);
    if (tile.isPaged())
      readPages(part);
    if (failed(finishStep(part)))
      return failure();
  }
  if (!loop)
    return result;
  yieldCarried(loop);
  return PackedState{loop.getResult(0), loop.getResult(1), loop.getResult(2)};
}

/// Make of `step` on a block of keys what runs: nothing where mask_mod leaves no
/// key, else as it is, or packed.
LogicalResult BlockTask::finishStep(BlockStepOp step) {
  if (hasMaskMod())
    skipMaskedBlock(step);
  if (isForThreads()) {
    padStep(step);
    return success();
  }
  return isStreamed() ? success() : packStep(step);
}

/// Pack the key and the value of `step`, then tile it over strips of rows.
LogicalResult BlockTask::packStep(BlockStepOp step) {
  rewriter.setInsertionPoint(step);
  Value key = packKeys(step.getKey(), step.getKeyScale(), /*value=*/false);
  Value value = packKeys(step.getValue(), step.getValueScale(), /*value=*/true);
  rewriter.modifyOpInPlace(step, [&] {
    step.getKeyScaleMutable().clear();
    step.getValueScaleMutable().clear();
    step.getKeyMutable().assign(key);
    step.getValueMutable().assign(value);
    step.setChannelsAttr(countedChannels());
  });
  Value isFirst, isLast;
  if (finishesStrips())
    isLast = isInLastBlock(step);
  if (startKey)
    isFirst = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq,
                                    step.getFirstKey(), startKey);
  scf::SCFTilingOptions options;
  options.setTileSizes({rewriter.getIndexAttr(1), rewriter.getIndexAttr(0)});
  FailureOr<scf::SCFTilingResult> tiled = scf::tileUsingSCF(
      rewriter, cast<TilingInterface>(step.getOperation()), options);
  if (failed(tiled))
    return failure();
  rewriter.replaceOp(step, tiled->replacements);
  auto strips = cast<scf::ForOp>(tiled->loops.front());
  if (finishesStrips())
    strips = carryThrough(strips);
  setAhead(strips, schedule);
  for (Operation *op : tiled->tiledOps) {
    auto strip = cast<BlockStepOp>(op);
    if (finishesStrips() && isFirst)
      shareState(strips, strip);
    if (isFirst) {
      rewriter.setInsertionPoint(strip);
      PackedState start = emptiedWhere(
          isFirst, {strip.getReference(), strip.getSum(), strip.getAcc()});
      rewriter.modifyOpInPlace(strip, [&] {
        strip.getReferenceMutable().assign(start.reference);
        strip.getSumMutable().assign(start.sum);
        strip.getAccMutable().assign(start.acc);
      });
    }
    narrow(cast<BlockStepOp>(op));
    if (hasMaskMod())
      skipMaskedStrip(cast<BlockStepOp>(op));
    if (finishesStrips())
      finishStrip(strips, strip, isLast);
  }
  return success();
}

/// Return `count` elements of dimension `dim` of `tensor` from `from` on.
static Value takeSome(OpBuilder &b, Location loc, Value tensor, int64_t dim,
                      Value from, Value count) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, tensor);
  SmallVector<OpFoldResult> offsets(sizes.size(), b.getIndexAttr(0)),
      ones(sizes.size(), b.getIndexAttr(1));
  offsets[dim] = from;
  sizes[dim] = count;
  return tensor::ExtractSliceOp::create(b, loc, tensor, offsets, sizes, ones);
}

/// Return the values of `count` panels of keys of `step` from `from` on.
Value BlockTask::takeValues(BlockStepOp step, Value from, Value count) {
  Value value = step.getValue();
  if (cast<RankedTensorType>(value.getType()).getRank() == 4)
    return takeSome(rewriter, loc, value, 1, from, count);
  WindowAttr window = step.getWindowAttr();
  if (!window || !window.getLeft())
    return value;
  // Plain ones end where the last panel does, or before.
  auto times = [&](Value panels) -> Value {
    return arith::MulIOp::create(rewriter, loc, panels,
                                 index(schedule.getColumns()));
  };
  Value all = tensor::DimOp::create(rewriter, loc, value, 0);
  Value first = arith::MinSIOp::create(rewriter, loc, times(from), all);
  Value left = arith::SubIOp::create(rewriter, loc, all, first);
  Value some = arith::MinSIOp::create(rewriter, loc, times(count), left);
  return takeSome(rewriter, loc, value, 0, first, some);
}

/// Leave to a strip of rows only the panels of keys that one of them can see.
void BlockTask::narrow(BlockStepOp step) {
  WindowAttr window = step.getWindowAttr();
  if (!step.getBounded() || (!step.getCausal() && !window))
    return;
  rewriter.setInsertionPoint(step);
  int64_t columns = schedule.getColumns();
  auto max = [&](Value a, Value b) -> Value {
    return arith::MaxSIOp::create(rewriter, loc, a, b);
  };
  auto min = [&](Value a, Value b) -> Value {
    return arith::MinSIOp::create(rewriter, loc, a, b);
  };
  auto add = [&](Value a, int64_t b) -> Value {
    return arith::AddIOp::create(rewriter, loc, a, index(b));
  };
  // The positions of the strip; of the whole task where it holds several heads.
  Value first = step.getPosition();
  Value rows = getValueOrCreateConstantIndexOp(rewriter, loc, dims.rows);
  Value last = arith::AddIOp::create(rewriter, loc, first, add(rows, -1));
  if (getConstantIntValue(dims.heads) == 1) {
    first = arith::AddIOp::create(rewriter, loc, first, step.getRow());
    last = min(last, add(first, schedule.getRows() - 1));
  }
  Value begin = step.getFirstKey(), end = step.getLength();
  if (step.getCausal())
    end = min(end, add(last, 1));
  if (window && window.getRight())
    end = min(end, add(last, std::min(*window.getRight(), kFarthest) + 1));
  if (window && window.getLeft())
    begin = max(begin, add(first, -std::min(*window.getLeft(), kFarthest)));
  Value panels = tensor::DimOp::create(rewriter, loc, step.getKey(), 0);
  auto panel = [&](Value key, bool up) -> Value {
    key = arith::SubIOp::create(rewriter, loc, key, step.getFirstKey());
    AffineExpr s = rewriter.getAffineSymbolExpr(0);
    key = max(key, index(0));
    Value number = getValueOrCreateConstantIndexOp(
        rewriter, loc,
        apply(rewriter, loc, up ? s.ceilDiv(columns) : s.floorDiv(columns),
              {key}));
    return min(number, panels);
  };
  Value from = panel(begin, /*up=*/false);
  Value count =
      max(arith::SubIOp::create(rewriter, loc, panel(end, /*up=*/true), from),
          index(0));
  Value key = takeSome(rewriter, loc, step.getKey(), 0, from, count);
  AffineExpr s0, s1;
  bindSymbols(rewriter.getContext(), s0, s1);
  Value value = takeValues(step, from, count);
  Value firstKey = getValueOrCreateConstantIndexOp(
      rewriter, loc,
      apply(rewriter, loc, s0 + s1 * columns,
            {getAsOpFoldResult(step.getFirstKey()), from}));
  rewriter.modifyOpInPlace(step, [&] {
    step.getKeyMutable().assign(key);
    step.getValueMutable().assign(value);
    step.getFirstKeyMutable().assign(firstKey);
  });
}

std::pair<Value, Value> BlockTask::buildFinish(const PackedState &state) {
  return buildFinish(state, getElementTypeOrSelf(tile.getOutput()));
}

std::pair<Value, Value> BlockTask::buildFinish(const PackedState &state,
                                               Type outputType) {
  auto accType = cast<RankedTensorType>(state.acc.getType());
  auto referenceType = cast<RankedTensorType>(state.reference.getType());
  Value perHead, row;
  if (tile.getSinks()) {
    perHead = rowsPerHead();
    row = index(0);
  }
  auto finish = FinishOp::create(rewriter, loc, accType.clone(outputType),
                                 referenceType, state.reference, state.sum,
                                 state.acc, tile.getSinks(), row, perHead);
  return {finish.getOutput(), finish.getLse()};
}
