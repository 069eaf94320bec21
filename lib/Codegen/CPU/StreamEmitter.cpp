// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recognises the products of a step that reads keys and values where they are, and what both are emitted from.

#include "StreamEmitter.h"

#include "attn/Codegen/RegisterTile.h"
#include "attn/IR/LinalgBuilder.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::attn;

StreamEmitter::StreamEmitter(RewriterBase &rewriter, linalg::GenericOp op,
                             ScheduleAttr schedule)
    : b(rewriter), op(op), loc(op.getLoc()), lanes(schedule.getLanes()),
      rows(schedule.getRows()), columns(schedule.getColumns()),
      streams(schedule.getStreams()), prefetch(schedule.getPrefetch()) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1)
    return;
  left = op.getDpsInputs()[0];
  right = op.getDpsInputs()[1];
  result = op.getDpsInits()[0];
  element = cast<RankedTensorType>(result.getType()).getElementType();
  vector = VectorType::get({lanes}, element);
}

/// Return whether the op's operands are indexed by just these dimensions, and it
/// adds the product of the first two to the third.
bool StreamEmitter::hasMaps(ArrayRef<SmallVector<unsigned>> dims,
                            unsigned loops) {
  if (!right || op.getNumLoops() != loops || !op.hasPureTensorSemantics())
    return false;
  for (auto [map, wanted] : llvm::zip(op.getIndexingMapsArray(), dims)) {
    if (map.getNumResults() != wanted.size())
      return false;
    for (auto [expr, dim] : llvm::zip(map.getResults(), wanted))
      if (expr != b.getAffineDimExpr(dim))
        return false;
  }
  auto sum = op.getBody()
                 ->getTerminator()
                 ->getOperand(0)
                 .getDefiningOp<arith::AddFOp>();
  if (!sum || sum.getLhs() != op.getBody()->getArgument(2))
    return false;
  auto product = sum.getRhs().getDefiningOp<arith::MulFOp>();
  if (!product)
    return false;
  auto isArgument = [&](Value value, unsigned number) {
    Operation *converted = value.getDefiningOp();
    if (isa_and_present<arith::ExtFOp, arith::SIToFPOp>(converted))
      value = converted->getOperand(0);
    return value == op.getBody()->getArgument(number);
  };
  return isArgument(product.getLhs(), 0) && isArgument(product.getRhs(), 1);
}

Value StreamEmitter::roundDown(Value size, int64_t unit) {
  AffineExpr d0 = b.getAffineDimExpr(0);
  return b.createOrFold<affine::AffineApplyOp>(
      loc, AffineMap::get(1, 0, d0.floorDiv(unit) * unit), ValueRange{size});
}

Value StreamEmitter::partOf(Value size, int64_t parts, int64_t unit) {
  AffineExpr d0 = b.getAffineDimExpr(0);
  return b.createOrFold<affine::AffineApplyOp>(
      loc, AffineMap::get(1, 0, d0.ceilDiv(parts * unit) * unit),
      ValueRange{size});
}

StreamEmitter::Values StreamEmitter::emitLoop(Value from, Value to,
                                              int64_t step, Values state,
                                              LoopBody body) {
  std::optional<int64_t> first = getConstantIntValue(from),
                         last = getConstantIntValue(to);
  if (first && last && *first >= *last)
    return state;
  if (first && last && *last - *first <= step)
    return body(from, state);
  auto loop = scf::ForOp::create(b, loc, from, to, index(step), state);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Values results =
      body(loop.getInductionVar(), Values(loop.getRegionIterArgs()));
  scf::YieldOp::create(b, loc, results);
  return Values(loop.getResults());
}

void StreamEmitter::askAhead(ArrayRef<Value> values) {
  auto loop = values.front().getDefiningOp<scf::ForOp>();
  if (!loop || prefetch == 0)
    return;
  auto type = cast<RankedTensorType>(right.getType());
  int64_t channels = type.isDynamicDim(1) ? columns : type.getDimSize(1);
  int64_t bytes = channels * type.getElementTypeBitWidth() / 8;
  loop->setAttr("attn.prefetch",
                b.getIndexAttr(llvm::divideCeil(prefetch, bytes)));
}

/// Return a vector of sums from `tensor`; lanes beyond its end are 0.
Value StreamEmitter::readVector(Value tensor, ValueRange at, bool inBounds) {
  Type given = cast<RankedTensorType>(tensor.getType()).getElementType();
  Value padding = arith::ConstantOp::create(b, loc, b.getZeroAttr(given));
  Value value = vector::TransferReadOp::create(
      b, loc, VectorType::get({lanes}, given), tensor, at, padding, {inBounds});
  return given == element ? value : convertStored(b, loc, value, vector);
}

Value StreamEmitter::broadcast(Value scalar) {
  return vector::BroadcastOp::create(b, loc, vector, scalar);
}

Value StreamEmitter::fma(Value x, Value y, Value z) {
  return vector::FMAOp::create(b, loc, x, y, z);
}

LogicalResult attn::emitStreamTile(RewriterBase &rewriter, linalg::GenericOp op,
                                   ScheduleAttr schedule) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  StreamEmitter emitter(rewriter, op, schedule);
  if (emitter.isScores()) {
    rewriter.replaceOp(op, emitter.emitScores());
    return success();
  }
  if (emitter.isValues()) {
    rewriter.replaceOp(op, emitter.emitValues());
    return success();
  }
  return rewriter.notifyMatchFailure(op, "is no product of a streamed step");
}
