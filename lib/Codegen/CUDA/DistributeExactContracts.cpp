// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products without matrix instructions, each by fused multiply-adds in the accumulator's type: f32 and f64, and a left side
// of f32 with a right side in a shorter type. A thread sums the numbers of its own fragment:
//
//   for k in steps:  acc[row, column] = fma(left[row, k], right[column, k], acc[row, column])
//
// A left side in shared memory is read like the right one. One that was computed is spread over the four lanes of a row:
// lane q has columns 8j + 2q and 8j + 2q + 1, so the loop goes over q, and each lane gets from lane q of its row what the
// step needs.

#include "FragmentDistributor.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::attn;

namespace {
struct ExactProduct {
  FragmentDistributor &d;
  vector::ContractionOp op;
  RowSplit split;
  SharedTile right;
  bool rightRows;
  int64_t columnTiles, depth;
  Type type;

  Value add(Value x, int64_t y) {
    if (y == 0)
      return x;
    return arith::AddIOp::create(d.b, d.loc, x, d.integer(y));
  }

  Value load(SharedTile tile, Value row, Value column) {
    Type element = tile.type.getElementType();
    Value at = d.elementPointer(tile, row, column);
    Value number = LLVM::LoadOp::create(d.b, d.loc, element, at);
    if (element != type)
      number = arith::ExtFOp::create(d.b, d.loc, type, number);
    return number;
  }

  /// All of the thread's sums, with column `k` of the left side given by `left`.
  Fragment step(const Fragment &acc, Value k, ArrayRef<Value> left) {
    Fragment out(acc);
    for (int64_t n = 0; n < columnTiles; ++n)
      for (int64_t c : {0, 1}) {
        Value column = add(d.pair, n * 8 + c);
        Value number =
            rightRows ? load(right, column, k) : load(right, k, column);
        for (int64_t row = 0; row < split.tiles * 2; ++row) {
          Value &sum = out[(row / 2 * columnTiles + n) * 4 + row % 2 * 2 + c];
          sum = LLVM::FMAOp::create(d.b, d.loc, left[row], number, sum);
        }
      }
    return out;
  }

  /// A loop over `count` steps that carries the sums.
  Fragment loop(const Fragment &acc, int64_t count,
                function_ref<Fragment(Value, const Fragment &)> body) {
    auto loop = scf::ForOp::create(
        d.b, d.loc, d.integer(0), d.integer(count), d.integer(1), acc,
        [](OpBuilder &, Location, Value, ValueRange) {});
    OpBuilder::InsertionGuard guard(d.b);
    d.b.setInsertionPointToStart(loop.getBody());
    Fragment next = body(loop.getInductionVar(),
                         llvm::to_vector_of<Value>(loop.getRegionIterArgs()));
    scf::YieldOp::create(d.b, d.loc, next);
    return llvm::to_vector_of<Value>(loop.getResults());
  }

  Fragment fromShared(SharedTile left, const Fragment &acc) {
    Value base = arith::AddIOp::create(d.b, d.loc, d.firstRow(split), d.group);
    return loop(acc, depth, [&](Value k, const Fragment &sums) {
      SmallVector<Value> column;
      for (int64_t row = 0; row < split.tiles * 2; ++row)
        column.push_back(load(left, add(base, row * 8), k));
      return step(sums, k, column);
    });
  }

  Fragment fromRegisters(const Fragment &left, const Fragment &acc) {
    Value first = arith::AndIOp::create(d.b, d.loc, d.lane, d.integer(28));
    return loop(acc, 4, [&](Value q, const Fragment &given) {
      Fragment sums = given;
      Value from = arith::AddIOp::create(d.b, d.loc, first, q);
      Value twice = arith::ShLIOp::create(d.b, d.loc, q, d.integer(1));
      for (int64_t i = 0; i < depth / 8 * 2; ++i) {
        SmallVector<Value> column;
        for (int64_t row = 0; row < split.tiles * 2; ++row) {
          int64_t tile = row / 2 * (depth / 8) + i / 2;
          Value mine = left[tile * 4 + row % 2 * 2 + i % 2];
          column.push_back(d.shuffleFrom(mine, from));
        }
        sums = step(sums, add(twice, i / 2 * 8 + i % 2), column);
      }
      return sums;
    });
  }
};
} // namespace

LogicalResult attn::distributeExactContract(FragmentDistributor &d,
                                            vector::ContractionOp op,
                                            bool rightRows) {
  auto type = cast<VectorType>(op.getResultType());
  if (!isa<FloatType>(type.getElementType()))
    return op.emitOpError() << "expects to sum floats, got " << type;
  FailureOr<RowSplit> split = d.split(op, type.getDimSize(0));
  if (failed(split))
    return failure();
  ExactProduct product{d,
                       op,
                       *split,
                       d.sharedTile(sharedTileOf(op.getRhs())),
                       rightRows,
                       type.getDimSize(1) / 8,
                       op.getLhsType().getDimSize(1),
                       type.getElementType()};
  const Fragment &acc = d.fragment(op.getAcc(), Layout::Tile);
  attn_gpu::ReadSharedOp left = sharedTileOf(op.getLhs());
  Fragment sums =
      left ? product.fromShared(d.sharedTile(left), acc)
           : product.fromRegisters(d.fragment(op.getLhs(), Layout::Tile), acc);
  d.set(op.getResult(), Layout::Tile, std::move(sums));
  return success();
}
