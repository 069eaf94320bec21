// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds results that a caller may let be written where an argument lies, because nothing else is done with it:
//
//   func.func @f(%cache, %rows, %at) -> ... {
//     %new = attn.cache_append %rows into %cache at(%at)
//     %o = attn.sdpa %q, %new, %new
//     return %o, %new
//
// %new may have the memory of %cache, which nobody reads but the op that it is made by. If %o had been computed from
// %cache, it may not.

#include "attn/Codegen/Signature.h"
#include "attn/IR/AttnOps.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::attn;

/// Return the argument that `result` is, with rows in it, and nothing else needs; or
/// null.
static BlockArgument findCache(Value result) {
  CacheAppendOp first;
  while (auto append = result.getDefiningOp<CacheAppendOp>()) {
    first = append;
    result = append.getCache();
  }
  auto cache = dyn_cast<BlockArgument>(result);
  if (!first || !cache || !isa<func::FuncOp>(cache.getOwner()->getParentOp()))
    return nullptr;
  for (OpOperand &use : cache.getUses()) {
    bool isWritten = &use == &first.getCacheMutable();
    if (!isWritten && !isa<tensor::DimOp>(use.getOwner()))
      return nullptr;
  }
  return cache;
}

/// Return what was noted on `function`, if that can be of it.
static std::optional<SmallVector<int64_t>> getNoted(func::FuncOp function) {
  auto noted = function->getAttrOfType<DenseI64ArrayAttr>(kInPlaceAttrName);
  auto isOfArgument = [&](int64_t place) {
    return place < static_cast<int64_t>(function.getNumArguments());
  };
  if (!noted || noted.size() != function.getNumResults() ||
      !llvm::all_of(noted.asArrayRef(), isOfArgument))
    return std::nullopt;
  return llvm::to_vector(noted.asArrayRef());
}

SmallVector<int64_t> mlir::attn::findInPlace(func::FuncOp function) {
  if (std::optional<SmallVector<int64_t>> known = getNoted(function))
    return *known;
  SmallVector<int64_t> places(function.getNumResults(), -1);
  if (function.isExternal() || !function.getBody().hasOneBlock())
    return places;
  Operation *end = function.getBody().front().getTerminator();
  if (end->getNumOperands() != places.size())
    return places;
  for (auto [place, result] : llvm::zip_equal(places, end->getOperands()))
    if (BlockArgument cache = findCache(result))
      place = cache.getArgNumber();
  return places;
}
