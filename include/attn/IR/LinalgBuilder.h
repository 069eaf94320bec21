// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Short ways to write the linalg and tensor ops that definitions of attn ops
// are made of.

#ifndef ATTN_IR_LINALGBUILDER_H
#define ATTN_IR_LINALGBUILDER_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::attn {

/// On a linalg op that seldom runs: short code is better than fast code. On a branch:
/// its second side, or its first one where there is only one that computes, is taken
/// in few blocks of a tile.
inline constexpr llvm::StringLiteral kRareAttrName = "attn.rare";

/// A tensor, and which of its elements an iteration touches: one expression
/// over the iteration's dimensions for each of the tensor's.
struct Indexed {
  Value tensor;
  SmallVector<AffineExpr> indices;
};

/// Return the type in which elements of `type` are added up: f64 for f64, else
/// f32.
Type getAccumulatorType(Type type);

/// Return `value`, a float, as a float of type `type`.
Value convertFloat(ImplicitLocOpBuilder &b, Value value, Type type);

/// Return `value`, an element of a key or a value as it is stored or a vector of
/// them, as the float or vector type `type`, in which they are added up.
Value convertStored(OpBuilder &b, Location loc, Value value, Type type);

/// Return `value`, an index or a signed integer, as an i64.
Value convertToI64(ImplicitLocOpBuilder &b, Value value);

/// Return `value` as an i64.
Value getI64(ImplicitLocOpBuilder &b, OpFoldResult value);

/// Return a constant of the float type `type`: `value`, or the nearest finite
/// number where a finite `value` is too large.
Value getFloat(ImplicitLocOpBuilder &b, Type type, double value);

/// Return 1 / sqrt(size), or 1 where `size` is 0, as a float of type `type`.
Value getInverseRoot(ImplicitLocOpBuilder &b, OpFoldResult size, Type type);

/// Return the constant minus infinity.
Value getMinusInfinity(ImplicitLocOpBuilder &b, Type type);

/// Return whether the float `value` is minus infinity.
Value isMinusInfinity(ImplicitLocOpBuilder &b, Value value);

/// Return a tensor of the given sizes that holds `value` everywhere.
Value getFilled(ImplicitLocOpBuilder &b, ArrayRef<OpFoldResult> sizes,
                Value value);

/// Return `tensor` as a tensor of type `type`, which must agree with it in all
/// that both state.
Value castTensor(ImplicitLocOpBuilder &b, Value tensor, Type type);

/// Return the linalg.generic over all of the dimensions that `inputs` and
/// `inits` mention. A dimension that no init mentions is reduced; in its body
/// the last arguments are the elements of `inits`.
SmallVector<Value>
buildGeneric(ImplicitLocOpBuilder &b, ArrayRef<Indexed> inputs,
             ArrayRef<Indexed> inits,
             function_ref<SmallVector<Value>(ValueRange)> body);

/// The same with one result.
Value buildGeneric(ImplicitLocOpBuilder &b, ArrayRef<Indexed> inputs,
                   const Indexed &init, function_ref<Value(ValueRange)> body);

/// Return dimension `dim` of `tensor` split into `outer` times `inner`.
Value splitDim(ImplicitLocOpBuilder &b, Value tensor, int64_t dim,
               OpFoldResult outer, OpFoldResult inner);

/// Return dimensions `dim` and `dim + 1` of `tensor` joined into one.
Value joinDims(ImplicitLocOpBuilder &b, Value tensor, int64_t dim);

/// Return max(value, 0) divided by max(divisor, 1), rounded down.
OpFoldResult divideSize(ImplicitLocOpBuilder &b, OpFoldResult value,
                        OpFoldResult divisor);

} // namespace mlir::attn

#endif // ATTN_IR_LINALGBUILDER_H
