// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Clones functions to compute something else of their arguments.

#include "OutlineClones.h"

#include "attn/Codegen/Signature.h"

#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace mlir::attn;

LogicalResult
mlir::attn::outlineClones(ModuleOp module,
                          function_ref<std::string(StringRef)> nameOf,
                          function_ref<bool(func::FuncOp)> rebuild) {
  MLIRContext *context = module.getContext();
  RewritePatternSet patterns(context);
  memref::populateResolveRankedShapedTypeResultDimsPatterns(patterns);
  memref::populateResolveShapedTypeResultDimsPatterns(patterns);
  tensor::DimOp::getCanonicalizationPatterns(patterns, context);
  tensor::CastOp::getCanonicalizationPatterns(patterns, context);
  FrozenRewritePatternSet frozen(std::move(patterns));
  for (auto function : llvm::to_vector(module.getOps<func::FuncOp>())) {
    if (function.isExternal() || !function.isPublic() ||
        !function.getBody().hasOneBlock())
      continue;
    func::FuncOp clone = function.clone();
    clone.setSymName(nameOf(function.getSymName()));
    clone.setPrivate();
    clone->removeAttr(kInPlaceAttrName);
    if (!rebuild(clone)) {
      clone.erase();
      continue;
    }
    module.insert(std::next(function->getIterator()), clone);
    if (failed(applyPatternsGreedily(clone, frozen)))
      return failure();
  }
  return success();
}

void mlir::attn::returnValues(func::FuncOp function, ValueRange values) {
  auto returnOp =
      cast<func::ReturnOp>(function.getBody().front().getTerminator());
  returnOp.getOperandsMutable().assign(values);
  function.setType(FunctionType::get(
      function.getContext(), function.getArgumentTypes(), values.getTypes()));
  function.setAllResultAttrs(SmallVector<Attribute>(
      values.size(), DictionaryAttr::get(function.getContext())));
}
