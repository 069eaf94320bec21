// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What mask_mod spares a task. For each block of keys, and in it for each strip of rows:
//
//   %always, %ever = mask_mod on the interval of the rows and that of the keys
//   scf.if %ever {
//     attn.block_step ... masked(not %always) mask_mod(...) {...}
//   }
//
// so that blocks without a key are neither packed nor computed, and where nothing is left out the region is not
// evaluated. What depends on rows alone, or on keys alone, is computed once a task, or once a block.

#include "attn/IR/ScoreRegion.h"
#include "attn/Transforms/BlockTask.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::attn;

/// Bits of a position, which is clamped to 2^61 and moved by a number of rows;
/// and of the number of a key or a head.
static constexpr unsigned kPositionBits = 62, kCountBits = 48;

void attn::reportMaskMod(SdpaOp op) {
  if (op.getMaskMod().empty())
    return;
  auto about = remark::RemarkOpts::name("BlockRange").category("attn");
  Operation *unknown = findUnanalysed(op.getMaskMod());
  if (!unknown) {
    remark::passed(op.getLoc(), about)
        << "blocks of keys that mask_mod leaves out are skipped";
    return;
  }
  remark::missed(op.getLoc(), about)
      << remark::reason("nothing is known of '{0}' on a block",
                        unknown->getName().getStringRef());
}

unsigned BlockTask::countRegions() {
  return !tile.getScoreMod().empty() + hasMaskMod();
}

/// Give an op the regions of the tile, which count entries of the batch and heads
/// in the same way.
void BlockTask::copyRegions(MutableArrayRef<Region> mods) {
  unsigned next = 0;
  for (Region *region : {&tile.getScoreMod(), &tile.getMaskMod()}) {
    if (region->empty())
      continue;
    IRMapping copies;
    region->cloneInto(&mods[next++], copies);
  }
}

/// Learn what mask_mod says of all rows, before `step`, the loop over keys to be.
void BlockTask::analyseRows(BlockStepOp step) {
  if (!hasMaskMod())
    return;
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(step);
  Value first = tile.getQueryOffset();
  Value rows = getValueOrCreateConstantIndexOp(rewriter, loc, dims.rows);
  Value last = rewriter.createOrFold<arith::AddIOp>(loc, first, rows);
  last = rewriter.createOrFold<arith::SubIOp>(loc, last, index(1));
  ofRows.clear();
  addPlace(ofRows);
  ofRows[getPlace(tile.getMaskMod()).position] = {first, last, kPositionBits};
  addIntervals(rewriter, tile.getMaskMod(), ofRows);
}

/// Add the entry of the batch and the heads of the task.
void BlockTask::addPlace(Intervals &intervals) {
  ScorePlace place = getPlace(tile.getMaskMod());
  Value zero = index(0);
  Value heads = getValueOrCreateConstantIndexOp(rewriter, loc, dims.heads);
  Value last = rewriter.createOrFold<arith::SubIOp>(loc, heads, index(1));
  intervals[place.batch] = {zero, zero, 1};
  intervals[place.head] = {zero, last, kCountBits};
}

/// Let `step`, on a block of keys, run only where mask_mod leaves one of them.
void BlockTask::skipMaskedBlock(BlockStepOp step) {
  rewriter.setInsertionPoint(step);
  Region &maskMod = tile.getMaskMod();
  Value first = step.getFirstKey();
  Value count = rewriter.createOrFold<tensor::DimOp>(loc, step.getKey(), 0);
  Value last = rewriter.createOrFold<arith::AddIOp>(loc, first, count);
  last = rewriter.createOrFold<arith::SubIOp>(loc, last, index(1));
  ofKeys.clear();
  addPlace(ofKeys);
  ofKeys[getPlace(maskMod).key] = {first, last, kCountBits};
  addIntervals(rewriter, maskMod, ofKeys);
  Intervals ofBlock = ofKeys;
  for (auto &[value, interval] : ofRows)
    ofBlock.try_emplace(value, interval);
  addIntervals(rewriter, maskMod, ofBlock);
  skipMasked(step, getVerdict(rewriter, maskMod, ofBlock));
}

/// Let `step`, on a strip of the block's rows, run only where mask_mod leaves a
/// key to one of them.
void BlockTask::skipMaskedStrip(BlockStepOp step) {
  rewriter.setInsertionPoint(step);
  Region &maskMod = tile.getMaskMod();
  auto add = [&](Value a, Value b) -> Value {
    return rewriter.createOrFold<arith::AddIOp>(loc, a, b);
  };
  Value first = step.getPosition();
  Value rows = getValueOrCreateConstantIndexOp(rewriter, loc, dims.rows);
  Value last = add(first, add(rows, index(-1)));
  if (getConstantIntValue(dims.heads) == 1) {
    first = add(first, step.getRow());
    last = rewriter.createOrFold<arith::MinSIOp>(
        loc, last, add(first, index(schedule.getRows() - 1)));
  }
  Intervals ofStrip = ofKeys;
  ofStrip[getPlace(maskMod).position] = {first, last, kPositionBits};
  addIntervals(rewriter, maskMod, ofStrip);
  skipMasked(step, getVerdict(rewriter, maskMod, ofStrip));
}

/// Let `step` run only where `verdict` leaves a key, and look at mask_mod only
/// where it may take one.
void BlockTask::skipMasked(BlockStepOp step, const Interval &verdict) {
  rewriter.setInsertionPoint(step);
  Value yes =
      arith::ConstantOp::create(rewriter, loc, rewriter.getBoolAttr(true));
  Value masked = rewriter.createOrFold<arith::XOrIOp>(loc, verdict.low, yes);
  rewriter.modifyOpInPlace(step,
                           [&] { step.getMaskedMutable().assign(masked); });
  auto choice =
      scf::IfOp::create(rewriter, loc, step->getResultTypes(), verdict.high,
                        /*withElseRegion=*/true);
  rewriter.replaceAllUsesWith(step->getResults(), choice.getResults());
  rewriter.moveOpBefore(step, choice.thenBlock(), choice.thenBlock()->end());
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToEnd(choice.thenBlock());
  scf::YieldOp::create(rewriter, loc, step->getResults());
  rewriter.setInsertionPointToEnd(choice.elseBlock());
  scf::YieldOp::create(rewriter, loc, step.getDpsInits());
}
