// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.sdpa as plain linalg on whole tensors: its definition, step by step.
//
//   %o = attn.sdpa %q, %k, %v scale = 0.125 causal = top_left : ...
//
// becomes
//
//   %dots = linalg.generic ... ins(%q, %k : ...)      // q . k
//   %s = linalg.generic ... ins(%dots : ...)          // scaled, capped, biased; -inf where excluded
//   %max = linalg.generic ... ins(%s : ...)           // of each row
//   %p = linalg.generic ... ins(%s, %max : ...)       // exp(s - max), 0 where excluded
//   %sum = linalg.generic ... ins(%p : ...)           // of each row
//   %acc = linalg.generic ... ins(%s, %p, %v : ...)   // p . v over the keys that are not excluded
//   %o = linalg.generic ... ins(%acc, %sum : ...)     // divided, rounded to the result's type
//
// Where H and G are not known to be equal, the query's heads are split into G
// groups, so that keys and values are indexed by the group and never repeated.
// Where G is dynamic they are read by tensor.extract at h / (H / G) instead:
// memrefs know no split of a dimension into two dynamic ones. Everything
// between the operands and the results is in f32 (f64 for f64).

#include "SdpaDefinition.h"
#include "SdpaPlaces.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::attn;

SdpaDefinition::SdpaDefinition(OpBuilder &builder, SdpaOp op)
    : b(op.getLoc(), builder), op(op), dims(AttentionDims::get(builder, op)),
      accType(getAccumulatorType(getElementTypeOrSelf(op.getQuery()))) {
  std::optional<int64_t> queryHeads = getConstantIntValue(dims.heads);
  std::optional<int64_t> groups = getConstantIntValue(dims.kvHeads);
  if (queryHeads && queryHeads == groups) {
    headSizes = {dims.heads};
  } else if (groups.value_or(0) > 0) {
    headSizes = {dims.kvHeads, divideSize(b, dims.heads, dims.kvHeads)};
  } else {
    headSizes = {dims.heads};
    headsPerGroup = getValueOrCreateConstantIndexOp(
        b, b.getLoc(), divideSize(b, dims.heads, dims.kvHeads));
  }
  unsigned next = 0;
  batch = b.getAffineDimExpr(next++);
  for (size_t i = 0; i < headSizes.size(); ++i)
    heads.push_back(b.getAffineDimExpr(next++));
  row = b.getAffineDimExpr(next++);
  key = b.getAffineDimExpr(next++);
  channel = b.getAffineDimExpr(next++);
}

SmallVector<Value> SdpaDefinition::build() {
  keys = getI64(b, dims.keys);
  Value scores = buildScores(buildProducts());
  Value maxima = buildMaxima(scores);
  Value weights = buildWeights(scores, maxima);
  Rows rows = joinSinks({maxima, buildSums(weights), /*factor=*/{}});
  SmallVector<Value> results;
  results.push_back(buildOutput(buildAccumulators(scores, weights), rows));
  if (op.getLse())
    results.push_back(buildLse(rows));
  if (op.getWeights())
    results.push_back(buildWeightsResult(scores, weights, rows));
  return results;
}

//===----------------------------------------------------------------------===//
// Tensors and their indices
//===----------------------------------------------------------------------===//

Value SdpaDefinition::splitHeads(Value tensor, int64_t dim) {
  if (headSizes.size() == 1)
    return tensor;
  return splitDim(b, tensor, dim, headSizes[0], headSizes[1]);
}

SmallVector<AffineExpr> SdpaDefinition::getIndices(Layout layout,
                                                   ArrayRef<AffineExpr> head,
                                                   AffineExpr sequence,
                                                   AffineExpr channel) {
  SmallVector<AffineExpr> indices{batch};
  if (layout == Layout::bshd)
    indices.push_back(sequence);
  llvm::append_range(indices, head);
  if (layout == Layout::bhsd)
    indices.push_back(sequence);
  indices.push_back(channel);
  return indices;
}

Indexed SdpaDefinition::atRow(Value tensor, AffineExpr last) {
  SmallVector<AffineExpr> indices{batch};
  llvm::append_range(indices, heads);
  indices.push_back(row);
  if (last)
    indices.push_back(last);
  return {tensor, indices};
}

SmallVector<Indexed> SdpaDefinition::atKey(Value tensor, Layout layout) {
  if (headsPerGroup)
    return {};
  return {{tensor, getIndices(layout, heads[0], key, channel)}};
}

Value SdpaDefinition::getIndex(AffineExpr dim) {
  return linalg::IndexOp::create(b, cast<AffineDimExpr>(dim).getPosition());
}

Value SdpaDefinition::readShared(Value tensor, Layout layout) {
  Value group =
      arith::DivUIOp::create(b, getIndex(heads.front()), headsPerGroup);
  SmallVector<Value> indices{getIndex(batch), group, getIndex(key),
                             getIndex(channel)};
  if (layout == Layout::bshd)
    std::swap(indices[1], indices[2]);
  return tensor::ExtractOp::create(b, tensor, indices);
}

Value SdpaDefinition::getStored(Value element, Value scale) {
  element = convertStored(b, b.getLoc(), element, accType);
  if (!scale)
    return element;
  auto type = cast<RankedTensorType>(scale.getType());
  SmallVector<Value> indices;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    int64_t aligned = dim + 3 - type.getRank();
    if (type.getDimSize(dim) == 1) {
      indices.push_back(arith::ConstantIndexOp::create(b, 0));
      continue;
    }
    Value at = getIndex(aligned == 0   ? batch
                        : aligned == 1 ? heads.front()
                                       : key);
    if (aligned == 1 && headsPerGroup)
      at = arith::DivUIOp::create(b, at, headsPerGroup);
    indices.push_back(at);
  }
  Value factor = tensor::ExtractOp::create(b, scale, indices);
  return arith::MulFOp::create(b, element, convertFloat(b, factor, accType));
}

Indexed SdpaDefinition::atScore(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  int64_t rank = type.getRank();
  SmallVector<AffineExpr> indices;
  for (int64_t dim = 0; dim < rank; ++dim) {
    // Right-aligned: the last dimension is that of the keys.
    int64_t aligned = dim + 4 - rank;
    if (type.getDimSize(dim) == 1) {
      indices.push_back(b.getAffineConstantExpr(0));
      continue;
    }
    if (aligned == 1) {
      tensor = splitHeads(tensor, dim);
      llvm::append_range(indices, heads);
      continue;
    }
    indices.push_back(aligned == 0 ? batch : aligned == 2 ? row : key);
  }
  return {tensor, indices};
}

Value SdpaDefinition::getFilledRows(Value value, OpFoldResult last) {
  SmallVector<OpFoldResult> sizes{dims.batch};
  llvm::append_range(sizes, headSizes);
  sizes.push_back(dims.rows);
  if (last)
    sizes.push_back(last);
  return getFilled(b, sizes, value);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

Value SdpaDefinition::buildProducts() {
  Layout layout = op.getQueryLayout();
  Indexed query{splitHeads(op.getQuery(), headDim(layout)),
                getIndices(layout, heads, row, channel)};
  SmallVector<Indexed> inputs{query};
  llvm::append_range(inputs, atKey(op.getKey(), op.getKeyLayout()));
  Indexed init = atRow(getFilledRows(getZero(), dims.keys), key);
  return buildGeneric(b, inputs, init, [&](ValueRange args) -> Value {
    Value element =
        headsPerGroup ? readShared(op.getKey(), op.getKeyLayout()) : args[1];
    Value product = arith::MulFOp::create(b, convertFloat(b, args[0], accType),
                                          getStored(element, op.getKeyScale()));
    return arith::AddFOp::create(b, args.back(), product);
  });
}

//===----------------------------------------------------------------------===//
// Softmax and the product with the values
//===----------------------------------------------------------------------===//

Value SdpaDefinition::buildMaxima(Value scores) {
  Indexed init = atRow(getFilledRows(getMinusInfinity(b, accType)));
  return buildGeneric(b, {atRow(scores, key)}, init,
                      [&](ValueRange args) -> Value {
                        return arith::MaximumFOp::create(b, args[0], args[1]);
                      });
}

Value SdpaDefinition::buildWeights(Value scores, Value maxima) {
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(b, b.getLoc(), scores);
  Indexed init = atRow(tensor::EmptyOp::create(b, sizes, accType), key);
  return buildGeneric(b, {atRow(scores, key), atRow(maxima)}, init,
                      [&](ValueRange args) -> Value {
                        Value distance =
                            arith::SubFOp::create(b, args[0], args[1]);
                        return arith::SelectOp::create(
                            b, isMinusInfinity(b, args[0]), getZero(),
                            math::ExpOp::create(b, distance));
                      });
}

Value SdpaDefinition::buildSums(Value weights) {
  return buildGeneric(b, {atRow(weights, key)}, atRow(getFilledRows(getZero())),
                      [&](ValueRange args) -> Value {
                        return arith::AddFOp::create(b, args[1], args[0]);
                      });
}

Value SdpaDefinition::buildAccumulators(Value scores, Value weights) {
  SmallVector<Indexed> inputs{atRow(scores, key), atRow(weights, key)};
  llvm::append_range(inputs, atKey(op.getValue(), op.getValueLayout()));
  Indexed init = atRow(getFilledRows(getZero(), dims.valueSize), channel);
  return buildGeneric(b, inputs, init, [&](ValueRange args) -> Value {
    Value element = headsPerGroup
                        ? readShared(op.getValue(), op.getValueLayout())
                        : args[2];
    Value product = arith::MulFOp::create(
        b, args[1], getStored(element, op.getValueScale()));
    // Not by the weight: one that is too small for its type is 0 as well, and
    // a NaN in its value must show.
    product = arith::SelectOp::create(b, isMinusInfinity(b, args[0]), getZero(),
                                      product);
    return arith::AddFOp::create(b, args.back(), product);
  });
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

SdpaDefinition::Rows SdpaDefinition::joinSinks(Rows rows) {
  if (!op.getSinks())
    return rows;
  Indexed sinks{splitHeads(op.getSinks(), 0), heads};
  Value zero = getZero();
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(b, b.getLoc(), rows.sum);
  SmallVector<Indexed> inits;
  for (int64_t i = 0; i < 3; ++i)
    inits.push_back(atRow(tensor::EmptyOp::create(b, sizes, accType)));
  auto body = [&](ValueRange args) -> SmallVector<Value> {
    Value reference = args[0], sum = args[1];
    Value sink = convertFloat(b, args[2], accType);
    Value top = arith::MaximumFOp::create(b, reference, sink);
    // Only a row without keys and without a finite sink has no maximum.
    top = arith::SelectOp::create(b, isMinusInfinity(b, top), zero, top);
    Value factor =
        math::ExpOp::create(b, arith::SubFOp::create(b, reference, top));
    Value share = math::ExpOp::create(b, arith::SubFOp::create(b, sink, top));
    Value scaled = arith::MulFOp::create(b, sum, factor);
    return {top, arith::AddFOp::create(b, scaled, share), factor};
  };
  SmallVector<Value> joined = buildGeneric(
      b, {atRow(rows.reference), atRow(rows.sum), sinks}, inits, body);
  return {joined[0], joined[1], joined[2]};
}

/// Return whether a row has neither a key nor a sink.
static Value isEmpty(ImplicitLocOpBuilder &b, Value sum) {
  return arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, sum,
                               getFloat(b, sum.getType(), 0.0));
}

Value SdpaDefinition::buildOutput(Value accumulators, Rows rows) {
  Layout layout = op.getOutputLayout();
  auto type = cast<RankedTensorType>(op.getOutput().getType());
  SmallVector<OpFoldResult> sizes{dims.batch};
  if (layout == Layout::bshd)
    sizes.push_back(dims.rows);
  llvm::append_range(sizes, headSizes);
  if (layout == Layout::bhsd)
    sizes.push_back(dims.rows);
  sizes.push_back(dims.valueSize);
  // Keys are gone: the dimension after the row's is the channel's.
  Indexed init{tensor::EmptyOp::create(b, sizes, type.getElementType()),
               getIndices(layout, heads, row, key)};
  SmallVector<Indexed> inputs{atRow(accumulators, key), atRow(rows.sum)};
  if (rows.factor)
    inputs.push_back(atRow(rows.factor));
  Value output = buildGeneric(b, inputs, init, [&](ValueRange args) -> Value {
    Value acc = args[0], sum = args[1];
    if (rows.factor)
      acc = arith::MulFOp::create(b, acc, args[2]);
    Value quotient = arith::DivFOp::create(b, acc, sum);
    Value result =
        arith::SelectOp::create(b, isEmpty(b, sum), getZero(), quotient);
    return convertFloat(b, result, type.getElementType());
  });
  if (headSizes.size() == 2)
    output = joinDims(b, output, headDim(layout));
  return castTensor(b, output, type);
}

Value SdpaDefinition::buildLse(Rows rows) {
  auto type = cast<RankedTensorType>(op.getLse().getType());
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(b, b.getLoc(), rows.sum);
  Indexed init =
      atRow(tensor::EmptyOp::create(b, sizes, type.getElementType()));
  Value lse = buildGeneric(
      b, {atRow(rows.reference), atRow(rows.sum)}, init,
      [&](ValueRange args) -> Value {
        Value log =
            arith::AddFOp::create(b, args[0], math::LogOp::create(b, args[1]));
        log = arith::SelectOp::create(b, isEmpty(b, args[1]),
                                      getMinusInfinity(b, accType), log);
        return convertFloat(b, log, type.getElementType());
      });
  if (headSizes.size() == 2)
    lse = joinDims(b, lse, 1);
  return castTensor(b, lse, type);
}

/// Return `weights` divided by their sums; 0 where `scores` exclude a key.
Value SdpaDefinition::buildWeightsResult(Value scores, Value weights,
                                         Rows rows) {
  auto type = cast<RankedTensorType>(op.getWeights().getType());
  Indexed init = atRow(
      tensor::EmptyOp::create(b, tensor::getMixedSizes(b, b.getLoc(), weights),
                              type.getElementType()),
      key);
  SmallVector<Indexed> inputs{atRow(scores, key), atRow(weights, key),
                              atRow(rows.sum)};
  if (rows.factor)
    inputs.push_back(atRow(rows.factor));
  Value result = buildGeneric(b, inputs, init, [&](ValueRange args) -> Value {
    Value weight = args[1];
    if (rows.factor)
      weight = arith::MulFOp::create(b, weight, args[3]);
    weight = arith::DivFOp::create(b, weight, args[2]);
    // An empty row has no score that is left, and a sum of 0.
    weight = arith::SelectOp::create(b, isMinusInfinity(b, args[0]), getZero(),
                                     weight);
    return convertFloat(b, weight, type.getElementType());
  });
  if (headSizes.size() == 2)
    result = joinDims(b, result, 1);
  return castTensor(b, result, type);
}

FailureOr<SmallVector<Value>> SdpaOp::decomposeOperation(OpBuilder &builder) {
  if (hasPackedRows())
    return decomposeSequences(builder, *this);
  if (isPaged())
    return decomposePages(builder, *this);
  return SdpaDefinition(builder, *this).build();
}
