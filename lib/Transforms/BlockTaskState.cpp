// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The state of a task, and the second try of the few tasks that need one:
//
//   %s:3 = scf.while (%r = ..., %l = ..., %a = ..., %skip = false) {
//     a loop over attn.block_step ... skip_zeros(%skip), which begins with the state (-inf, 0, 0)
//     %again = some element of the sum of values is NaN, and not %skip
//     scf.condition(%again) the state
//   } do {
//     scf.yield the state, true
//   }
//
// A key that no row attends to may hold a NaN or an infinity in its value, and 0 times that is NaN. To look at the values,
// or to leave out the products with 0 one by one, would cost time in every task; to look at the sums costs none.
//
// The state of a strip begins where its first block is worked on, so that it comes into L1 once. Where blocks may be
// skipped, for mask_mod or a mask, and where there are none, all of it begins before. In most tasks a strip ends where its
// last block is worked on: BlockTaskFinish.cpp.

#include "attn/Transforms/BlockTask.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::attn;

OpFoldResult attn::getStrips(OpBuilder &b, Location loc, ScheduleAttr schedule,
                             OpFoldResult rows) {
  AffineExpr count = b.getAffineSymbolExpr(0).ceilDiv(schedule.getRows());
  if (schedule.getStreams() == 0 || getConstantIntValue(rows))
    return affine::makeComposedFoldedAffineApply(b, loc, count, {rows});
  // Memory is placed before it is known that rows are few.
  AffineExpr most =
      b.getAffineConstantExpr(schedule.getBlockM() / schedule.getRows());
  return affine::makeComposedFoldedAffineMin(
      b, loc, AffineMap::get(0, 1, {count, most}, b.getContext()), {rows});
}

SmallVector<SmallVector<OpFoldResult>>
attn::getStateSizes(OpBuilder &b, Location loc, ScheduleAttr schedule,
                    OpFoldResult strips, OpFoldResult channels) {
  OpFoldResult rows = b.getIndexAttr(schedule.getRows());
  OpFoldResult columns = b.getIndexAttr(schedule.getColumns());
  if (schedule.getWarps() > 0) {
    OpFoldResult all = b.getIndexAttr(schedule.getBlockM());
    return {
        {all}, {all, columns}, {all, b.getIndexAttr(paddedChannels(channels))}};
  }
  SmallVector<OpFoldResult> reference = {strips, rows},
                            sum = {strips, rows, columns};
  if (schedule.getStreams() > 0)
    return {reference, sum, {strips, b.getIndexAttr(1), rows, channels}};
  AffineExpr s0 = b.getAffineSymbolExpr(0);
  OpFoldResult panels = affine::makeComposedFoldedAffineApply(
      b, loc, s0.ceilDiv(schedule.getColumns()), {channels});
  return {reference, sum, {strips, panels, rows, columns}};
}

/// Return a state that holds nothing yet.
PackedState BlockTask::newState() {
  SmallVector<SmallVector<OpFoldResult>> sizes =
      getStateSizes(rewriter, loc, schedule, strips, dims.valueSize);
  auto make = [&](ArrayRef<OpFoldResult> used) -> Value {
    SmallVector<OpFoldResult> whole(used);
    if (!packed)
      whole[0] =
          rewriter.getIndexAttr(schedule.getBlockM() / schedule.getRows());
    return storage(whole, used, accumulator);
  };
  return {make(sizes[0]), make(sizes[1]), make(sizes[2])};
}

/// Return the state (-inf, 0, 0) in place of `state`.
PackedState BlockTask::emptied(const PackedState &state) {
  auto fill = [&](Value tensor, double value) -> Value {
    Value constant = arith::ConstantOp::create(
        rewriter, loc, rewriter.getFloatAttr(accumulator, value));
    return linalg::FillOp::create(rewriter, loc, constant, tensor).getResult(0);
  };
  return {fill(state.reference, -std::numeric_limits<double>::infinity()),
          fill(state.sum, 0.0), fill(state.acc, 0.0)};
}

/// Return the state (-inf, 0, 0) in place of `state` where `condition` holds.
PackedState BlockTask::emptiedWhere(Value condition, const PackedState &state) {
  SmallVector<Value> given = {state.reference, state.sum, state.acc};
  auto choice =
      scf::IfOp::create(rewriter, loc, ValueRange(given).getTypes(), condition,
                        /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(choice.thenBlock());
  PackedState empty = emptied(state);
  scf::YieldOp::create(rewriter, loc,
                       ValueRange{empty.reference, empty.sum, empty.acc});
  rewriter.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(rewriter, loc, given);
  return {choice.getResult(0), choice.getResult(1), choice.getResult(2)};
}

/// Return whether an element of `acc` is NaN, or infinite. A value that is takes part
/// in all rows of a strip: looking at the first row is enough.
Value BlockTask::hasNaN(Value acc) {
  MLIRContext *context = rewriter.getContext();
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, loc, acc),
                            zeros(4, rewriter.getIndexAttr(0)),
                            ones(4, rewriter.getIndexAttr(1));
  sizes[2] = rewriter.getIndexAttr(1);
  acc = tensor::ExtractSliceOp::create(rewriter, loc, acc, zeros, sizes, ones);
  OpFoldResult columns = tensor::getMixedSize(rewriter, loc, acc, 3);
  Value zero = arith::ConstantOp::create(rewriter, loc,
                                         rewriter.getZeroAttr(accumulator));
  auto sum = [&](Value from, ArrayRef<OpFoldResult> sizes, AffineMap map,
                 function_ref<Value(OpBuilder &, Value)> term) -> Value {
    Value init =
        tensor::EmptyOp::create(rewriter, loc, sizes, accumulator).getResult();
    init = linalg::FillOp::create(rewriter, loc, zero, init).getResult(0);
    unsigned rank = map.getNumDims();
    SmallVector<utils::IteratorType> iterators(rank,
                                               utils::IteratorType::reduction);
    for (AffineExpr result : map.getResults())
      iterators[cast<AffineDimExpr>(result).getPosition()] =
          utils::IteratorType::parallel;
    return linalg::GenericOp::create(
               rewriter, loc, init.getType(), ValueRange{from},
               ValueRange{init},
               ArrayRef<AffineMap>{rewriter.getMultiDimIdentityMap(rank), map},
               iterators,
               [&](OpBuilder &b, Location, ValueRange args) {
                 Value more =
                     arith::AddFOp::create(b, loc, args[1], term(b, args[0]));
                 linalg::YieldOp::create(b, loc, more);
               })
        .getResult(0);
  };
  // The sum of x * 0 is 0 where all are finite, else NaN.
  Value lanes = sum(acc, {columns},
                    AffineMap::get(4, 0, rewriter.getAffineDimExpr(3), context),
                    [&](OpBuilder &b, Value x) -> Value {
                      return arith::MulFOp::create(b, loc, x, zero);
                    });
  Value all = sum(lanes, {}, AffineMap::get(1, 0, context),
                  [](OpBuilder &, Value x) { return x; });
  Value total = tensor::ExtractOp::create(rewriter, loc, all, ValueRange());
  return arith::CmpFOp::create(rewriter, loc, arith::CmpFPredicate::UNO, total,
                               total);
}

/// Return the state that the loop over the blocks of `range` starts from, in place
/// of `state`.
PackedState BlockTask::begun(const PackedState &state, const KeyRange &range) {
  if (isStreamed() || hasMaskMod() || tile.getMask())
    return emptied(state);
  // Each strip begins where its first block is worked on, while it is in L1.
  startKey = range.begin;
  if (finishesStrips())
    return state;
  Value none = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::sge,
                                     range.begin, range.end);
  return emptiedWhere(none, state);
}

FailureOr<PackedState> BlockTask::buildState(Value begin, Value end) {
  if (isForThreads())
    return buildTileState(begin, end);
  query = packQuery();
  PackedState before = newState();
  KeyRange range = packed ? packed->range : keyRange(begin, end);
  if (!packed && getConstantIntValue(range.begin) &&
      getConstantIntValue(range.begin) == getConstantIntValue(range.end) &&
      !finishesStrips())
    return emptied(before);
  auto flag = [&](bool value) -> Value {
    return arith::ConstantOp::create(rewriter, loc,
                                     rewriter.getBoolAttr(value));
  };
  SmallVector<Value> inits = {before.reference, before.sum, before.acc};
  llvm::append_range(inits, carried);
  inits.push_back(flag(false));
  SmallVector<Type> passed(ValueRange(inits).getTypes());
  ArrayRef<Type> types = ArrayRef(passed).drop_back();
  auto tries = scf::WhileOp::create(rewriter, loc, types, inits);
  OpBuilder::InsertionGuard guard(rewriter);
  SmallVector<Location> locs(passed.size(), loc);
  Block *first = rewriter.createBlock(&tries.getBefore(), {}, passed, locs);
  skipZeros = first->getArguments().back();
  PackedState given{first->getArgument(0), first->getArgument(1),
                    first->getArgument(2)};
  if (finishesStrips()) {
    carried.assign(first->args_begin() + 3, first->args_end() - 1);
    carried.push_back(flag(false));
  }
  FailureOr<PackedState> state =
      packed ? buildOnlyStep(given) : buildLoop(range, begun(given, range));
  if (failed(state))
    return failure();
  Value notYet = arith::XOrIOp::create(rewriter, loc, skipZeros, flag(true));
  Value isBad = finishesStrips() ? carried.pop_back_val() : hasNaN(state->acc);
  Value again = arith::AndIOp::create(rewriter, loc, isBad, notYet);
  SmallVector<Value> all = {state->reference, state->sum, state->acc};
  llvm::append_range(all, carried);
  scf::ConditionOp::create(rewriter, loc, again, all);
  Block *second = rewriter.createBlock(&tries.getAfter(), {}, types,
                                       ArrayRef(locs).drop_back());
  SmallVector<Value> next(second->getArguments());
  next.push_back(flag(true));
  scf::YieldOp::create(rewriter, loc, next);
  carried.assign(tries.result_begin() + 3, tries.result_end());
  return PackedState{tries.getResult(0), tries.getResult(1),
                     tries.getResult(2)};
}
