// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.cache_append: what it accepts, what it touches, and what shape it gives. Numbers such as cache_append-C2 refer to
// the constraints in its description.

#include "attn/IR/AttentionShape.h"
#include "attn/IR/AttnOps.h"
#include "attn/IR/ShapeChecks.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::attn;

/// Return the operand `value`, a tensor or a memref, as a tensor type under `name`.
static NamedType asTensor(StringRef name, Value value) {
  if (!value)
    return {name, Type()};
  auto shaped = cast<ShapedType>(value.getType());
  return {name,
          RankedTensorType::get(shaped.getShape(), shaped.getElementType())};
}

/// Fails unless operands and result are all tensors, or all memrefs.
static LogicalResult verifyKinds(CacheAppendOp op) {
  bool isTensor = isa<RankedTensorType>(op.getCache().getType());
  // cache_append-C1
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType()) != isTensor)
      return op.emitOpError()
             << "expects tensors or memrefs only, got "
             << op.getCache().getType() << " and " << operand.getType();
  if (isTensor != static_cast<bool>(op.getResult()) ||
      (isTensor && op.getResult().getType() != op.getCache().getType()))
    return op.emitOpError() << "expects a result of the type of 'cache' for "
                               "tensors, and none for memrefs";
  return success();
}

LogicalResult CacheAppendOp::verify() {
  if (failed(verifyKinds(*this)))
    return failure();
  NamedType rows = asTensor("rows", getRows()),
            cache = asTensor("cache", getCache()),
            positions = asTensor("positions", getPositions()),
            table = asTensor("page_table", getPageTable()),
            scale = asTensor("scale", getScale());
  SharedDim batch, heads, count, channels, pool, page, pages;
  SharedDim &cacheBatch = table ? pool : batch;
  // cache_append-C2
  if (failed(verifyLaidOut(*this, rows, getRowsLayout(), batch, heads, count,
                           channels)) ||
      failed(verifyLaidOut(*this, cache, getCacheLayout(), cacheBatch, heads,
                           page, channels)))
    return failure();
  // cache_append-C3
  bool each = positions.tensor().getRank() == 2;
  SmallVector<SharedDim *> places = {&batch, &count};
  if (failed(verifyShape(*this, ArrayRef(places).take_front(each ? 2 : 1),
                         positions)))
    return failure();
  // cache_append-C4
  if (failed(verifyShape(*this, {&batch, &pages}, table)))
    return failure();
  if (table && !getElementTypeOrSelf(table.type).isInteger(32))
    return emitOpError() << "expects 'page_table' of 'i32', got "
                         << getElementTypeOrSelf(table.type);
  // cache_append-C5
  if (failed(verifyStoredUnder(*this, rows, cache)))
    return failure();
  if (!scale)
    return success();
  // cache_append-C6
  if (Type kept = getElementTypeOrSelf(cache.type); !isByte(kept))
    return emitOpError() << "expects 'scale' with a cache of i8, f8E4M3FN or "
                            "f8E5M2, got "
                         << kept;
  if (failed(verifyNoWiderThan(*this, rows, scale)))
    return failure();
  if (scale.tensor().getRank() == 0)
    return success();
  return verifyBroadcast(*this, {&cacheBatch, &heads, &page}, scale);
}

LogicalResult
CacheAppendOp::reifyResultShapes(OpBuilder &builder,
                                 ReifiedRankedShapedTypeDims &shapes) {
  if (getResult())
    shapes.push_back(tensor::getMixedSizes(builder, getLoc(), getCache()));
  return success();
}

void CacheAppendOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  for (OpOperand &operand : getOperation()->getOpOperands())
    if (isa<BaseMemRefType>(operand.get().getType()))
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
  if (isa<BaseMemRefType>(getCache().getType()))
    effects.emplace_back(MemoryEffects::Write::get(), &getCacheMutable());
}
