// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The body of an op that runs once an element: linalg.generic, tensor.generate,
// tensor.pad. Such a body is nearly always a few scalar ops, which are numbered
// once and then run on an array of cells; any other body runs op by op.

#ifndef ATTN_LIB_INTERPRETER_ELEMENTBODY_H
#define ATTN_LIB_INTERPRETER_ELEMENTBODY_H

#include "Machine.h"

namespace mlir::attn {

/// A block that computes scalars from scalars, ready to run many times.
class ElementBody {
public:
  /// Prepare `block`, whose captured values are read now.
  ElementBody(Machine &machine, Block &block);

  /// Run with `arguments` at the loop index `indices`; return the scalars that
  /// the terminator is given, valid until the next run.
  FailureOr<ArrayRef<Cell>> run(ArrayRef<Cell> arguments,
                                ArrayRef<int64_t> indices);

private:
  /// What a step does: a scalar op, reading a loop's index, or reading an
  /// element of a captured tensor.
  enum class StepKind { Scalar, Index, Extract };
  struct Step {
    StepKind kind;
    ScalarOp scalar;
    Operation *op;
    SmallVector<unsigned, 4> operands;
    unsigned result = 0;
    int64_t dim = 0;
    RuntimeValue tensor;
  };

  bool prepare();
  bool prepareStep(Operation *op);
  /// Return the cell of `value`, or none if it cannot have one.
  std::optional<unsigned> slotOf(Value value);
  FailureOr<ArrayRef<Cell>> runSlowly(ArrayRef<Cell> arguments,
                                      ArrayRef<int64_t> indices);
  LogicalResult runExtract(const Step &step);

  Machine &machine;
  Block &block;
  DenseMap<Value, unsigned> slots;
  std::vector<Cell> cells;
  std::vector<Step> steps;
  SmallVector<unsigned, 2> resultSlots;
  SmallVector<Cell, 2> results;
  /// Whether `steps` say all; last, because preparing fills the others.
  bool isPrepared;
};

} // namespace mlir::attn

#endif // ATTN_LIB_INTERPRETER_ELEMENTBODY_H
