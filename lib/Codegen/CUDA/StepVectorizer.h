// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What builds one attn.block_step of a block of threads as vectors.

#ifndef ATTN_LIB_CODEGEN_CUDA_STEPVECTORIZER_H
#define ATTN_LIB_CODEGEN_CUDA_STEPVECTORIZER_H

#include "TileVectors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <limits>

namespace mlir::attn {

/// What the tile of a step reads of a bias or a mask: from where on, and how much;
/// without a shape one element.
struct TileSlice {
  Value tensor;
  SmallVector<Value> at;
  SmallVector<int64_t> shape;
  Spread spread = Spread::Uniform;
};

/// Builds one step.
class StepVectorizer {
public:
  StepVectorizer(ImplicitLocOpBuilder &b, BlockStepOp op, Value query,
                 Value key, Value value)
      : b(b), op(op), query(query), key(key), value(value),
        rows(cast<VectorType>(query.getType()).getDimSize(0)),
        keys(cast<VectorType>(key.getType()).getDimSize(0)),
        tile(b, rows, keys), exponent(op.getExponent().value_or(0)),
        scale(op.getScale().convertToDouble()),
        anchor(index(0).getDefiningOp()),
        isAgain(op.getSkipZeros() != nullptr) {}

  StateVectors run(const StateVectors &state);

private:
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  Value add(Value x, Value y) { return b.createOrFold<arith::AddIOp>(x, y); }
  Value sub(Value x, Value y) { return b.createOrFold<arith::SubIOp>(x, y); }
  Value min(Value x, Value y) { return b.createOrFold<arith::MinSIOp>(x, y); }
  Value max(Value x, Value y) { return b.createOrFold<arith::MaxSIOp>(x, y); }
  VectorType scoresType() {
    return VectorType::get({rows, keys}, b.getF32Type());
  }
  Value product(Value left, Value right, Value sums, bool byKeys);
  Value scores();
  Value constant(double value) { return splat(b, scoresType(), value); }
  Value lowest() { return constant(-std::numeric_limits<double>::infinity()); }
  bool isOneHead();
  Value distance(Value number);
  TileValue rowInHead(Type type);
  TileValue applyRegion(Region &region, Value scores);
  int64_t rowDim();
  TileSlice sliceOf(Value tensor);
  TileValue read(const TileSlice &slice, bool isInside);
  Value isInside(Value tensor);
  Value changed(Value scores);
  Value readOperand(Value s, Value &kept, Value tensor, bool isBias);
  Value biased(Value s, Value &kept, const TileSlice &bias, bool isInside);
  Value masked(Value s, const TileSlice &mask, bool isInside);
  Value readOperands(Value s, Value kept);
  Value capped(Value scores);
  Value hasExclusions();
  Value keptByBounds();
  Value excluded(Value scores);
  Value isExcluded(Value scores);
  Value anyOf(Value conditions);
  Value onlyOfRows(Value conditions);
  Value addValues(Value p, Value acc);
  StateVectors rescaled(Value scores, const StateVectors &state);
  Value negatedExponent(Value reference);
  Value weights(Value scores, Value reference);

  ImplicitLocOpBuilder &b;
  BlockStepOp op;
  Value query, key, value;
  int64_t rows, keys;
  TileVectors tile;
  int64_t exponent;
  double scale;
  /// Before all else of the step, where regions put what is the same for all.
  Operation *anchor;
  /// Whether the keys are looked at again because there was a NaN.
  bool isAgain;
  /// Whether what is added to scores is added to them as they are.
  bool isScaled = true;
};

} // namespace mlir::attn

#endif // ATTN_LIB_CODEGEN_CUDA_STEPVECTORIZER_H
