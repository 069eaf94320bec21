// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cuts attention along the channels of its value, which registers of a block of threads cannot add up at once:
//
//   %o = attn.sdpa %q, %k, %v : ... tensor<?x512xf16>
//
// becomes, with parts of 256,
//
//   %all = tensor.empty
//   %v0 = tensor.extract_slice %v[..., 0] [..., 256]
//   %o0 = attn.sdpa %q, %k, %v0
//   %first = tensor.insert_slice %o0 into %all[..., 0] [..., 256]
//   %v1 = tensor.extract_slice %v[..., 256] [..., 256]
//   %o1 = attn.sdpa %q, %k, %v1
//   %o = tensor.insert_slice %o1 into %first[..., 256] [..., 256]
//
// Each part computes its scores. What an attention is inserted into is where its loop over blocks writes, so that nothing
// is copied.

#include "ValueParts.h"

#include "attn/Analysis/CudaCostModel.h"
#include "attn/IR/Decompose.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::attn;

namespace {
/// Channels of a value and of what comes of it: the last dimension of both.
struct Channels {
  int64_t first, count;

  /// Return where the channels lie in `tensor`.
  tensor::ExtractSliceOp sliceOf(OpBuilder &b, Location loc,
                                 Value tensor) const {
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, tensor);
    SmallVector<OpFoldResult> offsets(sizes.size(), b.getIndexAttr(0)),
        ones(sizes.size(), b.getIndexAttr(1));
    offsets.back() = b.getIndexAttr(first);
    sizes.back() = b.getIndexAttr(count);
    return tensor::ExtractSliceOp::create(b, loc, tensor, offsets, sizes, ones);
  }
};
} // namespace

/// Return the attention of `op` for `channels` of its value, with its lse if it is the
/// first part.
static SdpaOp attendTo(OpBuilder &b, SdpaOp op, const Channels &channels) {
  auto type = cast<RankedTensorType>(op.getOutput().getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.back() = channels.count;
  bool isFirst = channels.first == 0;
  Value value = channels.sliceOf(b, op.getLoc(), op.getValue());
  auto part = SdpaOp::create(
      b, op.getLoc(), type.clone(shape),
      op.getLse() && isFirst ? op.getLse().getType() : Type(),
      /*weights=*/Type(), op.getQuery(), op.getKey(), value, op.getBias(),
      op.getMask(), op.getKvLengths(), op.getQueryOffset(), op.getSinks(),
      op.getPageTable(), op.getCuSeqlensQ(), op.getCuSeqlensK(),
      op.getKeyScale(), op.getValueScale(), op.getScaleAttr(),
      op.getCausalAttr(), op.getWindowAttr(), op.getSoftcapAttr(),
      op.getPrecisionAttr(), op.getLayoutAttr(), op.getScheduleAttr());
  IRMapping copies;
  op.getScoreMod().cloneInto(&part.getScoreMod(), copies);
  op.getMaskMod().cloneInto(&part.getMaskMod(), copies);
  return part;
}

void attn::splitValue(RewriterBase &rewriter, SdpaOp op) {
  AttentionShape shape = AttentionShape::get(op);
  int64_t all = shape.valueSize;
  if (ShapedType::isDynamic(all) || all > kMostValueChannels || op.getWeights())
    return;
  int64_t bits = getElementTypeOrSelf(op.getQuery()).getIntOrFloatBitWidth(),
          width = getValuePart(shape, bits);
  if (all <= width)
    return;
  rewriter.setInsertionPoint(op);
  FailureOr<SmallVector<Value>> empty = createEmptyResults(rewriter, op);
  if (failed(empty))
    return;
  Value output = empty->front(), lse;
  for (int64_t first = 0; first < all; first += width) {
    Channels channels{first, std::min(width, all - first)};
    SdpaOp part = attendTo(rewriter, op, channels);
    if (first == 0)
      lse = part.getLse();
    tensor::ExtractSliceOp place =
        channels.sliceOf(rewriter, op.getLoc(), output);
    output = tensor::InsertSliceOp::create(
        rewriter, op.getLoc(), part.getOutput(), output,
        place.getMixedOffsets(), place.getMixedSizes(),
        place.getMixedStrides());
    rewriter.eraseOp(place);
  }
  SmallVector<Value> results = {output};
  if (op.getLse())
    results.push_back(lse);
  rewriter.replaceOp(op, results);
}

SmallVector<Value> attn::findPlaces(RewriterBase &rewriter, SdpaOp op) {
  rewriter.setInsertionPoint(op);
  return llvm::map_to_vector(op->getResults(), [&](Value result) -> Value {
    if (op.getScheduleAttr().getWarps() == 0 || !result.hasOneUse())
      return {};
    auto insert = dyn_cast<tensor::InsertSliceOp>(*result.getUsers().begin());
    if (!insert || insert.getSource() != result ||
        insert->getBlock() != op->getBlock() ||
        insert.getSourceType().getRank() != insert.getDestType().getRank())
      return {};
    Operation *dest = insert.getDest().getDefiningOp();
    auto isKnown = [&](Value value) {
      Operation *from = value.getDefiningOp();
      return !from || from->getBlock() != op->getBlock() ||
             from->isBeforeInBlock(op);
    };
    if (!dest || !isa<tensor::EmptyOp, tensor::InsertSliceOp>(dest) ||
        !llvm::all_of(insert->getOperands().drop_front(), isKnown))
      return {};
    return tensor::ExtractSliceOp::create(
        rewriter, op.getLoc(), insert.getSourceType(), insert.getDest(),
        insert.getMixedOffsets(), insert.getMixedSizes(),
        insert.getMixedStrides());
  });
}
