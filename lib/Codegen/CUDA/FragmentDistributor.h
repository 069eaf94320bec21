// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the rules that split a block's values over its threads share: the map from values of the block to a thread's
// part of them, and the numbers of thread, warp and lane.

#ifndef ATTN_CODEGEN_CUDA_FRAGMENTDISTRIBUTOR_H
#define ATTN_CODEGEN_CUDA_FRAGMENTDISTRIBUTOR_H

#include "FragmentLayouts.h"
#include "IndexRanges.h"
#include "KernelSchedule.h"

#include "attn/IR/LinalgBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

#include <map>

namespace mlir::attn {

/// A thread's part of a vector, one scalar each. Tile: by 16 rows, by the columns
/// that four lanes share, by row, by column. Row: by 16 rows, by row. Column: by
/// the columns that four lanes share, by column. Left: by 16 rows, by 16 columns,
/// four registers.
using Fragment = SmallVector<Value>;

/// How rows are shared by warps: each of `warps` has `tiles` times 16 of them.
/// Further warps of the block repeat what the first ones do, but write nothing.
struct RowSplit {
  int64_t tiles;
  int64_t warps;
};

/// A tile in shared memory: `dynamic` (null: 0) and `constant` bytes from its
/// start.
struct SharedTile {
  Value dynamic;
  int64_t constant = 0;
  VectorType type;

  int64_t elementBytes() const { return type.getElementTypeBitWidth() / 8; }
  int64_t rowBytes() const { return type.getDimSize(1) * elementBytes(); }
};

/// What the lanes of a warp point at when they load matrices together: a lane's
/// row, its chunk of 16 bytes, and how many chunks the lanes cover.
enum class LanePattern {
  Left,
  RightRows32,
  RightRows16,
  RightColumns,
  /// As RightRows16, but even rows before odd ones.
  RightMixedRows
};

/// Rewrites one function from values of the block to values of a thread. The
/// new body is built beside the old one, which stays as it is.
class FragmentDistributor {
public:
  explicit FragmentDistributor(gpu::GPUFuncOp function, int64_t warps);

  /// Replace the body. Fails with an error at an op that has no rule.
  LogicalResult run();

  // The map.
  Value scalar(Value value) { return scalars.lookupOrDefault(value); }
  const Fragment &fragment(Value value, FragmentLayout layout);
  const Fragment &fragment(Value value);
  void set(Value value, FragmentLayout layout, Fragment fragment);
  void mapScalar(Value from, Value to) { scalars.map(from, to); }
  bool needs(Value value, FragmentLayout layout) const {
    return layouts.needs(value, layout);
  }
  FailureOr<RowSplit> split(Operation *op, int64_t rows);
  /// Return whether all numbers of a value of the block, and these and `more`, are
  /// known to have 32 bits.
  bool fitsInWord(Value value, int64_t more = 0) const {
    return ranges.fitInWord(value, more);
  }

  // Numbers, all i32, made once at the start of the function.
  Value integer(int64_t value);
  Value index(int64_t value);
  Value addInteger(Value value, int64_t constant);
  /// Return the lowest 32 bits of an index.
  Value toWord(Value index);
  /// Return the first row of this thread, where each warp has `split.tiles`.
  Value firstRow(RowSplit split);
  /// Return row `r` (0 or 1) of the thread's rows in 16 rows `tile`, an index.
  Value rowIndex(RowSplit split, int64_t tile, int64_t r);
  /// Return column `c` of the thread's in unit `tile` of columns, an index.
  Value columnIndex(int64_t tile, int64_t c);

  // Shared memory.
  SharedTile sharedTile(attn_gpu::ReadSharedOp read);
  SharedTile sharedTile(Value offset, VectorType type);
  Value sharedPointer(SharedTile tile, Value bytes, int64_t constant = 0);
  /// Return 4 registers of two 16-bit numbers that the warp loads together: the
  /// rows from `row` on, of which warps have `rowsOfWarp` each, and the chunks
  /// from `chunk` on.
  SmallVector<Value> loadMatrices(SharedTile tile, LanePattern pattern,
                                  int64_t row, int64_t chunk,
                                  RowSplit split = {0, 0});
  /// Return how many chunks of a row are swizzled with one another.
  static int64_t swizzleOf(SharedTile tile);
  /// Return what is added, bit by bit, to the numbers of chunks in row `row`.
  Value swizzleTerm(OpBuilder &at, SharedTile tile, Value row);
  int64_t swizzleTerm(SharedTile tile, int64_t row) const;
  /// Return where, in bytes after the constant start of `tile`, what stands `bytes`
  /// after the start of row `row` is swizzled to.
  Value swizzledOffset(SharedTile tile, Value row, Value bytes);
  /// Return a pointer to what stands `row` rows and `bytes` bytes after the place of
  /// such an offset. The bits of both are 0 in the offset's row and bytes.
  Value swizzledPointer(SharedTile tile, Value offset, int64_t row,
                        int64_t bytes);
  /// Return a pointer to an element.
  Value elementPointer(SharedTile tile, Value row, Value column);
  /// Return where the thread's chunk of a copy goes, of which a row has `lanes`
  /// threads, in rows from `row` and chunks from `chunk` on.
  Value copyPointer(SharedTile tile, int64_t lanes, int64_t row, int64_t chunk);
  /// Return where, in bytes, chunk `chunk` of row `row` stands in a tile.
  Value chunkOffset(SharedTile tile, Value row, Value chunk);

  // Loops.
  /// Return a number of 64 bits that is `first` in the first iteration of the loop
  /// which is being built, and `step` more in each further one. Both stand before
  /// the loop.
  Value countUp(Value first, Value step);
  /// The loop whose body is being built; null outside of one.
  scf::ForOp openLoop;
  /// Whether what is being built is seldom run, and does without what waits for it in
  /// registers.
  bool isRare = false;

  // Warps.
  Value shuffleXor(Value value, int64_t lanes);
  Value shuffleFrom(Value value, Value lane);

  /// Build at the start of the function.
  OpBuilder &atEntry() { return entry; }

  /// Return the columns that the four lanes of a row share.
  int64_t unit() const { return 4 * side; }

  OpBuilder b;
  Location loc;
  int64_t warps;
  /// Columns that a thread has side by side, and numbers of tf32 for one of f32.
  int64_t side, tf32Parts;
  Value thread, lane, warp, group, firstColumn;

private:
  LogicalResult distribute(Block &block);
  LogicalResult distribute(Operation *op);
  LogicalResult distributeFor(scf::ForOp op);
  LogicalResult distributeIf(scf::IfOp op);
  LogicalResult distributeRare(Block &block);
  LogicalResult distributeWhile(scf::WhileOp op);
  LogicalResult distributeCompare(arith::CmpIOp op);
  LogicalResult distributeScalarOp(Operation *op);
  scf::ForOp closeLoop(scf::ForOp loop);
  void makeNumbers();
  void makePositions(Value from);
  Operation *renewPositions();
  void flatten(Value value, SmallVectorImpl<Value> &out);
  void flatten(ValueRange values, SmallVectorImpl<Value> &out);
  void unflatten(ValueRange values, ValueRange flat);
  int64_t fragmentSize(Value value, FragmentLayout layout);
  Value lanePointer(SharedTile tile, LanePattern pattern, int64_t low,
                    RowSplit split);

  gpu::GPUFuncOp function;
  FragmentLayouts layouts;
  IndexRanges ranges;
  IRMapping scalars;
  // Maps whose entries do not move when others are added.
  std::map<std::pair<void *, unsigned>, Fragment> fragments;
  OpBuilder entry;
  std::map<std::tuple<int, int64_t, int64_t, int64_t>, Value> lanePointers;
  std::map<std::tuple<int64_t, int64_t, int64_t>, Value> copyPointers;
  DenseMap<int64_t, Value> integers, indices;
  /// A number that the open loop is to carry: its place is taken by an op.
  struct Counter {
    Operation *place;
    Value first, step;
  };
  SmallVector<Counter> counters;
  std::map<std::pair<int64_t, int64_t>, Value> firstRows;
  /// The thread's rows and columns, which stand where `positions` builds.
  OpBuilder positions;
  std::map<std::tuple<int64_t, int64_t, int64_t>, Value> rowIndices;
  std::map<int64_t, Value> columnIndices;
};

// The rules, each for the ops that its name says.
LogicalResult distributeElementwise(FragmentDistributor &d, Operation *op);
LogicalResult distributeConstant(FragmentDistributor &d, Operation *op);
LogicalResult distributeStep(FragmentDistributor &d, vector::StepOp op);
LogicalResult distributeBroadcast(FragmentDistributor &d,
                                  vector::BroadcastOp op);
LogicalResult distributeShapeCast(FragmentDistributor &d,
                                  vector::ShapeCastOp op);
LogicalResult distributeSlice(FragmentDistributor &d,
                              vector::ExtractStridedSliceOp op);
LogicalResult distributeReduction(FragmentDistributor &d,
                                  vector::MultiDimReductionOp op);
LogicalResult distributeRead(FragmentDistributor &d, vector::TransferReadOp op);
LogicalResult distributeWrite(FragmentDistributor &d,
                              vector::TransferWriteOp op);
LogicalResult distributeGather(FragmentDistributor &d, vector::GatherOp op);
LogicalResult distributeReadShared(FragmentDistributor &d,
                                   attn_gpu::ReadSharedOp op);
LogicalResult distributeCopy(FragmentDistributor &d,
                             attn_gpu::CopyToSharedOp op);
LogicalResult distributeContract(FragmentDistributor &d,
                                 vector::ContractionOp op);

/// The part of distributeContract that multiplies exactly, without matrix
/// instructions. `rightRows`: the right side is (n, k), else (k, n).
LogicalResult distributeExactContract(FragmentDistributor &d,
                                      vector::ContractionOp op, bool rightRows);

/// The part that multiplies f32 by matrix instructions on numbers of tf32.
LogicalResult distributeTf32Contract(FragmentDistributor &d,
                                     vector::ContractionOp op, bool rightRows);

/// Call `rule(layout)` for each layout of tiles, rows and columns that is needed
/// of `value`.
LogicalResult forEachLayout(FragmentDistributor &d, Value value,
                            function_ref<LogicalResult(FragmentLayout)> rule);

} // namespace mlir::attn

#endif // ATTN_CODEGEN_CUDA_FRAGMENTDISTRIBUTOR_H
