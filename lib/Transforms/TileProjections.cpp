// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles the projections of a layer, y = x W^T + b, as attention is tiled:
//
//   %y = linalg.generic (batch, row, out, in) ins(%x, %w) outs(%b) {attn.schedule = ...}
//
// becomes
//
//   scf.forall (%batch, %row, %out) ... {
//     %wp = linalg.pack of block_n rows of %w          [panels, in, columns]
//     %xp = linalg.pack of block_m rows of %x          [strips, in, rows]
//     %yp = linalg.pack of the block of %b             [strips, panels, rows, columns]
//     linalg.generic (strip, panel, row, column, in) ins(%xp, %wp) outs(%yp)
//     linalg.unpack
//   }

#include "attn/IR/AttnDialect.h"
#include "attn/Transforms/Passes.h"
#include "attn/Transforms/Projection.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace mlir::attn {
#define GEN_PASS_DEF_TILEPROJECTIONS
#include "attn/Transforms/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// Return `value` without a widening conversion, if it has one.
static Value beforeExtension(Value value) {
  auto extension = value.getDefiningOp<arith::ExtFOp>();
  return extension ? extension.getIn() : value;
}

bool attn::isProjection(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumDpsInputs() != 2 ||
      op.getNumDpsInits() != 1 || op.getNumLoops() != 4)
    return false;
  // One without outputs or inputs is a loop of no iteration, or a copy of b.
  if (llvm::is_contained(op.getStaticLoopRanges(), 0))
    return false;
  AffineExpr batch, row, out, in;
  bindDims(op.getContext(), batch, row, out, in);
  auto is = [&](unsigned operand, ArrayRef<AffineExpr> dims) {
    return op.getIndexingMapsArray()[operand] ==
           AffineMap::get(4, 0, dims, op.getContext());
  };
  if (!is(0, {batch, row, in}) || !is(1, {out, in}) ||
      !is(2, {batch, row, out}))
    return false;
  Block *body = op.getBody();
  auto add =
      body->getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  if (!add || add.getLhs() != body->getArgument(2))
    return false;
  auto product = add.getRhs().getDefiningOp<arith::MulFOp>();
  return product && beforeExtension(product.getLhs()) == body->getArgument(0) &&
         beforeExtension(product.getRhs()) == body->getArgument(1);
}

namespace {
/// Tiles one projection.
class ProjectionTiler {
public:
  ProjectionTiler(RewriterBase &rewriter, linalg::GenericOp op,
                  ScheduleAttr schedule)
      : b(rewriter), op(op), loc(op.getLoc()), schedule(schedule),
        type(cast<RankedTensorType>(op.getResult(0).getType())
                 .getElementType()) {}

  void run();

private:
  OpFoldResult size(Value tensor, int64_t dim) {
    return tensor::getMixedSize(b, loc, tensor, dim);
  }
  OpFoldResult panels(OpFoldResult extent, int64_t unit) {
    return affine::makeComposedFoldedAffineApply(
        b, loc, b.getAffineSymbolExpr(0).ceilDiv(unit), {extent});
  }
  OpFoldResult blockSize(Value iv, OpFoldResult extent, int64_t block);
  Value storage(ArrayRef<OpFoldResult> whole, ArrayRef<OpFoldResult> used);
  Value rows(Value tensor, ArrayRef<OpFoldResult> offsets,
             ArrayRef<OpFoldResult> sizes, int64_t block);
  Value packRows(Value rows, int64_t block, int64_t unit);
  Value contract(Value tokens, Value weight, Value sums);

  RewriterBase &b;
  linalg::GenericOp op;
  Location loc;
  ScheduleAttr schedule;
  /// The type in which products are added up.
  Type type;
};
} // namespace

/// Return how much of a block from `iv` on lies in `extent`.
OpFoldResult ProjectionTiler::blockSize(Value iv, OpFoldResult extent,
                                        int64_t block) {
  if (std::optional<int64_t> known = getConstantIntValue(extent);
      known && *known % block == 0)
    return b.getIndexAttr(block);
  AffineExpr s0, s1;
  bindSymbols(b.getContext(), s0, s1);
  AffineMap map = AffineMap::get(
      0, 2, {b.getAffineConstantExpr(block), s1 - s0}, b.getContext());
  return affine::makeComposedFoldedAffineMin(b, loc, map,
                                             {OpFoldResult(iv), extent});
}

Value ProjectionTiler::storage(ArrayRef<OpFoldResult> whole,
                               ArrayRef<OpFoldResult> used) {
  SmallVector<int64_t> shape;
  SmallVector<Value> dynamic;
  dispatchIndexOpFoldResults(whole, dynamic, shape);
  Value all = bufferization::AllocTensorOp::create(
      b, loc, RankedTensorType::get(shape, type), dynamic);
  if (isEqualConstantIntOrValueArray(whole, used))
    return all;
  SmallVector<OpFoldResult> zeros(used.size(), b.getIndexAttr(0)),
      ones(used.size(), b.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(b, loc, all, zeros, used, ones);
}

/// Return a slice of `tensor` as [rows, channels] in the wide type; its leading
/// dimensions, if any, have size 1.
Value ProjectionTiler::rows(Value tensor, ArrayRef<OpFoldResult> offsets,
                            ArrayRef<OpFoldResult> sizes, int64_t block) {
  SmallVector<OpFoldResult> ones(sizes.size(), b.getIndexAttr(1));
  ArrayRef<OpFoldResult> kept = sizes.take_back(2);
  Type given = cast<RankedTensorType>(tensor.getType()).getElementType();
  auto flat = RankedTensorType::get(
      decomposeMixedValues(llvm::to_vector(kept)).first, given);
  Value slice = tensor::ExtractSliceOp::create(b, loc, flat, tensor, offsets,
                                               sizes, ones);
  if (given == type)
    return slice;
  Value init = storage({b.getIndexAttr(block), kept[1]}, kept);
  SmallVector<AffineMap> maps(2, b.getMultiDimIdentityMap(2));
  SmallVector<utils::IteratorType> parallel(2, utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, loc, init.getType(), ValueRange{slice}, ValueRange{init}, maps,
             parallel,
             [&](OpBuilder &nested, Location, ValueRange args) {
               Value wide = arith::ExtFOp::create(nested, loc, type, args[0]);
               linalg::YieldOp::create(nested, loc, wide);
             })
      .getResult(0);
}

/// Return `rows` [n, channels] as [n / unit, channels, unit].
Value ProjectionTiler::packRows(Value rows, int64_t block, int64_t unit) {
  OpFoldResult channels = size(rows, 1), inner = b.getIndexAttr(unit);
  Value dest = storage({b.getIndexAttr(block / unit), channels, inner},
                       {panels(size(rows, 0), unit), channels, inner});
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  return linalg::PackOp::create(b, loc, rows, dest, ArrayRef<int64_t>{0},
                                ArrayRef<OpFoldResult>{inner}, zero)
      .getResult();
}

/// Return sums + tokens . weight, all packed.
Value ProjectionTiler::contract(Value tokens, Value weight, Value sums) {
  AffineExpr strip, panel, row, column, in;
  bindDims(b.getContext(), strip, panel, row, column, in);
  auto map = [&](ArrayRef<AffineExpr> dims) {
    return AffineMap::get(5, 0, dims, b.getContext());
  };
  SmallVector<utils::IteratorType> iterators(5, utils::IteratorType::parallel);
  iterators[4] = utils::IteratorType::reduction;
  return linalg::GenericOp::create(
             b, loc, sums.getType(), ValueRange{tokens, weight},
             ValueRange{sums},
             ArrayRef<AffineMap>{map({strip, in, row}),
                                 map({panel, in, column}),
                                 map({strip, panel, row, column})},
             iterators,
             [&](OpBuilder &nested, Location, ValueRange args) {
               Value product =
                   arith::MulFOp::create(nested, loc, args[0], args[1]);
               Value sum = arith::AddFOp::create(nested, loc, args[2], product);
               linalg::YieldOp::create(nested, loc, sum);
             })
      .getResult(0);
}

void ProjectionTiler::run() {
  b.setInsertionPoint(op);
  Value tokens = op.getDpsInputs()[0], weight = op.getDpsInputs()[1],
        init = op.getDpsInits()[0];
  OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
  OpFoldResult batches = size(tokens, 0), count = size(tokens, 1),
               outs = size(weight, 0), ins = size(weight, 1);
  int64_t blockM = schedule.getBlockM(), blockN = schedule.getBlockN();
  auto loop =
      scf::ForallOp::create(b, loc, ArrayRef<OpFoldResult>{zero, zero, zero},
                            ArrayRef<OpFoldResult>{batches, count, outs},
                            ArrayRef<OpFoldResult>{one, b.getIndexAttr(blockM),
                                                   b.getIndexAttr(blockN)},
                            ValueRange{init}, std::nullopt);
  loop->setAttr("attn.schedule", schedule);
  b.setInsertionPoint(loop.getTerminator());
  Value batch = loop.getInductionVar(0), row = loop.getInductionVar(1),
        out = loop.getInductionVar(2), dest = loop.getRegionIterArgs()[0];
  OpFoldResult height = blockSize(row, count, blockM),
               width = blockSize(out, outs, blockN);
  Value xp =
      packRows(rows(tokens, {batch, row, zero}, {one, height, ins}, blockM),
               blockM, schedule.getRows());
  Value wp = packRows(rows(weight, {out, zero}, {width, ins}, blockN), blockN,
                      schedule.getColumns());
  SmallVector<OpFoldResult> offsets = {batch, row, out},
                            sizes = {one, height, width}, ones(3, one);
  Value before = rows(dest, offsets, sizes, blockM);
  SmallVector<OpFoldResult> tiles = {b.getIndexAttr(schedule.getRows()),
                                     b.getIndexAttr(schedule.getColumns())};
  Value packedInit = storage(
      {b.getIndexAttr(blockM / schedule.getRows()),
       b.getIndexAttr(blockN / schedule.getColumns()), tiles[0], tiles[1]},
      {panels(height, schedule.getRows()), panels(width, schedule.getColumns()),
       tiles[0], tiles[1]});
  Value pad = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  Value sums = linalg::PackOp::create(b, loc, before, packedInit,
                                      ArrayRef<int64_t>{0, 1}, tiles, pad)
                   .getResult();
  sums = contract(xp, wp, sums);
  Value result = linalg::UnPackOp::create(b, loc, sums, before,
                                          ArrayRef<int64_t>{0, 1}, tiles)
                     .getResult();
  b.setInsertionPointToEnd(loop.getTerminator().getBody());
  tensor::ParallelInsertSliceOp::create(b, loc, result, dest, offsets, sizes,
                                        ones);
  b.replaceOp(op, loop.getResults());
}

namespace {
struct TileProjections
    : public attn::impl::TileProjectionsBase<TileProjections> {
  void runOnOperation() override {
    SmallVector<linalg::GenericOp> ops;
    getOperation()->walk([&](linalg::GenericOp op) {
      if (op->hasAttrOfType<ScheduleAttr>("attn.schedule") && isProjection(op))
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::GenericOp op : ops)
      ProjectionTiler(rewriter, op,
                      op->getAttrOfType<ScheduleAttr>("attn.schedule"))
          .run();
  }
};
} // namespace
