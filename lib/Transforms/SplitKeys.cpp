// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gives threads work where rows are few: the keys of one attention are split in chunks.
//
//   %o = attn.sdpa %q, %k, %v schedule = <..., chunk = 1024, fold_heads = true> : ...
//
// becomes
//
//   %parts:3 = scf.forall (%b, %heads, %c) ... { state of the keys of chunk %c }
//   %o = scf.forall (%b, %heads) ... {
//     %s:3 = scf.for %c = 1 to chunks { attn.merge of the state so far and that of chunk %c }
//     attn.finish %s#0, %s#1, %s#2
//   }
//
// The size of a chunk is the schedule's and states are merged in their order, so that the result does not depend on who
// computes what.

#include "attn/Analysis/KnownExtents.h"
#include "attn/Transforms/BlockTask.h"
#include "attn/Transforms/Passes.h"
#include "attn/Transforms/TileBlocks.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::attn {
#define GEN_PASS_DEF_SPLITKEYS
#include "attn/Transforms/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

namespace {
/// Splits one op.
class KeySplitter {
public:
  KeySplitter(RewriterBase &rewriter, SdpaOp op)
      : b(rewriter), op(op), loc(op.getLoc()), schedule(op.getScheduleAttr()) {}

  LogicalResult run();

private:
  FailureOr<SdpaOp> tileAt(Value batch, Value tile);
  scf::ForallOp loopOver(ArrayRef<OpFoldResult> sizes, ValueRange outputs);
  OpFoldResult chunksOf(OpFoldResult keys);
  Value newParts(ArrayRef<OpFoldResult> shape, Type element);
  LogicalResult buildParts();
  LogicalResult buildEnd();
  Value slicePart(Value part, ArrayRef<Value> at);
  void insertAt(scf::ForallOp loop, Value value, Value dest,
                ArrayRef<Value> at);

  RewriterBase &b;
  SdpaOp op;
  Location loc;
  ScheduleAttr schedule;
  OpFoldResult batches, tiles, chunks;
  /// What `chunks` cannot exceed: known when the function starts.
  OpFoldResult mostChunks;
  AttentionDims dims;
  int64_t heads = 1;
  /// The states of all chunks: [batch, tile, chunk, ...].
  SmallVector<Value> parts;
};
} // namespace

/// Return `op` on the heads of tile `tile` of batch entry `batch`.
FailureOr<SdpaOp> KeySplitter::tileAt(Value batch, Value tile) {
  OpFoldResult one = b.getIndexAttr(1), zero = b.getIndexAttr(0);
  Value head = arith::MulIOp::create(
      b, loc, tile, arith::ConstantIndexOp::create(b, loc, heads));
  FailureOr<TilingResult> tiled = op.getTiledImplementation(
      b, {batch, head, zero}, {one, b.getIndexAttr(heads), dims.rows});
  if (failed(tiled))
    return failure();
  return cast<SdpaOp>(tiled->tiledOps.front());
}

/// Return a parallel loop from 0 to `sizes` that writes `outputs`, with the
/// insertion point in it.
scf::ForallOp KeySplitter::loopOver(ArrayRef<OpFoldResult> sizes,
                                    ValueRange outputs) {
  auto loop = scf::ForallOp::create(b, loc, sizes, outputs, std::nullopt);
  loop->setAttr("attn.schedule", schedule);
  b.setInsertionPoint(loop.getTerminator());
  return loop;
}

/// Insert `value` as element `at` of the leading dimensions of `dest`.
void KeySplitter::insertAt(scf::ForallOp loop, Value value, Value dest,
                           ArrayRef<Value> at) {
  SmallVector<OpFoldResult> offsets(at.begin(), at.end()),
      sizes(at.size(), b.getIndexAttr(1));
  for (OpFoldResult size : tensor::getMixedSizes(b, loc, value)) {
    offsets.push_back(b.getIndexAttr(0));
    sizes.push_back(size);
  }
  SmallVector<OpFoldResult> ones(sizes.size(), b.getIndexAttr(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(loop.getTerminator().getBody());
  tensor::ParallelInsertSliceOp::create(b, loc, value, dest, offsets, sizes,
                                        ones);
}

/// Return element `at` of the leading dimensions of `part`.
Value KeySplitter::slicePart(Value part, ArrayRef<Value> at) {
  auto type = cast<RankedTensorType>(part.getType());
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, part);
  SmallVector<OpFoldResult> offsets(sizes.size(), b.getIndexAttr(0)),
      ones(sizes.size(), b.getIndexAttr(1));
  for (auto [i, index] : llvm::enumerate(at)) {
    offsets[i] = index;
    sizes[i] = b.getIndexAttr(1);
  }
  auto element = RankedTensorType::get(type.getShape().drop_front(at.size()),
                                       type.getElementType());
  return tensor::ExtractSliceOp::create(b, loc, element, part, offsets, sizes,
                                        ones);
}

/// Build the loop that computes the state of every chunk.
LogicalResult KeySplitter::buildParts() {
  auto type = cast<RankedTensorType>(op.getQuery().getType());
  Type element =
      type.getElementType().isF64() ? b.getF64Type() : b.getF32Type();
  AffineExpr s0;
  bindSymbols(b.getContext(), s0);
  OpFoldResult strips = affine::makeComposedFoldedAffineApply(
      b, loc, (s0 * heads).ceilDiv(schedule.getRows()), {dims.rows});
  SmallVector<Value> inits;
  for (ArrayRef<OpFoldResult> shape :
       getStateSizes(b, loc, schedule, strips, dims.valueSize))
    inits.push_back(newParts(shape, element));
  OpBuilder::InsertionGuard guard(b);
  scf::ForallOp loop = loopOver({batches, tiles, chunks}, inits);
  SmallVector<Value> at(loop.getInductionVars());
  Value size = arith::ConstantIndexOp::create(b, loc, schedule.getChunk());
  Value begin = arith::MulIOp::create(b, loc, at[2], size);
  Value end = arith::AddIOp::create(b, loc, begin, size);
  FailureOr<SdpaOp> tile = tileAt(at[0], at[1]);
  if (failed(tile))
    return failure();
  BlockTask task(b, *tile);
  FailureOr<PackedState> state = task.buildState(begin, end);
  if (failed(state))
    return failure();
  ArrayRef<BlockArgument> outputs = loop.getRegionIterArgs();
  insertAt(loop, state->reference, outputs[0], at);
  insertAt(loop, state->sum, outputs[1], at);
  insertAt(loop, state->acc, outputs[2], at);
  b.eraseOp(*tile);
  parts.assign(loop.result_begin(), loop.result_end());
  return success();
}

/// Build the loop that merges the states of all chunks and finishes.
LogicalResult KeySplitter::buildEnd() {
  SmallVector<Value> inits;
  ReifiedRankedShapedTypeDims shapes;
  if (failed(op.reifyResultShapes(b, shapes)))
    return failure();
  for (auto [result, shape] : llvm::zip(op->getResults(), shapes))
    inits.push_back(tensor::EmptyOp::create(
        b, loc, shape,
        cast<RankedTensorType>(result.getType()).getElementType()));
  scf::ForallOp loop = loopOver({batches, tiles}, inits);
  Value batch = loop.getInductionVars()[0], tile = loop.getInductionVars()[1];
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  FailureOr<SdpaOp> small = tileAt(batch, tile);
  if (failed(small))
    return failure();
  BlockTask task(b, *small);
  SmallVector<Value> first;
  for (Value part : parts)
    first.push_back(slicePart(part, {batch, tile, index(0)}));
  Value count = getValueOrCreateConstantIndexOp(b, loc, chunks);
  auto merges = scf::ForOp::create(b, loc, index(1), count, index(1), first);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(merges.getBody());
    SmallVector<Value> so(merges.getRegionIterArgs().begin(),
                          merges.getRegionIterArgs().end());
    SmallVector<Value> next;
    for (Value part : parts)
      next.push_back(slicePart(part, {batch, tile, merges.getInductionVar()}));
    auto merge = MergeOp::create(b, loc, so[0].getType(), so[1].getType(),
                                 so[2].getType(), so[0], so[1], so[2], next[0],
                                 next[1], next[2]);
    scf::YieldOp::create(b, loc, merge.getResults());
  }
  std::pair<Value, Value> ends = task.buildFinish(
      {merges.getResult(0), merges.getResult(1), merges.getResult(2)});
  auto write = [&](unsigned number, function_ref<Value(Value)> unpack) {
    Value dest = loop.getRegionIterArgs()[number];
    SmallVector<OpFoldResult> offsets, sizes;
    (void)op.getResultTilePosition(
        b, number,
        {batch, arith::MulIOp::create(b, loc, tile, index(heads)).getResult(),
         b.getIndexAttr(0)},
        {b.getIndexAttr(1), b.getIndexAttr(heads), dims.rows}, offsets, sizes);
    SmallVector<OpFoldResult> ones(sizes.size(), b.getIndexAttr(1));
    Value place =
        tensor::ExtractSliceOp::create(b, loc, dest, offsets, sizes, ones);
    Value value = unpack(place);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(loop.getTerminator().getBody());
    tensor::ParallelInsertSliceOp::create(b, loc, value, dest, offsets, sizes,
                                          ones);
  };
  write(0, [&](Value dest) { return task.unpackOutput(ends.first, dest); });
  if (op.getLse())
    write(1, [&](Value dest) { return task.unpackLse(ends.second, dest); });
  b.eraseOp(*small);
  b.replaceOp(op, loop.getResults());
  return success();
}

/// Return in how many chunks `keys` are cut: one where there is no key, whose
/// state is the empty one. (Of the ways to say max(ceil(n / c), 1), this one has a
/// bound that analyses find.)
OpFoldResult KeySplitter::chunksOf(OpFoldResult keys) {
  if (std::optional<int64_t> known = getConstantIntValue(keys)) {
    keys = b.getIndexAttr(std::max<int64_t>(*known, 1));
  } else {
    Value one = arith::ConstantIndexOp::create(b, loc, 1);
    keys = arith::MaxSIOp::create(b, loc, cast<Value>(keys), one).getResult();
  }
  AffineExpr s0;
  bindSymbols(b.getContext(), s0);
  return affine::makeComposedFoldedAffineApply(
      b, loc, (s0 - 1).floorDiv(schedule.getChunk()) + 1, {keys});
}

/// Return a tensor for one of the three parts of the states, each of `shape`. Its
/// memory has room for as many chunks as there can be.
Value KeySplitter::newParts(ArrayRef<OpFoldResult> shape, Type element) {
  SmallVector<OpFoldResult> sizes = {batches, tiles, mostChunks};
  llvm::append_range(sizes, shape);
  Value all = tensor::EmptyOp::create(b, loc, sizes, element);
  if (isEqualConstantIntOrValue(chunks, mostChunks))
    return all;
  sizes[2] = chunks;
  SmallVector<OpFoldResult> zeros(sizes.size(), b.getIndexAttr(0)),
      ones(sizes.size(), b.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(b, loc, all, zeros, sizes, ones);
}

LogicalResult KeySplitter::run() {
  reportMaskMod(op);
  b.setInsertionPoint(op);
  dims = AttentionDims::get(b, op);
  heads = *getConstantIntValue(taskSizes(b, op)[1]);
  AffineExpr s0;
  bindSymbols(b.getContext(), s0);
  batches = dims.batch;
  tiles = affine::makeComposedFoldedAffineApply(b, loc, s0.floorDiv(heads),
                                                {dims.heads});
  chunks = mostChunks = chunksOf(dims.keys);
  TensorDim key{op.getKey(), sequenceDim(op.getKeyLayout())};
  if (TensorDim whole = getWhole(key);
      whole.tensor != key.tensor && !op.isPaged())
    mostChunks =
        chunksOf(tensor::getMixedSize(b, loc, whole.tensor, whole.dim));
  if (failed(buildParts()))
    return failure();
  b.setInsertionPoint(op);
  return buildEnd();
}

LogicalResult attn::splitKeys(RewriterBase &rewriter, SdpaOp op) {
  return KeySplitter(rewriter, op).run();
}

namespace {
struct SplitKeys : public attn::impl::SplitKeysBase<SplitKeys> {
  void runOnOperation() override {
    SmallVector<SdpaOp> ops;
    getOperation()->walk([&](SdpaOp op) {
      if (op.getSchedule() && op.getScheduleAttr().getChunk() > 0)
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (SdpaOp op : ops)
      if (failed(splitKeys(rewriter, op))) {
        op.emitOpError() << "cannot be split as its schedule says";
        return signalPassFailure();
      }
  }
};
} // namespace
