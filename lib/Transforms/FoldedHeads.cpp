// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lets blocks of threads work on several rows of several heads: every key is read once for all heads of a group. Rows are
// put together before,
//
//   %rows = linalg.generic (batch, tile, row, channel) {
//     tensor.extract %q[batch, tile * heads + row / M, row mod M, channel]
//   }
//
// and each head takes its own from the states, [heads * M, ...], in the end:
//
//   %own = tensor.extract_slice %state[(head mod heads) * M, ...]

#include "attn/Transforms/FoldedHeads.h"

#include "attn/Analysis/CudaCostModel.h"
#include "attn/IR/LinalgBuilder.h"
#include "attn/Transforms/BlockTask.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::attn;

Value attn::foldQuery(OpBuilder &builder, SdpaOp op, const AttentionDims &dims,
                      int64_t heads) {
  ImplicitLocOpBuilder b(op.getLoc(), builder);
  Layout layout = op.getQueryLayout();
  Value query = op.getQuery(),
        rows = getValueOrCreateConstantIndexOp(b, b.getLoc(), dims.rows);
  AffineExpr s0 = b.getAffineSymbolExpr(0);
  auto apply = [&](AffineExpr expr, OpFoldResult value) {
    return affine::makeComposedFoldedAffineApply(b, b.getLoc(), expr, {value});
  };
  Value empty = tensor::EmptyOp::create(
      b,
      ArrayRef<OpFoldResult>{dims.batch, apply(s0.floorDiv(heads), dims.heads),
                             apply(s0 * heads, dims.rows), dims.headSize},
      getElementTypeOrSelf(query));
  AffineExpr batch, tile, row, channel;
  bindDims(b.getContext(), batch, tile, row, channel);
  return buildGeneric(
      b, {}, {empty, {batch, tile, row, channel}}, [&](ValueRange) -> Value {
        auto number = [&](int64_t dim) -> Value {
          return linalg::IndexOp::create(b, dim);
        };
        Value count = arith::ConstantIndexOp::create(b, heads);
        Value first = arith::MulIOp::create(b, number(1), count);
        Value inTile = arith::DivUIOp::create(b, number(2), rows);
        SmallVector<Value> at(4);
        at[kBatchDim] = number(0);
        at[headDim(layout)] = arith::AddIOp::create(b, first, inTile);
        at[sequenceDim(layout)] = arith::RemUIOp::create(b, number(2), rows);
        at[kChannelDim] = number(3);
        return tensor::ExtractOp::create(b, query, at);
      });
}

Value attn::takeHead(OpBuilder &b, Location loc, Value part, Value head,
                     int64_t heads, OpFoldResult rows) {
  auto type = cast<RankedTensorType>(part.getType());
  AffineExpr s0, s1;
  bindSymbols(b.getContext(), s0, s1);
  OpFoldResult first = affine::makeComposedFoldedAffineApply(
      b, loc, (s0 % heads) * s1, {getAsOpFoldResult(head), rows});
  AffineExpr counts[] = {b.getAffineConstantExpr(kFewBlockRows),
                         type.getDimSize(0) - s0};
  SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0)),
      ones(type.getRank(), b.getIndexAttr(1)),
      sizes = tensor::getMixedSizes(b, loc, part);
  offsets[0] = first;
  sizes[0] = affine::makeComposedFoldedAffineMin(
      b, loc, AffineMap::get(0, 1, counts, b.getContext()), {first});
  Value own =
      tensor::ExtractSliceOp::create(b, loc, part, offsets, sizes, ones);
  SmallVector<int64_t> shape(type.getShape());
  shape[0] = kFewBlockRows;
  return padTile(b, loc, own, shape);
}

ScheduleAttr attn::getHeadSchedule(ScheduleAttr schedule) {
  return ScheduleAttr::get(
      schedule.getContext(), kFewBlockRows, schedule.getBlockN(), kFewBlockRows,
      schedule.getColumns(), schedule.getLanes(), schedule.getChunk(),
      /*fold_heads=*/false, /*streams=*/0, /*prefetch=*/0, /*warps=*/1,
      schedule.getStages());
}
