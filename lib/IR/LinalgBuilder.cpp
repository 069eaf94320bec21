// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Short ways to write the linalg and tensor ops that definitions of attn ops
// are made of.

#include "attn/IR/LinalgBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

#include <cmath>

using namespace mlir;
using namespace mlir::attn;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

Type mlir::attn::getAccumulatorType(Type type) {
  return type.isF64() ? type : Float32Type::get(type.getContext());
}

Value mlir::attn::convertFloat(ImplicitLocOpBuilder &b, Value value,
                               Type type) {
  if (value.getType() == type)
    return value;
  // From f64 to bf16 by way of f32: no run-time library that one can count on
  // has the direct conversion.
  if (value.getType().isF64() && type.isBF16())
    value = arith::TruncFOp::create(b, b.getF32Type(), value);
  unsigned from = value.getType().getIntOrFloatBitWidth();
  unsigned to = type.getIntOrFloatBitWidth();
  if (from < to)
    return arith::ExtFOp::create(b, type, value);
  if (from > to)
    return arith::TruncFOp::create(b, type, value);
  // f16 and bf16: neither holds the other.
  value = arith::ExtFOp::create(b, b.getF32Type(), value);
  return arith::TruncFOp::create(b, type, value);
}

Value mlir::attn::convertStored(OpBuilder &b, Location loc, Value value,
                                Type type) {
  if (value.getType() == type)
    return value;
  if (getElementTypeOrSelf(value).isInteger())
    return arith::SIToFPOp::create(b, loc, type, value);
  return arith::ExtFOp::create(b, loc, type, value);
}

Value mlir::attn::convertToI64(ImplicitLocOpBuilder &b, Value value) {
  Type type = value.getType(), i64 = b.getI64Type();
  if (type == i64)
    return value;
  if (type.isIndex())
    return arith::IndexCastOp::create(b, i64, value);
  return arith::ExtSIOp::create(b, i64, value);
}

Value mlir::attn::getI64(ImplicitLocOpBuilder &b, OpFoldResult value) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return arith::ConstantIntOp::create(b, *constant, 64);
  return convertToI64(b, cast<Value>(value));
}

Value mlir::attn::getFloat(ImplicitLocOpBuilder &b, Type type, double value) {
  auto floatType = cast<FloatType>(type);
  const llvm::fltSemantics &semantics = floatType.getFloatSemantics();
  APFloat number(value);
  bool losesInfo;
  number.convert(semantics, APFloat::rmNearestTiesToEven, &losesInfo);
  if (number.isInfinity() && std::isfinite(value))
    number = APFloat::getLargest(semantics, number.isNegative());
  return arith::ConstantOp::create(b, FloatAttr::get(type, number));
}

Value mlir::attn::getInverseRoot(ImplicitLocOpBuilder &b, OpFoldResult size,
                                 Type type) {
  if (std::optional<int64_t> known = getConstantIntValue(size))
    return getFloat(b, type,
                    *known == 0 ? 1.0 : 1.0 / std::sqrt(double(*known)));
  Value number = arith::SIToFPOp::create(b, b.getF64Type(), getI64(b, size));
  Value one = getFloat(b, b.getF64Type(), 1.0);
  number = arith::MaximumFOp::create(b, number, one);
  Value root = math::SqrtOp::create(b, number);
  return convertFloat(b, arith::DivFOp::create(b, one, root), type);
}

Value mlir::attn::getMinusInfinity(ImplicitLocOpBuilder &b, Type type) {
  return getFloat(b, type, -std::numeric_limits<double>::infinity());
}

Value mlir::attn::isMinusInfinity(ImplicitLocOpBuilder &b, Value value) {
  return arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, value,
                               getMinusInfinity(b, value.getType()));
}

OpFoldResult mlir::attn::divideSize(ImplicitLocOpBuilder &b, OpFoldResult value,
                                    OpFoldResult divisor) {
  std::optional<int64_t> size = getConstantIntValue(value);
  std::optional<int64_t> parts = getConstantIntValue(divisor);
  if (size && parts)
    return b.getIndexAttr(*size / std::max<int64_t>(*parts, 1));
  Value one = arith::ConstantIndexOp::create(b, 1);
  Value atLeastOne = arith::MaxSIOp::create(
      b, getValueOrCreateConstantIndexOp(b, b.getLoc(), divisor), one);
  return arith::DivUIOp::create(
             b, getValueOrCreateConstantIndexOp(b, b.getLoc(), value),
             atLeastOne)
      .getResult();
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

Value mlir::attn::getFilled(ImplicitLocOpBuilder &b,
                            ArrayRef<OpFoldResult> sizes, Value value) {
  Value empty = tensor::EmptyOp::create(b, sizes, value.getType());
  return linalg::FillOp::create(b, value, empty).getResult(0);
}

Value mlir::attn::castTensor(ImplicitLocOpBuilder &b, Value tensor, Type type) {
  if (tensor.getType() == type)
    return tensor;
  return tensor::CastOp::create(b, type, tensor);
}

SmallVector<Value>
mlir::attn::buildGeneric(ImplicitLocOpBuilder &b, ArrayRef<Indexed> inputs,
                         ArrayRef<Indexed> inits,
                         function_ref<SmallVector<Value>(ValueRange)> body) {
  SmallVector<ArrayRef<AffineExpr>> indices;
  SmallVector<Value> ins, outs;
  for (const Indexed &input : inputs) {
    ins.push_back(input.tensor);
    indices.push_back(input.indices);
  }
  for (const Indexed &init : inits) {
    outs.push_back(init.tensor);
    indices.push_back(init.indices);
  }
  SmallVector<AffineMap> maps =
      AffineMap::inferFromExprList(indices, b.getContext());
  int64_t rank = maps.front().getNumDims();
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::reduction);
  for (const AffineMap &map : ArrayRef(maps).drop_front(inputs.size()))
    for (int64_t dim = 0; dim < rank; ++dim)
      if (map.isFunctionOfDim(dim))
        iterators[dim] = utils::IteratorType::parallel;
  auto generic = linalg::GenericOp::create(
      b, TypeRange(ValueRange(outs)), ins, outs, maps, iterators,
      [&](OpBuilder &nested, Location loc, ValueRange elements) {
        ImplicitLocOpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToEnd(nested.getInsertionBlock());
        linalg::YieldOp::create(b, body(elements));
      });
  return llvm::to_vector_of<Value>(generic.getResults());
}

Value mlir::attn::buildGeneric(ImplicitLocOpBuilder &b,
                               ArrayRef<Indexed> inputs, const Indexed &init,
                               function_ref<Value(ValueRange)> body) {
  auto yieldOne = [&](ValueRange elements) {
    return SmallVector<Value>{body(elements)};
  };
  return buildGeneric(b, inputs, ArrayRef(init), yieldOne).front();
}

/// Return one group for each dimension of a tensor of rank `rank`, except that
/// `dim` stands for two.
static SmallVector<ReassociationIndices> getGroups(int64_t rank, int64_t dim) {
  SmallVector<ReassociationIndices> groups;
  int64_t next = 0;
  for (int64_t i = 0; i < rank; ++i) {
    groups.push_back({next++});
    if (i == dim)
      groups.back().push_back(next++);
  }
  return groups;
}

Value mlir::attn::splitDim(ImplicitLocOpBuilder &b, Value tensor, int64_t dim,
                           OpFoldResult outer, OpFoldResult inner) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(b, b.getLoc(), tensor);
  sizes[dim] = inner;
  sizes.insert(sizes.begin() + dim, outer);
  auto splitType = RankedTensorType::get(decomposeMixedValues(sizes).first,
                                         type.getElementType());

  // The dimension must be static just if both of its parts are.
  SmallVector<int64_t> shape(type.getShape());
  std::optional<int64_t> first = getConstantIntValue(outer);
  std::optional<int64_t> second = getConstantIntValue(inner);
  shape[dim] = first && second ? *first * *second : ShapedType::kDynamic;
  tensor = castTensor(b, tensor, type.clone(shape));
  return tensor::ExpandShapeOp::create(b, splitType, tensor,
                                       getGroups(type.getRank(), dim), sizes);
}

Value mlir::attn::joinDims(ImplicitLocOpBuilder &b, Value tensor, int64_t dim) {
  int64_t rank = cast<RankedTensorType>(tensor.getType()).getRank();
  return tensor::CollapseShapeOp::create(b, tensor, getGroups(rank - 1, dim));
}
