// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles linear attention with a schedule over heads and over columns of the state, and its steps into chunks:
//
//   %o = attn.linear_attention %q, %k, %v rule = linear
//        schedule = <block_m = 32, block_n = 64, rows = 8, columns = 32, lanes = 16> : ...
//
// becomes
//
//   scf.forall (%b, %g, %e) = ... step (1, 1, 64) {
//     %S = ...                                             // columns of the state, packed
//     scf.for %t = 0 to %T step 32 iter_args(%S, %o) {
//       the products of a chunk of steps, on tiles of 8 rows by 32 columns
//     }
//   }
//
// What a task computes for a column does not depend on which other columns are its own, and so no bit depends on how they
// are split.

#include "LinearTask.h"

#include "attn/IR/AttrNames.h"
#include "attn/IR/Decompose.h"
#include "attn/Transforms/Passes.h"
#include "attn/Transforms/Projection.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::attn {
#define GEN_PASS_DEF_TILELINEARATTENTION
#include "attn/Transforms/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

namespace {
/// Where a task writes one result.
struct TaskSlice {
  SmallVector<OpFoldResult> offsets, sizes;
  Value dest, written;
};
} // namespace

/// Return the part of `whole` that `slice` says, of rank `rank`.
static Value takeSlice(ImplicitLocOpBuilder &b, int64_t rank, Value whole,
                       const TaskSlice &slice) {
  return sliceTo(b, rank, whole, slice.offsets, slice.sizes);
}

/// Return where a task of `place` writes its results into `wholes`.
static SmallVector<TaskSlice> getSlices(ImplicitLocOpBuilder &b,
                                        LinearAttentionOp op,
                                        const LinearPlace &place,
                                        OpFoldResult width, ValueRange wholes) {
  AttentionDims dims = AttentionDims::get(b, op);
  OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1),
               group = divideSize(b, dims.heads, dims.kvHeads);
  Value firstHead = b.createOrFold<arith::MulIOp>(
      place.head, getValueOrCreateConstantIndexOp(b, b.getLoc(), group));
  SmallVector<TaskSlice> slices = {
      {{place.batch, firstHead, zero, place.column},
       {one, group, dims.rows, width},
       {},
       {}}};
  if (op.getOutputLayout() == Layout::bshd) {
    std::swap(slices[0].offsets[1], slices[0].offsets[2]);
    std::swap(slices[0].sizes[1], slices[0].sizes[2]);
  }
  slices[0].dest = takeSlice(b, 4, wholes[0], slices[0]);
  if (op.getNewState()) {
    TaskSlice &slice = slices.emplace_back(
        TaskSlice{{place.batch, place.head, zero, place.column},
                  {one, one, dims.headSize, width},
                  {},
                  {}});
    slice.dest = takeSlice(b, 2, wholes[1], slice);
  }
  if (op.getNewNormalizer()) {
    // All tasks of a head have the same sums of keys: the first one writes them.
    Value size = getValueOrCreateConstantIndexOp(b, b.getLoc(), dims.headSize),
          none = arith::ConstantIndexOp::create(b, 0);
    Value isFirst =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, place.column, none);
    Value count = arith::SelectOp::create(b, isFirst, size, none);
    slices.push_back(
        {{place.batch, place.head, zero}, {one, one, count}, {}, {}});
    slices.back().dest = takeSlice(b, 1, wholes.back(), slices.back());
  }
  return slices;
}

/// Build the body of `task` for `op`.
static void buildTask(ImplicitLocOpBuilder &b, LinearAttentionOp op,
                      scf::ForallOp task) {
  b.setInsertionPoint(task.getTerminator());
  LinearPlace place{task.getInductionVar(0), task.getInductionVar(1),
                    task.getInductionVar(2)};
  LinearTask linear(b, op, place);
  SmallVector<TaskSlice> slices = getSlices(
      b, op, place, linear.getWidth(), ValueRange(task.getRegionIterArgs()));
  LinearCarried last = linear.run({linear.startState(), slices[0].dest});
  slices[0].written = last.output;
  if (op.getNewState())
    slices[1].written = linear.storeState(last.state, slices[1].dest);
  if (op.getNewNormalizer())
    slices.back().written =
        linear.storeNormalizer(last.state, slices.back().dest);
  b.setInsertionPointToEnd(task.getTerminator().getBody());
  for (auto [slice, whole] :
       llvm::zip_equal(slices, task.getRegionIterArgs())) {
    SmallVector<OpFoldResult> ones(slice.sizes.size(), b.getIndexAttr(1));
    tensor::ParallelInsertSliceOp::create(b, slice.written, whole,
                                          slice.offsets, slice.sizes, ones);
  }
}

/// Replace `op`, which has a schedule, by its tasks.
static LogicalResult tileLinearAttention(RewriterBase &rewriter,
                                         LinearAttentionOp op) {
  rewriter.setInsertionPoint(op);
  ImplicitLocOpBuilder b(op.getLoc(), rewriter);
  AttentionDims dims = AttentionDims::get(b, op);
  ScheduleAttr schedule = *op.getSchedule();
  int64_t step =
      schedule.getBlockN() - (op.getNormalize() ? schedule.getColumns() : 0);
  OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
  // States without columns have sums of keys all the same.
  AffineExpr s0 = b.getAffineSymbolExpr(0);
  OpFoldResult columns = affine::makeComposedFoldedAffineMax(
      b, b.getLoc(),
      AffineMap::get(0, 1, {s0, b.getAffineConstantExpr(1)}, b.getContext()),
      {dims.valueSize});
  FailureOr<SmallVector<Value>> outputs = createEmptyResults(b, op);
  if (failed(outputs))
    return failure();
  auto task = scf::ForallOp::create(
      b, ArrayRef<OpFoldResult>{zero, zero, zero},
      ArrayRef<OpFoldResult>{dims.batch, dims.kvHeads, columns},
      ArrayRef<OpFoldResult>{one, one, b.getIndexAttr(step)}, *outputs,
      std::nullopt);
  task->setAttr(kScheduleAttrName, schedule);
  buildTask(b, op, task);
  b.setInsertionPointAfter(task);
  SmallVector<Value> results;
  for (auto [value, result] :
       llvm::zip_equal(task.getResults(), op->getResults()))
    results.push_back(castTensor(b, value, result.getType()));
  rewriter.replaceOp(op, results);
  return success();
}

namespace {
struct TileLinearAttention
    : public attn::impl::TileLinearAttentionBase<TileLinearAttention> {
  void runOnOperation() override {
    SmallVector<LinearAttentionOp> ops;
    getOperation()->walk([&](LinearAttentionOp op) {
      if (op.getSchedule())
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (LinearAttentionOp op : ops)
      if (failed(tileLinearAttention(rewriter, op))) {
        op.emitOpError() << "cannot be tiled as its schedule says";
        return signalPassFailure();
      }
  }
};
} // namespace
