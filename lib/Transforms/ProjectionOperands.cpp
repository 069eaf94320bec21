// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operands of a projection as a register tile reads them: weights as panels, tokens as strips.
//
//   %wp = scf.forall (%panel) ... {                   [panels, in, 32], a row beyond the last is zero
//     linalg.pack of 32 rows of %w
//   }
//   %xs = scf.forall (%entry, %row) ... {             [strips, 8, in], of all entries of the batch together
//     linalg.generic: a copy of 32 rows of %x
//   }

#include "attn/IR/AttrNames.h"
#include "attn/IR/LinalgBuilder.h"
#include "attn/Transforms/Projection.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::attn;

/// Rows that one task copies where a batch is put in order.
static constexpr int64_t kCopiedRows = 32;

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

OpFoldResult attn::ceilDivide(ImplicitLocOpBuilder &b, OpFoldResult size,
                              int64_t unit) {
  return affine::makeComposedFoldedAffineApply(
      b, b.getLoc(), b.getAffineSymbolExpr(0).ceilDiv(unit), {size});
}

OpFoldResult attn::clampBlock(ImplicitLocOpBuilder &b, Value start,
                              OpFoldResult end, int64_t block) {
  if (std::optional<int64_t> known = getConstantIntValue(end);
      known && *known % block == 0)
    return b.getIndexAttr(block);
  AffineExpr s0, s1;
  bindSymbols(b.getContext(), s0, s1);
  AffineMap map = AffineMap::get(
      0, 2, {b.getAffineConstantExpr(block), s1 - s0}, b.getContext());
  return affine::makeComposedFoldedAffineMin(b, b.getLoc(), map,
                                             {OpFoldResult(start), end});
}

SmallVector<Value>
attn::buildStateLoop(ImplicitLocOpBuilder &b, OpFoldResult count, int64_t step,
                     ValueRange state,
                     function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  Value end = getValueOrCreateConstantIndexOp(b, b.getLoc(), count);
  auto loop =
      scf::ForOp::create(b, arith::ConstantIndexOp::create(b, 0), end,
                         arith::ConstantIndexOp::create(b, step), state);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  scf::YieldOp::create(
      b, body(loop.getInductionVar(), ValueRange(loop.getRegionIterArgs())));
  return llvm::to_vector_of<Value>(loop.getResults());
}

Value attn::allocateTile(ImplicitLocOpBuilder &b, Type element,
                         ArrayRef<OpFoldResult> whole,
                         ArrayRef<OpFoldResult> used) {
  SmallVector<int64_t> shape;
  SmallVector<Value> dynamic;
  dispatchIndexOpFoldResults(whole, dynamic, shape);
  Value all = bufferization::AllocTensorOp::create(
      b, RankedTensorType::get(shape, element), dynamic);
  if (isEqualConstantIntOrValueArray(whole, used))
    return all;
  SmallVector<OpFoldResult> zeros(used.size(), b.getIndexAttr(0)),
      ones(used.size(), b.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(b, all, zeros, used, ones);
}

Value attn::sliceTo(ImplicitLocOpBuilder &b, int64_t rank, Value tensor,
                    ArrayRef<OpFoldResult> offsets,
                    ArrayRef<OpFoldResult> sizes) {
  SmallVector<OpFoldResult> ones(sizes.size(), b.getIndexAttr(1));
  auto type = RankedTensorType::get(
      decomposeMixedValues(llvm::to_vector(sizes.take_back(rank))).first,
      getElementTypeOrSelf(tensor));
  return tensor::ExtractSliceOp::create(b, type, tensor, offsets, sizes, ones);
}

//===----------------------------------------------------------------------===//
// Weights as panels
//===----------------------------------------------------------------------===//

Value attn::packPanels(ImplicitLocOpBuilder &b, Value weight, Type element,
                       Value first, OpFoldResult count, int64_t most,
                       int64_t columns) {
  OpFoldResult outs = tensor::getMixedSize(b, b.getLoc(), weight, 0),
               ins = tensor::getMixedSize(b, b.getLoc(), weight, 1),
               zero = b.getIndexAttr(0), inner = b.getIndexAttr(columns);
  OpFoldResult height = clampBlock(b, first, outs, most * columns);
  Value rows = sliceTo(b, 2, weight, {first, zero}, {height, ins});
  if (getElementTypeOrSelf(weight) != element) {
    AffineExpr row, channel;
    bindDims(b.getContext(), row, channel);
    Value wide = allocateTile(b, element, {b.getIndexAttr(most * columns), ins},
                              {height, ins});
    rows = buildGeneric(b, {{rows, {row, channel}}}, {wide, {row, channel}},
                        [&](ValueRange args) -> Value {
                          return convertFloat(b, args[0], element);
                        });
  }
  Value dest = allocateTile(b, element, {b.getIndexAttr(most), ins, inner},
                            {count, ins, inner});
  Value pad = arith::ConstantOp::create(b, b.getZeroAttr(element));
  return linalg::PackOp::create(b, b.getLoc(), rows, dest, ArrayRef<int64_t>{0},
                                ArrayRef<OpFoldResult>{inner}, pad)
      .getResult();
}

Value attn::packWeight(ImplicitLocOpBuilder &b, Value weight, Value dest,
                       OpFoldResult count, ScheduleAttr schedule) {
  OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
  auto loop = scf::ForallOp::create(
      b, ArrayRef<OpFoldResult>{zero}, ArrayRef<OpFoldResult>{count},
      ArrayRef<OpFoldResult>{one}, ValueRange{dest}, std::nullopt);
  loop->setAttr(kScheduleAttrName, schedule);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(loop.getTerminator());
  int64_t columns = schedule.getColumns();
  Value panel = loop.getInductionVar(0), all = loop.getRegionIterArgs()[0];
  Value first = affine::AffineApplyOp::create(
      b, AffineMap::get(1, 0, b.getAffineDimExpr(0) * columns),
      ValueRange{panel});
  Value packed = packPanels(b, weight, getElementTypeOrSelf(dest), first, one,
                            /*most=*/1, columns);
  SmallVector<OpFoldResult> offsets = {panel, zero, zero},
                            sizes = tensor::getMixedSizes(b, b.getLoc(), dest),
                            ones(3, one);
  sizes[0] = one;
  b.setInsertionPointToEnd(loop.getTerminator().getBody());
  tensor::ParallelInsertSliceOp::create(b, packed, all, offsets, sizes, ones);
  return loop.getResult(0);
}

//===----------------------------------------------------------------------===//
// Tokens as strips
//===----------------------------------------------------------------------===//

Value attn::copyRows(ImplicitLocOpBuilder &b, Value from, Value to,
                     ArrayRef<OpFoldResult> sizes, ScheduleAttr schedule) {
  bool gathers = cast<RankedTensorType>(from.getType()).getRank() == 3;
  OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
  auto loop = scf::ForallOp::create(
      b, ArrayRef<OpFoldResult>{zero, zero},
      ArrayRef<OpFoldResult>{sizes[0], sizes[1]},
      ArrayRef<OpFoldResult>{one, b.getIndexAttr(kCopiedRows)}, ValueRange{to},
      std::nullopt);
  loop->setAttr(kScheduleAttrName, schedule);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(loop.getTerminator());
  OpFoldResult entry = loop.getInductionVar(0), row = loop.getInductionVar(1);
  Value dest = loop.getRegionIterArgs()[0];
  OpFoldResult height =
      clampBlock(b, loop.getInductionVar(1), sizes[1], kCopiedRows);
  AffineExpr s0, s1, s2;
  bindSymbols(b.getContext(), s0, s1, s2);
  OpFoldResult flatRow = affine::makeComposedFoldedAffineApply(
      b, b.getLoc(), s0 * s1 + s2, {entry, sizes[1], row});
  SmallVector<OpFoldResult> source{entry, row, zero},
      sourceSizes{one, height, sizes[2]}, target{flatRow, zero},
      targetSizes{height, sizes[2]};
  if (!gathers) {
    std::swap(source, target);
    std::swap(sourceSizes, targetSizes);
  }
  AffineExpr d0, d1;
  bindDims(b.getContext(), d0, d1);
  Type element = getElementTypeOrSelf(to);
  Value copied =
      buildGeneric(b, {{sliceTo(b, 2, from, source, sourceSizes), {d0, d1}}},
                   {sliceTo(b, 2, dest, target, targetSizes), {d0, d1}},
                   [&](ValueRange args) -> Value {
                     return convertFloat(b, args[0], element);
                   });
  b.setInsertionPointToEnd(loop.getTerminator().getBody());
  SmallVector<OpFoldResult> ones(target.size(), one);
  tensor::ParallelInsertSliceOp::create(b, copied, dest, target, targetSizes,
                                        ones);
  return loop.getResult(0);
}

/// Return whether `tensor` may lie anywhere: it is an argument of the function,
/// or a part of one.
static bool isForeign(Value tensor) {
  while (auto cast = tensor.getDefiningOp<tensor::CastOp>())
    tensor = cast.getSource();
  Operation *op = tensor.getDefiningOp();
  return !op || isa<tensor::ExtractSliceOp>(op);
}

Value attn::toStrips(ImplicitLocOpBuilder &b, Value tokens,
                     ArrayRef<OpFoldResult> sizes, Type element,
                     ScheduleAttr schedule) {
  int64_t rows = schedule.getRows();
  AffineExpr s0, s1;
  bindSymbols(b.getContext(), s0, s1);
  OpFoldResult count = affine::makeComposedFoldedAffineApply(
      b, b.getLoc(), s0 * s1, {sizes[0], sizes[1]});
  OpFoldResult strips = ceilDivide(b, count, rows);
  OpFoldResult padded =
      affine::makeComposedFoldedAffineApply(b, b.getLoc(), s0 * rows, {strips});
  bool isWhole = isEqualConstantIntOrValue(count, padded);
  if (isWhole && getElementTypeOrSelf(tokens) == element && !isForeign(tokens))
    return splitDim(b, joinDims(b, tokens, 0), 0, strips, b.getIndexAttr(rows));
  Value all = tensor::EmptyOp::create(b, {padded, sizes[2]}, element);
  if (!isWhole) {
    OpFoldResult missing = affine::makeComposedFoldedAffineApply(
        b, b.getLoc(), s0 - s1, {padded, count});
    SmallVector<OpFoldResult> offsets{count, b.getIndexAttr(0)},
        rest{missing, sizes[2]}, ones(2, b.getIndexAttr(1));
    Value zeros = linalg::FillOp::create(b, getFloat(b, element, 0.0),
                                         sliceTo(b, 2, all, offsets, rest))
                      .getResult(0);
    all = tensor::InsertSliceOp::create(b, zeros, all, offsets, rest, ones);
  }
  return splitDim(b, copyRows(b, tokens, all, sizes, schedule), 0, strips,
                  b.getIndexAttr(rows));
}
