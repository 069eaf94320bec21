// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules for reads and writes of memory that no copy stages: each thread reads and writes its own numbers.
//
//   %m = vector.transfer_read %mask[%row, %key], %pad : memref<?x?xi8>, vector<64x64xi8>
//
// becomes, for each of the thread's numbers, a load; where it may be outside, a load of an element that is inside, and a
// select. Two neighbours of 16 bits are written at once where rows begin at multiples of 4 bytes.

#include "FragmentDistributor.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::attn;

namespace {
/// One dimension of a vector that is read or written: the thread's positions
/// along it, and the dimension of memory that it runs along (none: broadcast).
struct Axis {
  std::optional<unsigned> dim;
  bool inBounds = true;
  SmallVector<Value> positions;
  SmallVector<Value> valid;
};
} // namespace

static Value conjunction(OpBuilder &b, Location loc, Value x, Value y) {
  if (!x || !y)
    return x ? x : y;
  return arith::AndIOp::create(b, loc, x, y);
}

/// Fill in `axis`: memory's index and whether it is inside, for each of the
/// thread's `coordinates` in the vector.
static void placeAxis(FragmentDistributor &d, Axis &axis, Value memory,
                      Value start, ArrayRef<Value> coordinates) {
  Value extent;
  if (!axis.inBounds)
    extent = memref::DimOp::create(d.b, d.loc, memory, *axis.dim);
  for (Value coordinate : coordinates) {
    Value position = arith::AddIOp::create(d.b, d.loc, start, coordinate,
                                           arith::IntegerOverflowFlags::nsw);
    Value valid;
    if (extent)
      valid = arith::CmpIOp::create(d.b, d.loc, arith::CmpIPredicate::slt,
                                    position, extent);
    axis.positions.push_back(position);
    axis.valid.push_back(valid);
  }
}

/// The thread's coordinates along rows or columns of a vector.
static SmallVector<Value> rowsOf(FragmentDistributor &d, RowSplit split) {
  SmallVector<Value> rows;
  for (int64_t i = 0; i < split.tiles * 2; ++i)
    rows.push_back(d.rowIndex(split, i / 2, i % 2));
  return rows;
}
static SmallVector<Value> columnsOf(FragmentDistributor &d, int64_t columns) {
  SmallVector<Value> out;
  for (int64_t i = 0; i < columns / 8 * 2; ++i)
    out.push_back(d.columnIndex(i / 2, i % 2));
  return out;
}

/// The axes of a transfer of `type` with `map`, in `layout`: one for each
/// dimension of the vector.
static FailureOr<SmallVector<Axis>> axesOf(FragmentDistributor &d,
                                           VectorTransferOpInterface op,
                                           VectorType type, Layout layout) {
  SmallVector<Axis> axes;
  AffineMap map = op.getPermutationMap();
  for (unsigned i = 0; i < map.getNumResults(); ++i) {
    Axis axis;
    if (auto dim = dyn_cast<AffineDimExpr>(map.getResult(i)))
      axis.dim = dim.getPosition();
    else if (!isa<AffineConstantExpr>(map.getResult(i)))
      return op->emitOpError() << "has no rule for a transfer along a sum of "
                                  "dimensions";
    axis.inBounds = !axis.dim || op.isDimInBounds(i);
    bool isRow = layout != Layout::Column && i == 0;
    if (axis.dim) {
      SmallVector<Value> coordinates;
      if (type.getRank() == 2 && type.getDimSize(i) == 1) {
        coordinates.push_back(d.index(0));
      } else if (isRow) {
        FailureOr<RowSplit> split = d.split(op, type.getDimSize(0));
        if (failed(split))
          return failure();
        coordinates = rowsOf(d, *split);
      } else {
        coordinates = columnsOf(d, type.getDimSize(i));
      }
      placeAxis(d, axis, d.scalar(op.getBase()),
                d.scalar(op.getIndices()[*axis.dim]), coordinates);
    }
    axes.push_back(std::move(axis));
  }
  return axes;
}

/// For number `i` of a fragment, which of the thread's positions it has along
/// `axis` of a vector of `type`.
static int64_t positionOf(VectorType type, Layout layout, unsigned axis,
                          int64_t i) {
  if (type.getRank() == 2 && type.getDimSize(axis) == 1)
    return 0;
  if (layout != Layout::Tile)
    return i;
  int64_t columnTiles = type.getDimSize(1) / 8, tile = i / 4;
  return axis == 0 ? tile / columnTiles * 2 + i / 2 % 2
                   : tile % columnTiles * 2 + i % 2;
}

namespace {
/// Where number `i` of a fragment stands in memory.
struct Place {
  SmallVector<Value> indices;
  Value valid;
};
} // namespace

static Place placeOf(FragmentDistributor &d, VectorTransferOpInterface op,
                     VectorType type, ArrayRef<Axis> axes, Layout layout,
                     int64_t i) {
  Place place;
  for (Value index : op.getIndices())
    place.indices.push_back(d.scalar(index));
  for (auto [k, axis] : llvm::enumerate(axes)) {
    if (!axis.dim)
      continue;
    int64_t at = positionOf(type, layout, k, i);
    place.indices[*axis.dim] = axis.positions[at];
    place.valid = conjunction(d.b, d.loc, place.valid, axis.valid[at]);
  }
  return place;
}

static int64_t numbersOf(VectorType type, Layout layout, RowSplit split) {
  int64_t columns = type.getDimSize(type.getRank() - 1);
  if (layout == Layout::Row)
    return split.tiles * 2;
  return columns / 8 * (layout == Layout::Column ? 2 : split.tiles * 4);
}

/// Load all numbers of a fragment; those outside become `padding`.
static LogicalResult loadFragment(FragmentDistributor &d,
                                  vector::TransferReadOp op, Layout layout,
                                  Fragment &out) {
  VectorType type = op.getVectorType();
  RowSplit split{1, 1};
  if (layout != Layout::Column) {
    FailureOr<RowSplit> rows = d.split(op, type.getDimSize(0));
    if (failed(rows))
      return failure();
    split = *rows;
  }
  auto transfer = cast<VectorTransferOpInterface>(op.getOperation());
  FailureOr<SmallVector<Axis>> axes = axesOf(d, transfer, type, layout);
  if (failed(axes))
    return failure();
  Value memory = d.scalar(op.getBase()), padding = d.scalar(op.getPadding());
  for (int64_t i = 0; i < numbersOf(type, layout, split); ++i) {
    Place place = placeOf(d, transfer, type, *axes, layout, i);
    if (op.getMask())
      place.valid = conjunction(d.b, d.loc, place.valid,
                                d.fragment(op.getMask(), layout)[i]);
    if (!place.valid) {
      out.push_back(memref::LoadOp::create(d.b, d.loc, memory, place.indices));
      continue;
    }
    auto load = scf::IfOp::create(
        d.b, d.loc, place.valid,
        [&](OpBuilder &b, Location loc) {
          Value value = memref::LoadOp::create(b, loc, memory, place.indices);
          scf::YieldOp::create(b, loc, value);
        },
        [&](OpBuilder &b, Location loc) {
          scf::YieldOp::create(b, loc, padding);
        });
    out.push_back(load.getResult(0));
  }
  return success();
}

LogicalResult attn::distributeRead(FragmentDistributor &d,
                                   vector::TransferReadOp op) {
  if (!isa<MemRefType>(op.getBase().getType()))
    return op.emitOpError() << "expects to read memory";
  if (d.needs(op, Layout::Left) || d.needs(op, Layout::Right))
    return op.emitOpError() << "expects StageCopies to have staged what a "
                               "product reads";
  return forEachLayout(d, op, [&](Layout layout) -> LogicalResult {
    Fragment out;
    if (failed(loadFragment(d, op, layout, out)))
      return failure();
    d.set(op, layout, std::move(out));
    return success();
  });
}

LogicalResult attn::distributeGather(FragmentDistributor &d,
                                     vector::GatherOp op) {
  return forEachLayout(d, op, [&](Layout layout) -> LogicalResult {
    const Fragment &indices = d.fragment(op.getIndices(), layout);
    const Fragment &mask = d.fragment(op.getMask(), layout);
    const Fragment &pass = d.fragment(op.getPassThru(), layout);
    Value memory = d.scalar(op.getBase());
    Fragment out;
    for (size_t i = 0; i < indices.size(); ++i) {
      SmallVector<Value> at;
      for (Value index : op.getOffsets())
        at.push_back(d.scalar(index));
      Value step = indices[i];
      if (!step.getType().isIndex())
        step = arith::IndexCastOp::create(d.b, d.loc, d.b.getIndexType(), step);
      at.back() = arith::AddIOp::create(d.b, d.loc, at.back(), step);
      auto load = scf::IfOp::create(
          d.b, d.loc, mask[i],
          [&](OpBuilder &b, Location loc) {
            Value value = memref::LoadOp::create(b, loc, memory, at);
            scf::YieldOp::create(b, loc, value);
          },
          [&](OpBuilder &b, Location loc) {
            scf::YieldOp::create(b, loc, pass[i]);
          });
      out.push_back(load.getResult(0));
    }
    d.set(op, layout, std::move(out));
    return success();
  });
}

//===----------------------------------------------------------------------===//
// Writes
//===----------------------------------------------------------------------===//

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

/// Return whether two neighbours in a row can be written at once: a number, and
/// null where the type of the memory says no.
static Value pairsAligned(FragmentDistributor &d, Value memory,
                          const Axis &columns) {
  auto type = cast<MemRefType>(memory.getType());
  auto [strides, offset] = type.getStridesAndOffset();
  int64_t rank = type.getRank();
  if (!columns.dim || static_cast<int64_t>(*columns.dim) != rank - 1 ||
      strides.back() != 1 || type.getElementTypeBitWidth() > 32 ||
      type.getElementTypeBitWidth() < 8)
    return {};
  Location loc = d.loc;
  auto data = memref::ExtractStridedMetadataOp::create(d.b, loc, memory);
  Value start =
      memref::ExtractAlignedPointerAsIndexOp::create(d.b, loc, memory);
  Value bytes = d.index(type.getElementTypeBitWidth() / 8);
  // The lowest bits of all of them together say whether one is odd.
  Value all = data.getOffset();
  for (Value stride : data.getStrides().drop_back())
    all = arith::OrIOp::create(d.b, loc, all, stride);
  all = arith::OrIOp::create(d.b, loc, all, columns.positions.front());
  all = arith::MulIOp::create(d.b, loc, all, bytes);
  all = arith::OrIOp::create(d.b, loc, all, start);
  Value mask = d.index(type.getElementTypeBitWidth() / 4 - 1);
  all = arith::AndIOp::create(d.b, loc, all, mask);
  return arith::CmpIOp::create(d.b, loc, arith::CmpIPredicate::eq, all,
                               d.index(0));
}

namespace {
/// Writes the rows of a tile.
struct TileWriter {
  FragmentDistributor &d;
  vector::TransferWriteOp op;
  ArrayRef<Axis> axes;
  const Fragment &given;

  void writeRow(int64_t row, bool inPairs) {
    VectorType type = op.getVectorType();
    int64_t columnTiles = type.getDimSize(1) / 8;
    auto transfer = cast<VectorTransferOpInterface>(op.getOperation());
    Value memory = d.scalar(op.getBase());
    for (int64_t tile = 0; tile < columnTiles; ++tile) {
      int64_t i = (row / 2 * columnTiles + tile) * 4 + row % 2 * 2;
      auto place = [&](int64_t c) {
        return placeOf(d, transfer, type, axes, Layout::Tile, i + c).indices;
      };
      if (inPairs) {
        Type element = type.getElementType();
        Value pair = vector::FromElementsOp::create(
            d.b, d.loc, VectorType::get(2, element),
            ValueRange{given[i], given[i + 1]});
        vector::StoreOp::create(
            d.b, d.loc, pair, memory, place(0), /*nontemporal=*/false,
            llvm::MaybeAlign(element.getIntOrFloatBitWidth() / 4));
        continue;
      }
      for (int64_t c = 0; c < 2; ++c)
        buildWhere(d, axes[1].valid[tile * 2 + c], [&] {
          memref::StoreOp::create(d.b, d.loc, given[i + c], memory, place(c));
        });
    }
  }

  void write(Value mine, bool inPairs) {
    for (size_t row = 0; row < axes[0].positions.size(); ++row) {
      Value valid = conjunction(d.b, d.loc, mine, axes[0].valid[row]);
      buildWhere(d, valid, [&] { writeRow(row, inPairs); });
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

static void writeTile(FragmentDistributor &d, vector::TransferWriteOp op,
                      ArrayRef<Axis> axes, RowSplit split) {
  TileWriter writer{d, op, axes, d.fragment(op.getVector(), Layout::Tile)};
  Value mine = isWriter(d, split), aligned;
  if (axes[1].inBounds)
    aligned = pairsAligned(d, d.scalar(op.getBase()), axes[1]);
  if (!aligned)
    return writer.write(mine, /*inPairs=*/false);
  auto branch = scf::IfOp::create(d.b, d.loc, aligned, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(d.b);
  d.b.setInsertionPointToStart(branch.thenBlock());
  writer.write(mine, /*inPairs=*/true);
  d.b.setInsertionPointToStart(branch.elseBlock());
  writer.write(mine, /*inPairs=*/false);
}

LogicalResult attn::distributeWrite(FragmentDistributor &d,
                                    vector::TransferWriteOp op) {
  VectorType type = op.getVectorType();
  if (type.getRank() == 0 || op.getMask() ||
      !isa<MemRefType>(op.getBase().getType()))
    return op.emitOpError() << "expects to write memory, without a mask";
  Layout layout = layoutOfShape(type);
  FailureOr<RowSplit> split = d.split(op, type.getDimSize(0));
  if (failed(split))
    return failure();
  auto transfer = cast<VectorTransferOpInterface>(op.getOperation());
  FailureOr<SmallVector<Axis>> axes = axesOf(d, transfer, type, layout);
  if (failed(axes))
    return failure();
  if (layout == Layout::Tile) {
    writeTile(d, op, *axes, *split);
    return success();
  }
  if (layout == Layout::Column)
    return op.emitOpError() << "has no rule for a vector of one row";
  // The four lanes of a row hold the same number; the first writes it.
  Value mine = arith::CmpIOp::create(d.b, d.loc, arith::CmpIPredicate::eq,
                                     d.pair, d.integer(0));
  mine = conjunction(d.b, d.loc, mine, isWriter(d, *split));
  const Fragment &given = d.fragment(op.getVector(), Layout::Row);
  for (size_t i = 0; i < given.size(); ++i) {
    Place place = placeOf(d, transfer, type, *axes, layout, i);
    Value valid = conjunction(d.b, d.loc, mine, place.valid);
    buildWhere(d, valid, [&] {
      memref::StoreOp::create(d.b, d.loc, given[i], d.scalar(op.getBase()),
                              place.indices);
    });
  }
  return success();
}
