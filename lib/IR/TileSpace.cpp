// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds the linalg ops of tiles.

#include "TileSpace.h"

#include "attn/IR/AttrNames.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::attn;

SmallVector<AffineExpr>
attn::join(std::initializer_list<ArrayRef<AffineExpr>> exprs) {
  SmallVector<AffineExpr> all;
  for (ArrayRef<AffineExpr> list : exprs)
    all.append(list.begin(), list.end());
  return all;
}

SmallVector<Value> TileBuilder::generic(unsigned numDims,
                                        ArrayRef<unsigned> reductions,
                                        ArrayRef<Operand> inputs,
                                        ArrayRef<Operand> outputs, Body body) {
  SmallVector<Value> ins, outs;
  SmallVector<AffineMap> maps;
  auto add = [&](ArrayRef<Operand> operands, SmallVectorImpl<Value> &values) {
    for (const Operand &operand : operands) {
      values.push_back(operand.tensor);
      maps.push_back(
          AffineMap::get(numDims, 0, operand.dims, builder.getContext()));
    }
  };
  add(inputs, ins);
  add(outputs, outs);
  SmallVector<utils::IteratorType> iterators(numDims,
                                             utils::IteratorType::parallel);
  for (unsigned dim : reductions)
    iterators[dim] = utils::IteratorType::reduction;
  auto op = linalg::GenericOp::create(
      builder, loc, TypeRange(ValueRange(outs)), ins, outs, maps, iterators,
      [&](OpBuilder &nested, Location, ValueRange args) {
        linalg::YieldOp::create(nested, loc, body(nested, args));
      });
  return SmallVector<Value>(op->getResults());
}

Value TileBuilder::constant(OpBuilder &b, double value, Type type) {
  auto floatType = cast<FloatType>(type ? type : elementType);
  return arith::ConstantOp::create(b, loc, b.getFloatAttr(floatType, value));
}

Value TileBuilder::filled(ArrayRef<OpFoldResult> sizes, double value) {
  Value empty = tensor::EmptyOp::create(builder, loc, sizes, elementType);
  return linalg::FillOp::create(builder, loc, constant(builder, value), empty)
      .getResult(0);
}

Value attn::expDifference(OpBuilder &b, Location loc, Value from, Value to) {
  auto type = cast<FloatType>(from.getType());
  Value lowest = arith::ConstantOp::create(
      b, loc,
      b.getFloatAttr(type, APFloat::getInf(type.getFloatSemantics(), true)));
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  Value empty =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, to, lowest);
  Value safe = arith::SelectOp::create(b, loc, empty, zero, to);
  Value difference = arith::SubFOp::create(b, loc, from, safe);
  // Never positive where `to` is a running maximum; says so to approximations.
  auto exp = math::ExpOp::create(b, loc, difference);
  exp->setAttr(kNonpositiveAttrName, b.getUnitAttr());
  return exp;
}
