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

#include "OutlineClones.h"

#include "attn/Codegen/Passes.h"
#include "attn/Codegen/Signature.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::attn {
#define GEN_PASS_DEF_OUTLINESHAPES
#include "attn/Codegen/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// Let `clone` return the extents of its results, in order.
static bool returnExtents(func::FuncOp clone) {
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
  returnValues(clone, extents);
  return true;
}

/// Fail if `shapes` still runs a loop over tensors to know an extent.
static LogicalResult checkLoops(func::FuncOp shapes) {
  WalkResult result = shapes.walk([](tensor::DimOp op) {
    Operation *source = op.getSource().getDefiningOp();
    if (!isa_and_present<scf::ForOp, scf::WhileOp>(source))
      return WalkResult::advance();
    source->emitOpError("expects steps that keep the extents of tensors, where "
                        "a result takes its own from them");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

namespace {
struct OutlineShapes : attn::impl::OutlineShapesBase<OutlineShapes> {
  void runOnOperation() override {
    SmallVector<func::FuncOp> clones;
    auto rebuild = [&](func::FuncOp clone) {
      clones.push_back(clone);
      return returnExtents(clone);
    };
    if (failed(outlineClones(getOperation(), shapeFunctionName, rebuild)) ||
        llvm::any_of(clones, [](func::FuncOp clone) {
          return failed(checkLoops(clone));
        }))
      signalPassFailure();
  }
};
} // namespace
