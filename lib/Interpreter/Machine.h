// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The state of a running program, and what the files of this folder add to it:
// a function for each op they know.

#ifndef ATTN_LIB_INTERPRETER_MACHINE_H
#define ATTN_LIB_INTERPRETER_MACHINE_H

#include "Scalars.h"

#include "attn/IR/AttnDialect.h"
#include "attn/Interpreter/Interpreter.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::attn {

class Machine;

/// Computes the results of an op and sets them.
using OpHandler = LogicalResult (*)(Machine &, Operation *);

/// The values of one program while it runs.
class Machine {
public:
  Machine(Arithmetic arithmetic, AttentionStatistics &statistics);

  /// Call `function` with values of its own.
  FailureOr<SmallVector<RuntimeValue>>
  call(func::FuncOp function, SmallVector<RuntimeValue> arguments);

  /// Run the only block of `region`; return what its terminator is given.
  FailureOr<SmallVector<RuntimeValue>>
  runRegion(Region &region, SmallVector<RuntimeValue> arguments);

  /// Run the ops of `block` but its terminator.
  LogicalResult runBlock(Block &block, SmallVector<RuntimeValue> arguments);

  const RuntimeValue &get(Value value) const;
  const TensorValue &getTensor(Value value) const {
    return get(value).getTensor();
  }
  /// Return the tensor, or null for an operand that is absent.
  const TensorValue *getOptionalTensor(Value value) const {
    return value ? &getTensor(value) : nullptr;
  }
  int64_t getInteger(Value value) const {
    return get(value).getScalar().integer;
  }
  void set(Value value, RuntimeValue runtime);

  /// Return the value of an operand of `user`, moved if nothing else can use
  /// it: then a tensor is written in place.
  RuntimeValue take(Value value, Operation *user);

  /// Return the sizes that `sizes` state, attributes and values.
  SmallVector<int64_t> getIntegers(ArrayRef<OpFoldResult> sizes) const;

  /// Return `value` as results of type `type` are kept.
  double round(double value, Type type) const;

  /// Return whether sums over elements of `type` are kept in f64.
  bool sumsInDouble(Type type) const {
    return arithmetic == Arithmetic::Exact ||
           (arithmetic != Arithmetic::Single && type.isF64());
  }

  /// Return how many bits a factor keeps under `precision`; 0: all.
  unsigned getFactorBits(std::optional<Precision> precision) const {
    return arithmetic == Arithmetic::Rounded ? attn::getFactorBits(precision)
                                             : 0;
  }

  /// Return the value of the constant `attribute`, or failure for a type that
  /// is not known.
  FailureOr<RuntimeValue> getConstant(TypedAttr attribute);

  /// Return the compiled scalar op for `op`, or null if it is none.
  const ScalarOp *getScalarOp(Operation *op);

  /// Let `handler` run the ops called `name`.
  void add(StringRef name, OpHandler handler) { handlers[name] = handler; }

  /// Let `handler` run all linalg ops that have a region.
  void addStructured(OpHandler handler) { structuredHandler = handler; }

  Arithmetic arithmetic;
  AttentionStatistics &statistics;
  /// Where the loops of the enclosing linalg ops are.
  SmallVector<ArrayRef<int64_t>> loopIndices;

private:
  LogicalResult run(Operation *op);
  LogicalResult runElementwise(Operation *op, const ScalarOp &scalar);

  DenseMap<Value, RuntimeValue> values;
  DenseMap<Attribute, RuntimeValue> constants;
  DenseMap<Operation *, std::optional<ScalarOp>> scalarOps;
  llvm::StringMap<OpHandler> handlers;
  OpHandler structuredHandler = nullptr;
  int64_t depth = 0;
};

/// Give `machine` a handler that is a function of a typed op.
template <typename OpT, LogicalResult (*handler)(Machine &, OpT)>
void addHandler(Machine &machine) {
  machine.add(OpT::getOperationName(), [](Machine &m, Operation *op) {
    return handler(m, cast<OpT>(op));
  });
}

/// The ops of each file.
void addControlHandlers(Machine &machine);
void addTensorHandlers(Machine &machine);
void addShapeHandlers(Machine &machine);
void addLinalgHandlers(Machine &machine);
void addAttentionHandlers(Machine &machine);
void addLayerHandlers(Machine &machine);
void addCacheHandlers(Machine &machine);
void addLinearAttentionHandlers(Machine &machine);
void addStateHandlers(Machine &machine);

/// A part of a tensor: every `strides`-th element from `offsets` on.
struct Slice {
  SmallVector<int64_t> offsets, sizes, strides;

  /// Read the slice that `op` is given.
  static Slice get(const Machine &machine, OffsetSizeAndStrideOpInterface op);
};

/// Write `source`, an operand of `op`, over `slice` of `target`.
LogicalResult insertSlice(Operation *op, const TensorValue &source,
                          const Slice &slice, TensorValue &target);

/// Evaluate `expression`; none where it divides by a number below 1.
std::optional<int64_t> evaluateAffine(AffineExpr expression,
                                      ArrayRef<int64_t> dims,
                                      ArrayRef<int64_t> symbols);

} // namespace mlir::attn

#endif // ATTN_LIB_INTERPRETER_MACHINE_H
