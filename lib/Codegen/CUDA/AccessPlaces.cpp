// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of a transfer of a block's vector, the indices of a thread's own numbers:
//
//   vector.transfer_read %m[%row, %key] {in_bounds = [false, true]} : memref<?x64xf16>, vector<64x64xf16>
//
// Lane 4g + q has the rows %row + g, %row + g + 8, ..., each of which may be outside, and the columns %key + 2q,
// %key + 2q + 1, %key + 2q + 8, ...

#include "AccessPlaces.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::attn;

Value attn::conjunction(OpBuilder &b, Location loc, Value x, Value y) {
  if (!x || !y)
    return x ? x : y;
  return arith::AndIOp::create(b, loc, x, y);
}

/// Fill in `axis`: memory's index and whether it is inside, for each of the
/// thread's `coordinates` in the vector; `clamped`: the last one for all outside.
static void placeAxis(FragmentDistributor &d, AccessAxis &axis, Value memory,
                      Value start, ArrayRef<Value> coordinates, bool clamped) {
  Value extent;
  if (!axis.inBounds)
    extent = memref::DimOp::create(d.b, d.loc, memory, *axis.dim);
  for (Value coordinate : coordinates) {
    Value position = arith::AddIOp::create(d.b, d.loc, start, coordinate,
                                           arith::IntegerOverflowFlags::nsw);
    Value valid;
    if (extent && clamped) {
      Value last = arith::SubIOp::create(d.b, d.loc, extent, d.index(1));
      position = arith::MinSIOp::create(d.b, d.loc, position, last);
    } else if (extent) {
      valid = arith::CmpIOp::create(d.b, d.loc, arith::CmpIPredicate::slt,
                                    position, extent);
    }
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
  for (int64_t i = 0; i < columns / d.unit() * d.side; ++i)
    out.push_back(d.columnIndex(i / d.side, i % d.side));
  return out;
}

FailureOr<SmallVector<AccessAxis>>
attn::axesOf(FragmentDistributor &d, VectorTransferOpInterface op,
             VectorType type, FragmentLayout layout, bool clamped) {
  SmallVector<AccessAxis> axes;
  AffineMap map = op.getPermutationMap();
  for (unsigned i = 0; i < map.getNumResults(); ++i) {
    AccessAxis axis;
    if (auto dim = dyn_cast<AffineDimExpr>(map.getResult(i)))
      axis.dim = dim.getPosition();
    else if (!isa<AffineConstantExpr>(map.getResult(i)))
      return op->emitOpError() << "has no rule for a transfer along a sum of "
                                  "dimensions";
    axis.inBounds = !axis.dim || op.isDimInBounds(i);
    bool isRow = layout != FragmentLayout::Column && i == 0;
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
                d.scalar(op.getIndices()[*axis.dim]), coordinates, clamped);
    }
    axes.push_back(std::move(axis));
  }
  return axes;
}

/// For number `i` of a fragment, which of the thread's positions it has along
/// `axis` of a vector of `type`.
static int64_t positionOf(FragmentDistributor &d, VectorType type,
                          FragmentLayout layout, unsigned axis, int64_t i) {
  if (type.getRank() == 2 && type.getDimSize(axis) == 1)
    return 0;
  if (layout != FragmentLayout::Tile)
    return i;
  int64_t columnTiles = type.getDimSize(1) / d.unit(), tile = i / (2 * d.side);
  return axis == 0 ? tile / columnTiles * 2 + i / d.side % 2
                   : tile % columnTiles * d.side + i % d.side;
}

AccessPlace attn::placeOf(FragmentDistributor &d, VectorTransferOpInterface op,
                          VectorType type, ArrayRef<AccessAxis> axes,
                          FragmentLayout layout, int64_t i) {
  AccessPlace place;
  for (Value index : op.getIndices())
    place.indices.push_back(d.scalar(index));
  for (auto [k, axis] : llvm::enumerate(axes)) {
    if (!axis.dim)
      continue;
    int64_t at = positionOf(d, type, layout, k, i);
    place.indices[*axis.dim] = axis.positions[at];
    place.valid = conjunction(d.b, d.loc, place.valid, axis.valid[at]);
  }
  return place;
}
