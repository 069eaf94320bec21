// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs functions of func, arith, math, affine, tensor, scf, linalg and attn ops
// on tensors, by the definition of each op. Nothing is optimised and nothing is
// lowered: this is what compiled code is compared with.

#ifndef ATTN_INTERPRETER_INTERPRETER_H
#define ATTN_INTERPRETER_INTERPRETER_H

#include "attn/Interpreter/Values.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::attn {

/// How floats are computed. Exact: everything in f64, whatever the types say.
/// Plain: each op's result is rounded to its type, attention runs in f32 (f64
/// for f64); the difference between the two is `e` of docs/Numerics.md. Single:
/// as plain, but with f64 computed in f32, which shows how a program loses
/// digits for which exact and plain are the same. Rounded: as plain, with factors of
/// attention and layers rounded as a GPU may do it under their `precision`.
enum class Arithmetic { Exact, Plain, Single, Rounded };

/// Return the format that results of `format` are rounded to. What is stored in a
/// byte is that byte in any arithmetic.
inline FloatFormat getRounding(FloatFormat format, Arithmetic arithmetic) {
  if (format == FloatFormat::F8E4M3FN || format == FloatFormat::F8E5M2)
    return format;
  if (arithmetic == Arithmetic::Exact)
    return FloatFormat::F64;
  if (arithmetic == Arithmetic::Single && format == FloatFormat::F64)
    return FloatFormat::F32;
  return format;
}

/// What attention ops met on the way: the terms of the error bound.
struct AttentionStatistics {
  /// Largest finite |s| and |value| that are not excluded. A cap or a region hides
  /// the size of a score, not its error: a score counts before and after it.
  double largestScore = 0, largestValue = 0;
  /// How many attn.sdpa ran, those inside attn.mha included.
  int64_t count = 0;
  /// Floating-point operations of attention (2 (D + E) for each pair of a row
  /// and a key that is not excluded) and of contractions (2 for each product).
  int64_t operations = 0;
};

/// Run `function` on `arguments`, which must fit its types, and return its
/// results. An op that is not known, or that is given what it cannot be
/// computed from, is an error at its location.
FailureOr<SmallVector<RuntimeValue>>
interpret(func::FuncOp function, ArrayRef<RuntimeValue> arguments,
          Arithmetic arithmetic, AttentionStatistics *statistics = nullptr);

} // namespace mlir::attn

#endif // ATTN_INTERPRETER_INTERPRETER_H
