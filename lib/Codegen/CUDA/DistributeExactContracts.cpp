// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products without matrix instructions, each by fused multiply-adds in the accumulator's type: f32 and f64, and a left side
// of f32 with a right side in a shorter type. A thread sums the numbers of its own fragment, for which it reads shared
// memory in 16 bytes at once.
//
// Where both sides lie in shared memory and rows of the right one are columns of the product, these are neighbours in k:
//
//   for k in steps of 16 bytes:
//     left[row, k..] = load;  right[column, k..] = load
//     acc[row, column] = fma(left[row, k], right[column, k], acc[row, column]), ...
//
// A left side that was computed is spread over the four lanes of a row: of each 4n columns lane q has the n from nq on.
// The loop goes over q. Each lane gets what lane q of its row has, and reads neighbouring columns of the right side:
//
//   for q in 0 to 4:
//     for each k of lane q:
//       left[row] = shuffle(...);  right[column..] = load
//       acc[row, column] = fma(left[row], right[column], acc[row, column])
//
// What a tile has of other kinds is read number by number.

#include "FragmentDistributor.h"
#include "GpuUnits.h"

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
  int64_t units, depth;
  Type type;

  int64_t rows() const { return split.tiles * 2; }

  Value add(Value x, int64_t y) { return d.addInteger(x, y); }

  /// Where the sum of the thread's row `row` and column `c` of unit `n` stands.
  int64_t sumAt(int64_t row, int64_t n, int64_t c) const {
    return ((row / 2 * units + n) * 2 + row % 2) * d.side + c;
  }

  /// `count` numbers of `tile` that follow one another from `at` on.
  SmallVector<Value> load(SharedTile tile, Value at, int64_t count) {
    Type element = tile.type.getElementType();
    int64_t bytes = count * tile.elementBytes();
    Value all =
        LLVM::LoadOp::create(d.b, d.loc, VectorType::get(count, element), at,
                             /*alignment=*/bytes);
    if (element != type)
      all =
          arith::ExtFOp::create(d.b, d.loc, VectorType::get(count, type), all);
    SmallVector<Value> numbers;
    for (int64_t i = 0; i < count; ++i)
      numbers.push_back(vector::ExtractOp::create(d.b, d.loc, all, i));
    return numbers;
  }
  Value load(SharedTile tile, Value row, Value column) {
    return load(tile, d.elementPointer(tile, row, column), 1).front();
  }

  /// Multiply `right`, numbers of unit `n` from column `c` on, by a number a row.
  void multiply(Fragment &acc, int64_t n, int64_t c, ArrayRef<Value> left,
                ArrayRef<Value> right) {
    for (auto [i, number] : llvm::enumerate(right))
      for (int64_t row = 0; row < rows(); ++row) {
        Value &sum = acc[sumAt(row, n, c + i)];
        sum = LLVM::FMAOp::create(d.b, d.loc, left[row], number, sum);
      }
  }

  /// All of the thread's sums, with column `k` of the left side given by `left`.
  void step(Fragment &acc, Value k, ArrayRef<Value> left) {
    for (int64_t n = 0; n < units; ++n)
      for (int64_t c = 0; c < d.side; ++c) {
        Value column = add(d.firstColumn, n * d.unit() + c);
        multiply(acc, n, c, left,
                 rightRows ? load(right, column, k) : load(right, k, column));
      }
  }

  /// A loop over `count` steps that carries the sums.
  Fragment loop(const Fragment &acc, int64_t count,
                function_ref<void(Value, Fragment &)> body) {
    auto loop = scf::ForOp::create(
        d.b, d.loc, d.integer(0), d.integer(count), d.integer(1), acc,
        [](OpBuilder &, Location, Value, ValueRange) {});
    OpBuilder::InsertionGuard guard(d.b);
    d.b.setInsertionPointToStart(loop.getBody());
    auto next = llvm::to_vector_of<Value>(loop.getRegionIterArgs());
    body(loop.getInductionVar(), next);
    scf::YieldOp::create(d.b, d.loc, next);
    return llvm::to_vector_of<Value>(loop.getResults());
  }

  /// Numbers of a row whose chunks are swizzled with one another.
  static int64_t spanOf(SharedTile tile) {
    return FragmentDistributor::swizzleOf(tile) * kChunkBytes /
           tile.elementBytes();
  }

  /// `tile` from number `span` times `i` of its rows on.
  SharedTile moved(SharedTile tile, Value i, int64_t span) {
    Value by = arith::MulIOp::create(d.b, d.loc, i,
                                     d.integer(span * tile.elementBytes()));
    if (tile.dynamic)
      by = arith::AddIOp::create(d.b, d.loc, tile.dynamic, by);
    tile.dynamic = by;
    return tile;
  }

  /// `count` numbers from number `k` on of the row that is `row` after that of
  /// `offset`.
  SmallVector<Value> loadRow(SharedTile tile, Value offset, int64_t row,
                             int64_t k, int64_t count) {
    Value at = d.swizzledPointer(tile, offset, row, k * tile.elementBytes());
    return load(tile, at, count);
  }

  /// Both sides lie in shared memory, rows of the right one are columns.
  Fragment rowsByRows(SharedTile left, const Fragment &acc) {
    int64_t span = std::max(spanOf(left), spanOf(right));
    int64_t count =
        kChunkBytes / std::max(left.elementBytes(), right.elementBytes());
    Value leftRow =
        arith::AddIOp::create(d.b, d.loc, d.firstRow(split), d.group);
    Value leftAt = d.swizzledOffset(left, leftRow, Value());
    Value rightAt = d.swizzledOffset(right, d.firstColumn, Value());
    return loop(acc, depth / span, [&](Value i, Fragment &sums) {
      SharedTile leftSpan = moved(left, i, span),
                 rightSpan = moved(right, i, span);
      for (int64_t k = 0; k < span; k += count) {
        SmallVector<SmallVector<Value>> numbers;
        for (int64_t row = 0; row < rows(); ++row)
          numbers.push_back(
              loadRow(leftSpan, leftAt, row / 2 * 16 + row % 2 * 8, k, count));
        for (int64_t n = 0; n < units; ++n)
          for (int64_t c = 0; c < d.side; ++c) {
            SmallVector<Value> column =
                loadRow(rightSpan, rightAt, n * d.unit() + c, k, count);
            for (int64_t j = 0; j < count; ++j) {
              SmallVector<Value> rowNumbers;
              for (const SmallVector<Value> &row : numbers)
                rowNumbers.push_back(row[j]);
              multiply(sums, n, c, rowNumbers, column[j]);
            }
          }
      }
    });
  }

  Fragment fromShared(SharedTile left, const Fragment &acc) {
    if (rightRows)
      return rowsByRows(left, acc);
    Value base = arith::AddIOp::create(d.b, d.loc, d.firstRow(split), d.group);
    return loop(acc, depth, [&](Value k, Fragment &sums) {
      SmallVector<Value> column;
      for (int64_t row = 0; row < rows(); ++row)
        column.push_back(load(left, add(base, row / 2 * 16 + row % 2 * 8), k));
      step(sums, k, column);
    });
  }

  /// Multiply the thread's columns of row `k`, of those after the row of `offset`,
  /// by `left`.
  void rowOfColumns(Fragment &acc, Value offset, int64_t k,
                    ArrayRef<Value> left) {
    int64_t bytes = right.elementBytes();
    int64_t count = std::min(d.side, kChunkBytes / bytes);
    for (int64_t n = 0; n < units; ++n)
      for (int64_t c = 0; c < d.side; c += count) {
        Value at =
            d.swizzledPointer(right, offset, k, (n * d.unit() + c) * bytes);
        multiply(acc, n, c, left, load(right, at, count));
      }
  }

  Fragment fromRegisters(const Fragment &left, const Fragment &acc) {
    Value first = arith::AndIOp::create(d.b, d.loc, d.lane, d.integer(28));
    int64_t leftUnits = depth / d.unit();
    Value columns = arith::MulIOp::create(d.b, d.loc, d.firstColumn,
                                          d.integer(right.elementBytes()));
    return loop(acc, 4, [&](Value q, Fragment &sums) {
      Value from = arith::AddIOp::create(d.b, d.loc, first, q);
      Value firstK = arith::ShLIOp::create(d.b, d.loc, q,
                                           d.integer(llvm::Log2_64(d.side)));
      Value offset = d.swizzledOffset(right, firstK, columns);
      for (int64_t i = 0; i < leftUnits * d.side; ++i) {
        SmallVector<Value> column;
        for (int64_t row = 0; row < rows(); ++row) {
          int64_t unit = row / 2 * leftUnits + i / d.side;
          Value mine = left[(unit * 2 + row % 2) * d.side + i % d.side];
          column.push_back(d.shuffleFrom(mine, from));
        }
        int64_t k = i / d.side * d.unit() + i % d.side;
        if (rightRows)
          step(sums, add(firstK, k), column);
        else
          rowOfColumns(sums, offset, k, column);
      }
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
                       type.getDimSize(1) / d.unit(),
                       op.getLhsType().getDimSize(1),
                       type.getElementType()};
  const Fragment &acc = d.fragment(op.getAcc(), FragmentLayout::Tile);
  attn_gpu::ReadSharedOp left = sharedTileOf(op.getLhs());
  Fragment sums = left
                      ? product.fromShared(d.sharedTile(left), acc)
                      : product.fromRegisters(
                            d.fragment(op.getLhs(), FragmentLayout::Tile), acc);
  d.set(op.getResult(), FragmentLayout::Tile, std::move(sums));
  return success();
}
