// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules for reads of memory that no copy stages: each thread reads its own numbers.
//
//   %m = vector.transfer_read %mask[%row, %key], %pad : memref<?x?xi8>, vector<64x64xi8>
//
// becomes, for each of the thread's numbers, a load; where it may be outside, a branch round the load. InsideReads.cpp reads
// tiles of which no element is.

#include "AccessPlaces.h"
#include "InsideReads.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::attn;

static int64_t numbersOf(FragmentDistributor &d, VectorType type,
                         FragmentLayout layout, RowSplit split) {
  int64_t columns = type.getDimSize(type.getRank() - 1);
  if (layout == FragmentLayout::Row)
    return split.tiles * 2;
  int64_t rows = layout == FragmentLayout::Column ? 1 : split.tiles * 2;
  return columns / d.unit() * d.side * rows;
}

/// Load all numbers of a fragment; those outside become `padding`.
static LogicalResult loadFragment(FragmentDistributor &d,
                                  vector::TransferReadOp op,
                                  FragmentLayout layout, Fragment &out) {
  VectorType type = op.getVectorType();
  RowSplit split{1, 1};
  if (layout != FragmentLayout::Column) {
    FailureOr<RowSplit> rows = d.split(op, type.getDimSize(0));
    if (failed(rows))
      return failure();
    split = *rows;
  }
  if (layout != FragmentLayout::Row && readsNeighbours(d, op)) {
    loadNeighbours(d, op, layout, split, out);
    return success();
  }
  auto transfer = cast<VectorTransferOpInterface>(op.getOperation());
  FailureOr<SmallVector<AccessAxis>> axes =
      axesOf(d, transfer, type, layout, mayReadAnyOutside(op));
  if (failed(axes))
    return failure();
  Value memory = d.scalar(op.getBase()), padding = d.scalar(op.getPadding());
  for (int64_t i = 0; i < numbersOf(d, type, layout, split); ++i) {
    AccessPlace place = placeOf(d, transfer, type, *axes, layout, i);
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
  if (d.needs(op, FragmentLayout::Left) || d.needs(op, FragmentLayout::Right))
    return op.emitOpError() << "expects StageCopies to have staged what a "
                               "product reads";
  return forEachLayout(d, op, [&](FragmentLayout layout) -> LogicalResult {
    Fragment out;
    if (failed(loadFragment(d, op, layout, out)))
      return failure();
    d.set(op, layout, std::move(out));
    return success();
  });
}

LogicalResult attn::distributeGather(FragmentDistributor &d,
                                     vector::GatherOp op) {
  return forEachLayout(d, op, [&](FragmentLayout layout) -> LogicalResult {
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
