// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The products of an attn.block_step that reads keys and values where they are:
//
//   %s = linalg.generic {attn.schedule = <..., streams = 4>} q [strips, rows, D], k [keys, D] -> [strips, rows, keys]
//   P as it is for packed keys, on [strips, rows, panels, keys]
//   %a = linalg.generic {attn.schedule = <..., streams = 4>} P [strips, rows, keys], v [keys, E] -> acc
//
// Scores have room for whole panels. Lanes of the last that hold no key may hold anything: a block whose keys do not
// fill its panels is bounded, and what is beyond its length is excluded.

#include "StepDecomposer.h"

#include "attn/IR/AttrNames.h"
#include "attn/IR/LinalgBuilder.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::attn;

/// Return the first `keys` of the keys of `scores` [strips, rows, keys].
Value StepDecomposer::firstKeys(Value scores, OpFoldResult keys) {
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(builder, loc, op.getReference());
  sizes.push_back(keys);
  SmallVector<OpFoldResult> zeros(3, builder.getIndexAttr(0)),
      ones(3, builder.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(builder, loc, scores, zeros, sizes,
                                        ones);
}

/// Return q . k as [strips, rows, panels, keys].
Value StepDecomposer::streamedScores() {
  ScheduleAttr schedule = op.getScheduleAttr();
  auto dim = [&](unsigned i) { return builder.getAffineDimExpr(i); };
  int64_t rows =
              cast<RankedTensorType>(op.getReference().getType()).getDimSize(1),
          columns = cast<RankedTensorType>(op.getSum().getType()).getDimSize(2);
  Value all = bufferization::AllocTensorOp::create(
      builder, loc,
      RankedTensorType::get({schedule.getBlockM() / schedule.getRows(), rows,
                             schedule.getBlockN()},
                            tile.elementType),
      ValueRange());
  OpFoldResult keys = tensor::getMixedSize(builder, loc, op.getKey(), 0);
  auto place = firstKeys(all, keys).getDefiningOp<tensor::ExtractSliceOp>();
  Value init = linalg::FillOp::create(builder, loc, tile.constant(builder, 0.0),
                                      place.getResult())
                   .getResult(0);
  auto convert = [&](OpBuilder &b, Value x) -> Value {
    return convertStored(b, loc, x, tile.elementType);
  };
  // (strip, row, key, channel)
  Value product = tile.generic(
      4, {3},
      {{op.getQuery(), {dim(0), dim(1), dim(3)}},
       {op.getKey(), {dim(2), dim(3)}}},
      {{init, {dim(0), dim(1), dim(2)}}}, [&](OpBuilder &b, ValueRange args) {
        Value x = arith::MulFOp::create(b, loc, convert(b, args[0]),
                                        convert(b, args[1]));
        return SmallVector<Value>{arith::AddFOp::create(b, loc, args[2], x)};
      })[0];
  product.getDefiningOp()->setAttr(kScheduleAttrName, schedule);
  all = tensor::InsertSliceOp::create(
      builder, loc, product, all, place.getMixedOffsets(),
      place.getMixedSizes(), place.getMixedStrides());

  AffineExpr s0 = builder.getAffineSymbolExpr(0);
  auto apply = [&](AffineExpr expr) {
    return affine::makeComposedFoldedAffineApply(builder, loc, expr, {keys});
  };
  OpFoldResult panels = apply(s0.ceilDiv(columns));
  Value padded = firstKeys(all, apply(s0.ceilDiv(columns) * columns));
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, padded);
  sizes.back() = panels;
  sizes.push_back(builder.getIndexAttr(columns));
  SmallVector<int64_t> shape = decomposeMixedValues(sizes).first;
  return tensor::ExpandShapeOp::create(
      builder, loc, RankedTensorType::get(shape, tile.elementType), padded,
      ArrayRef<ReassociationIndices>{{0}, {1}, {2, 3}}, sizes);
}

/// Return the weights [strips, rows, panels, keys] of the keys that there are, as
/// [strips, rows, keys].
Value StepDecomposer::streamedWeights(Value weights) {
  Value flat = tensor::CollapseShapeOp::create(
      builder, loc, weights, ArrayRef<ReassociationIndices>{{0}, {1}, {2, 3}});
  return firstKeys(flat, tensor::getMixedSize(builder, loc, op.getKey(), 0));
}
