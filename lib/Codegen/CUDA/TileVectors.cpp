// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations on scalars as operations on tiles. Of
//
//   %d = arith.subi %j, %i : index
//   %f = arith.muli %d, %slope : index
//   %g = arith.muli %j, %j : index
//
// for rows %i and keys %j the first two are vectors of rows by keys, the third is one of keys.

#include "TileVectors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::attn;

/// Return of what a value depends that is computed from two.
static Spread join(Spread a, Spread b) {
  if (a == b || b == Spread::Uniform)
    return a;
  return a == Spread::Uniform ? b : Spread::Full;
}

Value attn::splat(ImplicitLocOpBuilder &b, VectorType type, double value) {
  return arith::ConstantOp::create(
      b, DenseElementsAttr::get(
             type, b.getFloatAttr(type.getElementType(), value).getValue()));
}

Value attn::spreadRows(ImplicitLocOpBuilder &b, Value rows, int64_t columns) {
  auto type = cast<VectorType>(rows.getType());
  int64_t count = type.getDimSize(0);
  Value column = vector::ShapeCastOp::create(
      b, VectorType::get({count, 1}, type.getElementType()), rows);
  return vector::BroadcastOp::create(
      b, VectorType::get({count, columns}, type.getElementType()), column);
}

SmallVector<Value> attn::splitColumns(ImplicitLocOpBuilder &b, Value value,
                                      int64_t width) {
  auto type = cast<VectorType>(value.getType());
  SmallVector<Value> pieces;
  for (int64_t at = 0; at < type.getDimSize(1); at += width)
    pieces.push_back(vector::ExtractStridedSliceOp::create(
        b, value, ArrayRef<int64_t>{0, at},
        ArrayRef<int64_t>{type.getDimSize(0), width}, ArrayRef<int64_t>{1, 1}));
  return pieces;
}

Value attn::exp2(ImplicitLocOpBuilder &b, Value x) {
  return math::Exp2Op::create(b, x, arith::FastMathFlags::afn);
}

Value attn::expOfDifference(ImplicitLocOpBuilder &b, Value from, Value to) {
  Value difference = arith::SubFOp::create(b, from, to);
  Value factor =
      splat(b, cast<VectorType>(from.getType()), llvm::numbers::log2e);
  return exp2(b, arith::MulFOp::create(b, difference, factor));
}

Value attn::readTile(ImplicitLocOpBuilder &b, VectorType type, Value source,
                     ValueRange indices) {
  auto sourceType = cast<ShapedType>(source.getType());
  SmallVector<bool> inBounds;
  for (auto [dim, index] : llvm::enumerate(indices))
    inBounds.push_back(matchPattern(index, m_Zero()) &&
                       !sourceType.isDynamicDim(dim) &&
                       sourceType.getDimSize(dim) >= type.getDimSize(dim));
  Value zero =
      arith::ConstantOp::create(b, b.getZeroAttr(type.getElementType()));
  return vector::TransferReadOp::create(
      b, type, source, indices, zero, b.getMultiDimIdentityMap(type.getRank()),
      ArrayRef<bool>(inBounds));
}

SmallVector<int64_t> TileVectors::shapeOf(Spread spread) {
  switch (spread) {
  case Spread::Uniform:
    return {};
  case Spread::Rows:
    return {rows};
  case Spread::Columns:
    return {columns};
  case Spread::Full:
    return {rows, columns};
  }
  llvm_unreachable("every spread is handled");
}

Value TileVectors::spread(const TileValue &from, Spread to) {
  if (from.spread == to)
    return from.value;
  if (from.spread == Spread::Rows)
    return spreadRows(b, from.value, columns);
  auto type =
      VectorType::get(shapeOf(to), getElementTypeOrSelf(from.value.getType()));
  Attribute constant;
  if (from.spread == Spread::Uniform &&
      matchPattern(from.value, m_Constant(&constant)))
    return arith::ConstantOp::create(
        b, DenseElementsAttr::get(type, ArrayRef<Attribute>(constant)));
  return vector::BroadcastOp::create(b, type, from.value);
}

TileValue TileVectors::apply(Operation &op, ArrayRef<TileValue> operands) {
  Spread all = Spread::Uniform;
  for (const TileValue &operand : operands)
    all = join(all, operand.spread);
  SmallVector<Value> values;
  for (const TileValue &operand : operands)
    values.push_back(spread(operand, all));
  Type element = op.getResult(0).getType();
  Type type = all == Spread::Uniform
                  ? element
                  : Type(VectorType::get(shapeOf(all), element));
  OperationState state(op.getLoc(), op.getName());
  state.addOperands(values);
  state.addTypes(type);
  state.addAttributes(op.getDiscardableAttrDictionary().getValue());
  state.propertiesAttr = op.getPropertiesAsAttribute();
  return {b.create(state)->getResult(0), all};
}

TileValue TileVectors::number(Spread spread, Type type) {
  int64_t count = shapeOf(spread).front();
  Value step =
      vector::StepOp::create(b, VectorType::get({count}, b.getIndexType()));
  if (!type.isIndex())
    step = arith::IndexCastOp::create(b, VectorType::get({count}, type), step);
  return {step, spread};
}

/// Return `tensor` in one dimension. Where its elements do not follow one another
/// that is a copy, which is made before the loop over blocks of threads.
static Value flatten(ImplicitLocOpBuilder &b, Value tensor) {
  OpBuilder::InsertionGuard guard(b);
  Operation *around = b.getInsertionBlock()->getParentOp();
  while (around && !isa<scf::ForallOp>(around))
    around = around->getParentOp();
  if (around)
    b.setInsertionPoint(around);
  int64_t rank = cast<RankedTensorType>(tensor.getType()).getRank();
  ReassociationIndices all = llvm::to_vector(llvm::seq(rank));
  return tensor::CollapseShapeOp::create(b, tensor, ArrayRef{all});
}

/// Return the element of a tensor that each element of the tile reads. An index
/// that differs, but for the last, needs a tensor whose elements follow one
/// another.
TileValue TileVectors::read(tensor::ExtractOp op, ArrayRef<TileValue> indices) {
  Spread all = Spread::Uniform;
  for (const TileValue &index : indices)
    all = join(all, index.spread);
  auto type = cast<RankedTensorType>(op.getTensor().getType());
  if (all == Spread::Uniform) {
    SmallVector<Value> at;
    for (const TileValue &index : indices)
      at.push_back(index.value);
    return {tensor::ExtractOp::create(b, op.getTensor(), at), all};
  }
  Value tensor = op.getTensor();
  SmallVector<Value> base;
  TileValue offset = indices.back();
  bool onlyLast = llvm::all_of(indices.drop_back(), [](const TileValue &index) {
    return index.spread == Spread::Uniform;
  });
  Value zero = arith::ConstantIndexOp::create(b, 0);
  if (onlyLast) {
    for (const TileValue &index : indices.drop_back())
      base.push_back(index.value);
  } else {
    // The number of the element, counted row by row.
    Value number = spread(indices.front(), all);
    for (int64_t dim = 1; dim < type.getRank(); ++dim) {
      Value size = b.createOrFold<tensor::DimOp>(tensor, dim);
      number = arith::MulIOp::create(b, number,
                                     spread({size, Spread::Uniform}, all));
      number = arith::AddIOp::create(b, number, spread(indices[dim], all));
    }
    offset = {number, all};
    tensor = flatten(b, tensor);
  }
  base.push_back(zero);
  auto vectorType = VectorType::get(shapeOf(all), type.getElementType());
  Value yes = arith::ConstantOp::create(
      b, DenseElementsAttr::get(vectorType.clone(b.getI1Type()), true));
  Value none = arith::ConstantOp::create(b, b.getZeroAttr(vectorType));
  return {vector::GatherOp::create(b, vectorType, tensor, base,
                                   spread(offset, all), yes, none),
          all};
}

TileValue TileVectors::applyBody(Block &body, ArrayRef<TileValue> arguments) {
  llvm::DenseMap<Value, TileValue> values;
  for (auto [argument, given] : llvm::zip_equal(body.getArguments(), arguments))
    values[argument] = given;
  auto find = [&](Value value) {
    auto known = values.find(value);
    return known == values.end() ? TileValue{value, Spread::Uniform}
                                 : known->second;
  };
  for (Operation &op : body.without_terminator()) {
    if (op.getNumOperands() == 0) {
      values[op.getResult(0)] = {b.clone(op)->getResult(0), Spread::Uniform};
      continue;
    }
    SmallVector<TileValue> operands;
    for (Value operand : op.getOperands())
      operands.push_back(find(operand));
    if (auto extract = dyn_cast<tensor::ExtractOp>(op))
      values[op.getResult(0)] = read(extract, ArrayRef(operands).drop_front());
    else
      values[op.getResult(0)] = apply(op, operands);
  }
  return find(body.getTerminator()->getOperand(0));
}
