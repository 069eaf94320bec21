// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Leaves later passes one way to say what attention allows to be said in several:
//
//   %o = attn.sdpa %q, %k, %v mask(%m : tensor<8x16xi1>) causal = bottom_right
//        : tensor<1x2x8x64xf32>, tensor<1x2x16x64xf32>, ...
//
// becomes
//
//   %offset = arith.constant 8 : index
//   %m4 = tensor.expand_shape %m [[0, 1, 2], [3]] ... into tensor<1x1x8x16xi1>
//   %o = attn.sdpa %q, %k, %v mask(%m4 : tensor<1x1x8x16xi1>) query_offset(%offset : index)
//        scale = 0.125 causal = top_left : ...
//
// With kv_lengths the offset is a tensor, one for each batch entry. Positions stay what they were, so a window needs no
// change. The scale of a dynamic D stays absent: it is computed where the op is lowered.

#include "attn/Transforms/NormalizeOperands.h"

#include "attn/IR/AttentionShape.h"
#include "attn/IR/Decompose.h"
#include "attn/IR/Indices.h"
#include "attn/IR/LinalgBuilder.h"
#include "attn/Transforms/Passes.h"
#include "attn/Transforms/RemoveEmpty.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::attn {
#define GEN_PASS_DEF_NORMALIZEOPERANDS
#include "attn/Transforms/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// Return `body` of each element of the rank-1 tensor `tensor`, as indices.
static Value mapToIndices(ImplicitLocOpBuilder &b, Value tensor,
                          function_ref<Value(Value)> body) {
  AffineExpr d0 = b.getAffineDimExpr(0);
  Value empty = tensor::EmptyOp::create(
      b, tensor::getMixedSizes(b, b.getLoc(), tensor), b.getIndexType());
  return buildGeneric(b, {{tensor, {d0}}}, {empty, {d0}},
                      [&](ValueRange args) { return body(args[0]); });
}

/// Return `value`, a scalar or a rank-1 tensor, with indices for integers.
static Value toIndices(ImplicitLocOpBuilder &b, Value value) {
  if (getElementTypeOrSelf(value).isIndex())
    return value;
  if (!isa<RankedTensorType>(value.getType()))
    return toIndex(b, value);
  return mapToIndices(b, value,
                      [&](Value element) { return toIndex(b, element); });
}

/// Return the number of rows of sequence `number`, whose ends are `ends`.
static Value getCount(ImplicitLocOpBuilder &b, Value ends, Value number) {
  Value one = arith::ConstantIndexOp::create(b, 1);
  Value next = arith::AddIOp::create(b, number, one);
  Value first = tensor::ExtractOp::create(b, ends, number);
  Value end = tensor::ExtractOp::create(b, ends, next);
  return toIndex(b, arith::SubIOp::create(b, end, first));
}

/// Return `n - M` for each sequence.
static Value alignLastRows(ImplicitLocOpBuilder &b, SdpaOp op,
                           const AttentionDims &dims) {
  AffineExpr d0 = b.getAffineDimExpr(0);
  Value empty = tensor::EmptyOp::create(b, dims.batch, b.getIndexType());
  Value keys = op.hasPackedKeys()
                   ? Value()
                   : getValueOrCreateConstantIndexOp(b, b.getLoc(), dims.keys);
  return buildGeneric(b, {}, {empty, {d0}}, [&](ValueRange) -> Value {
    Value number = linalg::IndexOp::create(b, 0);
    Value length = keys ? keys : getCount(b, op.getCuSeqlensK(), number);
    if (op.getKvLengths()) {
      Value zero = arith::ConstantIndexOp::create(b, 0);
      Value given = readIndex(b, op.getKvLengths(), number);
      given = arith::MaxSIOp::create(b, given, zero);
      length = arith::MinSIOp::create(b, given, length);
    }
    return arith::SubIOp::create(b, length,
                                 getCount(b, op.getCuSeqlensQ(), number));
  });
}

/// Return the offset that aligns the last row with the last key: `n - M`, a
/// scalar, or a tensor where `n` depends on the batch entry.
static Value alignLastRow(ImplicitLocOpBuilder &b, SdpaOp op) {
  AttentionDims dims = AttentionDims::get(b, op);
  if (op.hasPackedRows())
    return alignLastRows(b, op, dims);
  std::optional<int64_t> staticRows = getConstantIntValue(dims.rows);
  std::optional<int64_t> staticKeys = getConstantIntValue(dims.keys);
  if (!op.getKvLengths() && staticRows && staticKeys)
    return arith::ConstantIndexOp::create(b, *staticKeys - *staticRows);
  Value rows = getValueOrCreateConstantIndexOp(b, b.getLoc(), dims.rows);
  Value keys = getValueOrCreateConstantIndexOp(b, b.getLoc(), dims.keys);
  if (!op.getKvLengths())
    return arith::SubIOp::create(b, keys, rows);
  Value zero = arith::ConstantIndexOp::create(b, 0);
  return mapToIndices(b, op.getKvLengths(), [&](Value length) -> Value {
    length = arith::MaxSIOp::create(b, toIndex(b, length), zero);
    length = arith::MinSIOp::create(b, length, keys);
    return arith::SubIOp::create(b, length, rows);
  });
}

/// Return `tensor`, which broadcasts to rank `rank` aligned to the right, with
/// leading dimensions of 1.
static Value expandToRank(ImplicitLocOpBuilder &b, Value tensor, int64_t rank) {
  auto type = cast<RankedTensorType>(tensor.getType());
  int64_t missing = rank - type.getRank();
  if (missing == 0)
    return tensor;
  SmallVector<int64_t> shape(missing, 1);
  llvm::append_range(shape, type.getShape());
  SmallVector<ReassociationIndices> groups;
  if (type.getRank() > 0)
    groups.emplace_back(llvm::to_vector<2>(llvm::seq<int64_t>(missing + 1)));
  for (int64_t dim = missing + 1; dim < rank; ++dim)
    groups.push_back({dim});
  SmallVector<OpFoldResult> sizes(missing, b.getIndexAttr(1));
  llvm::append_range(sizes, tensor::getMixedSizes(b, b.getLoc(), tensor));
  return tensor::ExpandShapeOp::create(b, type.clone(shape), tensor, groups,
                                       sizes);
}

void mlir::attn::normalizeOperands(RewriterBase &rewriter, SdpaOp op) {
  rewriter.setInsertionPoint(op);
  ImplicitLocOpBuilder b(op.getLoc(), rewriter);
  rewriter.startOpModification(op);
  if (!op.getScale() && ShapedType::isStatic(AttentionShape::get(op).headSize))
    op.setScaleAttr(b.getF64FloatAttr(op.getScaleValue()));
  if (op.getKvLengths())
    op.getKvLengthsMutable().assign(toIndices(b, op.getKvLengths()));
  if (op.getCausal() == Causal::BottomRight) {
    op.getQueryOffsetMutable().assign(alignLastRow(b, op));
    op.setCausal(Causal::TopLeft);
  }
  if (op.getQueryOffset())
    op.getQueryOffsetMutable().assign(toIndices(b, op.getQueryOffset()));
  if (op.getBias())
    op.getBiasMutable().assign(expandToRank(b, op.getBias(), 4));
  if (op.getMask())
    op.getMaskMutable().assign(expandToRank(b, op.getMask(), 4));
  if (op.getKeyScale())
    op.getKeyScaleMutable().assign(expandToRank(b, op.getKeyScale(), 3));
  if (op.getValueScale())
    op.getValueScaleMutable().assign(expandToRank(b, op.getValueScale(), 3));
  rewriter.finalizeOpModification(op);
}

namespace {
struct NormalizeOperands
    : public mlir::attn::impl::NormalizeOperandsBase<NormalizeOperands> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<SdpaOp> ops;
    getOperation()->walk([&](SdpaOp op) { ops.push_back(op); });
    for (SdpaOp op : ops) {
      SmallVector<Value> results;
      rewriter.setInsertionPoint(op);
      SdpaOp whole = op;
      if (op.hasPackedRows())
        whole = withLeadingOne(rewriter, op, results);
      if (whole != op)
        rewriter.replaceOp(op, results);
      if (SdpaOp left = removeEmpty(rewriter, whole))
        normalizeOperands(rewriter, left);
    }
  }
};
} // namespace
