// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Replaces ops by their definitions: what `--convert-attn-to-linalg` and
// `--attn-decompose-layers` share.

#include "attn/IR/Decompose.h"

#include "attn/IR/AttnOps.h"
#include "attn/IR/AttrNames.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::attn;

/// Replace `op` by its definition. Fails, saying so, where it has none.
static LogicalResult decompose(IRRewriter &rewriter, Operation *op) {
  auto aggregated = dyn_cast<linalg::AggregatedOpInterface>(op);
  if (!aggregated)
    return op->emitOpError() << "has no definition in linalg";
  rewriter.setInsertionPoint(op);
  FailureOr<SmallVector<Value>> results =
      aggregated.decomposeOperation(rewriter);
  if (failed(results))
    return op->emitOpError() << "has no definition in linalg here";
  rewriter.replaceOp(op, *results);
  return success();
}

FailureOr<SmallVector<Value>>
mlir::attn::createEmptyResults(OpBuilder &b,
                               ReifyRankedShapedTypeOpInterface op) {
  ReifiedRankedShapedTypeDims shapes;
  if (failed(op.reifyResultShapes(b, shapes)))
    return failure();
  SmallVector<Value> results;
  for (auto [result, shape] : llvm::zip_equal(op->getResults(), shapes))
    results.push_back(tensor::EmptyOp::create(b, op.getLoc(), shape,
                                              getElementTypeOrSelf(result)));
  return results;
}

bool mlir::attn::isForThreads(Operation *op) {
  for (auto loop = op->getParentOfType<scf::ForallOp>(); loop;
       loop = loop->getParentOfType<scf::ForallOp>()) {
    auto schedule = loop->getAttrOfType<ScheduleAttr>(kScheduleAttrName);
    if (schedule && schedule.getWarps() > 0)
      return true;
  }
  return false;
}

LogicalResult mlir::attn::decomposeOps(Operation *root,
                                       function_ref<bool(Operation *)> filter) {
  IRRewriter rewriter(root->getContext());
  SmallVector<Operation *> ops;
  do {
    ops.clear();
    root->walk([&](Operation *op) {
      if (op != root && filter(op))
        ops.push_back(op);
    });
    for (Operation *op : ops)
      if (failed(decompose(rewriter, op)))
        return failure();
  } while (!ops.empty());
  return success();
}
