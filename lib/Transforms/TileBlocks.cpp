// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles attention for a CPU as its schedule says:
//
//   %o = attn.sdpa %q, %k, %v schedule = <block_m = 256, ...> : ...
//
// becomes
//
//   scf.forall (%b, %h, %m) in ... shared_outs(%out = ...) {
//     %s:3 = loops over attn.block_step on packed tiles
//     %o, %l = attn.finish %s#0, %s#1, %s#2
//     %t = linalg.unpack %o ... into a slice of %out
//     where weights are asked for: loops over attn.block_weights, into a slice of them
//     scf.forall.in_parallel { tensor.parallel_insert_slice %t into %out ... }
//   }
//
// The outer loops come from upstream's tiler on the op's TilingInterface; BlockTask builds what is inside.

#include "attn/Transforms/TileBlocks.h"
#include "attn/Transforms/BlockTask.h"
#include "attn/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::attn {
#define GEN_PASS_DEF_TILEBLOCKS
#include "attn/Transforms/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

SmallVector<OpFoldResult> attn::taskSizes(RewriterBase &rewriter, SdpaOp op) {
  ScheduleAttr schedule = op.getScheduleAttr();
  AttentionShape shape = AttentionShape::get(op);
  int64_t heads = 1;
  if (schedule.getFoldHeads() && shape.kvHeads > 0)
    heads = std::max<int64_t>(shape.heads / shape.kvHeads, 1);
  // Folded heads leave fewer rows for each.
  int64_t rows = std::max<int64_t>(schedule.getBlockM() / heads, 1);
  return {rewriter.getIndexAttr(1), rewriter.getIndexAttr(heads),
          rewriter.getIndexAttr(rows)};
}

/// Replace what `result` of a tile is inserted as by the value that `write`
/// makes of the place where it goes.
static void writeInPlace(RewriterBase &rewriter, Value result,
                         function_ref<Value(Value)> write) {
  auto insert = cast<tensor::ParallelInsertSliceOp>(*result.getUsers().begin());
  // After all that the place is computed from.
  rewriter.setInsertionPoint(insert->getParentOp());
  Value dest = tensor::ExtractSliceOp::create(
      rewriter, insert.getLoc(), insert.getDest(), insert.getMixedOffsets(),
      insert.getMixedSizes(), insert.getMixedStrides());
  Value written = write(dest);
  rewriter.modifyOpInPlace(insert,
                           [&] { insert.getSourceMutable().assign(written); });
}

LogicalResult attn::tileBlocks(RewriterBase &rewriter, SdpaOp op) {
  reportMaskMod(op);
  rewriter.setInsertionPoint(op);
  scf::SCFTilingOptions options;
  options.setLoopType(scf::SCFTilingOptions::LoopType::ForallOp);
  options.setTileSizes(taskSizes(rewriter, op));
  FailureOr<scf::SCFTilingResult> tiled = scf::tileUsingSCF(
      rewriter, cast<TilingInterface>(op.getOperation()), options);
  if (failed(tiled))
    return failure();
  tiled->loops.front()->setAttr("attn.schedule", op.getScheduleAttr());
  bool mayBeEmpty = op.hasPackedRows();
  rewriter.replaceOp(op, tiled->replacements);
  auto tile = cast<SdpaOp>(tiled->tiledOps.front());
  BlockTask task(rewriter, tile, mayBeEmpty);
  FailureOr<PackedState> state = task.buildState();
  if (failed(state))
    return failure();
  std::pair<Value, Value> ends = task.buildFinish(*state);
  writeInPlace(rewriter, tile.getOutput(),
               [&](Value dest) { return task.unpackOutput(ends.first, dest); });
  if (tile.getLse())
    writeInPlace(rewriter, tile.getLse(),
                 [&](Value dest) { return task.unpackLse(ends.second, dest); });
  if (tile.getWeights())
    writeInPlace(rewriter, tile.getWeights(), [&](Value dest) {
      return task.buildWeights(ends.second, dest);
    });
  rewriter.eraseOp(tile);
  return success();
}

namespace {
struct TileBlocks : public attn::impl::TileBlocksBase<TileBlocks> {
  void runOnOperation() override {
    SmallVector<SdpaOp> ops;
    getOperation()->walk([&](SdpaOp op) {
      if (op.getSchedule())
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (SdpaOp op : ops)
      if (failed(tileBlocks(rewriter, op))) {
        op.emitOpError() << "cannot be tiled as its schedule says";
        return signalPassFailure();
      }
  }
};
} // namespace
