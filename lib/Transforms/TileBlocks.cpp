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
// With `attn.few_schedule` there are two such loops, one after the other on the same tensor: the first for sequences of
// more rows than a task of that schedule has, the second for the others.
//
// The outer loops come from upstream's tiler on the op's TilingInterface; BlockTask builds what is inside.

#include "attn/Transforms/TileBlocks.h"
#include "ValueParts.h"

#include "attn/IR/AttrNames.h"
#include "attn/Transforms/BlockTask.h"
#include "attn/Transforms/Passes.h"
#include "attn/Transforms/SelectSchedule.h"

#include "attn/IR/PackedRows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
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
  // Blocks of threads fold heads of one row each, or all rows of a split.
  if (schedule.getWarps() > 0 && schedule.getFoldHeads())
    rows = 1;
  return {rewriter.getIndexAttr(1), rewriter.getIndexAttr(heads),
          rewriter.getIndexAttr(rows)};
}

SmallVector<Attribute> attn::getBlockMapping(ScheduleAttr schedule,
                                             int64_t count) {
  SmallVector<Attribute> mapping;
  if (schedule.getWarps() == 0)
    return mapping;
  gpu::MappingId ids[] = {gpu::MappingId::DimZ, gpu::MappingId::DimY,
                          gpu::MappingId::DimX};
  for (gpu::MappingId id : ArrayRef(ids).take_back(count))
    mapping.push_back(gpu::GPUBlockMappingAttr::get(schedule.getContext(), id));
  return mapping;
}

/// Return the place in `insert`'s destination where its source goes.
template <typename InsertOp>
static Value placeOf(RewriterBase &rewriter, InsertOp insert) {
  return tensor::ExtractSliceOp::create(
      rewriter, insert.getLoc(), insert.getDest(), insert.getMixedOffsets(),
      insert.getMixedSizes(), insert.getMixedStrides());
}

/// Build `task`, of `tile`, whose strips are finished one by one, and erase it.
template <typename InsertOp>
static LogicalResult buildFinishedTask(RewriterBase &rewriter, SdpaOp tile,
                                       BlockTask &task) {
  SmallVector<InsertOp> inserts;
  SmallVector<Value> places;
  for (Value result : tile->getResults()) {
    inserts.push_back(cast<InsertOp>(*result.getUsers().begin()));
    places.push_back(placeOf(rewriter, inserts.back()));
  }
  FailureOr<SmallVector<Value>> outputs = task.buildOutputs(places);
  if (failed(outputs))
    return failure();
  for (unsigned i = 0; i < inserts.size(); ++i)
    rewriter.modifyOpInPlace(inserts[i], [&] {
      inserts[i].getSourceMutable().assign((*outputs)[i]);
    });
  rewriter.eraseOp(tile);
  return success();
}

/// Build the task of `tile`, whose results are inserted by ops of type InsertOp,
/// and erase it.
template <typename InsertOp>
static LogicalResult buildTask(RewriterBase &rewriter, SdpaOp tile,
                               bool mayBeEmpty,
                               std::optional<PackedKeys> packed) {
  BlockTask task(rewriter, tile, mayBeEmpty, packed);
  if (task.canFinishStrips())
    return buildFinishedTask<InsertOp>(rewriter, tile, task);
  FailureOr<PackedState> state = task.buildState();
  if (failed(state))
    return failure();
  std::pair<Value, Value> ends = task.buildFinish(*state);
  auto write = [&](Value result, function_ref<Value(Value)> unpack) {
    auto insert = cast<InsertOp>(*result.getUsers().begin());
    Value place = placeOf(rewriter, insert);
    Value written = unpack(place);
    rewriter.modifyOpInPlace(
        insert, [&] { insert.getSourceMutable().assign(written); });
  };
  rewriter.setInsertionPointAfter(tile);
  write(tile.getOutput(),
        [&](Value place) { return task.unpackOutput(ends.first, place); });
  if (tile.getLse())
    write(tile.getLse(),
          [&](Value place) { return task.unpackLse(ends.second, place); });
  if (tile.getWeights())
    write(tile.getWeights(),
          [&](Value place) { return task.buildWeights(*state, place); });
  rewriter.eraseOp(tile);
  return success();
}

/// Build the task of `tile` where one block holds all keys: they are packed
/// once, and one strip of rows after the other is finished.
static LogicalResult buildStrips(RewriterBase &rewriter, SdpaOp tile,
                                 const PackedKeys &packed) {
  ScheduleAttr schedule = tile.getScheduleAttr();
  SmallVector<Value> places;
  for (Value result : tile->getResults())
    places.push_back(placeOf(rewriter, cast<tensor::ParallelInsertSliceOp>(
                                           *result.getUsers().begin())));
  scf::SCFTilingOptions options;
  options.setTileSizes({rewriter.getIndexAttr(0), rewriter.getIndexAttr(0),
                        rewriter.getIndexAttr(schedule.getRows())});
  FailureOr<scf::SCFTilingResult> tiled = scf::tileUsingSCF(
      rewriter, cast<TilingInterface>(tile.getOperation()), options);
  if (failed(tiled))
    return failure();
  auto loop = cast<scf::ForOp>(tiled->loops.front());
  for (auto [init, place] : llvm::zip(loop.getInitArgsMutable(), places))
    init.assign(place);
  setAhead(loop, schedule);
  rewriter.replaceOp(tile, tiled->replacements);
  auto strip = cast<SdpaOp>(tiled->tiledOps.front());
  // After all that the places of its results are computed from.
  Operation *end = loop.getBody()->getTerminator();
  rewriter.moveOpBefore(strip, end);
  for (Value result : strip->getResults())
    rewriter.moveOpBefore(*result.getUsers().begin(), end);
  strip.setScheduleAttr(ScheduleAttr::get(
      rewriter.getContext(), schedule.getRows(), schedule.getBlockN(),
      schedule.getRows(), schedule.getColumns(), schedule.getLanes(),
      /*chunk=*/0, /*fold_heads=*/false, /*streams=*/0, schedule.getPrefetch(),
      /*warps=*/0, /*stages=*/0, Precision::Exact, schedule.getInPlace()));
  return buildTask<tensor::InsertSliceOp>(rewriter, strip, /*mayBeEmpty=*/false,
                                          packed);
}

/// Replace `op` by a loop over tasks of one schedule.
static FailureOr<scf::ForallOp> tileTasks(RewriterBase &rewriter, SdpaOp op) {
  SmallVector<Value> places = findPlaces(rewriter, op);
  rewriter.setInsertionPoint(op);
  scf::SCFTilingOptions options;
  options.setLoopType(scf::SCFTilingOptions::LoopType::ForallOp);
  options.setTileSizes(taskSizes(rewriter, op));
  SmallVector<Attribute> mapping = getBlockMapping(op.getScheduleAttr(), 3);
  if (!mapping.empty())
    options.setMapping(mapping);
  FailureOr<scf::SCFTilingResult> tiled = scf::tileUsingSCF(
      rewriter, cast<TilingInterface>(op.getOperation()), options);
  if (failed(tiled))
    return failure();
  auto loop = cast<scf::ForallOp>(tiled->loops.front());
  loop->setAttr(kScheduleAttrName, op.getScheduleAttr());
  for (auto [output, place] : llvm::zip(loop.getOutputsMutable(), places))
    if (place)
      output.set(place);
  bool mayBeEmpty = op.hasPackedRows();
  rewriter.replaceOp(op, tiled->replacements);
  auto tile = cast<SdpaOp>(tiled->tiledOps.front());
  // After all that the places of its results are computed from.
  rewriter.moveOpBefore(tile, tile->getBlock()->getTerminator());
  bool isForThreads = tile.getScheduleAttr().getWarps() > 0;
  if (std::optional<PackedKeys> packed =
          isForThreads
              ? std::nullopt
              : BlockTask(rewriter, tile, mayBeEmpty).packOnlyBlock()) {
    if (failed(buildStrips(rewriter, tile, *packed)))
      return failure();
    return loop;
  }
  if (failed(buildTask<tensor::ParallelInsertSliceOp>(
          rewriter, tile, mayBeEmpty, std::nullopt)))
    return failure();
  return loop;
}

LogicalResult attn::tileBlocks(RewriterBase &rewriter, SdpaOp op) {
  reportMaskMod(op);
  auto few = op->getAttrOfType<ScheduleAttr>(kFewScheduleAttrName);
  if (!few)
    return tileTasks(rewriter, op);
  // Sequences of few rows are a loop of their own, which writes between the rows of
  // the others.
  op->removeAttr(kFewScheduleAttrName);
  rewriter.setInsertionPointAfter(op);
  auto rest = cast<SdpaOp>(rewriter.clone(*op));
  rest.setScheduleAttr(few);
  auto limit = rewriter.getIndexAttr(
      *getConstantIntValue(taskSizes(rewriter, rest).back()));
  rest->setAttr(kMostRowsAttrName, limit);
  op->setAttr(kMoreRowsAttrName, limit);
  rewriter.replaceAllUsesWith(op->getResults(), rest->getResults());
  FailureOr<scf::ForallOp> many = tileTasks(rewriter, op);
  if (failed(many))
    return failure();
  FailureOr<scf::ForallOp> others = tileTasks(rewriter, rest);
  if (failed(others))
    return failure();
  for (auto [init, result] :
       llvm::zip_equal(others->getOutputsMutable(), many->getResults()))
    init.assign(result);
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
