// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where numbers of a tile stand in shared memory, and what a warp loads of it at once.
//
// Rows lie one after the other. A row is made of chunks of 16 bytes; the 8 chunks that a matrix load reads in one go stand
// in 8 rows, in one column of chunks, and would all be in the same banks where a row is a multiple of 128 bytes. So chunk
// c of row r stands at
//
//   c ^ ((r / (8 / g)) % g)                            g = gcd(chunks of a row, 8)
//
// Where a thread has four columns side by side, rows of the right side are read four apart, too; then chunk c stands at
//
//   c ^ (r / 2 ^ 4 r) % 8            for g = 8: bits 0 to 2 of r differ, and so do bits 1 to 3, and bits 2 and 3
//   c ^ (r / 2 % 4 ^ r / 8 % 2)      for g = 4
//
// A load computes its lane's part of an address once a function; what differs from load to load is a constant.

#include "FragmentDistributor.h"
#include "GpuUnits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

#include <numeric>

using namespace mlir;
using namespace mlir::attn;

/// The dynamic shared memory of a block.
constexpr StringLiteral kSharedName = "attn_shared";

static Value shiftRight(OpBuilder &b, Location loc, Value value, Value by) {
  return arith::ShRUIOp::create(b, loc, value, by);
}
static Value shiftLeft(OpBuilder &b, Location loc, Value value, Value by) {
  return arith::ShLIOp::create(b, loc, value, by);
}
static Value add(OpBuilder &b, Location loc, Value x, Value y) {
  return arith::AddIOp::create(b, loc, x, y);
}
static Value mask(OpBuilder &b, Location loc, Value x, Value y) {
  return arith::AndIOp::create(b, loc, x, y);
}

int64_t FragmentDistributor::swizzleOf(SharedTile tile) {
  return std::gcd<int64_t>(tile.rowBytes() / kChunkBytes, 8);
}

int64_t FragmentDistributor::swizzleTerm(SharedTile tile, int64_t row) const {
  int64_t g = swizzleOf(tile);
  if (side == 2 || g < 4)
    return row / (8 / g) % g;
  return g == 8 ? (row / 2 ^ row * 4) % 8 : row / 2 % 4 ^ row / 8 % 2;
}

Value FragmentDistributor::swizzleTerm(OpBuilder &at, SharedTile tile,
                                       Value row) {
  int64_t g = swizzleOf(tile);
  if (side == 2 || g < 4)
    return mask(at, loc,
                shiftRight(at, loc, row, integer(llvm::Log2_64(8 / g))),
                integer(g - 1));
  Value half = shiftRight(at, loc, row, integer(1));
  Value other =
      g == 8 ? shiftLeft(at, loc, row, integer(2))
             : mask(at, loc, shiftRight(at, loc, row, integer(3)), integer(1));
  if (g == 4)
    half = mask(at, loc, half, integer(3));
  Value term = arith::XOrIOp::create(at, loc, half, other);
  return g == 4 ? term : mask(at, loc, term, integer(7));
}

SharedTile FragmentDistributor::sharedTile(Value offset, VectorType type) {
  SharedTile tile{scalar(offset), 0, type};
  APInt value;
  while (tile.dynamic) {
    if (matchPattern(tile.dynamic, m_ConstantInt(&value))) {
      tile.constant += value.getSExtValue();
      tile.dynamic = nullptr;
      break;
    }
    auto sum = tile.dynamic.getDefiningOp<arith::AddIOp>();
    if (!sum || !matchPattern(sum.getRhs(), m_ConstantInt(&value)))
      break;
    tile.constant += value.getSExtValue();
    tile.dynamic = sum.getLhs();
  }
  return tile;
}

SharedTile FragmentDistributor::sharedTile(attn_gpu::ReadSharedOp read) {
  return sharedTile(read.getOffset(),
                    cast<VectorType>(read.getResult().getType()));
}

static Value offsetPointer(OpBuilder &b, Location loc, Value pointer,
                           LLVM::GEPArg offset) {
  auto type = LLVM::LLVMPointerType::get(b.getContext(), 3);
  return LLVM::GEPOp::create(b, loc, type, b.getI8Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{offset});
}

static Value sharedStart(OpBuilder &b, Location loc) {
  auto type = LLVM::LLVMPointerType::get(b.getContext(), 3);
  return LLVM::AddressOfOp::create(b, loc, type, kSharedName);
}

/// Return `pointer`, which has no offset of `tile` in it yet, with all of them.
static Value addOffsets(OpBuilder &b, Location loc, Value pointer,
                        SharedTile tile, int64_t constant) {
  if (tile.dynamic)
    pointer = offsetPointer(b, loc, pointer, tile.dynamic);
  if (int64_t all = tile.constant + constant)
    pointer = offsetPointer(b, loc, pointer, static_cast<int32_t>(all));
  return pointer;
}

Value FragmentDistributor::sharedPointer(SharedTile tile, Value bytes,
                                         int64_t constant) {
  Value pointer = offsetPointer(b, loc, sharedStart(b, loc), bytes);
  return addOffsets(b, loc, pointer, tile, constant);
}

Value FragmentDistributor::chunkOffset(SharedTile tile, Value row,
                                       Value chunk) {
  Value swizzled =
      arith::XOrIOp::create(b, loc, chunk, swizzleTerm(b, tile, row));
  Value start = arith::MulIOp::create(b, loc, row, integer(tile.rowBytes()));
  return add(b, loc, start, shiftLeft(b, loc, swizzled, integer(4)));
}

Value FragmentDistributor::swizzledOffset(SharedTile tile, Value row,
                                          Value bytes) {
  Value term = shiftLeft(b, loc, swizzleTerm(b, tile, row), integer(4));
  if (bytes)
    term = arith::XOrIOp::create(b, loc, bytes, term);
  Value start = arith::MulIOp::create(b, loc, row, integer(tile.rowBytes()));
  return add(b, loc, start, term);
}

Value FragmentDistributor::swizzledPointer(SharedTile tile, Value offset,
                                           int64_t row, int64_t bytes) {
  int64_t swizzled = swizzleOf(tile) * kChunkBytes - kChunkBytes;
  int64_t low = (bytes & swizzled) ^ swizzleTerm(tile, row) * kChunkBytes;
  return sharedPointer(tile,
                       arith::XOrIOp::create(b, loc, offset, integer(low)),
                       row * tile.rowBytes() + (bytes & ~swizzled));
}

Value FragmentDistributor::elementPointer(SharedTile tile, Value row,
                                          Value column) {
  Value byte =
      arith::MulIOp::create(b, loc, column, integer(tile.elementBytes()));
  Value chunk = shiftRight(b, loc, byte, integer(4));
  Value rest = mask(b, loc, byte, integer(kChunkBytes - 1));
  Value offset = add(b, loc, chunkOffset(tile, row, chunk), rest);
  return sharedPointer(tile, offset);
}

Value FragmentDistributor::lanePointer(SharedTile tile, LanePattern pattern,
                                       int64_t low, RowSplit split) {
  bool isLeft = pattern == LanePattern::Left;
  Value &known = lanePointers[{static_cast<int>(pattern), tile.rowBytes(), low,
                               isLeft ? split.tiles : 0}];
  if (known)
    return known;
  OpBuilder &e = entry;
  Value in8 = mask(e, loc, lane, integer(7));
  Value by8 = shiftRight(e, loc, lane, integer(3));
  Value in16 = mask(e, loc, lane, integer(15));
  Value by16 = shiftRight(e, loc, lane, integer(4));
  Value row, chunk;
  switch (pattern) {
  case LanePattern::Left:
    row = in16;
    chunk = by16;
    break;
  case LanePattern::RightRows32:
    row = in8;
    chunk = by8;
    break;
  case LanePattern::RightMixedRows:
    row = add(e, loc, shiftLeft(e, loc, in8, integer(1)), by16);
    chunk = mask(e, loc, by8, integer(1));
    break;
  case LanePattern::RightRows16:
    row = add(e, loc, shiftLeft(e, loc, by16, integer(3)), in8);
    chunk = mask(e, loc, by8, integer(1));
    break;
  case LanePattern::RightColumns:
    row = in16;
    chunk = by16;
    break;
  }
  chunk = arith::XOrIOp::create(e, loc, chunk, swizzleTerm(e, tile, row));
  chunk = arith::XOrIOp::create(e, loc, chunk, integer(low));
  if (isLeft)
    row = add(e, loc, firstRow(split), row);
  Value start = arith::MulIOp::create(e, loc, row, integer(tile.rowBytes()));
  Value bytes = add(e, loc, start, shiftLeft(e, loc, chunk, integer(4)));
  return known = offsetPointer(e, loc, sharedStart(e, loc), bytes);
}

Value FragmentDistributor::copyPointer(SharedTile tile, int64_t lanes,
                                       int64_t row, int64_t chunk) {
  // Of rows, which come in multiples of 8, only the lowest bits count.
  int64_t last = swizzleOf(tile) - 1;
  int64_t low = (chunk & last) ^ swizzleTerm(tile, row);
  Value &known = copyPointers[{tile.rowBytes(), lanes, low}];
  if (!known) {
    OpBuilder &e = entry;
    // (Not `thread`, which may be that of a rare branch.)
    Value number = NVVM::ThreadIdXOp::create(e, loc, e.getI32Type());
    Value mine = shiftRight(e, loc, number, integer(llvm::Log2_64(lanes)));
    Value in = mask(e, loc, number, integer(lanes - 1));
    in = arith::XOrIOp::create(e, loc, in, integer(low));
    in = arith::XOrIOp::create(e, loc, in, swizzleTerm(e, tile, mine));
    Value start = arith::MulIOp::create(e, loc, mine, integer(tile.rowBytes()));
    Value bytes = add(e, loc, start, shiftLeft(e, loc, in, integer(4)));
    known = offsetPointer(e, loc, sharedStart(e, loc), bytes);
  }
  return addOffsets(b, loc, known, tile,
                    row * tile.rowBytes() + (chunk & ~last) * kChunkBytes);
}

SmallVector<Value> FragmentDistributor::loadMatrices(SharedTile tile,
                                                     LanePattern pattern,
                                                     int64_t row, int64_t chunk,
                                                     RowSplit split) {
  // Rows of a lane and multiples of what its pattern covers have no bits in common,
  // so that their swizzles add up.
  int64_t last = swizzleOf(tile) - 1;
  Value pointer = lanePointer(tile, pattern,
                              (chunk & last) ^ swizzleTerm(tile, row), split);
  pointer = addOffsets(b, loc, pointer, tile,
                       row * tile.rowBytes() + (chunk & ~last) * kChunkBytes);
  Type i32 = b.getI32Type();
  auto type =
      LLVM::LLVMStructType::getLiteral(b.getContext(), {i32, i32, i32, i32});
  auto shape = NVVM::LdStMatrixShapeAttr::get(b.getContext(), 8, 8);
  Value loaded = NVVM::LdMatrixOp::create(b, loc, type, pointer, 4,
                                          pattern == LanePattern::RightColumns
                                              ? NVVM::MMALayout::col
                                              : NVVM::MMALayout::row,
                                          shape, NVVM::LdStMatrixEltType::B16);
  // f16 is handed to the matrix instructions in pairs, bf16 in plain registers.
  Type element = tile.type.getElementType();
  SmallVector<Value> registers;
  for (int64_t i = 0; i < 4; ++i) {
    Value part = LLVM::ExtractValueOp::create(b, loc, loaded, i);
    if (element.isF16())
      part = LLVM::BitcastOp::create(b, loc, VectorType::get(2, element), part);
    registers.push_back(part);
  }
  return registers;
}

//===----------------------------------------------------------------------===//
// Warps
//===----------------------------------------------------------------------===//

/// Apply `move` to the 32-bit pieces of `value`.
static Value movePieces(OpBuilder &b, Location loc, Value value,
                        function_ref<Value(Value)> move) {
  Type type = value.getType(), i32 = b.getI32Type();
  if (type.isF32() || type == i32)
    return move(value);
  if (type.isIndex()) {
    Value wide = arith::IndexCastOp::create(b, loc, b.getI64Type(), value);
    return arith::IndexCastOp::create(b, loc, type,
                                      movePieces(b, loc, wide, move));
  }
  unsigned bits = type.getIntOrFloatBitWidth();
  Type integer = b.getIntegerType(bits);
  if (isa<FloatType>(type)) {
    Value plain = arith::BitcastOp::create(b, loc, integer, value);
    return arith::BitcastOp::create(b, loc, type,
                                    movePieces(b, loc, plain, move));
  }
  if (bits < 32) {
    Value wide = arith::ExtUIOp::create(b, loc, i32, value);
    return arith::TruncIOp::create(b, loc, type, move(wide));
  }
  Value half = arith::ConstantIntOp::create(b, loc, 32, bits);
  Value low = arith::TruncIOp::create(b, loc, i32, value);
  Value high = arith::TruncIOp::create(
      b, loc, i32, arith::ShRUIOp::create(b, loc, value, half));
  low = arith::ExtUIOp::create(b, loc, integer, move(low));
  high = arith::ExtUIOp::create(b, loc, integer, move(high));
  return arith::OrIOp::create(b, loc, low,
                              arith::ShLIOp::create(b, loc, high, half));
}

static Value shuffle(FragmentDistributor &d, Value value, Value offset,
                     NVVM::ShflKind kind) {
  return movePieces(d.b, d.loc, value, [&](Value piece) -> Value {
    return NVVM::ShflOp::create(d.b, d.loc, piece.getType(), d.integer(-1),
                                piece, offset, d.integer(31),
                                NVVM::ShflKindAttr::get(d.b.getContext(), kind),
                                UnitAttr());
  });
}

Value FragmentDistributor::shuffleXor(Value value, int64_t lanes) {
  return shuffle(*this, value, integer(lanes), NVVM::ShflKind::bfly);
}

Value FragmentDistributor::shuffleFrom(Value value, Value from) {
  return shuffle(*this, value, from, NVVM::ShflKind::idx);
}
