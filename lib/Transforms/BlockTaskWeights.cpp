// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The second pass of a task, where weights are asked for: once the state of its rows over all keys is known, the scores
// of each block of keys are computed again.
//
//   %w1 = 0 for the keys that no row of the task can see
//   scf.for %j = lo to hi step block_n
//     %kp = linalg.pack %k[%j ...]
//     scf.for %strip ...
//       %w = attn.block_weights %qp[%strip], %kp rows(%reference[%strip], %factor[%strip]) ...
//       linalg.unpack %w into the rows of the strip and the keys of the block
//
// Nothing of size rows * keys is held but the result itself.

#include "attn/Transforms/BlockTask.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::attn;

/// Return the smaller of `size` and what is left of `total` from `begin` on.
static OpFoldResult sizeOfPart(OpBuilder &b, Location loc, OpFoldResult total,
                               Value begin, int64_t size) {
  AffineExpr s0, s1;
  bindSymbols(b.getContext(), s0, s1);
  return affine::makeComposedFoldedAffineMin(
      b, loc,
      AffineMap::get(0, 2, {s0 - s1, b.getAffineConstantExpr(size)},
                     b.getContext()),
      {total, begin});
}

/// Return the slice of `tensor` at `offset` of its first dimension, of size 1.
static Value sliceFirst(OpBuilder &b, Location loc, Value tensor,
                        Value offset) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, tensor);
  SmallVector<OpFoldResult> offsets(sizes.size(), b.getIndexAttr(0)),
      ones(sizes.size(), b.getIndexAttr(1));
  offsets[0] = offset;
  sizes[0] = b.getIndexAttr(1);
  return tensor::ExtractSliceOp::create(b, loc, tensor, offsets, sizes, ones);
}

/// Return `dest` [rows, keys] with zeros for the keys of [begin, end).
Value BlockTask::clearKeys(Value dest, Value begin, Value end) {
  if (isEqualConstantIntOrValue(getAsOpFoldResult(begin),
                                getAsOpFoldResult(end)))
    return dest;
  OpFoldResult count = keysIn(begin, end);
  OpFoldResult zero = rewriter.getIndexAttr(0), one = rewriter.getIndexAttr(1);
  SmallVector<OpFoldResult> offsets = {zero, getAsOpFoldResult(begin)},
                            sizes = {dims.rows, count}, ones = {one, one};
  Value part =
      tensor::ExtractSliceOp::create(rewriter, loc, dest, offsets, sizes, ones);
  Type element = getElementTypeOrSelf(dest);
  Value nothing =
      arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(element));
  part = linalg::FillOp::create(rewriter, loc, nothing, part).getResult(0);
  return tensor::InsertSliceOp::create(rewriter, loc, part, dest, offsets,
                                       sizes, ones);
}

/// Return `dest` after the weights of strip `strip` on packed `key`, the keys from
/// `firstKey` on of which `count` are real, were written into it.
Value BlockTask::writeStripWeights(Value dest, Value strip, Value key,
                                   const WeightsBlock &block) {
  Value first =
      arith::MulIOp::create(rewriter, loc, strip, index(schedule.getRows()));
  auto queryStrip = sliceFirst(rewriter, loc, query, strip);
  auto reference = sliceFirst(rewriter, loc, block.reference, strip);
  auto factor = sliceFirst(rewriter, loc, block.factor, strip);
  SmallVector<int64_t> shape = {
      1, cast<RankedTensorType>(key.getType()).getDimSize(0),
      schedule.getRows(), schedule.getColumns()};
  Type element = getElementTypeOrSelf(dest);
  UnitAttr unit = rewriter.getUnitAttr();
  bool bounded = block.range.bounded;
  bool causal = bounded && tile.getCausal() != Causal::None;
  auto weights = BlockWeightsOp::create(
      rewriter, loc, RankedTensorType::get(shape, element), queryStrip, key,
      broadcastToTask(tile.getBias()), broadcastToTask(tile.getMask()),
      reference, factor, index(0), index(0), first, rowsPerHead(),
      tile.getQueryOffset(), block.firstKey, block.range.end,
      rewriter.getF64FloatAttr(1.0), causal ? unit : UnitAttr(),
      bounded ? tile.getWindowAttr() : WindowAttr(), tile.getSoftcapAttr(),
      bounded ? unit : UnitAttr(), schedule, countRegions());
  copyRegions(weights.getMods());
  OpFoldResult one = rewriter.getIndexAttr(1);
  SmallVector<OpFoldResult> ones = {one, one},
                            offsets = {first, block.firstKey},
                            sizes = {sizeOfPart(rewriter, loc, dims.rows, first,
                                                schedule.getRows()),
                                     block.count};
  Value place =
      tensor::ExtractSliceOp::create(rewriter, loc, dest, offsets, sizes, ones);
  SmallVector<OpFoldResult> tiles = {
      rewriter.getIndexAttr(schedule.getRows()),
      rewriter.getIndexAttr(schedule.getColumns())};
  Value written = linalg::UnPackOp::create(rewriter, loc, weights, place,
                                           ArrayRef<int64_t>{0, 1}, tiles)
                      .getResult();
  return tensor::InsertSliceOp::create(rewriter, loc, written, dest, offsets,
                                       sizes, ones);
}

/// Return what a weight relative to the reference of `state` is multiplied by, in
/// each lane: what a sum of values that is 1 there ends as.
Value BlockTask::factorOfRows(const PackedState &state) {
  Value one = arith::ConstantOp::create(
      rewriter, loc, rewriter.getFloatAttr(accumulator, 1.0));
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, loc, state.sum);
  Value ones = tensor::EmptyOp::create(rewriter, loc, sizes, accumulator);
  ones = linalg::FillOp::create(rewriter, loc, one, ones).getResult(0);
  SmallVector<ReassociationIndices> groups = {{0, 1}, {2}, {3}};
  sizes.insert(sizes.begin() + 1, rewriter.getIndexAttr(1));
  SmallVector<int64_t> shape = decomposeMixedValues(sizes).first;
  Value panels = tensor::ExpandShapeOp::create(
      rewriter, loc, RankedTensorType::get(shape, accumulator), ones, groups,
      sizes);
  PackedState with = state;
  with.acc = panels;
  return tensor::CollapseShapeOp::create(
      rewriter, loc, buildFinish(with, accumulator).first, groups);
}

Value BlockTask::buildWeights(const PackedState &state, Value dest) {
  Value all = dropUnitDims(dest, {2, 3});
  Value factor = factorOfRows(state);
  KeyRange range = keyRange({}, {});
  Value keyCount = getValueOrCreateConstantIndexOp(rewriter, loc, dims.keys);
  // A window may begin behind the last key.
  range.begin =
      rewriter.createOrFold<arith::MinSIOp>(loc, range.begin, keyCount);
  range.end = rewriter.createOrFold<arith::MinSIOp>(loc, range.end, keyCount);
  all = clearKeys(all, index(0), range.begin);
  all = clearKeys(all, range.end, keyCount);
  auto blocks = scf::ForOp::create(rewriter, loc, range.begin, range.end,
                                   index(schedule.getBlockN()), all);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(blocks.getBody());
  WeightsBlock block;
  block.reference = state.reference;
  block.factor = factor;
  block.range = range;
  block.firstKey = blocks.getInductionVar();
  block.count = sizeOfPart(rewriter, loc, getAsOpFoldResult(range.end),
                           block.firstKey, schedule.getBlockN());
  AffineExpr s0, s1;
  bindSymbols(rewriter.getContext(), s0, s1);
  Value end = getValueOrCreateConstantIndexOp(
      rewriter, loc,
      affine::makeComposedFoldedAffineApply(
          rewriter, loc, s0 + s1,
          {getAsOpFoldResult(block.firstKey), block.count}));
  Value key =
      packKeys(keys(tile.getKey(), tile.getKeyLayout(), block.firstKey, end),
               scales(tile.getKeyScale(), block.firstKey, end),
               /*value=*/false);
  Value stripCount = getValueOrCreateConstantIndexOp(rewriter, loc, strips);
  auto rows = scf::ForOp::create(rewriter, loc, index(0), stripCount, index(1),
                                 blocks.getRegionIterArg(0));
  scf::YieldOp::create(rewriter, loc, rows.getResult(0));
  rewriter.setInsertionPointToStart(rows.getBody());
  Value written = writeStripWeights(rows.getRegionIterArg(0),
                                    rows.getInductionVar(), key, block);
  scf::YieldOp::create(rewriter, loc, written);
  return blocks.getResult(0);
}
