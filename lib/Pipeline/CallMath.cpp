// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls libm for what is left of math, where something is:
//
//   %1 = math.erf %0 : f32     ->     %1 = llvm.call @erff(%0) : (f32) -> f32

#include "attn/Pipeline/Passes.h"

#include "mlir/Conversion/ConvertToLLVM/ToLLVMPass.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::attn {
#define GEN_PASS_DEF_CALLMATH
#include "attn/Pipeline/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

static void buildCalls(OpPassManager &pm) {
  pm.addPass(createConvertMathToLibmPass());
  pm.addPass(createConvertToLLVMPass());
}

namespace {
struct CallMath : attn::impl::CallMathBase<CallMath> {
  using CallMathBase::CallMathBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    OpPassManager calls(ModuleOp::getOperationName());
    buildCalls(calls);
    calls.getDependentDialects(registry);
  }

  void runOnOperation() override {
    auto isMath = [](Operation *op) {
      return isa_and_nonnull<math::MathDialect>(op->getDialect())
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    };
    if (!getOperation()->walk(isMath).wasInterrupted())
      return markAllAnalysesPreserved();
    OpPassManager calls(ModuleOp::getOperationName());
    buildCalls(calls);
    if (failed(runPipeline(calls, getOperation())))
      signalPassFailure();
  }
};
} // namespace
