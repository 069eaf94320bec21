// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.merge and attn.finish as linalg. Joining two states takes the larger reference:
//
//   new = max(r1, r2);  f1 = e^(r1 - new);  f2 = e^(r2 - new)
//   sum = f1 * sum1 + f2 * sum2;  acc = f1 * acc1 + f2 * acc2
//
// and the end of a state divides:
//
//   t = total of sum;  output = t == 0 ? 0 : acc / t;  lse = reference + log(t)
//
// where a sink joins as the state (sink, 1, 0).

#include "TileSpace.h"

#include "attn/IR/LinalgBuilder.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::attn;

using Operand = TileBuilder::Operand;

/// Return dimensions 0 to `count` - 1.
static SmallVector<AffineExpr> leading(OpBuilder &b, unsigned count) {
  SmallVector<AffineExpr> dims;
  for (unsigned i = 0; i < count; ++i)
    dims.push_back(b.getAffineDimExpr(i));
  return dims;
}

static unsigned rankOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getRank();
}

/// Return the dimensions of `acc` that number its rows: the first, and the third
/// where rows are packed.
static SmallVector<AffineExpr> rowsOfAcc(OpBuilder &b, Value acc) {
  SmallVector<AffineExpr> rows = {b.getAffineDimExpr(0)};
  if (rankOf(acc) == 4)
    rows.push_back(b.getAffineDimExpr(2));
  return rows;
}

static Type elementTypeOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType();
}

//===----------------------------------------------------------------------===//
// MergeOp
//===----------------------------------------------------------------------===//

LogicalResult MergeOp::reifyResultShapes(OpBuilder &builder,
                                         ReifiedRankedShapedTypeDims &shapes) {
  for (Value state : {getReference(), getSum(), getAcc()})
    shapes.push_back(tensor::getMixedSizes(builder, getLoc(), state));
  return success();
}

/// Return first * factor + second * otherFactor, element by element. Where both
/// factors are 1 and 0 the first is returned bit for bit (but for a -0).
static Value blend(TileBuilder &tile, Value first, Value second, Value factor,
                   Value otherFactor, ArrayRef<AffineExpr> rows) {
  SmallVector<AffineExpr> dims = leading(tile.builder, rankOf(first));
  SmallVector<AffineExpr> rowDims(rows);
  return tile.generic(
      dims.size(), {},
      {{second, dims}, {factor, rowDims}, {otherFactor, rowDims}},
      {{first, dims}}, [&](OpBuilder &b, ValueRange args) {
        Value a = arith::MulFOp::create(b, tile.loc, args[3], args[1]);
        Value c = arith::MulFOp::create(b, tile.loc, args[0], args[2]);
        return SmallVector<Value>{arith::AddFOp::create(b, tile.loc, a, c)};
      })[0];
}

FailureOr<SmallVector<Value>> MergeOp::decomposeOperation(OpBuilder &builder) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(*this);
  TileBuilder tile(builder, getLoc(), elementTypeOf(getAcc()));
  SmallVector<AffineExpr> rows = leading(builder, rankOf(getReference()));
  auto empty = [&]() -> Value {
    return tensor::EmptyOp::create(
        builder, getLoc(),
        tensor::getMixedSizes(builder, getLoc(), getReference()),
        tile.elementType);
  };
  SmallVector<Value> factors = tile.generic(
      rows.size(), {}, {{getOtherReference(), rows}},
      {{getReference(), rows}, {empty(), rows}, {empty(), rows}},
      [&](OpBuilder &b, ValueRange args) {
        Value larger = arith::MaxNumFOp::create(b, getLoc(), args[1], args[0]);
        return SmallVector<Value>{larger,
                                  expDifference(b, getLoc(), args[1], larger),
                                  expDifference(b, getLoc(), args[0], larger)};
      });
  Value sum =
      blend(tile, getSum(), getOtherSum(), factors[1], factors[2], rows);
  Value acc = blend(tile, getAcc(), getOtherAcc(), factors[1], factors[2],
                    rowsOfAcc(builder, getAcc()));
  return SmallVector<Value>{factors[0], sum, acc};
}

//===----------------------------------------------------------------------===//
// FinishOp
//===----------------------------------------------------------------------===//

LogicalResult FinishOp::reifyResultShapes(OpBuilder &builder,
                                          ReifiedRankedShapedTypeDims &shapes) {
  shapes.push_back(tensor::getMixedSizes(builder, getLoc(), getAcc()));
  shapes.push_back(tensor::getMixedSizes(builder, getLoc(), getReference()));
  return success();
}

/// Return the sum of each row, over lanes where there are some.
static Value total(TileBuilder &tile, FinishOp op) {
  unsigned rank = rankOf(op.getReference());
  if (rankOf(op.getSum()) == rank)
    return op.getSum();
  SmallVector<AffineExpr> lanes = leading(tile.builder, rank + 1);
  SmallVector<AffineExpr> rows = leading(tile.builder, rank);
  Value zero = tile.filled(
      tensor::getMixedSizes(tile.builder, tile.loc, op.getReference()), 0.0);
  return tile.generic(rank + 1, {rank}, {{op.getSum(), lanes}}, {{zero, rows}},
                      [&](OpBuilder &b, ValueRange args) {
                        return SmallVector<Value>{arith::AddFOp::create(
                            b, tile.loc, args[1], args[0])};
                      })[0];
}

/// Return the logit of the sink of the row that a body works on.
static Value sinkOfRow(OpBuilder &b, FinishOp op, Type type) {
  Location loc = op.getLoc();
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  Value row = linalg::IndexOp::create(b, loc, 0);
  if (rankOf(op.getReference()) == 2) {
    int64_t rows =
        cast<RankedTensorType>(op.getReference().getType()).getDimSize(1);
    row = arith::MulIOp::create(b, loc, row, index(rows));
    Value inner = linalg::IndexOp::create(b, loc, 1);
    row = arith::AddIOp::create(b, loc, row, inner);
  }
  row = arith::AddIOp::create(b, loc, op.getRow(), row);
  Value head = arith::DivSIOp::create(b, loc, row, op.getRowsPerHead());
  Value size = tensor::DimOp::create(b, loc, op.getSinks(), 0);
  Value last = arith::SubIOp::create(b, loc, size, index(1));
  head = arith::MinSIOp::create(b, loc, head, last);
  Value sink = tensor::ExtractOp::create(b, loc, op.getSinks(), head);
  auto given = cast<FloatType>(sink.getType()), wanted = cast<FloatType>(type);
  if (given.getWidth() < wanted.getWidth())
    return arith::ExtFOp::create(b, loc, type, sink);
  if (given.getWidth() > wanted.getWidth())
    return arith::TruncFOp::create(b, loc, type, sink);
  return sink;
}

/// Return the factor on acc and, where it is wanted, the lse of one row.
static SmallVector<Value> finishRow(OpBuilder &b, TileBuilder &tile,
                                    FinishOp op, Value reference, Value sum) {
  Location loc = tile.loc;
  Value zero = tile.constant(b, 0.0), one = tile.constant(b, 1.0);
  Value empty =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, sum, zero);
  Value factor = one;
  if (op.getSinks()) {
    Value sink = sinkOfRow(b, op, tile.elementType);
    Value larger = arith::MaxNumFOp::create(b, loc, reference, sink);
    factor = expDifference(b, loc, reference, larger);
    Value scaled = arith::MulFOp::create(b, loc, sum, factor);
    Value extra = expDifference(b, loc, sink, larger);
    sum = arith::AddFOp::create(b, loc, scaled, extra);
    reference = larger;
  }
  Value weight = arith::DivFOp::create(b, loc, factor, sum);
  weight = arith::SelectOp::create(b, loc, empty, zero, weight);
  if (op.getLse().use_empty())
    return {weight};
  Value log = math::LogOp::create(b, loc, sum);
  Value lse = arith::AddFOp::create(b, loc, reference, log);
  if (!op.getSinks())
    lse = arith::SelectOp::create(
        b, loc, empty,
        tile.constant(b, -std::numeric_limits<double>::infinity()), lse);
  return {weight, lse};
}

FailureOr<SmallVector<Value>> FinishOp::decomposeOperation(OpBuilder &builder) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(*this);
  Location loc = getLoc();
  TileBuilder tile(builder, loc, elementTypeOf(getAcc()));
  SmallVector<AffineExpr> rows = leading(builder, rankOf(getReference()));
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(builder, loc, getReference());
  Value weightInit =
      tensor::EmptyOp::create(builder, loc, sizes, tile.elementType);
  Value lseInit =
      tensor::EmptyOp::create(builder, loc, sizes, elementTypeOf(getLse()));
  SmallVector<Operand> outs = {{weightInit, rows}};
  if (!getLse().use_empty())
    outs.push_back({lseInit, rows});
  SmallVector<Value> ends = tile.generic(
      rows.size(), {}, {{getReference(), rows}, {total(tile, *this), rows}},
      outs, [&](OpBuilder &b, ValueRange args) {
        return finishRow(b, tile, *this, args[0], args[1]);
      });
  Value outputInit = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, getAcc()),
      elementTypeOf(getOutput()));
  SmallVector<AffineExpr> dims = leading(builder, rankOf(getAcc()));
  Value output = tile.generic(
      dims.size(), {},
      {{getAcc(), dims}, {ends[0], rowsOfAcc(builder, getAcc())}},
      {{outputInit, dims}}, [&](OpBuilder &b, ValueRange args) {
        Value zero = tile.constant(b, 0.0);
        Value none = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ,
                                           args[1], zero);
        Value value = arith::MulFOp::create(b, loc, args[0], args[1]);
        value = arith::SelectOp::create(b, loc, none, zero, value);
        ImplicitLocOpBuilder here(loc, b);
        return SmallVector<Value>{
            convertFloat(here, value, elementTypeOf(getOutput()))};
      })[0];
  return SmallVector<Value>{output, ends.size() > 1 ? ends[1] : lseInit};
}
