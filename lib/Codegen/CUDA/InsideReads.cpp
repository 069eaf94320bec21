// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads tiles that are inside of the tensors which they are parts of:
//
//   %s = scf.if %inside {
//     %m = vector.transfer_read %mask[%c0, %key] {in_bounds = [true, true]} : memref<128x?xi8, ...>, vector<128x64xi8>
//     ...
//   } else {
//     %m = vector.transfer_read %mask[%c0, %key] {in_bounds = [true, false]} ...
//     ...
//   } {attn.inside}
//
// becomes, where a thread has two columns side by side,
//
//   %aligned = ...                 rows of %mask are contiguous, and begin at multiples of two elements
//   scf.if %inside and %aligned {
//     %m = llvm.load %address[...] {alignment = 2} : i16           two elements of one row
//     ...
//   } else {
//     a load of each element, or of the last one of its row for what is outside
//     nvvm.bar.warp.sync           so that LLVM does not join both ends: what was read would wait in registers
//   }

#include "InsideReads.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::attn;

/// Bytes that a thread reads at once, at most.
constexpr int64_t kMostBytes = 16;

bool attn::mayReadAnyOutside(vector::TransferReadOp op) {
  auto branch = dyn_cast<scf::IfOp>(op->getParentOp());
  return branch && branch->hasAttr(kInsideAttrName) &&
         op->getBlock() == branch.elseBlock() && !op.getMask() &&
         isa<MemRefType>(op.getBase().getType());
}

bool attn::readsNeighbours(FragmentDistributor &d, vector::TransferReadOp op) {
  auto branch = dyn_cast<scf::IfOp>(op->getParentOp());
  VectorType type = op.getVectorType();
  Type element = type.getElementType();
  if (!branch || !branch->hasAttr(kInsideAttrName) ||
      op->getBlock() != branch.thenBlock() || !element.isIntOrFloat())
    return false;
  int64_t bits = element.getIntOrFloatBitWidth();
  bool isWhole = element.isInteger(8) || bits == 16 || bits == 32;
  bool isBefore = op.getBase().getParentBlock() != op->getBlock();
  return isWhole && isBefore && d.side * bits <= kMostBytes * 8 &&
         !op.getMask() && op.getPermutationMap().isMinorIdentity() &&
         (type.getRank() == 1 || layoutOfShape(type) == FragmentLayout::Tile) &&
         !llvm::is_contained(op.getInBoundsValues(), false);
}

/// Whether `index` is known to be a multiple of `count`.
static bool isMultiple(Value index, int64_t count) {
  if (std::optional<int64_t> value = getConstantIntValue(index))
    return *value % count == 0;
  scf::ForOp loop = scf::getForInductionVarOwner(index);
  return loop && isMultiple(loop.getLowerBound(), count) &&
         isMultiple(loop.getStep(), count);
}

namespace {
/// Where the tile of one read stands: numbers of 64 bits, in bytes.
struct TileAddress {
  FragmentDistributor &d;
  vector::TransferReadOp op;
  int64_t bytes;
  Value start;
  SmallVector<Value> strides;

  TileAddress(FragmentDistributor &d, vector::TransferReadOp op)
      : d(d), op(op), bytes(op.getVectorType().getElementTypeBitWidth() / 8) {
    Value memory = d.scalar(op.getBase());
    auto data = memref::ExtractStridedMetadataOp::create(d.b, d.loc, memory);
    Value pointer =
        memref::ExtractAlignedPointerAsIndexOp::create(d.b, d.loc, memory);
    start = add(toI64(pointer), inBytes(toI64(data.getOffset())));
    for (Value stride : data.getStrides())
      strides.push_back(toI64(stride));
  }

  Value constant(int64_t value) {
    return arith::ConstantIntOp::create(d.b, d.loc, value, 64);
  }
  Value toI64(Value value) {
    Type type = d.b.getI64Type();
    return value.getType().isIndex()
               ? arith::IndexCastOp::create(d.b, d.loc, type, value).getResult()
               : arith::ExtUIOp::create(d.b, d.loc, type, value).getResult();
  }
  Value add(Value x, Value y) {
    return arith::AddIOp::create(d.b, d.loc, x, y,
                                 arith::IntegerOverflowFlags::nsw);
  }
  Value mul(Value x, Value y) {
    return arith::MulIOp::create(d.b, d.loc, x, y,
                                 arith::IntegerOverflowFlags::nsw);
  }
  Value inBytes(Value elements) { return mul(elements, constant(bytes)); }
  /// Return the address of the tile's first row, `column` columns after its first.
  Value firstRow(Value column) {
    Value at = start;
    for (auto [index, stride] : llvm::zip(op.getIndices().drop_back(), strides))
      at = add(at, inBytes(mul(toI64(d.scalar(index)), stride)));
    at = add(at, inBytes(column));
    return add(at, inBytes(toI64(d.scalar(op.getIndices().back()))));
  }
};
} // namespace

Value attn::buildCanReadNeighbours(FragmentDistributor &d, scf::IfOp branch,
                                   Value inside) {
  auto require = [&](Value value, Value expected) {
    Value holds = arith::CmpIOp::create(d.b, d.loc, arith::CmpIPredicate::eq,
                                        value, expected);
    inside = arith::AndIOp::create(d.b, d.loc, inside, holds);
  };
  auto either = [&](Value x, Value y) -> Value {
    return arith::OrIOp::create(d.b, d.loc, x, y);
  };
  for (auto op : branch.thenBlock()->getOps<vector::TransferReadOp>()) {
    if (!readsNeighbours(d, op))
      continue;
    TileAddress at(d, op);
    require(at.strides.back(), at.constant(1));
    Value all = at.start;
    for (Value stride : ArrayRef(at.strides).drop_back())
      all = either(all, at.inBytes(stride));
    if (!isMultiple(op.getIndices().back(), d.side))
      all = either(all, at.inBytes(at.toI64(d.scalar(op.getIndices().back()))));
    Value low = arith::AndIOp::create(d.b, d.loc, all,
                                      at.constant(d.side * at.bytes - 1));
    require(low, at.constant(0));
  }
  return inside;
}

/// Load `side` numbers of `element` that stand at `pointer`, one after the other.
static void loadSide(FragmentDistributor &d, Value pointer, Type element,
                     Fragment &out) {
  int64_t bytes = d.side * element.getIntOrFloatBitWidth() / 8;
  if (!element.isInteger(8)) {
    Value all = LLVM::LoadOp::create(
        d.b, d.loc, VectorType::get(d.side, element), pointer, bytes);
    for (int64_t i = 0; i < d.side; ++i)
      out.push_back(vector::ExtractOp::create(d.b, d.loc, all, i));
    return;
  }
  // Parts of one register: a comparison takes them as they are.
  Type word = d.b.getIntegerType(bytes * 8);
  Value all = LLVM::LoadOp::create(d.b, d.loc, word, pointer, bytes);
  for (int64_t i = 0; i < d.side; ++i) {
    Value shift = arith::ConstantIntOp::create(d.b, d.loc, i * 8, bytes * 8);
    Value part = arith::ShRUIOp::create(d.b, d.loc, all, shift);
    out.push_back(arith::TruncIOp::create(d.b, d.loc, element, part));
  }
}

void attn::loadNeighbours(FragmentDistributor &d, vector::TransferReadOp op,
                          FragmentLayout layout, RowSplit split,
                          Fragment &out) {
  VectorType type = op.getVectorType();
  TileAddress at(d, op);
  Value first = at.firstRow(at.toI64(d.firstColumn));
  int64_t rows = 1;
  Value rowBytes;
  if (layout == FragmentLayout::Tile) {
    rows = split.tiles * 2;
    rowBytes = at.inBytes(at.strides[at.strides.size() - 2]);
    Value row = at.toI64(d.rowIndex(split, 0, 0));
    first = at.add(first, at.mul(row, rowBytes));
  }
  auto pointerType = LLVM::LLVMPointerType::get(d.b.getContext(), 1);
  auto moved = [&](Value pointer, LLVM::GEPArg by) -> Value {
    return LLVM::GEPOp::create(d.b, d.loc, pointerType, d.b.getI8Type(),
                               pointer, ArrayRef<LLVM::GEPArg>{by});
  };
  SmallVector<Value> rowPointers;
  for (int64_t i = 0; i < rows; ++i) {
    Value address = first;
    if (i > 0)
      address = at.add(first, at.mul(rowBytes, at.constant(i * 8)));
    rowPointers.push_back(
        LLVM::IntToPtrOp::create(d.b, d.loc, pointerType, address));
  }
  int64_t units = type.getShape().back() / d.unit();
  for (int64_t tile = 0; tile < std::max<int64_t>(1, rows / 2); ++tile)
    for (int64_t unit = 0; unit < units; ++unit)
      for (int64_t r = 0; r < std::min<int64_t>(rows, 2); ++r)
        loadSide(d,
                 moved(rowPointers[tile * 2 + r],
                       static_cast<int32_t>(unit * d.unit() * at.bytes)),
                 type.getElementType(), out);
}
