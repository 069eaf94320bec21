// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finishes a strip of rows where its last block of keys is worked on, while its state is in L1:
//
//   scf.for %j = 0 to max(keys, 1) step block_n iter_args(state, %out, %bad = false) {
//     %last = j + block_n >= keys
//     scf.for %strip iter_args(state, %out, %bad) {
//       %slot = 0 if there is one block, else %strip
//       %s:3 = attn.block_step ... state(slice %slot of the state)
//       scf.if %last {
//         %o, %l = attn.finish %s#0, %s#1, %s#2
//         linalg.unpack %o into the rows of the strip of %out
//         yield ..., %bad or an element of %s#2 is not finite
//       } else { yield %out, %bad }
//
// The outputs go through the loops beside the state, and through the second try of a task, which writes them again. With
// one block, which only the run may know, all strips have their state in the same place. Without keys there is one block,
// of none.

#include "attn/Transforms/BlockTask.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::attn;

bool BlockTask::canFinishStrips() {
  // A block that is skipped finishes nothing, and weights want the whole state. A
  // block of no keys would have no page.
  return !isForThreads() && !isStreamed() && !packed && !hasMaskMod() &&
         !tile.isPaged() && !tile.getWeights() &&
         getConstantIntValue(dims.heads) == 1;
}

FailureOr<SmallVector<Value>> BlockTask::buildOutputs(ValueRange outputs) {
  Layout layout = tile.getOutputLayout();
  carried = {dropUnitDims(outputs[0], {sequenceDim(layout), kChannelDim})};
  if (tile.getLse())
    carried.push_back(dropUnitDims(outputs[1], {2}));
  if (failed(buildState()))
    return failure();
  return carried;
}

/// Let `loop` carry what is carried into it, and build on what it has inside.
scf::ForOp BlockTask::carryThrough(scf::ForOp loop) {
  rewriter.setInsertionPoint(loop);
  unsigned count = loop.getNumRegionIterArgs();
  FailureOr<LoopLikeOpInterface> more = loop.replaceWithAdditionalYields(
      rewriter, carried, /*replaceInitOperandUsesInLoop=*/false,
      [](OpBuilder &, Location, ArrayRef<BlockArgument> arguments) {
        return SmallVector<Value>(arguments.begin(), arguments.end());
      });
  loop = cast<scf::ForOp>(more->getOperation());
  carried.assign(loop.getRegionIterArgs().begin() + count,
                 loop.getRegionIterArgs().end());
  return loop;
}

/// Let `loop` hand on what is carried at its end, and build on its results.
void BlockTask::yieldCarried(scf::ForOp loop) {
  unsigned count = loop.getNumResults() - carried.size();
  Operation *yield = loop.getBody()->getTerminator();
  rewriter.modifyOpInPlace(
      yield, [&] { yield->setOperands(count, carried.size(), carried); });
  carried.assign(loop.result_begin() + count, loop.result_end());
}

/// Let `loop`, over blocks of keys, run once where there are none.
scf::ForOp BlockTask::runOnce(scf::ForOp loop) {
  rewriter.setInsertionPoint(loop);
  Value keys = loop.getUpperBound();
  isOnlyBlock = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::sle,
                                      keys, loop.getStep());
  if (getConstantIntValue(keys).value_or(0) > 0)
    return loop;
  keys = arith::MaxSIOp::create(rewriter, loc, keys, index(1));
  rewriter.modifyOpInPlace(loop, [&] { loop.setUpperBound(keys); });
  return loop;
}

/// Return whether `step`, of all strips, is on the last block of keys.
Value BlockTask::isInLastBlock(BlockStepOp step) {
  auto blocks = cast<scf::ForOp>(step->getParentOp());
  Value next = arith::AddIOp::create(rewriter, loc, blocks.getInductionVar(),
                                     blocks.getStep());
  return arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::sge, next,
                               blocks.getUpperBound());
}

/// Let `strip`, in the loop `strips`, use the state of the first strip where there
/// is one block, which each strip both begins and finishes in.
void BlockTask::shareState(scf::ForOp strips, BlockStepOp strip) {
  rewriter.setInsertionPointToStart(strips.getBody());
  Value number = strips.getInductionVar();
  Value slot =
      arith::SelectOp::create(rewriter, loc, isOnlyBlock, index(0), number);
  SmallVector<Operation *> slices;
  for (Value part : {strip.getReference(), strip.getSum(), strip.getAcc()})
    slices.push_back(part.getDefiningOp<tensor::ExtractSliceOp>());
  for (Value result : strip->getResults())
    for (Operation *user : result.getUsers())
      slices.push_back(dyn_cast<tensor::InsertSliceOp>(user));
  for (Operation *slice : slices)
    if (slice)
      rewriter.modifyOpInPlace(slice,
                               [&] { slice->replaceUsesOfWith(number, slot); });
}

/// Write the rows of a strip from `row` on, packed, where they belong in `dest`.
Value BlockTask::unpackStrip(Value packed, Value dest, Value row) {
  int64_t rows = schedule.getRows();
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, loc, dest),
                            offsets(sizes.size(), rewriter.getIndexAttr(0)),
                            ones(sizes.size(), rewriter.getIndexAttr(1));
  AffineExpr s0, s1;
  bindSymbols(rewriter.getContext(), s0, s1);
  std::optional<int64_t> all = getConstantIntValue(dims.rows);
  sizes[0] = rewriter.getIndexAttr(rows);
  if (!all || *all % rows != 0)
    sizes[0] = affine::makeComposedFoldedAffineMin(
        rewriter, loc,
        AffineMap::get(0, 2, {rewriter.getAffineConstantExpr(rows), s1 - s0},
                       rewriter.getContext()),
        {row, dims.rows});
  offsets[0] = row;
  Value place =
      tensor::ExtractSliceOp::create(rewriter, loc, dest, offsets, sizes, ones);
  SmallVector<OpFoldResult> tiles = {rewriter.getIndexAttr(rows)};
  SmallVector<int64_t> positions = {0};
  if (sizes.size() == 2) {
    tiles.push_back(rewriter.getIndexAttr(schedule.getColumns()));
    positions.push_back(1);
  }
  Value unpacked =
      linalg::UnPackOp::create(rewriter, loc, packed, place, positions, tiles)
          .getResult();
  return tensor::InsertSliceOp::create(rewriter, loc, unpacked, dest, offsets,
                                       sizes, ones);
}

/// Finish `strip`, in the loop `strips`, where `isLast`.
void BlockTask::finishStrip(scf::ForOp strips, BlockStepOp strip,
                            Value isLast) {
  // Before the state goes where it came from: what is read after that, even a part
  // of it that has not changed, would be copied.
  rewriter.setInsertionPointAfter(strip);
  auto choice = scf::IfOp::create(rewriter, loc, ValueRange(carried).getTypes(),
                                  isLast, /*withElseRegion=*/true);
  rewriter.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(rewriter, loc, carried);
  rewriter.setInsertionPointToStart(choice.thenBlock());
  SmallVector<Value> ends(carried);
  std::pair<Value, Value> results = buildFinish(
      {strip.getNewReference(), strip.getNewSum(), strip.getNewAcc()});
  ends[0] = unpackStrip(results.first, ends[0], strip.getRow());
  if (tile.getLse())
    ends[1] = unpackStrip(results.second, ends[1], strip.getRow());
  ends.back() = arith::OrIOp::create(rewriter, loc, ends.back(),
                                     hasNaN(strip.getNewAcc()));
  scf::YieldOp::create(rewriter, loc, ends);
  carried.assign(choice.result_begin(), choice.result_end());
  yieldCarried(strips);
}
