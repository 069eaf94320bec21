// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.rope in linalg: its definition.
//
//   %y = attn.rope %x, %cos, %sin positions(%p : tensor<1x8xi64>) :
//   tensor<1x2x8x64xf32>, ...
//
// becomes
//
//   %x1 = tensor.extract_slice %x[0, 0, 0, 0] [1, 2, 8, 32] [1, 1, 1, 1] : ...
//   %x2 = tensor.extract_slice %x[0, 0, 0, 32] [1, 2, 8, 32] [1, 1, 1, 1] : ...
//   %y:2 = linalg.generic ... ins(%p : ...) outs(%x1, %x2 : ...)  // x1 cos -
//   x2 sin, x1 sin + x2 cos %i = tensor.insert_slice %y#0 into %x[0, 0, 0, 0]
//   ... %o = tensor.insert_slice %y#1 into %i[0, 0, 0, 32] ...
//
// so that channels which do not rotate pass, and so that all of it can be done
// in place.

#include "attn/IR/AttentionShape.h"
#include "attn/IR/AttnOps.h"
#include "attn/IR/Indices.h"
#include "attn/IR/LinalgBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::attn;

namespace {
/// Where the first or the second channels of all pairs are.
struct Channels {
  SmallVector<OpFoldResult> offsets, sizes, strides;
};
} // namespace

/// Return the first (`second` = 0) or second channels of the pairs of `op`, of
/// which there are `pairs`.
static Channels getChannels(ImplicitLocOpBuilder &b, RopeOp op,
                            OpFoldResult pairs, int64_t second) {
  OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
  Channels channels{SmallVector<OpFoldResult>(4, zero),
                    tensor::getMixedSizes(b, b.getLoc(), op.getInput()),
                    SmallVector<OpFoldResult>(4, one)};
  channels.sizes[kChannelDim] = pairs;
  bool interleaved = op.getPairing() == Pairing::Interleaved;
  if (interleaved)
    channels.strides[kChannelDim] = b.getIndexAttr(2);
  if (second)
    channels.offsets[kChannelDim] = interleaved ? one : pairs;
  return channels;
}

/// Return the elements of `tables`, of shape [P, pairs], in the row that
/// `position` names, in the body of a linalg.generic whose last dimension is
/// that of the pairs. A position outside is an error that is reported
/// elsewhere; here it only must not be followed.
static SmallVector<Value> readTables(ImplicitLocOpBuilder &b, Value position,
                                     ArrayRef<Value> tables) {
  position = toIndex(b, position);
  Value rows = tensor::DimOp::create(b, tables[0], 0);
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value one = arith::ConstantIndexOp::create(b, 1);
  Value last = arith::SubIOp::create(b, rows, one);
  Value row = arith::MinSIOp::create(b, position, last);
  row = arith::MaxSIOp::create(b, row, zero);
  Value pair = linalg::IndexOp::create(b, kChannelDim);
  SmallVector<Value> elements;
  for (Value table : tables)
    elements.push_back(
        tensor::ExtractOp::create(b, table, ValueRange{row, pair}));
  return elements;
}

/// Return x1 cos - x2 sin and x1 sin + x2 cos, in f32 (f64 for f64), rounded to
/// the type of x1.
static SmallVector<Value> rotate(ImplicitLocOpBuilder &b, Value cos, Value sin,
                                 Value x1, Value x2) {
  Type type = x1.getType(), wide = getAccumulatorType(type);
  for (Value *operand : {&cos, &sin, &x1, &x2})
    *operand = convertFloat(b, *operand, wide);
  auto product = [&](Value lhs, Value rhs) -> Value {
    return arith::MulFOp::create(b, lhs, rhs);
  };
  Value y1 = arith::SubFOp::create(b, product(x1, cos), product(x2, sin));
  Value y2 = arith::AddFOp::create(b, product(x1, sin), product(x2, cos));
  return {convertFloat(b, y1, type), convertFloat(b, y2, type)};
}

FailureOr<SmallVector<Value>> RopeOp::decomposeOperation(OpBuilder &builder) {
  ImplicitLocOpBuilder b(getLoc(), builder);
  auto type = cast<RankedTensorType>(getInput().getType());
  OpFoldResult rotated =
      getRotaryDim()
          ? OpFoldResult(b.getIndexAttr(*getRotaryDim()))
          : tensor::getMixedSize(b, b.getLoc(), getInput(), kChannelDim);
  OpFoldResult pairs = divideSize(b, rotated, b.getIndexAttr(2));
  // There are no slices of nothing: their offsets would lie outside.
  if (isConstantIntValue(pairs, 0) || llvm::is_contained(type.getShape(), 0))
    return SmallVector<Value>{getInput()};

  AffineExpr d0, d1, d2, d3;
  bindDims(b.getContext(), d0, d1, d2, d3);
  AffineExpr sequence = getLayout() == Layout::bhsd ? d2 : d1;
  SmallVector<Indexed> inputs;
  if (getPositions())
    inputs.push_back({getPositions(), {d0, sequence}});
  else
    inputs = {{getCos(), {d0, sequence, d3}}, {getSin(), {d0, sequence, d3}}};
  SmallVector<Channels> slices;
  SmallVector<Indexed> halves;
  for (int64_t second : {0, 1}) {
    const Channels &slice =
        slices.emplace_back(getChannels(b, *this, pairs, second));
    Value half = tensor::ExtractSliceOp::create(b, getInput(), slice.offsets,
                                                slice.sizes, slice.strides);
    halves.push_back({half, {d0, d1, d2, d3}});
  }
  SmallVector<Value> turned =
      buildGeneric(b, inputs, halves, [&](ValueRange args) {
        SmallVector<Value> angle =
            getPositions() ? readTables(b, args[0], {getCos(), getSin()})
                           : SmallVector<Value>{args[0], args[1]};
        return rotate(b, angle[0], angle[1], args.drop_back().back(),
                      args.back());
      });
  Value output = getInput();
  for (auto [slice, half] : llvm::zip_equal(slices, turned))
    output = tensor::InsertSliceOp::create(b, half, output, slice.offsets,
                                           slice.sizes, slice.strides);
  return SmallVector<Value>{output};
}
