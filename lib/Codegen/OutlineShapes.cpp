// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes beside each public function one that computes the extents of its results only:
//
//   func.func @f(%q: tensor<?x8xf32>, ...) -> tensor<?x8xf32>
//
// gets
//
//   func.func private @f.shape(%q: tensor<?x8xf32>, ...) -> (index, index) {
//     %m = tensor.dim %q, %c0
//     return %m, %c8
//   }
//
// It is a clone of the function whose extents are followed back to the arguments by the interface
// ReifyRankedShapedType; what nothing needs any more is gone.

#include "attn/Codegen/Passes.h"
#include "attn/Codegen/Signature.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::attn {
#define GEN_PASS_DEF_OUTLINESHAPES
#include "attn/Codegen/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// Make `clone` return the extents of what it returned.
static void returnExtents(func::FuncOp clone) {
  auto returnOp = cast<func::ReturnOp>(clone.getBody().front().getTerminator());
  OpBuilder b(returnOp);
  Location loc = returnOp.getLoc();
  SmallVector<Value> extents;
  for (Value result : returnOp.getOperands()) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    for (int64_t dim = 0; type && dim < type.getRank(); ++dim)
      extents.push_back(
          type.isDynamicDim(dim)
              ? tensor::DimOp::create(b, loc, result, dim).getResult()
              : arith::ConstantIndexOp::create(b, loc, type.getDimSize(dim))
                    .getResult());
  }
  returnOp.getOperandsMutable().assign(extents);
  clone.setType(FunctionType::get(clone.getContext(), clone.getArgumentTypes(),
                                  ValueRange(extents).getTypes()));
  clone.setAllResultAttrs(SmallVector<Attribute>(
      extents.size(), DictionaryAttr::get(clone.getContext())));
}

namespace {
struct OutlineShapes : attn::impl::OutlineShapesBase<OutlineShapes> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    memref::populateResolveRankedShapedTypeResultDimsPatterns(patterns);
    memref::populateResolveShapedTypeResultDimsPatterns(patterns);
    tensor::DimOp::getCanonicalizationPatterns(patterns, &getContext());
    tensor::CastOp::getCanonicalizationPatterns(patterns, &getContext());
    FrozenRewritePatternSet frozen(std::move(patterns));
    for (auto function :
         llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      if (function.isExternal() || !function.isPublic() ||
          !function.getBody().hasOneBlock())
        continue;
      func::FuncOp clone = function.clone();
      clone.setSymName(shapeFunctionName(function.getSymName()));
      clone.setPrivate();
      getOperation().insert(std::next(function->getIterator()), clone);
      returnExtents(clone);
      if (failed(applyPatternsGreedily(clone, frozen)))
        return signalPassFailure();
    }
  }
};
} // namespace
