// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a projection is: y[batch, row, out] += x[batch, row, in] w[out, in], as DecomposeLayers writes it, or the same
// with a weight that is packed, w[out / 32, in, out % 32], and what stands around it.

#include "attn/Transforms/Projection.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::attn;

/// Return `value` without a widening conversion, if it has one.
static Value beforeExtension(Value value) {
  auto extension = value.getDefiningOp<arith::ExtFOp>();
  return extension ? extension.getIn() : value;
}

/// Return whether `op` is a projection whose weight is read by `weightMap`.
static bool isProjectionBy(linalg::GenericOp op, AffineMap weightMap) {
  AffineExpr batch, row, out, in;
  bindDims(op.getContext(), batch, row, out, in);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  auto is = [&](unsigned operand, ArrayRef<AffineExpr> dims) {
    return maps[operand] == AffineMap::get(4, 0, dims, op.getContext());
  };
  if (!is(0, {batch, row, in}) || maps[1] != weightMap ||
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

/// Return whether `op` has the operands and loops of a projection.
static bool hasFormOfProjection(linalg::GenericOp op) {
  // One without outputs or inputs is a loop of no iteration, or a copy of b.
  return op.hasPureTensorSemantics() && op.getNumDpsInputs() == 2 &&
         op.getNumDpsInits() == 1 && op.getNumLoops() == 4 &&
         !llvm::is_contained(op.getStaticLoopRanges(), 0);
}

bool attn::isProjection(linalg::GenericOp op) {
  if (!hasFormOfProjection(op))
    return false;
  AffineExpr batch, row, out, in;
  bindDims(op.getContext(), batch, row, out, in);
  return isProjectionBy(op, AffineMap::get(4, 0, {out, in}, op.getContext()));
}

/// Return how panels of `columns` outputs are read.
static AffineMap getPanelMap(MLIRContext *context, int64_t columns) {
  AffineExpr batch, row, out, in;
  bindDims(context, batch, row, out, in);
  return AffineMap::get(4, 0, {out.floorDiv(columns), in, out % columns},
                        context);
}

bool attn::isPackedProjection(linalg::GenericOp op) {
  if (!hasFormOfProjection(op))
    return false;
  auto panels = cast<RankedTensorType>(op.getDpsInputs()[1].getType());
  return panels.getRank() == 3 && !panels.isDynamicDim(2) &&
         isProjectionBy(op, getPanelMap(op.getContext(), panels.getDimSize(2)));
}

void attn::setPanels(linalg::GenericOp op, Value panels) {
  auto type = cast<RankedTensorType>(panels.getType());
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps[1] = getPanelMap(op.getContext(), type.getDimSize(2));
  op.setIndexingMapsAttr(Builder(op.getContext()).getAffineMapArrayAttr(maps));
  op->setOperand(1, panels);
  BlockArgument element = op.getBody()->getArgument(1);
  if (element.getType() == type.getElementType())
    return;
  // Panels are in the type in which products are added up.
  Operation *extension = *element.user_begin();
  element.setType(type.getElementType());
  extension->getResult(0).replaceAllUsesWith(element);
  extension->erase();
}

linalg::GenericOp attn::findRounding(linalg::GenericOp op) {
  Value sums = op.getResult(0);
  if (!sums.hasOneUse())
    return {};
  auto user = dyn_cast<linalg::GenericOp>(*sums.user_begin());
  if (!user || user->getBlock() != op->getBlock() ||
      user.getNumDpsInputs() != 1 || user.getNumDpsInits() != 1 ||
      user.getDpsInputs()[0] != sums ||
      !llvm::all_of(user.getIndexingMapsArray(),
                    [](AffineMap map) { return map.isIdentity(); }))
    return {};
  auto truncation = user.getBody()
                        ->getTerminator()
                        ->getOperand(0)
                        .getDefiningOp<arith::TruncFOp>();
  bool rounds =
      truncation && truncation.getIn() == user.getBody()->getArgument(0);
  return rounds ? user : linalg::GenericOp();
}

Value attn::findBias(linalg::GenericOp op) {
  Value init = op.getDpsInits()[0];
  if (auto fill = init.getDefiningOp<linalg::FillOp>();
      fill && matchPattern(fill.getInputs()[0], m_PosZeroFloat()))
    return {};
  auto broadcast = init.getDefiningOp<linalg::GenericOp>();
  if (!broadcast || broadcast.getNumDpsInputs() != 1 ||
      broadcast.getNumDpsInits() != 1 || broadcast.getNumLoops() != 3 ||
      broadcast.getIndexingMapsArray()[0] !=
          AffineMap::get(3, 0, getAffineDimExpr(2, op.getContext())) ||
      !broadcast.getIndexingMapsArray()[1].isIdentity())
    return init;
  Value given =
      beforeExtension(broadcast.getBody()->getTerminator()->getOperand(0));
  return given == broadcast.getBody()->getArgument(0)
             ? broadcast.getDpsInputs()[0]
             : init;
}
