// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dimensions of a tile and the linalg ops over them, for tiles that are packed into panels and for plain ones: a
// row is one dimension (r) or two (strip, row in the strip), a key likewise, a channel of the value likewise. Everything
// that the tile ops mean is written once, over groups of dimensions.

#ifndef ATTN_LIB_IR_TILESPACE_H
#define ATTN_LIB_IR_TILESPACE_H

#include "attn/IR/AttnOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace mlir::attn {

/// A group of dimensions that together number the rows, keys or channels.
using Dims = SmallVector<AffineExpr, 2>;

/// Builds linalg.generic ops over named groups of dimensions.
class TileBuilder {
public:
  using Body = function_ref<SmallVector<Value>(OpBuilder &, ValueRange)>;

  TileBuilder(OpBuilder &builder, Location loc, Type elementType)
      : builder(builder), loc(loc), elementType(elementType) {}

  /// An operand of a generic: a tensor and the dimensions that index it.
  struct Operand {
    Value tensor;
    SmallVector<AffineExpr> dims;
  };

  /// Return the results of a linalg.generic over `numDims` dimensions, those
  /// in `reductions` being reductions.
  SmallVector<Value> generic(unsigned numDims, ArrayRef<unsigned> reductions,
                             ArrayRef<Operand> inputs,
                             ArrayRef<Operand> outputs, Body body);

  /// Return `value` as a constant of the element type, or of `type`.
  Value constant(OpBuilder &b, double value, Type type = {});

  /// Return a tensor of the sizes of `like`'s leading shape filled with `value`.
  Value filled(ArrayRef<OpFoldResult> sizes, double value);

  OpBuilder &builder;
  Location loc;
  Type elementType;
};

/// Return e^(from - to), 0 where from is -inf, whatever `to` is (to = -inf is
/// taken as 0 then, so -inf - -inf never arises).
Value expDifference(OpBuilder &b, Location loc, Value from, Value to);

/// Return `exprs` joined.
SmallVector<AffineExpr> join(std::initializer_list<ArrayRef<AffineExpr>> exprs);

} // namespace mlir::attn

#endif // ATTN_LIB_IR_TILESPACE_H
