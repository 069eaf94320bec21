// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How one linalg.generic on a tile is emitted: the plan of a step, the loops round it (RegisterTile.cpp), and the body
// at every point of a step (RegisterTileBody.cpp).

#ifndef ATTN_LIB_CODEGEN_CPU_TILEEMITTER_H
#define ATTN_LIB_CODEGEN_CPU_TILEEMITTER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::attn {

/// A value in the body: a scalar, a vector, or the vector base, base + 1, ...
struct Lane {
  enum Kind { Scalar, Vector, Iota } kind;
  Value value;
};

class TileEmitter {
public:
  TileEmitter(RewriterBase &rewriter, linalg::GenericOp op, int64_t lanes)
      : b(rewriter), op(op), loc(op.getLoc()), lanes(lanes) {}

  /// Decide the shape of a step; fails where the op does not fit.
  LogicalResult plan();
  void emit();

  /// Return whether the op makes its only result from elements of its inputs
  /// alone, and someone else can do so vector by vector.
  bool isMap();
  /// Return `size` elements of that result from `at` on.
  Value valuesAt(ValueRange at, int64_t size, bool inBounds);
  /// Return those that its only input, holding `elements`, makes.
  Value valuesOf(Value elements);

private:
  using Offsets = SmallVector<int64_t>;
  /// What is known of inputs: the number of one, where in it, and the value.
  using Loaded = SmallVector<std::pair<std::pair<unsigned, Offsets>, Lane>>;

  bool chooseVectorDim();
  bool readsAlongVectors();
  void chooseUnrolling();
  bool isReduction(unsigned dim) {
    return op.getIteratorTypesArray()[dim] == utils::IteratorType::reduction;
  }
  bool isShort(unsigned dim);
  int64_t unit(unsigned dim) const { return dim == vectorDim ? width : 1; }

  Value extentOf(unsigned dim);
  SmallVector<Value> emitParallel(unsigned at, SmallVector<Value> outputs);
  SmallVector<Value> emitStep(SmallVector<Value> outputs);
  SmallVector<Value> emitReduction(unsigned at, SmallVector<Value> state);
  SmallVector<Value> emitBody(SmallVector<Value> state);
  SmallVector<Value>
  emitLoop(unsigned dim, SmallVector<Value> state,
           function_ref<SmallVector<Value>(SmallVector<Value>)> inner);

  Offsets project(AffineMap map, const Offsets &point) const;
  SmallVector<Value> indices(AffineMap map, const Offsets &point);
  void loadInvariants();
  Lane loadOnce(Loaded &loaded, OpOperand &input, const Offsets &point);
  Lane load(Value tensor, AffineMap map, const Offsets &point);
  Value store(Value tensor, AffineMap map, const Offsets &point, Lane lane);
  Value readVector(Value tensor, ValueRange at, bool inBounds);
  Lane evaluate(Operation &inner, const Offsets &point,
                DenseMap<Value, Lane> &lanesOf);
  Lane evaluateExtract(tensor::ExtractOp extract,
                       DenseMap<Value, Lane> &lanesOf);
  Lane fused(Operation &inner, DenseMap<Value, Lane> &lanesOf);
  Lane lookup(Value value, DenseMap<Value, Lane> &lanesOf);
  Value toVector(Lane lane);
  Value resultOf(DenseMap<Value, Lane> &lanesOf);
  Value identity(unsigned output);
  Value reduceVector(unsigned output, Value vector, Value before);
  Value constantIndex(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }

  /// Where the accumulator of `output` at `point` stands in the state.
  unsigned slot(unsigned output, const Offsets &point);
  AffineMap outputMap(unsigned i) {
    return op.getMatchingIndexingMap(op.getDpsInitOperand(i));
  }

  RewriterBase &b;
  linalg::GenericOp op;
  Location loc;
  int64_t lanes;

  unsigned vectorDim = 0;
  int64_t width = 1;
  bool masked = false;
  /// Whether it adds up products.
  bool contracts = false;
  /// Elements of each dimension that one step handles.
  SmallVector<int64_t> step;
  SmallVector<unsigned> parallels, reductions;
  SmallVector<Offsets> points;
  /// For each output: kept in registers; reduced along the vector; started from
  /// a constant instead of its tensor.
  SmallVector<bool> carried;
  SmallVector<Value> start;
  SmallVector<SmallVector<Offsets>> slots;
  SmallVector<Value> ivs;
  Loaded invariants;
  bool horizontal = false;
  Value zeroIndex;
};

} // namespace mlir::attn

#endif // ATTN_LIB_CODEGEN_CPU_TILEEMITTER_H
