// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The definition of one attn.sdpa: products, softmax and results (SdpaDecompose.cpp), and what stands between q . k and
// softmax (SdpaScores.cpp).

#ifndef ATTN_LIB_IR_SDPADEFINITION_H
#define ATTN_LIB_IR_SDPADEFINITION_H

#include "attn/IR/AttentionShape.h"
#include "attn/IR/LinalgBuilder.h"
#include "attn/IR/ScoreRegion.h"

namespace mlir::attn {

/// Builds the definition of one op.
class SdpaDefinition {
public:
  SdpaDefinition(OpBuilder &builder, SdpaOp op);
  SmallVector<Value> build();

private:
  /// The sum of each row's weights, which are relative to e^reference.
  struct Rows {
    Value reference, sum;
    /// What the accumulated product must be multiplied by, if anything.
    Value factor;
  };

  // The steps, in order; SdpaScores.cpp has buildScores. Tensors of scores are [B, heads, M, N].
  Value buildProducts();
  Value buildScores(Value products);
  Value buildMaxima(Value scores);
  Value buildWeights(Value scores, Value maxima);
  Value buildSums(Value weights);
  Value buildAccumulators(Value scores, Value weights);
  Rows joinSinks(Rows rows);
  Value buildOutput(Value accumulators, Rows rows);
  Value buildLse(Rows rows);
  Value buildWeightsResult(Value scores, Value weights, Rows rows);

  // Parts of buildScores, in the body over (b, heads, m, n).
  Value clampLength(Value length);
  Value buildPositionOfRow(Value length, Value offset);
  Value buildExcluded(Value mask, Value length, Value position);
  Value buildScore(Value product, Value scale, Value bias,
                   const ScorePlace &at);
  ScorePlace buildPlace(Value position);
  Value buildScale();
  Value buildCapped(Value score);

  /// Return the heads of `tensor`, at `dim`, split into groups if they must be.
  Value splitHeads(Value tensor, int64_t dim);
  /// Return `tensor`, whose heads are query heads, to be read at the row (and
  /// the channel `last`).
  Indexed atRow(Value tensor, AffineExpr last = {});
  /// Return a bias or mask to be read at the score.
  Indexed atScore(Value tensor);
  /// Return the key or value tensor `tensor` to be read at key and channel, or
  /// nothing where readShared must be used in the body instead.
  SmallVector<Indexed> atKey(Value tensor, Layout layout);
  /// Return the element of the key or value tensor `tensor`.
  Value readShared(Value tensor, Layout layout);
  /// Return `element` of a key or a value as a number, by its scale if any.
  Value getStored(Value element, Value scale);
  /// Return the indices of an element of a tensor of layout `layout`.
  SmallVector<AffineExpr> getIndices(Layout layout, ArrayRef<AffineExpr> head,
                                     AffineExpr sequence, AffineExpr channel);
  /// Return `value` for each row (and each channel of `last`).
  Value getFilledRows(Value value, OpFoldResult last = {});
  Value getZero() { return getFloat(b, accType, 0.0); }
  /// Return where the iteration of a body is in dimension `dim`.
  Value getIndex(AffineExpr dim);
  Value getIndexAsI64(AffineExpr dim);

  ImplicitLocOpBuilder b;
  SdpaOp op;
  AttentionDims dims;
  Type accType;
  /// N as an i64.
  Value keys;
  /// Sizes of the dimensions that stand for the query's heads: H, or G and H/G.
  SmallVector<OpFoldResult> headSizes;
  /// H/G where heads are not split and it is not known to be 1.
  Value headsPerGroup;
  /// Dimensions of the iterations: batch, heads, row, key, channel.
  AffineExpr batch, row, key, channel;
  SmallVector<AffineExpr> heads;
};

} // namespace mlir::attn

#endif // ATTN_LIB_IR_SDPADEFINITION_H
