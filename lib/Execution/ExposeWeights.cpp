// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lets a function return what its attention ops attend to:
//
//   %o = attn.sdpa %q, %k, %v : ... -> tensor<1x2x8x16xf32>
//   return %o : tensor<1x2x8x16xf32>
//
// becomes
//
//   %o, %w = attn.sdpa %q, %k, %v : ... -> tensor<1x2x8x16xf32> weights(tensor<1x2x8x8xf32>)
//   return %o, %w : tensor<1x2x8x16xf32>, tensor<1x2x8x8xf32>

#include "attn/Execution/PlotWeights.h"

#include "attn/IR/AttentionShape.h"
#include "attn/IR/Decompose.h"

using namespace mlir;
using namespace mlir::attn;

/// Return the type that the weights of `op` get.
static RankedTensorType weightsType(SdpaOp op) {
  AttentionShape shape = AttentionShape::get(op);
  Type element = getElementTypeOrSelf(op.getQuery());
  if (!element.isF64())
    element = Float32Type::get(op.getContext());
  return RankedTensorType::get(
      {shape.batch, shape.heads, shape.rows, shape.keys}, element);
}

/// Replace `op` by one that has weights.
static SdpaOp withWeights(SdpaOp op) {
  OpBuilder b(op);
  SmallVector<Type> types(op->getResultTypes());
  types.push_back(weightsType(op));
  NamedAttrList attributes(op->getAttrDictionary());
  attributes.set("resultSegmentSizes",
                 b.getDenseI32ArrayAttr({1, op.getLse() ? 1 : 0, 1}));
  // One that was made for another op.
  attributes.erase(op.getScheduleAttrName());
  OperationState state(op.getLoc(), SdpaOp::getOperationName(),
                       op->getOperands(), types, attributes.getAttrs());
  for (Region &region : op->getRegions())
    state.addRegion()->takeBody(region);
  auto copy = cast<SdpaOp>(b.create(state));
  op->replaceAllUsesWith(copy->getResults().drop_back());
  op.erase();
  return copy;
}

FailureOr<SmallVector<unsigned>> attn::exposeWeights(func::FuncOp function) {
  if (function.isExternal() || !function.getBody().hasOneBlock())
    return function.emitOpError("expects one block to show weights of");
  if (failed(decomposeOps(function, llvm::IsaPred<MhaOp>)))
    return failure();
  Block &body = function.getBody().front();
  SmallVector<SdpaOp> ops(body.getOps<SdpaOp>());
  SmallVector<unsigned> numbers;
  for (SdpaOp op : ops) {
    Value weights = op.getWeights();
    if (!weights && (op.isPaged() || op.hasPackedRows()))
      return op.emitOpError()
             << "expects neither pages nor packed sequences where weights are "
                "to be shown, got '"
             << (op.isPaged() ? "page_table" : "cu_seqlens_q") << "'";
    if (!weights)
      weights = withWeights(op).getWeights();
    Operation *end = body.getTerminator();
    numbers.push_back(end->getNumOperands());
    end->insertOperands(end->getNumOperands(), weights);
    if (failed(function.insertResult(function.getNumResults(),
                                     weights.getType(), DictionaryAttr())))
      return failure();
  }
  return numbers;
}
