// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vectors that stand for a whole tile of a block of threads: rows by keys, rows by channels, one number a row, one a
// key. What is the same for all rows, or for all keys, is kept that way until both are needed.

#ifndef ATTN_LIB_CODEGEN_CUDA_TILEVECTORS_H
#define ATTN_LIB_CODEGEN_CUDA_TILEVECTORS_H

#include "attn/IR/AttnOps.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::attn {

/// Of what a value of a tile depends.
enum class Spread { Uniform, Rows, Columns, Full };

/// A value of each element of a tile: one for all, one a row, one a column, or one
/// for each.
struct TileValue {
  Value value;
  Spread spread;
};

/// Builds vectors of a tile of `rows` by `columns`.
class TileVectors {
public:
  TileVectors(ImplicitLocOpBuilder &b, int64_t rows, int64_t columns)
      : b(b), rows(rows), columns(columns) {}

  /// Return the shape of a vector that depends on `spread`.
  SmallVector<int64_t> shapeOf(Spread spread);

  /// Return `from` spread as `to`, which depends on no less.
  Value spread(const TileValue &from, Spread to);
  Value full(const TileValue &from) { return spread(from, Spread::Full); }

  /// Return what `op`, of which `operands` are the operands, gives for each
  /// element.
  TileValue apply(Operation &op, ArrayRef<TileValue> operands);

  /// Return the number, from 0 on, of each row or column in `type`.
  TileValue number(Spread spread, Type type);

  /// Return what `body`, one block of operations on scalars and of reads of
  /// tensors, yields for `arguments`.
  TileValue applyBody(Block &body, ArrayRef<TileValue> arguments);

private:
  TileValue read(tensor::ExtractOp op, ArrayRef<TileValue> indices);

  ImplicitLocOpBuilder &b;
  int64_t rows, columns;
};

/// Return `value` in a vector of `type`.
Value splat(ImplicitLocOpBuilder &b, VectorType type, double value);

/// Return one number a row, [R], as [R, columns].
Value spreadRows(ImplicitLocOpBuilder &b, Value rows, int64_t columns);

/// Return the pieces of `value` [R, C] of `width` columns.
SmallVector<Value> splitColumns(ImplicitLocOpBuilder &b, Value value,
                                int64_t width);

/// Return 2^x, as fast as the processor does it.
Value exp2(ImplicitLocOpBuilder &b, Value x);

/// Return e^(from - to), which is 1 where both are equal.
Value expOfDifference(ImplicitLocOpBuilder &b, Value from, Value to);

/// Return the first elements of a tile of `type` of `source`, a tensor of the same
/// rank, from `indices` on; zeros where it ends.
Value readTile(ImplicitLocOpBuilder &b, VectorType type, Value source,
               ValueRange indices);

/// The three parts of the state of a tile.
struct StateVectors {
  Value reference, sum, acc;
};

/// Return `state` after the step `op`, whose tiles are given.
StateVectors vectorizeStep(ImplicitLocOpBuilder &b, BlockStepOp op, Value query,
                           Value key, Value value, const StateVectors &state);

/// Return both states joined.
StateVectors vectorizeMerge(ImplicitLocOpBuilder &b, const StateVectors &state,
                            const StateVectors &other);

/// Return the output and, where it is used, the lse of `state`.
std::pair<Value, Value> vectorizeFinish(ImplicitLocOpBuilder &b, FinishOp op,
                                        const StateVectors &state);

} // namespace mlir::attn

#endif // ATTN_LIB_CODEGEN_CUDA_TILEVECTORS_H
