// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rule for copies into shared memory:
//
//   attn_gpu.copy_to_shared %k[%row, %c0] to %at dims [0, 1] in_bounds [false, true] : memref<?x64xf16>, vector<64x64xf16>
//
// becomes a few asynchronous copies of 16 bytes in each thread,
//
//   nvvm.cp.async.shared.global %to, %from, 16, cache = cg, %size
//
// where %size is 0 for a row outside, and less than 16 where a row ends in the middle: what is not read becomes 0. Four
// threads copy 64 neighbouring bytes of a row. Copies of 16 bytes need rows that are contiguous and begin at multiples of
// 16 bytes. `attn.aligned` of the function says whether they do; without it it is decided at run time. Where they do not,
// threads load and store number by number.

#include "FragmentDistributor.h"
#include "GpuUnits.h"
#include "KernelAttrs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::attn;

/// Threads that copy chunks of one row side by side, at most.
constexpr int64_t kMostLanes = 4;

namespace {
/// A copy of one tile by all threads.
struct TileCopy {
  FragmentDistributor &d;
  attn_gpu::CopyToSharedOp op;
  SharedTile tile;
  Value memory, when;
  /// First row and column in memory, and the extents where they are checked.
  Value row, column, rows, columns;
  /// Whether numbers of rows have 31 bits.
  bool isSmall;
  /// By how many rows the tile is ahead of the loop that copies one block of rows
  /// behind the other; none where there is no such loop.
  std::optional<int64_t> rowsAhead;
  /// Address of the first column of row 0, and bytes from row to row; both i64.
  Value start, rowStride;

  OpBuilder &b;
  Location loc;

  Value constant(int64_t value) {
    return arith::ConstantIntOp::create(b, loc, value, 64);
  }
  Value toI64(Value index) {
    return arith::IndexCastOp::create(b, loc, b.getI64Type(), index);
  }
  Value add(Value x, Value y) {
    return arith::AddIOp::create(b, loc, x, y,
                                 arith::IntegerOverflowFlags::nsw);
  }
  Value mul(Value x, Value y) {
    return arith::MulIOp::create(b, loc, x, y,
                                 arith::IntegerOverflowFlags::nsw);
  }
  Value less(Value x, Value y) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, x, y);
  }
  Value both(Value x, Value y) {
    if (!x || !y)
      return x ? x : y;
    return arith::AndIOp::create(b, loc, x, y);
  }

  int64_t lanes() const {
    int64_t chunks = tile.rowBytes() / kChunkBytes;
    return std::min<int64_t>(kMostLanes, chunks & -chunks);
  }

  void locate();
  Value isAligned();
  Value threadStart(Value firstRow);
  Value threadAddress();
  Value rowsLeft();
  void copyChunks();
  Value chunkSize(Value valid, Value lane, int64_t chunk);
  void copyNumbers();
};
} // namespace

/// By how many rows the tile of `op` is ahead of the loop around it, if that copies
/// one block of rows of the same memory behind the other.
static std::optional<int64_t> countRowsAhead(attn_gpu::CopyToSharedOp op) {
  auto loop = dyn_cast<scf::ForOp>(op->getParentOp());
  if (!loop || !getConstantIntValue(loop.getStep()) ||
      !loop.isDefinedOutsideOfLoop(op.getSource()))
    return std::nullopt;
  for (auto [i, index] : llvm::enumerate(op.getIndices()))
    if (static_cast<int64_t>(i) != op.getDims()[0] &&
        !loop.isDefinedOutsideOfLoop(index))
      return std::nullopt;
  Value row = op.getIndices()[op.getDims()[0]];
  if (row == loop.getInductionVar())
    return 0;
  auto sum = row.getDefiningOp<arith::AddIOp>();
  if (!sum || sum.getLhs() != loop.getInductionVar())
    return std::nullopt;
  return getConstantIntValue(sum.getRhs());
}

/// Find what does not change from block to block of a loop, before the loop.
void TileCopy::locate() {
  OpBuilder::InsertionGuard guard(b);
  if (rowsAhead)
    b.setInsertionPoint(d.openLoop);
  auto data = memref::ExtractStridedMetadataOp::create(b, loc, memory);
  Value at = data.getOffset();
  for (auto [i, index] : llvm::enumerate(op.getIndices())) {
    // (Rows are contiguous where it is known that chunks are copied as they are.)
    bool isColumn = static_cast<int64_t>(i) == op.getDims()[1];
    if (isSmall && isColumn)
      at = add(at, d.scalar(index));
    else if (static_cast<int64_t>(i) != op.getDims()[0])
      at = add(at, mul(d.scalar(index), data.getStrides()[i]));
  }
  Value bytes = d.index(tile.elementBytes());
  Value pointer =
      memref::ExtractAlignedPointerAsIndexOp::create(b, loc, memory);
  start = toI64(add(pointer, mul(at, bytes)));
  rowStride = toI64(mul(data.getStrides()[op.getDims()[0]], bytes));
  row = d.scalar(op.getIndices()[op.getDims()[0]]);
  column = d.scalar(op.getIndices()[op.getDims()[1]]);
  if (!op.getInBounds()[0])
    rows = memref::DimOp::create(b, loc, memory, op.getDims()[0]);
  if (!op.getInBounds()[1])
    columns = memref::DimOp::create(b, loc, memory, op.getDims()[1]);
}

/// Whether chunks can be copied as they are.
Value TileCopy::isAligned() {
  Value low = arith::OrIOp::create(b, loc, start, rowStride);
  low = arith::AndIOp::create(b, loc, low, constant(kChunkBytes - 1));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, low,
                               constant(0));
}

/// Return where the thread's first chunk is, if `firstRow`, an i64, is the tile's
/// first row.
Value TileCopy::threadStart(Value firstRow) {
  Type i64 = b.getI64Type();
  Value mine = arith::ShRUIOp::create(b, loc, d.thread,
                                      d.integer(llvm::Log2_64(lanes())));
  Value lane = arith::AndIOp::create(b, loc, d.thread, d.integer(lanes() - 1));
  Value along =
      mul(arith::ExtUIOp::create(b, loc, i64, lane), constant(kChunkBytes));
  Value number = add(arith::ExtUIOp::create(b, loc, i64, mine), firstRow);
  return add(add(start, mul(number, rowStride)), along);
}

/// Return where the thread's first chunk is. A loop goes on by the same step.
Value TileCopy::threadAddress() {
  if (!rowsAhead)
    return threadStart(toI64(row));
  auto loop = cast<scf::ForOp>(op->getParentOp());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(d.openLoop);
  Value firstRow =
      add(toI64(d.scalar(loop.getLowerBound())), constant(*rowsAhead));
  Value first = threadStart(firstRow);
  Value step = mul(rowStride, constant(*getConstantIntValue(loop.getStep())));
  return d.countUp(first, step);
}

/// Rows of the tile that are inside, an i32; 0 if nothing is copied. Null for
/// all.
Value TileCopy::rowsLeft() {
  Value left;
  Type i32 = b.getI32Type();
  if (rows && isSmall) {
    left = arith::SubIOp::create(b, loc,
                                 arith::IndexCastOp::create(b, loc, i32, rows),
                                 arith::IndexCastOp::create(b, loc, i32, row));
  } else if (rows) {
    left = arith::SubIOp::create(b, loc, rows, row);
    left =
        arith::MinSIOp::create(b, loc, left, d.index(tile.type.getDimSize(0)));
    left = arith::IndexCastOp::create(b, loc, i32, left);
  }
  if (!when)
    return left;
  if (!left)
    left = d.integer(tile.type.getDimSize(0));
  return arith::SelectOp::create(b, loc, when, left, d.integer(0));
}

/// Bytes to read of the thread's chunk; null for all.
Value TileCopy::chunkSize(Value valid, Value lane, int64_t chunk) {
  Value size;
  if (columns) {
    Value first =
        add(add(column, mul(lane, d.index(kChunkBytes / tile.elementBytes()))),
            d.index(chunk * kChunkBytes / tile.elementBytes()));
    Value left = mul(arith::SubIOp::create(b, loc, columns, first),
                     d.index(tile.elementBytes()));
    left = arith::MaxSIOp::create(b, loc, left, d.index(0));
    left = arith::MinSIOp::create(b, loc, left, d.index(kChunkBytes));
    size = arith::IndexCastOp::create(b, loc, b.getI32Type(), left);
  }
  if (!valid)
    return size;
  return arith::SelectOp::create(
      b, loc, valid, size ? size : d.integer(kChunkBytes), d.integer(0));
}

void TileCopy::copyChunks() {
  int64_t chunks = tile.rowBytes() / kChunkBytes, lanes = this->lanes();
  int64_t passRows = kWarp * d.warps / lanes,
          rowCount = tile.type.getDimSize(0);
  Value shift = d.integer(llvm::Log2_64(lanes));
  Value mine = arith::ShRUIOp::create(b, loc, d.thread, shift);
  Value lane = arith::AndIOp::create(b, loc, d.thread, d.integer(lanes - 1));
  Value laneIndex =
      arith::IndexCastUIOp::create(b, loc, b.getIndexType(), lane);
  Value base = threadAddress();
  auto pointerType = LLVM::LLVMPointerType::get(b.getContext(), 1);
  Value left = rowsLeft();
  for (int64_t pass = 0; pass * passRows < rowCount; ++pass) {
    Value valid, source = base;
    if (left)
      valid = less(d.addInteger(mine, pass * passRows), left);
    if (pass > 0)
      source = add(base, mul(rowStride, constant(pass * passRows)));
    Value from = LLVM::IntToPtrOp::create(b, loc, pointerType, source);
    auto copyRow = [&] {
      for (int64_t chunk = 0; chunk < chunks; chunk += lanes) {
        Value piece = from;
        if (chunk > 0)
          piece = LLVM::GEPOp::create(
              b, loc, pointerType, b.getI8Type(), from,
              ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(chunk * 16)});
        Value to = d.copyPointer(tile, lanes, pass * passRows, chunk);
        NVVM::CpAsyncOp::create(b, loc, to, piece, kChunkBytes,
                                NVVM::LoadCacheModifierKind::CG,
                                chunkSize(valid, laneIndex, chunk));
      }
    };
    if ((pass + 1) * passRows <= rowCount) {
      copyRow();
      continue;
    }
    Value inTile =
        less(d.addInteger(mine, pass * passRows), d.integer(rowCount));
    auto branch = scf::IfOp::create(b, loc, inTile);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    copyRow();
  }
}

void TileCopy::copyNumbers() {
  int64_t perRow = tile.type.getDimSize(1);
  int64_t all = tile.type.getNumElements();
  auto loop = scf::ForOp::create(b, loc, d.thread, d.integer(all),
                                 d.integer(kWarp * d.warps));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value number = loop.getInductionVar();
  Value r = arith::DivUIOp::create(b, loc, number, d.integer(perRow));
  Value c = arith::RemUIOp::create(b, loc, number, d.integer(perRow));
  SmallVector<Value> at;
  for (Value index : op.getIndices())
    at.push_back(d.scalar(index));
  Type index = b.getIndexType();
  Value &atRow = at[op.getDims()[0]], &atColumn = at[op.getDims()[1]];
  atRow = add(atRow, arith::IndexCastUIOp::create(b, loc, index, r));
  atColumn = add(atColumn, arith::IndexCastUIOp::create(b, loc, index, c));
  Value valid = when;
  if (rows)
    valid = both(valid, less(atRow, rows));
  if (columns)
    valid = both(valid, less(atColumn, columns));
  Type element = tile.type.getElementType();
  Value value;
  if (valid) {
    auto load = scf::IfOp::create(
        b, loc, valid,
        [&](OpBuilder &b, Location loc) {
          Value loaded = memref::LoadOp::create(b, loc, memory, at);
          scf::YieldOp::create(b, loc, loaded);
        },
        [&](OpBuilder &b, Location loc) {
          Value zero =
              arith::ConstantOp::create(b, loc, b.getZeroAttr(element));
          scf::YieldOp::create(b, loc, zero);
        });
    value = load.getResult(0);
  } else {
    value = memref::LoadOp::create(b, loc, memory, at);
  }
  LLVM::StoreOp::create(b, loc, value, d.elementPointer(tile, r, c));
}

LogicalResult attn::distributeCopy(FragmentDistributor &d,
                                   attn_gpu::CopyToSharedOp op) {
  SharedTile tile = d.sharedTile(op.getOffset(), op.getTileType());
  TileCopy copy{d,
                op,
                tile,
                d.scalar(op.getSource()),
                op.getWhen() ? d.scalar(op.getWhen()) : Value(),
                {},
                {},
                {},
                {},
                false,
                {},
                {},
                {},
                d.b,
                d.loc};
  auto type = cast<MemRefType>(op.getSource().getType());
  auto [strides, offset] = type.getStridesAndOffset();
  auto known = op->getParentOfType<gpu::GPUFuncOp>()->getAttrOfType<BoolAttr>(
      kAlignedAttrName);
  if (known && known.getValue()) {
    copy.isSmall = true;
    if (!d.isRare)
      copy.rowsAhead = countRowsAhead(op);
    copy.locate();
    copy.copyChunks();
    return success();
  }
  copy.locate();
  if (known || strides[op.getDims()[1]] != 1) {
    copy.copyNumbers();
    return success();
  }
  auto branch = scf::IfOp::create(d.b, d.loc, copy.isAligned(),
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(d.b);
  d.b.setInsertionPointToStart(branch.thenBlock());
  copy.copyChunks();
  d.b.setInsertionPointToStart(branch.elseBlock());
  copy.copyNumbers();
  return success();
}
