// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads a tile from the tensor that it is a slice of, and finds out where it ends:
//
//   %rows = affine.min affine_map<()[n, j] -> (n - j, 64)>()[%n, %j]
//   %slice = tensor.extract_slice %keys[%j, 0] [%rows, 64] ...
//   %k = tensor.pad %slice ... : tensor<?x64xf16> to tensor<64x64xf16>
//
// is a read of %keys from row %j on. A part of its columns is
//
//   %p = vector.transfer_read %keys[%j, %d] ... vector<64x64xf16>
//
// and where a tile is put together of several pages, so is the part.

#include "TileReads.h"
#include "TileVectors.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::attn;

VectorType attn::vectorTypeOf(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return VectorType::get(type.getShape(), type.getElementType());
}

/// Return `extent` as an expression of the operands of `min`, or null.
static AffineExpr express(OpFoldResult extent, affine::AffineMinOp min) {
  MLIRContext *context = min.getContext();
  if (std::optional<int64_t> known = getConstantIntValue(extent))
    return getAffineConstantExpr(*known, context);
  unsigned dims = min.getAffineMap().getNumDims();
  Value value = cast<Value>(extent);
  for (auto [i, operand] : llvm::enumerate(min.getOperands()))
    if (operand == value)
      return i < dims ? getAffineDimExpr(i, context)
                      : getAffineSymbolExpr(i - dims, context);
  auto apply = value.getDefiningOp<affine::AffineApplyOp>();
  if (!apply)
    return {};
  SmallVector<AffineExpr> parts;
  for (Value operand : apply.getOperands()) {
    parts.push_back(express(operand, min));
    if (!parts.back())
      return {};
  }
  unsigned applied = apply.getAffineMap().getNumDims();
  return apply.getAffineMap().getResult(0).replaceDimsAndSymbols(
      ArrayRef(parts).take_front(applied), ArrayRef(parts).drop_front(applied));
}

/// Return whether `size` is what is left of `whole` from `offset` on, or `most` if
/// that is less.
static bool isRest(OpFoldResult size, int64_t most, OpFoldResult whole,
                   OpFoldResult offset) {
  auto value = dyn_cast<Value>(size);
  auto min = value ? value.getDefiningOp<affine::AffineMinOp>() : nullptr;
  if (!min)
    return false;
  AffineMap map = min.getAffineMap();
  MLIRContext *context = map.getContext();
  AffineExpr end = express(whole, min), begin = express(offset, min);
  if (!end || !begin || map.getNumResults() != 2)
    return false;
  bool hasMost = false, hasRest = false;
  for (AffineExpr result : map.getResults()) {
    hasMost |= result == getAffineConstantExpr(most, context);
    hasRest |= simplifyAffineExpr(result - (end - begin), map.getNumDims(),
                                  map.getNumSymbols()) ==
               getAffineConstantExpr(0, context);
  }
  return hasMost && hasRest;
}

static Value zeroOf(ImplicitLocOpBuilder &b, VectorType type) {
  return arith::ConstantOp::create(b, b.getZeroAttr(type.getElementType()));
}

Value attn::readPadded(ImplicitLocOpBuilder &b, tensor::PadOp pad) {
  Value source = pad.getSource();
  Value zero = arith::ConstantIndexOp::create(b, 0);
  SmallVector<Value> at(pad.getResultType().getRank(), zero);
  // Along which dimensions the tile holds nothing but elements of the slice.
  SmallVector<bool> isFull(at.size(), false);
  auto slice = source.getDefiningOp<tensor::ExtractSliceOp>();
  if (slice && slice.getSourceType().getRank() == slice.getType().getRank() &&
      slice.hasUnitStride()) {
    SmallVector<OpFoldResult> whole =
        tensor::getMixedSizes(b, b.getLoc(), slice.getSource());
    if (auto outer = slice.getSource().getDefiningOp<tensor::ExtractSliceOp>();
        outer && outer.getSourceType().getRank() == outer.getType().getRank())
      whole = outer.getMixedSizes();
    else if (outer) {
      llvm::SmallBitVector dropped = outer.getDroppedDims();
      whole.clear();
      for (auto [dim, size] : llvm::enumerate(outer.getMixedSizes()))
        if (!dropped[dim])
          whole.push_back(size);
    }
    bool isRestOfSource = true;
    for (auto [dim, size] : llvm::enumerate(slice.getMixedSizes())) {
      OpFoldResult offset = slice.getMixedOffsets()[dim];
      int64_t most = pad.getResultType().getDimSize(dim);
      isFull[dim] = getConstantIntValue(size) == most;
      isRestOfSource &= isFull[dim] ||
                        (isEqualConstantIntOrValue(size, whole[dim]) &&
                         isZeroInteger(offset)) ||
                        isRest(size, most, whole[dim], offset);
    }
    if (isRestOfSource) {
      source = slice.getSource();
      at = getValueOrCreateConstantIndexOp(b, b.getLoc(),
                                           slice.getMixedOffsets());
    }
  }
  auto read = readTile(b, vectorTypeOf(pad.getResult()), source, at)
                  .getDefiningOp<vector::TransferReadOp>();
  SmallVector<bool> inBounds;
  for (auto [dim, isInBounds] : llvm::enumerate(read.getInBoundsValues()))
    inBounds.push_back(isInBounds || isFull[dim]);
  read.setInBoundsAttr(b.getBoolArrayAttr(inBounds));
  return read;
}

Value attn::readWhole(ImplicitLocOpBuilder &b, Value tensor) {
  VectorType type = vectorTypeOf(tensor);
  auto slice = tensor.getDefiningOp<tensor::ExtractSliceOp>();
  if (!slice || !slice.hasUnitStride() ||
      slice.getSourceType().getRank() != type.getRank()) {
    Value zero = arith::ConstantIndexOp::create(b, 0);
    return readTile(b, type, tensor, SmallVector<Value>(type.getRank(), zero));
  }
  SmallVector<Value> at =
      getValueOrCreateConstantIndexOp(b, b.getLoc(), slice.getMixedOffsets());
  return vector::TransferReadOp::create(
      b, type, slice.getSource(), at, zeroOf(b, type),
      b.getMultiDimIdentityMap(type.getRank()),
      ArrayRef<bool>(SmallVector<bool>(type.getRank(), true)));
}

bool attn::canReadParts(Value tile) {
  Operation *op = tile.getDefiningOp();
  if (auto insert = dyn_cast_or_null<vector::InsertStridedSliceOp>(op))
    return canReadParts(insert.getValueToStore()) &&
           canReadParts(insert.getDest());
  auto read = dyn_cast_or_null<vector::TransferReadOp>(op);
  if (read)
    return !read.getMask() && read.getTransferRank() == 2 &&
           isa<AffineDimExpr>(read.getPermutationMap().getResult(1));
  return matchPattern(tile, m_AnyZeroFloat());
}

Value attn::readPart(ImplicitLocOpBuilder &b, Value tile, Value first,
                     int64_t count) {
  auto type = cast<VectorType>(tile.getType());
  auto part =
      VectorType::get({type.getDimSize(0), count}, type.getElementType());
  if (auto insert = tile.getDefiningOp<vector::InsertStridedSliceOp>()) {
    Value source = readPart(b, insert.getValueToStore(), first, count);
    Value dest = readPart(b, insert.getDest(), first, count);
    return vector::InsertStridedSliceOp::create(
        b, part, source, dest, insert.getOffsets(), insert.getStrides());
  }
  auto read = tile.getDefiningOp<vector::TransferReadOp>();
  if (!read)
    return arith::ConstantOp::create(b, b.getZeroAttr(part));
  auto column =
      cast<AffineDimExpr>(read.getPermutationMap().getResult(1)).getPosition();
  SmallVector<Value> at(read.getIndices());
  at[column] = b.createOrFold<arith::AddIOp>(at[column], first);
  bool isFull = read.isDimInBounds(1) && type.getDimSize(1) % count == 0;
  return vector::TransferReadOp::create(
      b, part, read.getBase(), at, read.getPadding(), read.getPermutationMap(),
      ArrayRef<bool>{read.isDimInBounds(0), isFull});
}
