// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops of arith and math on scalars, each as a plain function on cells.

#ifndef ATTN_LIB_INTERPRETER_SCALARS_H
#define ATTN_LIB_INTERPRETER_SCALARS_H

#include "attn/Interpreter/Interpreter.h"

namespace mlir::attn {

/// One op, ready to run.
struct ScalarOp {
  /// Computes the result before it is rounded or wrapped; sets `fault` to the
  /// reason where there is none.
  using Function = Cell (*)(const ScalarOp &op, const Cell *operands,
                            const char *&fault);
  Function function = nullptr;
  /// Bits of integer operands and results.
  unsigned operandWidth = 64, resultWidth = 64;
  /// Formats of float operands and results.
  FloatFormat operandFormat = FloatFormat::F64, resultFormat = FloatFormat::F64;
  /// What a float result is rounded to.
  FloatFormat rounding = FloatFormat::F64;
  bool hasRealResult = false;
  int64_t predicate = 0;

  Cell run(const Cell *operands, const char *&fault) const {
    Cell result = function(*this, operands, fault);
    if (!hasRealResult)
      result.integer = wrapInteger(result.integer, resultWidth);
    else if (rounding != FloatFormat::F64)
      result.real = roundFloat(result.real, rounding);
    return result;
  }
};

/// The most operands that a scalar op has.
constexpr unsigned kMaxScalarOperands = 3;

/// Return how `op` is computed element by element, or none if it is no op of
/// arith or math on known types.
std::optional<ScalarOp> lookupScalarOp(Operation *op, Arithmetic arithmetic);

} // namespace mlir::attn

#endif // ATTN_LIB_INTERPRETER_SCALARS_H
