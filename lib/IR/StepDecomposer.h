// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The decomposition of one attn.block_step: products, scores and softmax (BlockStepDecompose.cpp), what stands between
// q . k and softmax (BlockStepScores.cpp), values (BlockStepValues.cpp), the products of whole and of partly
// filled panels (BlockStepParts.cpp), and those of a step that streams (BlockStepStreams.cpp).

#ifndef ATTN_LIB_IR_STEPDECOMPOSER_H
#define ATTN_LIB_IR_STEPDECOMPOSER_H

#include "TileSpace.h"

#include "attn/IR/ScoreRegion.h"

namespace mlir::attn {

/// One decomposition.
class StepDecomposer {
public:
  StepDecomposer(OpBuilder &builder, BlockStepOp op)
      : op(op),
        tile(builder, op.getLoc(),
             cast<RankedTensorType>(op.getAcc().getType()).getElementType()),
        builder(builder), loc(op.getLoc()), packed(op.hasPackedRows()),
        streamed(op.isStreamed()),
        plainValue(packed && op.hasPackedKeys() &&
                   cast<RankedTensorType>(op.getValue().getType()).getRank() ==
                       2),
        anchor(op) {
    number();
  }

  /// Return the state after the block.
  SmallVector<Value> run();

  /// Return e^(score - reference) times the step's sum, which stands for a factor,
  /// as a tensor of `element` of the shape of the scores.
  Value weights(Type element);

private:
  using Operand = TileBuilder::Operand;
  struct State {
    Value reference, sum, acc;
  };

  void number();
  Value emptyScores(Type element, bool byPanel = false);
  Value scores();
  Value product(Value key, Value init);
  std::pair<Value, Value> keyIntervals();
  Value logits(Value scores);
  Value adjusted(Value scores, bool changing, bool excluding);
  Value excludeLast(Value scores);
  Value hasExclusions();
  Value anyKept();
  SmallVector<Value> fold();
  bool changesScores();
  ScorePlace place(OpBuilder &b);
  Value change(OpBuilder &b, Value s);
  Value exclude(OpBuilder &b, Value s, std::optional<unsigned> low,
                ValueRange args);
  Value rowIndex(OpBuilder &b);
  bool isOneHead();
  std::pair<Value, Value> splitRow(OpBuilder &b, Value row);
  Value keyIndex(OpBuilder &b);
  Value readBroadcast(OpBuilder &b, Value tensor);
  Value readScale(OpBuilder &b, Value scale);
  Value scaledWeights(Value weights, ArrayRef<AffineExpr> dims);
  Value top(Value scores);
  Value filledState(Value state, double value);
  SmallVector<Value> stateBefore();
  State rescaled(Value highest);
  Value keyLimit(Value position);
  Value accumulate(Value acc, Value weights, Value value, bool skipZeros,
                   bool first = false);
  Value joinKeys(Value tensor, unsigned dim, Value keys);
  Value valueKeys(Value value, Value keys);
  Value addValues(Value acc, Value weights);
  Value visibleKeys();
  Value scoreVectors(Value scores);
  Value firstLanes(Value sum, Value scores);
  Value scoreParts(Value init);
  Value addParts(Value acc, Value weights, bool skipZeros);
  Value addKeys(Value acc, Value weights, Value value, bool skipZeros);
  Value firstKeys(Value scores, OpFoldResult keys);
  Value streamedScores();
  Value streamedWeights(Value weights);

  BlockStepOp op;
  TileBuilder tile;
  OpBuilder &builder;
  Location loc;
  /// Whether rows, keys and channels are two dimensions each.
  bool packed;
  /// Whether keys and values are read where they are.
  bool streamed;
  /// Whether values are read where they are though keys are packed.
  bool plainValue;
  /// The dimensions of rows, of keys and of a third group (channels); `score`
  /// is the order in which scores are stored: strip, row, panel, key.
  Dims m, n, e;
  SmallVector<AffineExpr> score;
  AffineExpr k;
  /// Before this op stands what is the same in every iteration of a body.
  Operation *anchor;
  /// What visibleKeys returns, once it is known.
  Value visible;
  /// How many keys of the block stand before those that a body works on.
  Value skippedKeys;
};

} // namespace mlir::attn

#endif // ATTN_LIB_IR_STEPDECOMPOSER_H
