// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules about types that several ops share. Numbers such as sdpa-C6 refer
// to the constraints in the ops' descriptions.

#include "attn/IR/ShapeChecks.h"

using namespace mlir;
using namespace mlir::attn;

//===----------------------------------------------------------------------===//
// Ranks, element types, dimensions
//===----------------------------------------------------------------------===//

LogicalResult attn::verifyRank(Operation *op, NamedType tensor, int64_t rank) {
  if (!tensor)
    return success();
  auto type = dyn_cast<RankedTensorType>(tensor.type);
  if (type && type.getRank() == rank)
    return success();
  return op->emitOpError() << "expects '" << tensor.name << "' of rank " << rank
                           << ", got " << tensor.type;
}

LogicalResult attn::verifySameElementType(Operation *op, NamedType model,
                                          NamedType tensor) {
  if (!model || !tensor)
    return success();
  Type wanted = getElementTypeOrSelf(model.type);
  Type got = getElementTypeOrSelf(tensor.type);
  if (wanted == got)
    return success();
  return op->emitOpError() << "expects '" << model.name << "' and '"
                           << tensor.name
                           << "' to agree on the element type, got " << wanted
                           << " and " << got;
}

LogicalResult attn::verifyPrecision(Operation *op, NamedType tensor,
                                    std::optional<Precision> precision) {
  Type type = getElementTypeOrSelf(tensor.type);
  if (precision.value_or(Precision::Exact) == Precision::Exact || type.isF32())
    return success();
  return op->emitOpError() << "expects '" << tensor.name
                           << "' of f32 with a 'precision' of "
                           << stringifyPrecision(*precision) << ", got "
                           << type;
}

LogicalResult attn::verifyNoWiderThan(Operation *op, NamedType model,
                                      NamedType tensor) {
  if (!model || !tensor)
    return success();
  Type got = getElementTypeOrSelf(tensor.type);
  Type most = getElementTypeOrSelf(model.type);
  if (!got.isF64() || most.isF64())
    return success();
  return op->emitOpError() << "expects '" << tensor.name << "' of " << got
                           << " only under '" << model.name << "' of " << got
                           << ", got " << most;
}

LogicalResult attn::verifyAccumulatorType(Operation *op, NamedType model,
                                          NamedType tensor) {
  if (!model || !tensor)
    return success();
  Type element = getElementTypeOrSelf(model.type);
  Type wanted = element.isF64() ? element : Float32Type::get(op->getContext());
  Type got = getElementTypeOrSelf(tensor.type);
  if (wanted == got)
    return success();
  return op->emitOpError() << "expects '" << tensor.name << "' of " << wanted
                           << " under '" << model.name << "' of " << element
                           << ", got " << got;
}

LogicalResult attn::verifyDim(Operation *op, SharedDim &shared,
                              NamedType tensor, int64_t dim) {
  if (!tensor)
    return success();
  int64_t size = tensor.tensor().getDimSize(dim);
  if (ShapedType::isDynamic(size))
    return success();
  if (!shared.isStatic()) {
    shared = {size, tensor.name, dim};
    return success();
  }
  if (size == shared.size)
    return success();
  if (shared.ownerDim == SharedDim::kDerived)
    return op->emitOpError() << "expects dimension " << dim << " of '"
                             << tensor.name << "' to be " << shared.size
                             << " by '" << shared.owner << "', got " << size;
  InFlightDiagnostic error = op->emitOpError() << "expects ";
  if (dim == shared.ownerDim)
    error << "'" << shared.owner << "' and '" << tensor.name
          << "' to agree on dimension " << dim;
  else
    error << "dimension " << shared.ownerDim << " of '" << shared.owner
          << "' and dimension " << dim << " of '" << tensor.name
          << "' to agree";
  return error << ", got " << shared.size << " and " << size;
}

LogicalResult attn::verifyShape(Operation *op, ArrayRef<SharedDim *> shared,
                                NamedType tensor) {
  if (!tensor)
    return success();
  if (failed(verifyRank(op, tensor, shared.size())))
    return failure();
  for (auto [dim, extent] : llvm::enumerate(shared))
    if (failed(verifyDim(op, *extent, tensor, dim)))
      return failure();
  return success();
}

LogicalResult attn::verifyLaidOut(Operation *op, NamedType tensor,
                                  Layout layout, SharedDim &batch,
                                  SharedDim &heads, SharedDim &sequence,
                                  SharedDim &channels) {
  if (layout == Layout::bhsd)
    return verifyShape(op, {&batch, &heads, &sequence, &channels}, tensor);
  return verifyShape(op, {&batch, &sequence, &heads, &channels}, tensor);
}

LogicalResult attn::verifyStaticUnit(Operation *op, NamedType tensor) {
  int64_t last = tensor.tensor().getRank() - 1;
  if (!tensor.tensor().isDynamicDim(last))
    return success();
  return op->emitOpError() << "expects dimension " << last << " of a packed '"
                           << tensor.name << "' to be static, got "
                           << tensor.type;
}

bool attn::isByte(Type type) {
  return type.isInteger(8) || isa<Float8E4M3FNType, Float8E5M2Type>(type);
}

LogicalResult attn::verifyStoredUnder(Operation *op, NamedType model,
                                      NamedType tensor) {
  Type given = getElementTypeOrSelf(model.type),
       kept = getElementTypeOrSelf(tensor.type);
  bool fits = kept == given || (isByte(kept) && !given.isF64()) ||
              (given.isF32() && (kept.isF16() || kept.isBF16()));
  if (fits)
    return success();
  return op->emitOpError() << "expects '" << tensor.name << "' of " << given
                           << ", or of a type that is stored under it, got "
                           << kept;
}

LogicalResult attn::verifySameShape(Operation *op, NamedType model,
                                    NamedType tensor) {
  SmallVector<SharedDim> dims(model.tensor().getRank());
  SmallVector<SharedDim *> shape;
  for (SharedDim &dim : dims)
    shape.push_back(&dim);
  if (failed(verifyShape(op, shape, model)))
    return failure();
  return verifyShape(op, shape, tensor);
}

LogicalResult attn::verifyBroadcast(Operation *op, ArrayRef<SharedDim *> full,
                                    NamedType tensor) {
  if (!tensor)
    return success();
  int64_t most = full.size();
  int64_t rank = tensor.tensor().getRank();
  if (rank < 1 || rank > most)
    return op->emitOpError() << "expects '" << tensor.name << "' of rank 1 to "
                             << most << ", got " << tensor.type;
  for (auto [dim, extent] : llvm::enumerate(full.take_back(rank))) {
    int64_t size = tensor.tensor().getDimSize(dim);
    if (ShapedType::isDynamic(size) || size == 1 || size == extent->size)
      continue;
    if (extent->isStatic())
      return op->emitOpError()
             << "expects dimension " << dim << " of '" << tensor.name
             << "' to be 1 or " << extent->size << ", got " << size;
    *extent = {size, tensor.name, static_cast<int64_t>(dim)};
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Heads, attributes, optional pairs
//===----------------------------------------------------------------------===//

LogicalResult attn::verifyHeadGroups(Operation *op, const SharedDim &heads,
                                     const SharedDim &kvHeads) {
  if (!heads.isStatic() || !kvHeads.isStatic())
    return success();
  // No head can read a key head that is not there; 0 of 0 is fine.
  if (kvHeads.size == 0 ? heads.size == 0 : heads.size % kvHeads.size == 0)
    return success();
  return op->emitOpError() << "expects the heads of '" << heads.owner
                           << "' to be a multiple of those of '"
                           << kvHeads.owner << "', got " << heads.size
                           << " and " << kvHeads.size;
}

LogicalResult attn::verifyFinite(Operation *op, StringRef name,
                                 std::optional<APFloat> value) {
  if (!value || value->isFinite())
    return success();
  return op->emitOpError() << "expects '" << name
                           << "' to be a finite number, got "
                           << (value->isNaN() ? "NaN" : "an infinity");
}

LogicalResult attn::verifySoftcap(Operation *op,
                                  std::optional<APFloat> softcap) {
  if (!softcap)
    return success();
  if (failed(verifyFinite(op, "softcap", softcap)))
    return failure();
  if (!softcap->isZero() && !softcap->isNegative())
    return success();
  return op->emitOpError() << "expects 'softcap' to be above 0, got "
                           << softcap->convertToDouble();
}

LogicalResult attn::verifyTogether(Operation *op, NamedType first,
                                   NamedType second) {
  if (bool(first) == bool(second))
    return success();
  return op->emitOpError() << "expects '" << first.name << "' and '"
                           << second.name << "' together, got only '"
                           << (first ? first.name : second.name) << "'";
}

//===----------------------------------------------------------------------===//
// What attn.sdpa and attn.mha share
//===----------------------------------------------------------------------===//

/// Fails unless the lengths, the offset and the alignment go together.
static LogicalResult
verifyPositions(Operation *op, const ScoreOperands &operands, ScoreDims &dims) {
  // sdpa-C9, mha-C12
  if (failed(verifyShape(op, {&dims.batch}, operands.kvLengths)))
    return failure();
  if (!operands.queryOffset)
    return success();
  // sdpa-C10, mha-C13
  if (isa<RankedTensorType>(operands.queryOffset.type) &&
      failed(verifyShape(op, {&dims.batch}, operands.queryOffset)))
    return failure();
  // sdpa-C11, mha-C14
  if (operands.causal == Causal::BottomRight)
    return op->emitOpError() << "expects no 'query_offset' with 'causal = "
                                "bottom_right', which is an offset itself";
  return success();
}

LogicalResult attn::verifyScoreOperands(Operation *op,
                                        const ScoreOperands &operands,
                                        ScoreDims &dims) {
  SmallVector<SharedDim *> scores = {&dims.batch, &dims.heads, &dims.rows,
                                     &dims.keys};
  // sdpa-C6, mha-C9
  if (failed(verifyBroadcast(op, scores, operands.bias)))
    return failure();
  // sdpa-C7, mha-C10
  if (failed(verifyNoWiderThan(op, operands.query, operands.bias)))
    return failure();
  // sdpa-C8, mha-C11
  if (failed(verifyBroadcast(op, scores, operands.mask)))
    return failure();
  if (failed(verifyPositions(op, operands, dims)))
    return failure();
  // sdpa-C12, mha-C15
  if (failed(verifyShape(op, {&dims.heads}, operands.sinks)))
    return failure();
  // sdpa-C13, mha-C16
  if (failed(verifyNoWiderThan(op, operands.query, operands.sinks)))
    return failure();
  // sdpa-C14, mha-C17
  if (failed(verifyFinite(op, "scale", operands.scale)))
    return failure();
  // sdpa-C15, mha-C18
  if (failed(verifySoftcap(op, operands.softcap)))
    return failure();
  // sdpa-C16, mha-C19
  if (failed(verifyShape(op, {&dims.batch, &dims.heads, &dims.rows},
                         operands.lse)))
    return failure();
  // sdpa-C17, mha-C20
  return verifyAccumulatorType(op, operands.query, operands.lse);
}

//===----------------------------------------------------------------------===//
// Rotary tables
//===----------------------------------------------------------------------===//

LogicalResult attn::verifyRotaryTables(Operation *op,
                                       const RotaryOperands &operands,
                                       SharedDim &batch, SharedDim &sequence,
                                       SharedDim &width) {
  SharedDim entries;
  SmallVector<SharedDim *> table = {&entries, &width};
  if (!operands.positions)
    table = {&batch, &sequence, &width};
  // rope-C2, mha-C5
  if (failed(verifyShape(op, table, operands.cos)) ||
      failed(verifyShape(op, table, operands.sin)) ||
      failed(verifyShape(op, {&batch, &sequence}, operands.positions)))
    return failure();
  // rope-C3, mha-C6
  if (failed(verifySameElementType(op, operands.cos, operands.sin)))
    return failure();
  return verifyNoWiderThan(op, operands.input, operands.cos);
}

SmallVector<OpFoldResult> attn::withStaticExtents(OpBuilder &builder,
                                                  Value result,
                                                  ArrayRef<OpFoldResult> dims) {
  SmallVector<OpFoldResult> merged(dims);
  ArrayRef<int64_t> shape = cast<RankedTensorType>(result.getType()).getShape();
  for (auto [dim, size] : llvm::zip_equal(merged, shape))
    if (ShapedType::isStatic(size))
      dim = builder.getIndexAttr(size);
  return merged;
}
