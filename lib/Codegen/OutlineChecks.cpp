// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes beside each public function one that checks what types cannot say:
//
//   func.func @f(%q: tensor<1x8x?x64xf32>, %k: tensor<1x2x?x64xf32>, %v: tensor<1x2x?x64xf32>) -> ...
//
// gets
//
//   func.func private @f.check(%q, %k, %v) -> (i64, i64, i64)
//       attributes {attn.messages = ["'attn.sdpa' op expects 'key' and 'value' to agree on dimension 2, got %lld
//       and %lld"], attn.kinds = array<i64: 4>} {
//     %differ = arith.cmpi ne, %n_of_k, %n_of_v
//     %number = arith.select %differ, %c1, %c0 : i64
//     return %number, %n_of_k, %n_of_v
//
// It is a clone of the function in which each attn op stands beside its checks; extents are followed back to the
// arguments by ReifyRankedShapedType, and what nothing needs any more is gone. The entry of the function calls it before
// anything is written.

#include "attn/Codegen/Passes.h"
#include "attn/Codegen/RuntimeChecks.h"
#include "attn/Codegen/Signature.h"

#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::attn {
#define GEN_PASS_DEF_OUTLINECHECKS
#include "attn/Codegen/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// Make `clone` return the first check that fails; false where it has none.
static bool returnChecks(func::FuncOp clone) {
  CheckBuilder checks(clone);
  // An op inside a loop or a branch works on values that only exist there.
  for (Operation &op :
       llvm::make_early_inc_range(clone.getBody().front().getOperations()))
    addRuntimeChecks(checks, &op);
  if (checks.empty())
    return false;
  auto returnOp = cast<func::ReturnOp>(clone.getBody().front().getTerminator());
  SmallVector<Value> values = checks.finish();
  returnOp.getOperandsMutable().assign(values);
  clone.setType(FunctionType::get(clone.getContext(), clone.getArgumentTypes(),
                                  ValueRange(values).getTypes()));
  clone.setAllResultAttrs(SmallVector<Attribute>(
      values.size(), DictionaryAttr::get(clone.getContext())));
  return true;
}

namespace {
struct OutlineChecks : attn::impl::OutlineChecksBase<OutlineChecks> {
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
      clone.setSymName(checkFunctionName(function.getSymName()));
      clone.setPrivate();
      if (!returnChecks(clone)) {
        clone.erase();
        continue;
      }
      getOperation().insert(std::next(function->getIterator()), clone);
      if (failed(applyPatternsGreedily(clone, frozen)))
        return signalPassFailure();
    }
  }
};
} // namespace
