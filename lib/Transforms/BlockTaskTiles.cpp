// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The task of a block of threads on a GPU. Nothing is packed: tiles have static sizes, zeros fill what the tensors do not,
// and the state is plain, so that all of a task can be registers and shared memory.
//
//   %q = tensor.pad (rows of the query) : tensor<128x64xf16>
//   %s:3 = scf.for %j = 0 to keys step 64 iter_args(the empty state) {
//     %k = tensor.pad (keys j to j + 64) : tensor<64x64xf16>
//     %v = tensor.pad ...
//     attn.block_step %q, %k, %v state(...) ... products exponent = 15
//   }
//
// A step is bounded by its number of keys, so that what is padded is excluded.

#include "attn/IR/LinalgBuilder.h"
#include "attn/Transforms/BlockTask.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace mlir::attn;

/// Elements that a matrix instruction takes along channels and keys.
static constexpr int64_t kUnit = 16;

/// Weights are at most 1. In f16, whose largest number is 65504 and whose least is
/// 2^-24, they are kept 2^15 times as large.
static constexpr int64_t kHalfExponent = 15;

int64_t attn::paddedChannels(OpFoldResult channels) {
  return llvm::alignTo(*getConstantIntValue(channels), kUnit);
}

Value attn::padTile(OpBuilder &b, Location loc, Value tensor,
                    ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(tensor.getType());
  auto padded = RankedTensorType::get(shape, type.getElementType());
  if (type == padded)
    return tensor;
  SmallVector<OpFoldResult> low(shape.size(), b.getIndexAttr(0)), high;
  for (auto [size, used] :
       llvm::zip(shape, tensor::getMixedSizes(b, loc, tensor)))
    high.push_back(affine::makeComposedFoldedAffineApply(
        b, loc, size - b.getAffineSymbolExpr(0), {used}));
  Value zero =
      arith::ConstantOp::create(b, loc, b.getZeroAttr(type.getElementType()));
  return tensor::PadOp::create(b, loc, padded, tensor, low, high, zero);
}

/// Return the rows of the query, or those of each head of a group.
Value BlockTask::padQuery() {
  Layout layout = tile.getQueryLayout();
  bool oneHead = getConstantIntValue(dims.heads) == 1;
  Value rows = foldedRows;
  if (!rows)
    rows = dropUnitDims(
        tile.getQuery(),
        {oneHead ? sequenceDim(layout) : headDim(layout), kChannelDim});
  return padTile(rewriter, loc, rows,
                 {schedule.getBlockM(), paddedChannels(dims.headSize)});
}

/// Return the state over no keys. Its reference is finite, so that no score is
/// ever compared with, or subtracted from, an infinite one.
PackedState BlockTask::emptyTileState() {
  OpFoldResult channels = rewriter.getIndexAttr(paddedChannels(dims.valueSize));
  SmallVector<SmallVector<OpFoldResult>> sizes =
      getStateSizes(rewriter, loc, schedule, strips, channels);
  auto fill = [&](ArrayRef<OpFoldResult> shape, APFloat value) -> Value {
    Value empty = tensor::EmptyOp::create(rewriter, loc, shape, accumulator);
    Value constant = arith::ConstantOp::create(
        rewriter, loc, FloatAttr::get(accumulator, value));
    return linalg::FillOp::create(rewriter, loc, constant, empty).getResult(0);
  };
  const llvm::fltSemantics &semantics =
      cast<FloatType>(accumulator).getFloatSemantics();
  return {fill(sizes[0], APFloat::getLargest(semantics, /*Negative=*/true)),
          fill(sizes[1], APFloat::getZero(semantics)),
          fill(sizes[2], APFloat::getZero(semantics))};
}

/// Return whether scores are compared as products, before the scale: where nothing
/// else changes them, and no product that is finite overflows by it.
bool BlockTask::comparesProducts() {
  double scale = tile.getScaleValue();
  return tile.getScoreMod().empty() && !tile.getSoftcap() && !tile.getBias() &&
         scale > 0.0 && scale < std::log(2.0);
}

/// Say on `step`, over all keys of a task, how scores are counted.
void BlockTask::countInProducts(BlockStepOp step) {
  step.setScaleAttr(rewriter.getF64FloatAttr(tile.getScaleValue()));
  step.setProducts(comparesProducts());
  bool isHalf = getElementTypeOrSelf(tile.getValue()).isF16();
  step.setExponent(isHalf ? kHalfExponent : 0);
}

/// Give `step`, on a block of keys, tiles of the size of a whole block.
void BlockTask::padStep(BlockStepOp step) {
  rewriter.setInsertionPoint(step);
  int64_t keys = llvm::alignTo(stepKeys, kUnit);
  Value key = padTile(rewriter, loc, step.getKey(),
                      {keys, paddedChannels(dims.headSize)});
  Value value = padTile(rewriter, loc, step.getValue(),
                        {keys, paddedChannels(dims.valueSize)});
  rewriter.modifyOpInPlace(step, [&] {
    step.getKeyMutable().assign(key);
    step.getValueMutable().assign(value);
  });
  if (keys == stepKeys)
    return;
  // What fills a step of fewer keys lies below the length of all.
  Value end =
      arith::AddIOp::create(rewriter, loc, step.getFirstKey(), index(stepKeys));
  end = arith::MinSIOp::create(rewriter, loc, end, step.getLength());
  rewriter.modifyOpInPlace(step, [&] { step.getLengthMutable().assign(end); });
}

/// Return `state` with a reference in natural units, relative to which the sums
/// are as they stand.
PackedState BlockTask::inNaturalUnits(const PackedState &state,
                                      int64_t exponent) {
  auto type = cast<RankedTensorType>(state.reference.getType());
  auto constant = [&](double value) -> Value {
    return arith::ConstantOp::create(
        rewriter, loc,
        DenseElementsAttr::get(
            type, rewriter.getFloatAttr(accumulator, value).getValue()));
  };
  Value reference = state.reference;
  if (comparesProducts())
    reference = arith::MulFOp::create(rewriter, loc, reference,
                                      constant(tile.getScaleValue()));
  if (exponent != 0)
    reference = arith::SubFOp::create(rewriter, loc, reference,
                                      constant(exponent * std::log(2.0)));
  return {reference, state.sum, state.acc};
}

/// Return whether an element of `acc` is NaN.
static Value isAnyNaN(OpBuilder &b, Location loc, Value acc) {
  Value nan =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, acc, acc);
  Value no = arith::ConstantOp::create(b, loc, b.getBoolAttr(false));
  Value init =
      tensor::EmptyOp::create(b, loc, ArrayRef<int64_t>(), b.getI1Type());
  init = linalg::FillOp::create(b, loc, no, init).getResult(0);
  auto any = linalg::ReduceOp::create(
      b, loc, nan, init, ArrayRef<int64_t>{0, 1},
      [](OpBuilder &nested, Location at, ValueRange args) {
        Value either = arith::OrIOp::create(nested, at, args[0], args[1]);
        linalg::YieldOp::create(nested, at, either);
      });
  return tensor::ExtractOp::create(b, loc, any.getResult(0), ValueRange());
}

/// Return the state after the keys of `range`. A key that no row attends to, if only
/// because its own score is -inf, may hold a NaN in its value, and 0 times that is
/// NaN: then they are taken again, one by one, without the values of such keys.
FailureOr<PackedState> BlockTask::buildTileStates(KeyRange range) {
  FailureOr<PackedState> state = buildLoop(range, emptyTileState());
  if (failed(state))
    return failure();
  Value again = isAnyNaN(rewriter, loc, state->acc);
  SmallVector<Value> values = {state->reference, state->sum, state->acc};
  auto choice = scf::IfOp::create(rewriter, loc, ValueRange(values).getTypes(),
                                  again, /*withElseRegion=*/true);
  choice->setAttr(kRareAttrName, rewriter.getUnitAttr());
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(rewriter, loc, values);
  rewriter.setInsertionPointToStart(choice.thenBlock());
  stepKeys = 1;
  range.bounded = true;
  skipZeros =
      arith::ConstantOp::create(rewriter, loc, rewriter.getBoolAttr(true));
  FailureOr<PackedState> second = buildLoop(range, emptyTileState());
  if (failed(second))
    return failure();
  scf::YieldOp::create(rewriter, loc,
                       ValueRange{second->reference, second->sum, second->acc});
  return PackedState{choice.getResult(0), choice.getResult(1),
                     choice.getResult(2)};
}

FailureOr<PackedState> BlockTask::buildTileState(Value begin, Value end) {
  query = padQuery();
  KeyRange range = keyRange(begin, end);
  bool isHalf = getElementTypeOrSelf(tile.getValue()).isF16();
  FailureOr<PackedState> state = buildTileStates(range);
  if (failed(state))
    return failure();
  return inNaturalUnits(*state, isHalf ? kHalfExponent : 0);
}

/// Return the first elements of a padded `result` of the task: those of the
/// `counts` rows, and channels, that there are.
Value BlockTask::unpadResult(Value result, ArrayRef<OpFoldResult> counts) {
  SmallVector<OpFoldResult> zeros(counts.size(), rewriter.getIndexAttr(0)),
      ones(counts.size(), rewriter.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(rewriter, loc, result, zeros,
                                        llvm::to_vector(counts), ones);
}
