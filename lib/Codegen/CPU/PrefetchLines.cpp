// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of PrefetchBlocks for short tasks, whose products are a few hundred steps each:
//
//   scf.for %k = 0 to 64 iter_args(accumulators) { ... }
//
// becomes
//
//   %run = load %cursor[0];  %done = load %cursor[1]
//   %address, %distance, %count = load %runs[%run]
//   %first = %address + %done * %distance
//   scf.for %k = 0 to 64 iter_args(accumulators) {
//     prefetch %first + %k * %distance
//     ...
//   }
//   %cursor = %done + 64 < %count ? (%run, %done + 64) : (%run + 1, 0)
//
// A loop of its own over what is asked for, between the steps of a product, costs more than it asks for: how often it runs
// is not foreseen. A prefetch in a step is free, as arithmetic is what a step waits for. The rows of a tile are one run
// of lines where they follow each other in memory, else as many as a row has lines. The last run is a line that is there.

#include "PrefetchLines.h"

#include "IndexBuilder.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <limits>

using namespace mlir;
using namespace mlir::attn;

/// What stands of a run.
static constexpr int64_t kAddress = 0, kDistance = 1, kCount = 2, kFields = 3;

int64_t attn::rowDimOf(Value tile) {
  ArrayRef<int64_t> shape = cast<MemRefType>(tile.getType()).getShape();
  int64_t rowDim = 0;
  for (auto [dim, size] : llvm::enumerate(shape.drop_back()))
    if (size != 1)
      rowDim = dim;
  return rowDim;
}

int64_t attn::countRows(Value tile, int64_t most) {
  int64_t rows = cast<MemRefType>(tile.getType()).getDimSize(rowDimOf(tile));
  return ShapedType::isDynamic(rows) ? most : std::min(rows, most);
}

/// Return the bytes of a row of `tile`.
static int64_t rowBytesOf(Value tile) {
  auto type = cast<MemRefType>(tile.getType());
  return llvm::divideCeil(
      type.getShape().back() * type.getElementTypeBitWidth(), 8);
}

/// Return how many lines a row of `tile` has.
static int64_t rowLinesOf(Value tile) {
  return llvm::divideCeil(rowBytesOf(tile), kLineBytes);
}

int64_t attn::countLines(ArrayRef<Value> tiles, int64_t most) {
  int64_t lines = 0;
  for (Value tile : tiles)
    lines += countRows(tile, most) * rowLinesOf(tile);
  return lines;
}

namespace {
/// Lines that are asked for, one a step. Runs of lines lie the same distance from
/// each other; where the walk is stands in memory from one loop to the next.
class LineWalk : IndexBuilder {
public:
  LineWalk(OpBuilder &builder, Location loc) : IndexBuilder(builder, loc) {}

  void place(ArrayRef<std::pair<Value, Value>> tiles);
  void begin(ArrayRef<std::pair<Value, Value>> tiles, int64_t most);
  void follow(scf::ForOp steps);

private:
  Value load(Value memory, ValueRange at) {
    return memref::LoadOp::create(b, loc, memory, at);
  }
  void store(Value value, Value memory, ValueRange at) {
    memref::StoreOp::create(b, loc, value, memory, at);
  }
  void storeRun(Value at, Value address, Value distance, Value count);
  Value storeTile(Value at, Value tile, Value isNow, int64_t most);

  /// The runs: an address, a distance and a number each. The run in which the walk
  /// is, and how far.
  Value runs, cursor;
};
} // namespace

/// Make places for the runs of `tiles`, at the insertion point.
void LineWalk::place(ArrayRef<std::pair<Value, Value>> tiles) {
  int64_t most = 1;
  for (auto [tile, isNow] : tiles)
    most += rowLinesOf(tile);
  auto make = [&](ArrayRef<int64_t> shape) -> Value {
    return memref::AllocOp::create(b, loc,
                                   MemRefType::get(shape, b.getIndexType()));
  };
  runs = make({most, kFields});
  cursor = make({2});
}

/// Store run number `at`.
void LineWalk::storeRun(Value at, Value address, Value distance, Value count) {
  store(address, runs, {at, index(kAddress)});
  store(distance, runs, {at, index(kDistance)});
  store(count, runs, {at, index(kCount)});
}

/// Store the runs of `tile` from number `at` on, and return the number of the next
/// one: itself if not `isNow`.
Value LineWalk::storeTile(Value at, Value tile, Value isNow, int64_t most) {
  auto type = cast<MemRefType>(tile.getType());
  int64_t rowDim = rowDimOf(tile), rowBytes = rowBytesOf(tile);
  int64_t lines = rowLinesOf(tile);
  Value bytes = index(llvm::divideCeil(type.getElementTypeBitWidth(), 8));
  auto parts = memref::ExtractStridedMetadataOp::create(b, loc, tile);
  Value address = memref::ExtractAlignedPointerAsIndexOp::create(
      b, loc, parts.getBaseBuffer());
  address = fold<arith::AddIOp>(address,
                                fold<arith::MulIOp>(parts.getOffset(), bytes));
  Value distance = fold<arith::MulIOp>(parts.getStrides()[rowDim], bytes);
  Value rows = b.createOrFold<memref::DimOp>(loc, tile, rowDim);
  rows = fold<arith::MinSIOp>(rows, index(most));
  Value isWhole = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                        distance, index(rowBytes));
  Value all = fold<arith::MulIOp>(rows, index(rowBytes));
  all = fold<arith::CeilDivUIOp>(all, index(kLineBytes));
  distance =
      arith::SelectOp::create(b, loc, isWhole, index(kLineBytes), distance);
  Value count = arith::SelectOp::create(b, loc, isWhole, all, rows);
  for (int64_t line = 0; line < lines; ++line)
    storeRun(fold<arith::AddIOp>(at, index(line)),
             fold<arith::AddIOp>(address, index(line * kLineBytes)), distance,
             count);
  Value taken =
      arith::SelectOp::create(b, loc, isWhole, index(1), index(lines));
  if (isNow)
    taken = arith::SelectOp::create(b, loc, isNow, taken, index(0));
  return fold<arith::AddIOp>(at, taken);
}

/// Begin with the first of `tiles`, at the insertion point.
void LineWalk::begin(ArrayRef<std::pair<Value, Value>> tiles, int64_t most) {
  Value at = index(0);
  for (auto [tile, isNow] : tiles)
    at = storeTile(at, tile, isNow, most);
  storeRun(at, memref::ExtractAlignedPointerAsIndexOp::create(b, loc, cursor),
           index(0), index(std::numeric_limits<int64_t>::max()));
  store(index(0), cursor, index(0));
  store(index(0), cursor, index(1));
}

/// Ask for a line in each iteration of `steps`.
void LineWalk::follow(scf::ForOp steps) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(steps);
  Type number = b.getI64Type();
  auto asNumber = [&](Value x) -> Value {
    return arith::IndexCastOp::create(b, loc, number, x);
  };
  Value run = load(cursor, index(0)), done = load(cursor, index(1));
  Value distance = load(runs, {run, index(kDistance)});
  Value count = load(runs, {run, index(kCount)});
  Value address = fold<arith::AddIOp>(load(runs, {run, index(kAddress)}),
                                      fold<arith::MulIOp>(done, distance));
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  Value first = LLVM::IntToPtrOp::create(b, loc, pointer, asNumber(address));
  Value lower = steps.getLowerBound(), by = steps.getStep();
  Value range = fold<arith::SubIOp>(steps.getUpperBound(), lower);
  Value times = fold<arith::CeilDivSIOp>(range, by);
  times = fold<arith::MaxSIOp>(times, index(0));
  b.setInsertionPointToStart(steps.getBody());
  Value step = fold<arith::SubIOp>(steps.getInductionVar(), lower);
  step = fold<arith::DivUIOp>(step, by);
  Value offset = asNumber(fold<arith::MulIOp>(step, distance));
  Value line = LLVM::GEPOp::create(b, loc, pointer, b.getI8Type(), first,
                                   ArrayRef<LLVM::GEPArg>{offset});
  // Into L2: the panels in use have L1.
  LLVM::Prefetch::create(b, loc, line, /*rw=*/0, /*hint=*/2, /*cache=*/1);
  b.setInsertionPointAfter(steps);
  Value next = fold<arith::AddIOp>(done, times);
  Value isOver =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, next, count);
  Value after = fold<arith::AddIOp>(run, index(1));
  store(arith::SelectOp::create(b, loc, isOver, after, run), cursor, index(0));
  store(arith::SelectOp::create(b, loc, isOver, index(0), next), cursor,
        index(1));
}

void attn::askInLoops(ArrayRef<scf::ForOp> loops, scf::ForOp strips,
                      ArrayRef<std::pair<Value, Value>> tiles, int64_t most) {
  OpBuilder b(strips);
  LineWalk walk(b, strips.getLoc());
  auto task = strips->getParentOfType<scf::ForallOp>();
  b.setInsertionPointToStart(task.getBody());
  walk.place(tiles);
  b.setInsertionPoint(strips);
  walk.begin(tiles, most);
  for (scf::ForOp steps : loops)
    walk.follow(steps);
}
