// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keys and values of a task that lie in pages. A block whose keys are in one page is read where it is:
//
//   %entry = tensor.extract %table[0, %j floordiv page]
//   %k = tensor.extract_slice %pool[%entry, 0, %j mod page, 0] [1, 1, block_n, D]
//
// and one whose keys are in several is put together first, in memory of the size of a block:
//
//   %k = scf.for %p = %j floordiv page to (%j + n) ceildiv page iter_args(%so) {
//     %entry = tensor.extract %table[0, %p]
//     the keys of the block in page %entry, inserted into %so
//   }
//
// A block of threads on a GPU has no such memory: its tile is put together of one of each page, which the threads copy.
//
//   %t0 = tensor.insert_slice (tensor.pad %pool[%entry0 ...]) into %empty[0, 0] [page, D]
//   %t1 = tensor.insert_slice (tensor.pad %pool[%entry1 ...]) into %t0[page, 0] [page, D]

#include "attn/Transforms/BlockTask.h"

#include "attn/IR/Indices.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::attn;

static int64_t sizeOf(Value tensor, int64_t dim) {
  return cast<RankedTensorType>(tensor.getType()).getDimSize(dim);
}

/// Return how many keys a page has, if that is known.
int64_t BlockTask::pageSize() {
  return sizeOf(tile.getKey(), sequenceDim(tile.getKeyLayout()));
}

/// Return whether each block of keys, from a multiple of its size on, lies in one
/// page.
bool BlockTask::areBlocksInPages() {
  return tile.isPaged() && ShapedType::isStatic(pageSize()) && pageSize() > 0 &&
         pageSize() % schedule.getBlockN() == 0;
}

/// Return whether each block of keys of a block of threads is several pages.
bool BlockTask::arePagesInBlocks() {
  return tile.isPaged() && isForThreads() && !areBlocksInPages();
}

/// Return the page that is number `number` of the tile: one that there is, also
/// where nobody has checked the table.
Value BlockTask::entryOf(Value number) {
  Value entry =
      readIndex(rewriter, loc, tile.getPageTable(), {index(0), number});
  Value pool = getValueOrCreateConstantIndexOp(
      rewriter, loc,
      tensor::getMixedSize(rewriter, loc, tile.getKey(), kBatchDim));
  Value last = arith::SubIOp::create(rewriter, loc, pool, index(1));
  entry = arith::MinSIOp::create(rewriter, loc, entry, last);
  return arith::MaxSIOp::create(rewriter, loc, entry, index(0));
}

/// Return `count` tokens of page `entry` of `tensor`, whose dimensions `dims` are
/// kept. A scale may be the same for all pages, or for all tokens of a page.
Value BlockTask::readPage(Value tensor, ArrayRef<int64_t> dims,
                          int64_t sequence, Value entry, OpFoldResult from,
                          OpFoldResult count) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<OpFoldResult> offsets(type.getRank(), rewriter.getIndexAttr(0)),
      ones(type.getRank(), rewriter.getIndexAttr(1)), sizes = ones;
  SmallVector<int64_t> shape;
  for (int64_t dim : dims)
    sizes[dim] = tensor::getMixedSize(rewriter, loc, tensor, dim);
  if (type.getDimSize(0) != 1)
    offsets[0] = entry;
  bool isScale = type.getRank() == 3;
  if (!isScale || type.getDimSize(sequence) != 1) {
    offsets[sequence] = from;
    sizes[sequence] = count;
  }
  for (int64_t dim : dims)
    shape.push_back(
        getConstantIntValue(sizes[dim]).value_or(ShapedType::kDynamic));
  return tensor::ExtractSliceOp::create(
      rewriter, loc, RankedTensorType::get(shape, type.getElementType()),
      tensor, offsets, sizes, ones);
}

/// Return `count` keys of `tensor`, from key `first` of the tile on.
Value BlockTask::readPages(Value tensor, ArrayRef<int64_t> dims,
                           int64_t sequence, Value first, OpFoldResult count) {
  if (!areBlocksInPages() && !arePagesInBlocks())
    return copyPages(tensor, dims, sequence, first, count);
  if (arePagesInBlocks() && stepKeys > 1)
    return readPageTiles(tensor, dims, sequence, first, count);
  Value page = index(pageSize());
  Value number = arith::DivUIOp::create(rewriter, loc, first, page);
  Value from = arith::RemUIOp::create(rewriter, loc, first, page);
  return readPage(tensor, dims, sequence, entryOf(number), from, count);
}

/// Return `count` keys of `tensor`, from key `first` of the tile on, put together in
/// memory of the size of a block.
Value BlockTask::copyPages(Value tensor, ArrayRef<int64_t> dims,
                           int64_t sequence, Value first, OpFoldResult count) {
  auto value = [&](OpFoldResult extent) {
    return getValueOrCreateConstantIndexOp(rewriter, loc, extent);
  };
  Value page = value(tensor::getMixedSize(rewriter, loc, tile.getKey(),
                                          sequenceDim(tile.getKeyLayout())));
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<OpFoldResult> whole = {
      rewriter.getIndexAttr(schedule.getBlockN())};
  SmallVector<OpFoldResult> used = {count};
  for (int64_t dim : dims.drop_front()) {
    whole.push_back(tensor::getMixedSize(rewriter, loc, tensor, dim));
    used.push_back(whole.back());
  }
  Value dest = storage(whole, used, type.getElementType());
  page = arith::MaxSIOp::create(rewriter, loc, page, index(1));
  Value end = arith::AddIOp::create(rewriter, loc, first, value(count));
  Value begin = arith::DivUIOp::create(rewriter, loc, first, page);
  Value last = arith::CeilDivUIOp::create(rewriter, loc, end, page);
  auto loop = scf::ForOp::create(rewriter, loc, begin, last, index(1),
                                 ValueRange{dest});
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(loop.getBody());
  Value number = loop.getInductionVar(), so = loop.getRegionIterArg(0);
  Value base = arith::MulIOp::create(rewriter, loc, number, page);
  Value low = arith::MaxSIOp::create(rewriter, loc, base, first);
  Value high = arith::AddIOp::create(rewriter, loc, base, page);
  high = arith::MinSIOp::create(rewriter, loc, high, end);
  OpFoldResult some =
      arith::SubIOp::create(rewriter, loc, high, low).getResult();
  Value from = arith::SubIOp::create(rewriter, loc, low, base);
  Value source = readPage(tensor, dims, sequence, entryOf(number), from, some);
  SmallVector<OpFoldResult> at(used.size(), rewriter.getIndexAttr(0)),
      ones(used.size(), rewriter.getIndexAttr(1)), sizes = used;
  at[0] = arith::SubIOp::create(rewriter, loc, low, first).getResult();
  sizes[0] = some;
  Value place =
      tensor::ExtractSliceOp::create(rewriter, loc, so, at, sizes, ones);
  Value filled;
  if (type.getRank() == 3 && type.getDimSize(sequence) == 1)
    filled = linalg::FillOp::create(
                 rewriter, loc,
                 tensor::ExtractOp::create(rewriter, loc, source, index(0))
                     .getResult(),
                 place)
                 .getResult(0);
  else
    filled = mapRows(source, place, [](OpBuilder &, Value x) { return x; });
  scf::YieldOp::create(
      rewriter, loc,
      tensor::InsertSliceOp::create(rewriter, loc, filled, so, at, sizes, ones)
          .getResult());
  return loop.getResult(0);
}

/// Return `count` keys of `tensor`, from key `first` on, which is the first of a
/// page, as a tile of a whole step.
Value BlockTask::readPageTiles(Value tensor, ArrayRef<int64_t> dims,
                               int64_t sequence, Value first,
                               OpFoldResult count) {
  int64_t size = pageSize();
  auto type = cast<RankedTensorType>(tensor.getType());
  int64_t channels =
      paddedChannels(tensor::getMixedSize(rewriter, loc, tensor, dims.back()));
  Value result = tensor::EmptyOp::create(
      rewriter, loc, ArrayRef{stepKeys, channels}, type.getElementType());
  Value page = index(size);
  Value keys = getValueOrCreateConstantIndexOp(rewriter, loc, count);
  Value number = arith::DivUIOp::create(rewriter, loc, first, page);
  // Behind the last page with keys none is looked for.
  Value last = arith::DivUIOp::create(
      rewriter, loc,
      arith::AddIOp::create(
          rewriter, loc, first,
          arith::SubIOp::create(rewriter, loc, keys, index(1))),
      page);
  for (int64_t at = 0; at < stepKeys; at += size) {
    Value own = arith::AddIOp::create(rewriter, loc, number, index(at / size));
    own = arith::MinSIOp::create(rewriter, loc, own, last);
    Value some = arith::SubIOp::create(rewriter, loc, keys, index(at));
    some = arith::MaxSIOp::create(rewriter, loc, some, index(0));
    some = arith::MinSIOp::create(rewriter, loc, some, page);
    Value part = readPage(tensor, dims, sequence, entryOf(own),
                          rewriter.getIndexAttr(0), some);
    OpFoldResult zero = rewriter.getIndexAttr(0),
                 one = rewriter.getIndexAttr(1);
    result = tensor::InsertSliceOp::create(
        rewriter, loc, padTile(rewriter, loc, part, {size, channels}), result,
        ArrayRef<OpFoldResult>{rewriter.getIndexAttr(at), zero},
        ArrayRef<OpFoldResult>{rewriter.getIndexAttr(size),
                               rewriter.getIndexAttr(channels)},
        ArrayRef<OpFoldResult>{one, one});
  }
  return result;
}

/// Give `step`, a block of keys that are in pages, what it reads.
void BlockTask::readPages(BlockStepOp step) {
  rewriter.setInsertionPoint(step);
  OpFoldResult count = tensor::getMixedSize(rewriter, loc, step.getKey(), 0);
  if (auto slice = step.getKey().getDefiningOp<tensor::ExtractSliceOp>())
    count = slice.getMixedSizes()[0];
  Value first = step.getFirstKey();
  auto read = [&](Value tensor, Layout layout) {
    int64_t sequence = sequenceDim(layout);
    return readPages(tensor, {sequence, kChannelDim}, sequence, first, count);
  };
  auto scale = [&](Value tensor) -> Value {
    bool isOne = !tensor || (sizeOf(tensor, 0) == 1 && sizeOf(tensor, 2) == 1);
    return isOne ? Value() : readPages(tensor, {2}, 2, first, count);
  };
  Value key = read(tile.getKey(), tile.getKeyLayout());
  Value value = read(tile.getValue(), tile.getValueLayout());
  Value keyScale = scale(tile.getKeyScale()),
        valueScale = scale(tile.getValueScale());
  rewriter.modifyOpInPlace(step, [&] {
    step.getKeyMutable().assign(key);
    step.getValueMutable().assign(value);
    if (keyScale)
      step.getKeyScaleMutable().assign(keyScale);
    if (valueScale)
      step.getValueScaleMutable().assign(valueScale);
  });
}
