// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Feature maps, exponentials and the scale of attn.linear_attention.

#include "attn/IR/LinearAttentionParts.h"

#include "attn/IR/AttrNames.h"
#include "attn/IR/LinalgBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::attn;

Value mlir::attn::buildExp(ImplicitLocOpBuilder &b, Value x, bool fast) {
  if (!fast)
    return math::ExpOp::create(b, x);
  Value isPositive = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, x,
                                           getFloat(b, x.getType(), 0.0));
  // Of a positive number the square of the inverse of e^(-x/2): e^-x has no normal
  // number where e^x is close to the largest one.
  Value half = arith::MulFOp::create(b, x, getFloat(b, x.getType(), -0.5));
  auto y =
      math::ExpOp::create(b, arith::SelectOp::create(b, isPositive, half, x));
  y->setAttr(kNonpositiveAttrName, b.getUnitAttr());
  Value root = arith::DivFOp::create(b, getFloat(b, x.getType(), 1.0), y);
  Value square = arith::MulFOp::create(b, root, root);
  return arith::SelectOp::create(b, isPositive, square, y);
}

Value mlir::attn::buildFeature(ImplicitLocOpBuilder &b, FeatureMap map, Value x,
                               bool fast) {
  Value zero = getFloat(b, x.getType(), 0.0);
  auto compare = [&](arith::CmpFPredicate predicate) -> Value {
    return arith::CmpFOp::create(b, predicate, x, zero);
  };
  switch (map) {
  case FeatureMap::Identity:
    return x;
  case FeatureMap::Relu:
    // A NaN is not below 0 and stays.
    return arith::SelectOp::create(b, compare(arith::CmpFPredicate::OLT), zero,
                                   x);
  case FeatureMap::Exp:
    return buildExp(b, x, fast);
  case FeatureMap::Elu1: {
    Value above = arith::AddFOp::create(b, x, getFloat(b, x.getType(), 1.0));
    Value isPositive = compare(arith::CmpFPredicate::OGT);
    // Where the exponential is taken its argument is not positive.
    Value below = arith::SelectOp::create(b, isPositive, zero, x);
    auto power = math::ExpOp::create(b, below);
    if (fast)
      power->setAttr(kNonpositiveAttrName, b.getUnitAttr());
    return arith::SelectOp::create(b, isPositive, above, power);
  }
  }
  llvm_unreachable("all feature maps are handled");
}

Value mlir::attn::buildOutputScale(ImplicitLocOpBuilder &b,
                                   LinearAttentionOp op, OpFoldResult headSize,
                                   Type type) {
  if (op.getNormalize())
    return getFloat(b, type, 1.0);
  if (std::optional<APFloat> scale = op.getScale())
    return getFloat(b, type, scale->convertToDouble());
  return getInverseRoot(b, headSize, type);
}
