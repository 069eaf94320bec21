// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules about types that several ops share, each with one wording. A check
// takes the name of the operand, result or attribute that it looks at, as the
// op's description spells it, and names it in the error:
//
//   'attn.sdpa' op expects 'query' and 'key' to agree on dimension 3, got 64
//   and 32

#ifndef ATTN_IR_SHAPECHECKS_H
#define ATTN_IR_SHAPECHECKS_H

#include "attn/IR/AttnDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

#include <optional>

namespace mlir::attn {

/// One operand or result under its name; the type is null where an optional one
/// is absent. Every check accepts an absent one.
struct NamedType {
  NamedType(StringRef name, Type type) : name(name), type(type) {}
  NamedType(StringRef name, Value value)
      : name(name), type(value ? value.getType() : Type()) {}

  StringRef name;
  Type type;

  explicit operator bool() const { return bool(type); }

  /// Return the type, which must be a ranked tensor.
  RankedTensorType tensor() const { return cast<RankedTensorType>(type); }
};

/// A dimension that several tensors share, such as the number of keys: its
/// static extent, as far as one was stated, and who stated it first. Where it
/// follows from `owner` without being one of its dimensions (heads from an
/// attribute, the size of a head from a weight), `ownerDim` is kDerived.
struct SharedDim {
  static constexpr int64_t kDerived = -1;

  int64_t size = ShapedType::kDynamic;
  StringRef owner;
  int64_t ownerDim = kDerived;

  bool isStatic() const { return ShapedType::isStatic(size); }
};

/// Fails unless `tensor` is a ranked tensor of this rank.
LogicalResult verifyRank(Operation *op, NamedType tensor, int64_t rank);

/// Fails unless `tensor` has the element type of `model`.
LogicalResult verifySameElementType(Operation *op, NamedType model,
                                    NamedType tensor);

/// Fails if `precision` rounds factors, and `tensor` is not of f32.
LogicalResult verifyPrecision(Operation *op, NamedType tensor,
                              std::optional<Precision> precision);

/// Fails if `tensor` holds f64 and `model` does not: the computation would drop
/// the digits that only f64 has.
LogicalResult verifyNoWiderThan(Operation *op, NamedType model,
                                NamedType tensor);

/// Fails unless `tensor` holds what sums over elements of `model` are kept in:
/// f64 for f64, else f32.
LogicalResult verifyAccumulatorType(Operation *op, NamedType model,
                                    NamedType tensor);

/// Fails if dimension `dim` of `tensor` contradicts what is known of `shared`;
/// states the extent in `shared` if it is the first static one.
LogicalResult verifyDim(Operation *op, SharedDim &shared, NamedType tensor,
                        int64_t dim);

/// Fails unless `tensor` has one dimension for each of `shared`, and agrees on
/// all of them.
LogicalResult verifyShape(Operation *op, ArrayRef<SharedDim *> shared,
                          NamedType tensor);

/// Fails unless `tensor` has these dimensions, in the order of `layout`.
LogicalResult verifyLaidOut(Operation *op, NamedType tensor, Layout layout,
                            SharedDim &batch, SharedDim &heads,
                            SharedDim &sequence, SharedDim &channels);

/// Fails unless the last dimension of a packed operand is static.
LogicalResult verifyStaticUnit(Operation *op, NamedType tensor);

/// Return whether elements of `type` are of a byte, with or without a scale.
bool isByte(Type type);

/// Fails unless `tensor`, a key, a value or a cache of them, is of the element type
/// of `model` or of one that is stored under it.
LogicalResult verifyStoredUnder(Operation *op, NamedType model,
                                NamedType tensor);

/// Fails unless two tensors have one rank and agree on all dimensions.
LogicalResult verifySameShape(Operation *op, NamedType model, NamedType tensor);

/// Fails unless `tensor` has rank 1 up to the number of `full` and broadcasts
/// to it, aligned to the right: a static extent is 1 or the full one. A dynamic
/// extent is equal to the full one when the program runs.
LogicalResult verifyBroadcast(Operation *op, ArrayRef<SharedDim *> full,
                              NamedType tensor);

/// Fails unless the heads of the query are a multiple of those of the keys.
LogicalResult verifyHeadGroups(Operation *op, const SharedDim &heads,
                               const SharedDim &kvHeads);

/// Fails if an attribute is there and is infinite or NaN.
LogicalResult verifyFinite(Operation *op, StringRef name,
                           std::optional<APFloat> value);

/// Fails if `softcap` is there and is not finite and above 0.
LogicalResult verifySoftcap(Operation *op, std::optional<APFloat> softcap);

/// Fails unless both of two optional operands or results are there, or neither.
LogicalResult verifyTogether(Operation *op, NamedType first, NamedType second);

/// What attn.sdpa and attn.mha both take to change scores, beside the operands
/// that are multiplied, and the result that both may give.
struct ScoreOperands {
  NamedType query, bias, mask, kvLengths, queryOffset, sinks, lse;
  std::optional<APFloat> scale, softcap;
  Causal causal;
};

/// The dimensions that these have: `B`, `H`, `M` and `N`.
struct ScoreDims {
  SharedDim batch, heads, rows, keys;
};

/// Fails unless `operands` fit each other and `dims`.
LogicalResult verifyScoreOperands(Operation *op, const ScoreOperands &operands,
                                  ScoreDims &dims);

/// The tables and positions of a rotary embedding.
struct RotaryOperands {
  NamedType input, cos, sin, positions;
};

/// Fails unless the tables are `[P, width]` with positions `[B, S]`, or `[B, S,
/// width]` without, both alike and no wider than the input.
LogicalResult verifyRotaryTables(Operation *op, const RotaryOperands &operands,
                                 SharedDim &batch, SharedDim &sequence,
                                 SharedDim &width);

/// Return `dims` with every extent that the type of `result` states as a
/// constant.
SmallVector<OpFoldResult> withStaticExtents(OpBuilder &builder, Value result,
                                            ArrayRef<OpFoldResult> dims);

} // namespace mlir::attn

#endif // ATTN_IR_SHAPECHECKS_H
