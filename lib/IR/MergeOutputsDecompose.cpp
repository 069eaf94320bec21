// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.merge_outputs in linalg: its definition.
//
//   %o, %l = attn.merge_outputs outputs(%o0, %o1) lses(%l0, %l1) :
//   tensor<16x32xf32>, tensor<16xf32>
//
// becomes two linalg.generic, with top = max(l0, l1) and w = exp(l - top):
//
//   o = (w0 o0 + w1 o1) / (w0 + w1)
//   l = top + log(w0 + w1)
//
// where a part that is empty (its lse is -inf) adds nothing, whatever its
// output holds, and a row of which all parts are empty is 0 and -inf.

#include "attn/IR/AttnOps.h"
#include "attn/IR/LinalgBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::attn;

namespace {
/// The weights of all parts of a row, relative to e^top, and their sum.
struct PartWeights {
  Value top, sum;
  SmallVector<Value> each;
};
} // namespace

/// Return the weights of parts whose logarithms are `lses`, in the type `wide`.
static PartWeights weighParts(ImplicitLocOpBuilder &b, ValueRange lses,
                              Type wide) {
  PartWeights weights;
  SmallVector<Value> logs;
  for (Value lse : lses) {
    Value log = logs.emplace_back(convertFloat(b, lse, wide));
    weights.top =
        weights.top ? arith::MaximumFOp::create(b, weights.top, log) : log;
  }
  // Without this a row of empty parts would subtract infinity from infinity.
  weights.top = arith::SelectOp::create(b, isMinusInfinity(b, weights.top),
                                        getFloat(b, wide, 0.0), weights.top);
  for (Value log : logs) {
    Value weight = weights.each.emplace_back(
        math::ExpOp::create(b, arith::SubFOp::create(b, log, weights.top)));
    weights.sum =
        weights.sum ? arith::AddFOp::create(b, weights.sum, weight) : weight;
  }
  return weights;
}

/// Return whether all parts are empty.
static Value isEmpty(ImplicitLocOpBuilder &b, const PartWeights &weights) {
  return arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, weights.sum,
                               getFloat(b, weights.sum.getType(), 0.0));
}

/// Return the output of one element from those of the parts.
static Value mergeOutputs(ImplicitLocOpBuilder &b, ValueRange outputs,
                          ValueRange lses, Type wide) {
  PartWeights weights = weighParts(b, lses, wide);
  Value zero = getFloat(b, wide, 0.0), acc;
  for (auto [output, lse, weight] :
       llvm::zip_equal(outputs, lses, weights.each)) {
    Value product =
        arith::MulFOp::create(b, weight, convertFloat(b, output, wide));
    product =
        arith::SelectOp::create(b, isMinusInfinity(b, lse), zero, product);
    acc = acc ? arith::AddFOp::create(b, acc, product) : product;
  }
  Value quotient = arith::DivFOp::create(b, acc, weights.sum);
  return arith::SelectOp::create(b, isEmpty(b, weights), zero, quotient);
}

/// Return the logarithm of the sum of one row from those of the parts.
static Value mergeLses(ImplicitLocOpBuilder &b, ValueRange lses, Type wide) {
  PartWeights weights = weighParts(b, lses, wide);
  Value log = arith::AddFOp::create(b, weights.top,
                                    math::LogOp::create(b, weights.sum));
  return arith::SelectOp::create(b, isEmpty(b, weights),
                                 getMinusInfinity(b, wide), log);
}

FailureOr<SmallVector<Value>>
MergeOutputsOp::decomposeOperation(OpBuilder &builder) {
  ImplicitLocOpBuilder b(getLoc(), builder);
  int64_t rank = cast<RankedTensorType>(getOutput().getType()).getRank();
  size_t parts = getOutputs().size();
  Type type = getElementTypeOrSelf(getOutput());
  Type lseType = getElementTypeOrSelf(getLse());
  Type wide = lseType.isF64() ? lseType : getAccumulatorType(type);
  SmallVector<AffineExpr> channel, row;
  for (int64_t dim = 0; dim < rank; ++dim)
    channel.push_back(b.getAffineDimExpr(dim));
  row.assign(channel.begin(), std::prev(channel.end()));
  SmallVector<Indexed> outputs, lses, all;
  for (Value output : getOutputs())
    outputs.push_back({output, channel});
  for (Value lse : getLses())
    lses.push_back({lse, row});
  all = outputs;
  llvm::append_range(all, lses);

  auto getEmpty = [&](Value like) -> Value {
    return tensor::EmptyOp::create(b,
                                   tensor::getMixedSizes(b, b.getLoc(), like),
                                   getElementTypeOrSelf(like));
  };
  Value output = buildGeneric(
      b, all, {getEmpty(getOutputs().front()), channel},
      [&](ValueRange args) -> Value {
        return convertFloat(b,
                            mergeOutputs(b, args.take_front(parts),
                                         args.slice(parts, parts), wide),
                            type);
      });
  Value lse = buildGeneric(
      b, lses, {getEmpty(getLses().front()), row},
      [&](ValueRange args) -> Value {
        return convertFloat(b, mergeLses(b, args.drop_back(), wide), lseType);
      });
  return SmallVector<Value>{castTensor(b, output, getOutput().getType()),
                            castTensor(b, lse, getLse().getType())};
}
