// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Defines attention on pages and on sequences by attention on plain tensors:
//
//   %o = attn.sdpa %q, %k, %v page_table(%t : tensor<2x3xi32>) : ...         // %k is [pool, G, page, D]
//
// becomes
//
//   %k1 = linalg.generic ... { tensor.extract %k[%t[b, j / page], g, j % page, d] }
//   %o = attn.sdpa %q, %k1, %v1 : ...
//
// and with cu_seqlens_q
//
//   %o = scf.for %b = 0 to B iter_args(%so = tensor.empty) {
//     attn.sdpa on the rows and keys of sequence %b, inserted into %so
//   }

#include "SdpaPlaces.h"

#include "attn/IR/AttentionShape.h"
#include "attn/IR/Decompose.h"
#include "attn/IR/Indices.h"
#include "attn/IR/LinalgBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::attn;

//===----------------------------------------------------------------------===//
// Pages
//===----------------------------------------------------------------------===//

namespace {
/// Makes plain tensors of what lies in pages.
class PageReader {
public:
  PageReader(ImplicitLocOpBuilder &b, SdpaOp op)
      : b(b), op(op), dims(AttentionDims::get(b, op)),
        pool(sizeOf(op.getKey(), kBatchDim)),
        page(sizeOf(op.getKey(), sequenceDim(op.getKeyLayout()))) {
    // Without a page there is no key to read.
    Value zero = arith::ConstantIndexOp::create(b, 0);
    Value none = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, pool, zero);
    Value all = getValueOrCreateConstantIndexOp(b, b.getLoc(), dims.keys);
    keys = arith::SelectOp::create(b, none, zero, all);
  }

  /// Return a key or a value as [B, G, N, channels].
  Value read(Value tensor, Layout layout, OpFoldResult channels);
  /// Return a scale of [pool, G, page] as one of [B, G, N].
  Value readScale(Value scale);

private:
  Value sizeOf(Value tensor, int64_t dim) {
    return b.createOrFold<tensor::DimOp>(tensor, dim);
  }
  Value index(int64_t dim) { return linalg::IndexOp::create(b, dim); }
  /// Return the page that holds key `key` of entry `batch`, any where the table
  /// has none, and the key's number in it.
  std::pair<Value, Value> place(Value batch, Value key);

  ImplicitLocOpBuilder &b;
  SdpaOp op;
  AttentionDims dims;
  Value pool, page, keys;
};
} // namespace

std::pair<Value, Value> PageReader::place(Value batch, Value key) {
  Value number = arith::DivUIOp::create(b, key, page);
  Value entry = readIndex(b, op.getPageTable(), {batch, number});
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value last =
      arith::SubIOp::create(b, pool, arith::ConstantIndexOp::create(b, 1));
  entry = arith::MinSIOp::create(b, entry, last);
  entry = arith::MaxSIOp::create(b, entry, zero);
  return {entry, arith::RemUIOp::create(b, key, page)};
}

Value PageReader::read(Value tensor, Layout layout, OpFoldResult channels) {
  Type type = getElementTypeOrSelf(tensor);
  SmallVector<OpFoldResult> sizes = {dims.batch, dims.kvHeads, keys, channels};
  SmallVector<AffineExpr> all;
  for (unsigned dim = 0; dim < 4; ++dim)
    all.push_back(b.getAffineDimExpr(dim));
  Value empty = tensor::EmptyOp::create(b, sizes, type);
  return buildGeneric(b, {}, {empty, all}, [&](ValueRange) -> Value {
    auto [entry, row] = place(index(0), index(2));
    SmallVector<Value> at = {entry, index(1), row, index(3)};
    if (layout == Layout::bshd)
      std::swap(at[1], at[2]);
    return tensor::ExtractOp::create(b, tensor, at);
  });
}

Value PageReader::readScale(Value scale) {
  if (!scale)
    return {};
  auto type = cast<RankedTensorType>(scale.getType());
  int64_t rank = type.getRank();
  auto isFull = [&](int64_t aligned) {
    int64_t dim = aligned + rank - 3;
    return dim >= 0 && type.getDimSize(dim) != 1;
  };
  if (!isFull(0) && !isFull(2))
    return scale;
  OpFoldResult one = b.getIndexAttr(1);
  SmallVector<OpFoldResult> sizes = {dims.batch, isFull(1) ? dims.kvHeads : one,
                                     keys};
  SmallVector<AffineExpr> all;
  for (unsigned dim = 0; dim < 3; ++dim)
    all.push_back(b.getAffineDimExpr(dim));
  Value empty = tensor::EmptyOp::create(b, sizes, type.getElementType());
  return buildGeneric(b, {}, {empty, all}, [&](ValueRange) -> Value {
    auto [entry, row] = place(index(0), index(2));
    Value parts[] = {entry, index(1), row};
    SmallVector<Value> at;
    for (int64_t aligned = 3 - rank; aligned < 3; ++aligned)
      at.push_back(isFull(aligned) ? parts[aligned]
                                   : arith::ConstantIndexOp::create(b, 0));
    return tensor::ExtractOp::create(b, scale, at);
  });
}

SmallVector<Value> mlir::attn::decomposePages(OpBuilder &builder, SdpaOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), builder);
  PageReader reader(b, op);
  AttentionDims dims = AttentionDims::get(b, op);
  Value key = reader.read(op.getKey(), op.getKeyLayout(), dims.headSize);
  Value value = reader.read(op.getValue(), op.getValueLayout(), dims.valueSize);
  Value keyScale = reader.readScale(op.getKeyScale()),
        valueScale = reader.readScale(op.getValueScale());
  auto plain = cast<SdpaOp>(b.clone(*op));
  plain.getPageTableMutable().clear();
  plain.getKeyMutable().assign(key);
  plain.getValueMutable().assign(value);
  if (keyScale)
    plain.getKeyScaleMutable().assign(keyScale);
  if (valueScale)
    plain.getValueScaleMutable().assign(valueScale);
  plain.setLayoutAttr(LayoutsAttr::get(b.getContext(), op.getQueryLayout(),
                                       Layout::bhsd, Layout::bhsd,
                                       op.getOutputLayout()));
  return SmallVector<Value>(plain->getResults());
}

//===----------------------------------------------------------------------===//
// Sequences
//===----------------------------------------------------------------------===//

static int64_t getRank(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getRank();
}

/// Return the groups of dimensions that make a tensor of rank `rank` of one with a
/// leading dimension of 1 more.
static SmallVector<ReassociationIndices> groupFirst(int64_t rank) {
  SmallVector<ReassociationIndices> groups = {{0, 1}};
  for (int64_t dim = 2; dim <= rank; ++dim)
    groups.push_back({dim});
  return groups;
}

/// Return `tensor` with a leading dimension of 1.
static Value addLeadingOne(ImplicitLocOpBuilder &b, Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> shape = {1};
  llvm::append_range(shape, type.getShape());
  SmallVector<OpFoldResult> sizes = {b.getIndexAttr(1)};
  llvm::append_range(sizes, tensor::getMixedSizes(b, b.getLoc(), tensor));
  return tensor::ExpandShapeOp::create(b, type.clone(shape), tensor,
                                       groupFirst(type.getRank()), sizes);
}

SdpaOp mlir::attn::withLeadingOne(OpBuilder &builder, SdpaOp op,
                                  SmallVectorImpl<Value> &results) {
  bool rows = getRank(op.getQuery()) == 3, keys = getRank(op.getKey()) == 3,
       values = getRank(op.getValue()) == 3,
       outputs = getRank(op.getOutput()) == 3,
       lses = op.getLse() && getRank(op.getLse()) == 2;
  llvm::append_range(results, op->getResults());
  if (!rows && !keys && !values && !outputs && !lses)
    return op;
  ImplicitLocOpBuilder b(op.getLoc(), builder);
  auto copy = cast<SdpaOp>(b.clone(*op));
  OpBuilder::InsertionGuard guard(builder);
  b.setInsertionPoint(copy);
  for (auto [operand, isShort] :
       {std::pair<OpOperand *, bool>{&copy.getQueryMutable(), rows},
        {&copy.getKeyMutable(), keys},
        {&copy.getValueMutable(), values}})
    if (isShort)
      operand->set(addLeadingOne(b, operand->get()));
  // Without a batch, rows come before heads.
  auto layout = [](bool isShort, Layout given) {
    return isShort ? Layout::bshd : given;
  };
  copy.setLayoutAttr(LayoutsAttr::get(
      b.getContext(), layout(rows, op.getQueryLayout()),
      layout(keys, op.getKeyLayout()), layout(values, op.getValueLayout()),
      layout(outputs, op.getOutputLayout())));
  b.setInsertionPointAfter(copy);
  bool isShortResult[] = {outputs, lses};
  for (OpResult result : copy->getResults()) {
    unsigned number = result.getResultNumber();
    bool isShort = isShortResult[number];
    results[number] = result;
    if (!isShort)
      continue;
    auto type = cast<RankedTensorType>(result.getType());
    SmallVector<int64_t> shape = {1};
    llvm::append_range(shape, type.getShape());
    result.setType(type.clone(shape));
    results[number] = tensor::CollapseShapeOp::create(
        b, type, result, groupFirst(type.getRank()));
  }
  builder.setInsertionPointAfter(copy);
  return copy;
}

FailureOr<SmallVector<Value>> mlir::attn::decomposeSequences(OpBuilder &builder,
                                                             SdpaOp op) {
  SmallVector<Value> whole;
  if (withLeadingOne(builder, op, whole) != op)
    return whole;
  ImplicitLocOpBuilder b(op.getLoc(), builder);
  AttentionDims dims = AttentionDims::get(b, op);
  FailureOr<SmallVector<Value>> inits = createEmptyResults(b, op);
  if (failed(inits))
    return failure();
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value one = arith::ConstantIndexOp::create(b, 1);
  Value count = getValueOrCreateConstantIndexOp(b, b.getLoc(), dims.batch);
  auto loop = scf::ForOp::create(b, zero, count, one, *inits);
  OpBuilder::InsertionGuard guard(builder);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<OpFoldResult> offsets = {loop.getInductionVar(),
                                       b.getIndexAttr(0), b.getIndexAttr(0)};
  SmallVector<OpFoldResult> sizes = {b.getIndexAttr(1), dims.heads, dims.rows};
  FailureOr<TilingResult> tile = op.getTiledImplementation(b, offsets, sizes);
  if (failed(tile))
    return failure();
  SmallVector<Value> next;
  for (auto [number, value] : llvm::enumerate(tile->tiledValues)) {
    SmallVector<OpFoldResult> at, extent;
    if (failed(op.getResultTilePosition(b, number, offsets, sizes, at, extent)))
      return failure();
    SmallVector<OpFoldResult> ones(at.size(), b.getIndexAttr(1));
    next.push_back(tensor::InsertSliceOp::create(
        b, value, loop.getRegionIterArg(number), at, extent, ones));
  }
  scf::YieldOp::create(b, next);
  return SmallVector<Value>(loop.getResults());
}
