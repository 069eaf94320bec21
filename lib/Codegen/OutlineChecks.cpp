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

#include "OutlineClones.h"

#include "attn/Codegen/Passes.h"
#include "attn/Codegen/RuntimeChecks.h"
#include "attn/Codegen/Signature.h"
#include "attn/Codegen/Workspace.h"
#include "attn/Target/TargetInfo.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::attn {
#define GEN_PASS_DEF_OUTLINECHECKS
#include "attn/Codegen/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// Which checks a function makes: all; on the host of a GPU those of shapes, and on
/// the GPU all of a function with others.
enum class Which { All, OnlyShapes, AllIfData };

/// Let `clone` return the state of the checks. Return whether there are any.
static bool returnChecks(func::FuncOp clone, Which which) {
  CheckBuilder checks(clone, which == Which::OnlyShapes);
  // An op inside a loop or a branch works on values that only exist there.
  for (Operation &op :
       llvm::make_early_inc_range(clone.getBody().front().getOperations()))
    addRuntimeChecks(checks, &op);
  if (checks.empty() || (which == Which::AllIfData && !checks.needsData()))
    return false;
  returnValues(clone, checks.finish());
  return true;
}

/// Note which results of `function` may have the memory of an argument.
static void markInPlace(func::FuncOp function) {
  SmallVector<int64_t> places = findInPlace(function);
  if (llvm::any_of(places, [](int64_t place) { return place >= 0; }))
    function->setAttr(kInPlaceAttrName,
                      DenseI64ArrayAttr::get(function.getContext(), places));
}

namespace {
struct OutlineChecks : attn::impl::OutlineChecksBase<OutlineChecks> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function.isPublic())
        markInPlace(function);
    bool isCuda = TargetInfo::get(getOperation()).isCuda();
    auto outline = [&](function_ref<std::string(StringRef)> nameOf,
                       Which which) {
      return outlineClones(getOperation(), nameOf, [&](func::FuncOp clone) {
        return returnChecks(clone, which);
      });
    };
    if (failed(outline(checkFunctionName,
                       isCuda ? Which::OnlyShapes : Which::All)) ||
        (isCuda && failed(outline(dataCheckFunctionName, Which::AllIfData))))
      signalPassFailure();
  }
};
} // namespace
