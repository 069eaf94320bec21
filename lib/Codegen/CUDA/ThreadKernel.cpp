// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The code of one thread for a linalg op:
//
//   linalg.generic {iterator_types = ["parallel", "reduction"]} ins(%x : memref<?x8xf32>) outs(%y : memref<?xf32>)
//
// becomes for place %i
//
//   %0 = memref.load %y[%i]
//   %1 = scf.for %j = %c0 to %c8 step %c1 iter_args(%sum = %0) { ... memref.load %x[%i, %j] ... }
//   memref.store %1, %y[%i]

#include "ThreadKernel.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::attn;

bool attn::canRunByThreads(linalg::LinalgOp op) {
  SmallVector<unsigned> parallel;
  op.getParallelDims(parallel);
  for (OpOperand &output : op.getDpsInitsMutable()) {
    AffineMap map = op.getMatchingIndexingMap(&output);
    if (!map.isProjectedPermutation() || map.getNumResults() != parallel.size())
      return false;
    for (unsigned dim : parallel)
      if (!map.isFunctionOfDim(dim))
        return false;
  }
  return op.hasPureBufferSemantics();
}

/// Return the extents of all dimensions of `op`.
static SmallVector<OpFoldResult> getExtents(OpBuilder &b, linalg::LinalgOp op) {
  SmallVector<OpFoldResult> extents;
  for (const Range &range : op.createLoopRanges(b, op.getLoc()))
    extents.push_back(range.size);
  return extents;
}

/// Return the extents of the parallel dimensions of `op`.
static SmallVector<OpFoldResult> getParallelExtents(OpBuilder &b,
                                                    linalg::LinalgOp op) {
  SmallVector<OpFoldResult> all = getExtents(b, op), extents;
  SmallVector<unsigned> parallel;
  op.getParallelDims(parallel);
  for (unsigned dim : parallel)
    extents.push_back(all[dim]);
  return extents;
}

Value attn::countThreads(OpBuilder &b, linalg::LinalgOp op) {
  Location loc = op.getLoc();
  Value count = arith::ConstantIndexOp::create(b, loc, 1);
  for (OpFoldResult extent : getParallelExtents(b, op))
    count = arith::MulIOp::create(
        b, loc, count, getValueOrCreateConstantIndexOp(b, loc, extent));
  return count;
}

SmallVector<Value> attn::delinearize(OpBuilder &b, Location loc, Value place,
                                     ArrayRef<OpFoldResult> extents) {
  SmallVector<Value> at(extents.size());
  for (int64_t dim = int64_t(extents.size()) - 1; dim >= 0; --dim) {
    if (dim == 0) {
      at[dim] = place;
      break;
    }
    Value extent = getValueOrCreateConstantIndexOp(b, loc, extents[dim]);
    at[dim] = arith::RemUIOp::create(b, loc, place, extent);
    place = arith::DivUIOp::create(b, loc, place, extent);
  }
  return at;
}

namespace {
/// Writes the code of one thread.
class ThreadEmitter {
public:
  ThreadEmitter(OpBuilder &b, linalg::LinalgOp op)
      : b(b), loc(op.getLoc()), op(op), ivs(op.getNumLoops()) {}

  void run(Value place);

private:
  SmallVector<Value> indicesOf(OpOperand &operand);
  SmallVector<Value> reduce(ArrayRef<unsigned> dims,
                            ArrayRef<OpFoldResult> extents, ValueRange state);
  SmallVector<Value> emitBody(ValueRange state);

  OpBuilder &b;
  Location loc;
  linalg::LinalgOp op;
  /// Of each dimension, the index where we are.
  SmallVector<Value> ivs;
};
} // namespace

/// Return where the element of `operand` is.
SmallVector<Value> ThreadEmitter::indicesOf(OpOperand &operand) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  SmallVector<Value> indices;
  for (AffineExpr expression : map.getResults())
    indices.push_back(
        affine::expandAffineExpr(b, loc, expression, ivs, ValueRange()));
  return indices;
}

/// Clone the payload where `state` is what the outputs hold.
SmallVector<Value> ThreadEmitter::emitBody(ValueRange state) {
  Block *body = op.getBlock();
  IRMapping mapping;
  for (OpOperand *input : op.getDpsInputOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(input);
    if (!isa<MemRefType>(input->get().getType())) {
      mapping.map(argument, input->get());
      continue;
    }
    if (!argument.use_empty())
      mapping.map(argument, memref::LoadOp::create(b, loc, input->get(),
                                                   indicesOf(*input)));
  }
  for (auto [output, value] : llvm::zip_equal(op.getDpsInitsMutable(), state))
    mapping.map(op.getMatchingBlockArgument(&output), value);
  for (Operation &inner : body->without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(inner))
      mapping.map(index.getResult(), ivs[index.getDim()]);
    else
      b.clone(inner, mapping);
  }
  SmallVector<Value> results;
  for (Value result : body->getTerminator()->getOperands())
    results.push_back(mapping.lookupOrDefault(result));
  return results;
}

/// Loop over the dimensions `dims` and return what the outputs hold afterwards.
SmallVector<Value> ThreadEmitter::reduce(ArrayRef<unsigned> dims,
                                         ArrayRef<OpFoldResult> extents,
                                         ValueRange state) {
  if (dims.empty())
    return emitBody(state);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value end = getValueOrCreateConstantIndexOp(b, loc, extents[dims.front()]);
  auto loop = scf::ForOp::create(b, loc, zero, end, one, state);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  ivs[dims.front()] = loop.getInductionVar();
  SmallVector<Value> next =
      reduce(dims.drop_front(), extents, loop.getRegionIterArgs());
  scf::YieldOp::create(b, loc, next);
  return loop.getResults();
}

void ThreadEmitter::run(Value place) {
  SmallVector<OpFoldResult> extents = getExtents(b, op);
  SmallVector<unsigned> parallel, reductions;
  op.getParallelDims(parallel);
  op.getReductionDims(reductions);
  SmallVector<OpFoldResult> outer;
  for (unsigned dim : parallel)
    outer.push_back(extents[dim]);
  for (auto [dim, at] :
       llvm::zip_equal(parallel, delinearize(b, loc, place, outer)))
    ivs[dim] = at;
  SmallVector<Value> state;
  for (OpOperand &output : op.getDpsInitsMutable())
    state.push_back(
        memref::LoadOp::create(b, loc, output.get(), indicesOf(output)));
  SmallVector<Value> results = reduce(reductions, extents, state);
  for (auto [output, result] :
       llvm::zip_equal(op.getDpsInitsMutable(), results))
    memref::StoreOp::create(b, loc, result, output.get(), indicesOf(output));
}

void attn::emitThread(OpBuilder &builder, linalg::LinalgOp op, Value place) {
  ThreadEmitter(builder, op).run(place);
}

LogicalResult attn::lowerToLoops(Region &region) {
  SmallVector<linalg::LinalgOp> ops;
  region.walk([&](linalg::LinalgOp op) { ops.push_back(op); });
  IRRewriter rewriter(region.getContext());
  for (linalg::LinalgOp op : ops) {
    rewriter.setInsertionPoint(op);
    if (failed(linalg::linalgOpToLoops(rewriter, op)))
      return op.emitOpError("expects to become loops");
    rewriter.eraseOp(op);
  }
  return success();
}
