// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles a projection, y = x W^T + b, for blocks of threads:
//
//   %y = linalg.generic (batch, row, out, in) ins(%x, %w) outs(%b)
//        {attn.schedule = #attn.schedule<block_m = 128, block_n = 64, ..., warps = 4, stages = 2>}
//
// becomes
//
//   scf.forall (%entry, %out, %row) ... step (1, 64, 128) {
//     %sums = scf.for %k = 0 to in step 64 iter_args(zeros : tensor<128x64xf32>) {
//       %xt = tensor.pad (rows of %x from %row, channels from %k) : tensor<128x64xf16>
//       %wt = tensor.pad (rows of %w from %out, channels from %k) : tensor<64x64xf16>
//       linalg.generic (row, out, in) ins(%xt, %wt) outs(the sums)
//     }
//     the sums, plus %b, rounded
//   } {mapping = [#gpu.block<z>, #gpu.block<y>, #gpu.block<x>]}
//
// Where each entry of the batch has one row, the entries are the rows.

#include "attn/IR/AttrNames.h"
#include "attn/IR/LinalgBuilder.h"
#include "attn/Transforms/BlockTask.h"
#include "attn/Transforms/Projection.h"
#include "attn/Transforms/TileBlocks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::attn;

/// Bytes of a row that a step takes: the 32 banks of shared memory.
static constexpr int64_t kStepBytes = 128;

namespace {
/// Tiles one projection.
class BlockProjection {
public:
  BlockProjection(RewriterBase &rewriter, linalg::GenericOp op)
      : rewriter(rewriter), b(op.getLoc(), rewriter), op(op),
        schedule(op->getAttrOfType<ScheduleAttr>(kScheduleAttrName)),
        rounding(findRounding(op)) {}

  void run();

private:
  OpFoldResult index(int64_t value) { return b.getIndexAttr(value); }
  Value matrix(Value tensor);
  Value tile(Value matrix, Value row, Value column, ArrayRef<int64_t> shape);
  Value sumProducts();
  Value addBias(Value sums);
  void buildTask(Value all);

  RewriterBase &rewriter;
  ImplicitLocOpBuilder b;
  linalg::GenericOp op;
  ScheduleAttr schedule;
  /// What rounds the result, or null.
  linalg::GenericOp rounding;
  /// What is added to the products, or null.
  Value bias;
  /// The dimensions of [batch, row, channel] that blocks of threads have one of
  /// each, and that they have blocks of.
  int64_t entryDim = 0, rowDim = 1;
  /// Where the task begins.
  Value entry, row, out;
};
} // namespace

/// Return the rows of the task's entry, of a tensor [batch, row, channel].
Value BlockProjection::matrix(Value tensor) {
  SmallVector<OpFoldResult> offsets(3, index(0)),
      sizes = tensor::getMixedSizes(b, b.getLoc(), tensor), ones(3, index(1));
  offsets[entryDim] = entry;
  sizes[entryDim] = index(1);
  auto type = RankedTensorType::get(
      decomposeMixedValues({sizes[rowDim], sizes[2]}).first,
      getElementTypeOrSelf(tensor));
  return tensor::ExtractSliceOp::create(b, type, tensor, offsets, sizes, ones);
}

/// Return the tile of `shape` of a matrix from `row` and `column` on.
Value BlockProjection::tile(Value matrix, Value row, Value column,
                            ArrayRef<int64_t> shape) {
  SmallVector<OpFoldResult> extents =
      tensor::getMixedSizes(b, b.getLoc(), matrix);
  Value used = sliceTo(b, 2, matrix, {row, column},
                       {clampBlock(b, row, extents[0], shape[0]),
                        clampBlock(b, column, extents[1], shape[1])});
  return padTile(b, b.getLoc(), used, shape);
}

/// Return the products of the task's rows and outputs, added up in the order of the
/// channels.
Value BlockProjection::sumProducts() {
  Value tokens = matrix(op.getDpsInputs()[0]), weight = op.getDpsInputs()[1];
  Type type = getElementTypeOrSelf(op.getResult(0));
  OpFoldResult channels = tensor::getMixedSize(b, b.getLoc(), weight, 1);
  int64_t bytes = getElementTypeOrSelf(weight).getIntOrFloatBitWidth() / 8,
          step = kStepBytes / bytes, blockM = schedule.getBlockM(),
          blockN = schedule.getBlockN();
  if (std::optional<int64_t> known = getConstantIntValue(channels))
    step = std::min(step, paddedChannels(index(*known)));
  Value zeros =
      getFilled(b, {index(blockM), index(blockN)}, getFloat(b, type, 0.0));
  auto addStep = [&](Value in, ValueRange sums) -> SmallVector<Value> {
    Value left = tile(tokens, row, in, {blockM, step});
    Value right = tile(weight, out, in, {blockN, step});
    AffineExpr m, n, k;
    bindDims(b.getContext(), m, n, k);
    return {buildGeneric(b, {{left, {m, k}}, {right, {n, k}}},
                         {sums.front(), {m, n}}, [&](ValueRange args) -> Value {
                           Value product = arith::MulFOp::create(
                               b, convertFloat(b, args[0], type),
                               convertFloat(b, args[1], type));
                           return arith::AddFOp::create(b, args[2], product);
                         })};
  };
  return buildStateLoop(b, channels, step, {zeros}, addStep).front();
}

/// Return `sums` with what is added to them.
Value BlockProjection::addBias(Value sums) {
  if (!bias)
    return sums;
  auto type = cast<RankedTensorType>(sums.getType());
  auto biasType = cast<RankedTensorType>(bias.getType());
  Value added;
  if (biasType.getRank() == 1) {
    OpFoldResult outs = tensor::getMixedSize(b, b.getLoc(), bias, 0);
    int64_t blockN = schedule.getBlockN();
    added = sliceTo(b, 1, bias, {out}, {clampBlock(b, out, outs, blockN)});
    added = padTile(b, b.getLoc(), added, {blockN});
  } else {
    added = tile(matrix(bias), row, out, type.getShape());
  }
  if (biasType.getElementType() != type.getElementType())
    added = arith::ExtFOp::create(
        b, cast<RankedTensorType>(added.getType()).clone(type.getElementType()),
        added);
  if (biasType.getRank() == 1) {
    Value empty =
        tensor::EmptyOp::create(b, type.getShape(), type.getElementType());
    added = linalg::BroadcastOp::create(b, added, empty, ArrayRef<int64_t>{0})
                .getResult()[0];
  }
  return arith::AddFOp::create(b, sums, added);
}

/// Build the task of a loop over blocks of the result `all`.
void BlockProjection::buildTask(Value all) {
  Value result = addBias(sumProducts());
  auto type = cast<RankedTensorType>(all.getType());
  if (rounding)
    result = arith::TruncFOp::create(
        b,
        cast<RankedTensorType>(result.getType()).clone(type.getElementType()),
        result);
  SmallVector<OpFoldResult> extents = tensor::getMixedSizes(b, b.getLoc(), all),
                            offsets(3, index(0)), sizes(3, index(1));
  offsets[entryDim] = entry;
  offsets[rowDim] = row;
  offsets[2] = out;
  sizes[rowDim] = clampBlock(b, row, extents[rowDim], schedule.getBlockM());
  sizes[2] = clampBlock(b, out, extents[2], schedule.getBlockN());
  result =
      sliceTo(b, 2, result, {index(0), index(0)}, {sizes[rowDim], sizes[2]});
  auto task = cast<scf::ForallOp>(b.getInsertionBlock()->getParentOp());
  b.setInsertionPointToEnd(task.getTerminator().getBody());
  SmallVector<OpFoldResult> ones(3, index(1));
  tensor::ParallelInsertSliceOp::create(b, result, all, offsets, sizes, ones);
}

void BlockProjection::run() {
  Operation *last = rounding ? rounding : op;
  b.setInsertionPoint(op);
  bias = findBias(op);
  SmallVector<OpFoldResult> extents =
      tensor::getMixedSizes(b, b.getLoc(), op.getDpsInits()[0]);
  if (getConstantIntValue(extents[1]) == 1)
    std::swap(entryDim, rowDim);
  Value dest = tensor::EmptyOp::create(
      b, extents, getElementTypeOrSelf(last->getResult(0)));
  auto task = scf::ForallOp::create(
      b, SmallVector<OpFoldResult>(3, index(0)),
      SmallVector<OpFoldResult>{extents[entryDim], extents[2], extents[rowDim]},
      SmallVector<OpFoldResult>{index(1), index(schedule.getBlockN()),
                                index(schedule.getBlockM())},
      ValueRange{dest}, b.getArrayAttr(getBlockMapping(schedule, 3)));
  task->setAttr(kScheduleAttrName, schedule);
  entry = task.getInductionVar(0);
  out = task.getInductionVar(1);
  row = task.getInductionVar(2);
  b.setInsertionPoint(task.getTerminator());
  buildTask(task.getRegionIterArgs()[0]);
  b.setInsertionPointAfter(task);
  rewriter.replaceOp(
      last, castTensor(b, task.getResult(0), last->getResult(0).getType()));
  if (rounding)
    rewriter.eraseOp(op);
}

void attn::tileBlockProjection(RewriterBase &rewriter, linalg::GenericOp op) {
  BlockProjection(rewriter, op).run();
}
