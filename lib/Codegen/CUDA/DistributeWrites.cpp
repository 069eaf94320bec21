// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules for writes of memory:
//
//   vector.transfer_write %o, %out[%c0, %c0] {in_bounds = [false, true]} : vector<128x64xf16>, memref<?x64xf16>
//
// Of 16-bit numbers, whose rows are whole chunks of 16 bytes, the four lanes of a row swap what they have of four tiles
// of 8 columns until each has one of these, and writes it at once:
//
//   lane            0       1       2       3                  0        1        2        3
//   of tile 0       0 1     2 3     4 5     6 7       becomes  all of   all of   all of   all of
//   of tile 1       0 1     2 3     4 5     6 7                tile 0   tile 1   tile 2   tile 3
//   ...
//
// Else each thread writes its own: neighbours at once where they begin at a multiple of their size, or one by one.

#include "AccessPlaces.h"
#include "GpuUnits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::attn;

/// 16-bit numbers in a chunk, and columns in a tile.
constexpr int64_t kChunkNumbers = 8;

/// Build what `fill` builds where `condition` (null: always) holds.
static void buildWhere(FragmentDistributor &d, Value condition,
                       function_ref<void()> fill) {
  if (!condition)
    return fill();
  auto branch = scf::IfOp::create(d.b, d.loc, condition);
  OpBuilder::InsertionGuard guard(d.b);
  d.b.setInsertionPointToStart(branch.thenBlock());
  fill();
}

/// Return whether all of `rows`, of which the last dimension is contiguous, begin
/// at multiples of `bytes` in column `first`.
static Value isAligned(FragmentDistributor &d, Value memory, Value first,
                       int64_t bytes) {
  auto type = cast<MemRefType>(memory.getType());
  Location loc = d.loc;
  auto data = memref::ExtractStridedMetadataOp::create(d.b, loc, memory);
  Value start =
      memref::ExtractAlignedPointerAsIndexOp::create(d.b, loc, memory);
  // The lowest bits of all of them together say whether one is odd.
  Value all = arith::OrIOp::create(d.b, loc, data.getOffset(), first);
  for (Value stride : data.getStrides().drop_back())
    all = arith::OrIOp::create(d.b, loc, all, stride);
  all = arith::MulIOp::create(d.b, loc, all,
                              d.index(type.getElementTypeBitWidth() / 8));
  all = arith::OrIOp::create(d.b, loc, all, start);
  all = arith::AndIOp::create(d.b, loc, all, d.index(bytes - 1));
  return arith::CmpIOp::create(d.b, loc, arith::CmpIPredicate::eq, all,
                               d.index(0));
}

/// Whether neighbours in a row of `memory` stand side by side, of whole bytes.
static bool hasNeighbours(MemRefType memory, const AccessAxis &columns) {
  auto [strides, offset] = memory.getStridesAndOffset();
  return columns.dim &&
         static_cast<int64_t>(*columns.dim) == memory.getRank() - 1 &&
         strides.back() == 1 && memory.getElementTypeBitWidth() >= 8;
}

/// Return how many columns `op` writes, if its rows are whole chunks of 16 bytes,
/// of numbers of 16 bits; else none.
static std::optional<int64_t> countChunkColumns(FragmentDistributor &d,
                                                vector::TransferWriteOp op,
                                                const AccessAxis &columns) {
  auto memory = cast<MemRefType>(op.getBase().getType());
  if (!hasNeighbours(memory, columns) ||
      memory.getElementTypeBitWidth() != 16 || d.side != kMatrixSide ||
      !matchPattern(op.getIndices().back(), m_Zero()))
    return std::nullopt;
  int64_t count = op.getVectorType().getDimSize(1);
  if (!columns.inBounds) {
    int64_t extent = memory.getShape().back();
    if (ShapedType::isDynamic(extent))
      return std::nullopt;
    count = std::min(count, extent);
  }
  if (count % kChunkNumbers != 0)
    return std::nullopt;
  return count;
}

/// Return whether the thread's neighbours in a row can be written at once: a number,
/// and null where the type of the memory says no.
static Value sidesAligned(FragmentDistributor &d, Value memory,
                          const AccessAxis &columns) {
  auto type = cast<MemRefType>(memory.getType());
  if (!hasNeighbours(type, columns) || type.getElementTypeBitWidth() > 32)
    return {};
  return isAligned(d, memory, columns.positions.front(),
                   d.side * type.getElementTypeBitWidth() / 8);
}

/// Return two neighbours of 16 bits as one register.
static Value packPair(FragmentDistributor &d, Value low, Value high) {
  Value pair = vector::FromElementsOp::create(
      d.b, d.loc, VectorType::get(2, low.getType()), ValueRange{low, high});
  return LLVM::BitcastOp::create(d.b, d.loc, d.b.getI32Type(), pair);
}

/// Lane q of the four of a row has registers 2q and 2q + 1 of each of four tiles
/// of 8 columns: `pairs`. Return all of tile q, after lanes 1 and 2 apart have
/// swapped halves.
static SmallVector<Value> swapTiles(FragmentDistributor &d,
                                    ArrayRef<Value> pairs) {
  auto hasBit = [&](int64_t bit) -> Value {
    Value set =
        arith::AndIOp::create(d.b, d.loc, d.firstColumn, d.integer(bit));
    return arith::CmpIOp::create(d.b, d.loc, arith::CmpIPredicate::ne, set,
                                 d.integer(0));
  };
  auto choose = [&](Value condition, Value yes, Value no) -> Value {
    return arith::SelectOp::create(d.b, d.loc, condition, yes, no);
  };
  // Twice the lane's number in its row.
  Value isOdd = hasBit(2), isHigh = hasBit(4);
  SmallVector<Value> halves;
  for (int64_t i : {0, 2}) {
    Value other =
        d.shuffleXor(choose(isOdd, pairs[i], pairs[i + 1]), /*lanes=*/1);
    halves.push_back(choose(isOdd, other, pairs[i]));
    halves.push_back(choose(isOdd, pairs[i + 1], other));
  }
  SmallVector<Value> tile(4);
  for (int64_t i : {0, 1}) {
    Value other =
        d.shuffleXor(choose(isHigh, halves[i], halves[i + 2]), /*lanes=*/2);
    tile[i] = choose(isHigh, other, halves[i]);
    tile[i + 2] = choose(isHigh, halves[i + 2], other);
  }
  return tile;
}

namespace {
/// Writes the rows of a tile.
struct TileWriter {
  FragmentDistributor &d;
  vector::TransferWriteOp op;
  ArrayRef<AccessAxis> axes;
  const Fragment &given;

  void writeRow(int64_t row, bool atOnce) {
    VectorType type = op.getVectorType();
    int64_t columnTiles = type.getDimSize(1) / d.unit(), side = d.side;
    auto transfer = cast<VectorTransferOpInterface>(op.getOperation());
    Value memory = d.scalar(op.getBase());
    for (int64_t tile = 0; tile < columnTiles; ++tile) {
      int64_t i = ((row / 2 * columnTiles + tile) * 2 + row % 2) * side;
      auto place = [&](int64_t c) {
        return placeOf(d, transfer, type, axes, FragmentLayout::Tile, i + c)
            .indices;
      };
      if (atOnce) {
        Type element = type.getElementType();
        Value all = vector::FromElementsOp::create(
            d.b, d.loc, VectorType::get(side, element),
            ArrayRef<Value>(given).slice(i, side));
        vector::StoreOp::create(
            d.b, d.loc, all, memory, place(0), /*nontemporal=*/false,
            llvm::MaybeAlign(side * element.getIntOrFloatBitWidth() / 8));
        continue;
      }
      for (int64_t c = 0; c < side; ++c)
        buildWhere(d, axes[1].valid[tile * side + c], [&] {
          memref::StoreOp::create(d.b, d.loc, given[i + c], memory, place(c));
        });
    }
  }

  /// Write the first `columns` columns in chunks of 16 bytes. All lanes take part in
  /// making them.
  void writeChunks(Value mine, int64_t columns) {
    VectorType type = op.getVectorType();
    int64_t columnTiles = type.getDimSize(1) / kChunkNumbers;
    Value lanes = arith::IndexCastUIOp::create(d.b, d.loc, d.b.getIndexType(),
                                               d.firstColumn);
    for (size_t row = 0; row < axes[0].positions.size(); ++row)
      for (int64_t first = 0; first * kChunkNumbers < columns; first += 4) {
        SmallVector<Value> pairs;
        for (int64_t tile = first; tile < first + 4; ++tile) {
          int64_t i = (row / 2 * columnTiles + tile) * 4 + row % 2 * 2;
          pairs.push_back(tile < columnTiles
                              ? packPair(d, given[i], given[i + 1])
                              : d.integer(0));
        }
        // Lane q, of which `lanes` is 2q, writes tile q.
        Value column = arith::AddIOp::create(
            d.b, d.loc, d.index(first * kChunkNumbers),
            arith::MulIOp::create(d.b, d.loc, lanes,
                                  d.index(kChunkNumbers / 2)));
        Value valid = conjunction(d.b, d.loc, mine, axes[0].valid[row]);
        if ((first + 4) * kChunkNumbers > columns)
          valid = conjunction(d.b, d.loc, valid,
                              arith::CmpIOp::create(d.b, d.loc,
                                                    arith::CmpIPredicate::slt,
                                                    column, d.index(columns)));
        writeChunk(swapTiles(d, pairs), valid, row, column);
      }
  }

  void writeChunk(ArrayRef<Value> registers, Value valid, int64_t row,
                  Value column) {
    auto words = VectorType::get(4, d.b.getI32Type());
    auto numbers =
        VectorType::get(kChunkNumbers, op.getVectorType().getElementType());
    Value chunk = vector::FromElementsOp::create(d.b, d.loc, words, registers);
    chunk = LLVM::BitcastOp::create(d.b, d.loc, numbers, chunk);
    SmallVector<Value> at;
    for (Value index : op.getIndices())
      at.push_back(d.scalar(index));
    at[*axes[0].dim] = axes[0].positions[row];
    at[*axes[1].dim] = column;
    buildWhere(d, valid, [&] {
      vector::StoreOp::create(d.b, d.loc, chunk, d.scalar(op.getBase()), at,
                              /*nontemporal=*/false,
                              llvm::MaybeAlign(kChunkBytes));
    });
  }

  void write(Value mine, bool atOnce) {
    for (size_t row = 0; row < axes[0].positions.size(); ++row) {
      Value valid = conjunction(d.b, d.loc, mine, axes[0].valid[row]);
      buildWhere(d, valid, [&] { writeRow(row, atOnce); });
    }
  }
};
} // namespace

/// Return whether this thread's warp is one of those that write; null if all do.
static Value isWriter(FragmentDistributor &d, RowSplit split) {
  if (split.warps == d.warps)
    return {};
  return arith::CmpIOp::create(d.b, d.loc, arith::CmpIPredicate::ult, d.warp,
                               d.integer(split.warps));
}

/// Build `yes` where `condition` holds, and `no` where not.
static void buildChoice(FragmentDistributor &d, Value condition,
                        function_ref<void()> yes, function_ref<void()> no) {
  if (!condition)
    return no();
  auto branch =
      scf::IfOp::create(d.b, d.loc, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(d.b);
  d.b.setInsertionPointToStart(branch.thenBlock());
  yes();
  d.b.setInsertionPointToStart(branch.elseBlock());
  no();
}

static void writeTile(FragmentDistributor &d, vector::TransferWriteOp op,
                      ArrayRef<AccessAxis> axes, RowSplit split) {
  TileWriter writer{d, op, axes,
                    d.fragment(op.getVector(), FragmentLayout::Tile)};
  Value mine = isWriter(d, split), memory = d.scalar(op.getBase());
  auto writeNumbers = [&] { writer.write(mine, /*atOnce=*/false); };
  auto writePairs = [&] { writer.write(mine, /*atOnce=*/true); };
  auto writeSome = [&] {
    Value pairs;
    if (axes[1].inBounds)
      pairs = sidesAligned(d, memory, axes[1]);
    buildChoice(d, pairs, writePairs, writeNumbers);
  };
  std::optional<int64_t> columns = countChunkColumns(d, op, axes[1]);
  if (!columns)
    return writeSome();
  buildChoice(
      d, isAligned(d, memory, d.index(0), kChunkBytes),
      [&] { writer.writeChunks(mine, *columns); }, writeSome);
}

LogicalResult attn::distributeWrite(FragmentDistributor &d,
                                    vector::TransferWriteOp op) {
  VectorType type = op.getVectorType();
  if (type.getRank() == 0 || op.getMask() ||
      !isa<MemRefType>(op.getBase().getType()))
    return op.emitOpError() << "expects to write memory, without a mask";
  FragmentLayout layout = layoutOfShape(type);
  FailureOr<RowSplit> split = d.split(op, type.getDimSize(0));
  if (failed(split))
    return failure();
  auto transfer = cast<VectorTransferOpInterface>(op.getOperation());
  FailureOr<SmallVector<AccessAxis>> axes = axesOf(d, transfer, type, layout);
  if (failed(axes))
    return failure();
  if (layout == FragmentLayout::Tile) {
    writeTile(d, op, *axes, *split);
    return success();
  }
  if (layout == FragmentLayout::Column)
    return op.emitOpError() << "has no rule for a vector of one row";
  // The four lanes of a row hold the same number; the first writes it.
  Value mine = arith::CmpIOp::create(d.b, d.loc, arith::CmpIPredicate::eq,
                                     d.firstColumn, d.integer(0));
  mine = conjunction(d.b, d.loc, mine, isWriter(d, *split));
  const Fragment &given = d.fragment(op.getVector(), FragmentLayout::Row);
  for (size_t i = 0; i < given.size(); ++i) {
    AccessPlace place = placeOf(d, transfer, type, *axes, layout, i);
    Value valid = conjunction(d.b, d.loc, mine, place.valid);
    buildWhere(d, valid, [&] {
      memref::StoreOp::create(d.b, d.loc, given[i], d.scalar(op.getBase()),
                              place.indices);
    });
  }
  return success();
}
