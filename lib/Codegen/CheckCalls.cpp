// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Refuses calls that inlining cannot remove: recursion, and functions without a body.

#include "attn/Codegen/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::attn {
#define GEN_PASS_DEF_CHECKCALLS
#include "attn/Codegen/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// Follow the calls of `function`; `path` holds the functions that led here.
static LogicalResult checkCalls(func::FuncOp function, SymbolTable &symbols,
                                SetVector<Operation *> &path,
                                DenseSet<Operation *> &good) {
  if (good.contains(function))
    return success();
  path.insert(function);
  WalkResult result = function.walk([&](func::CallOp call) {
    auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
    if (!callee || callee.isExternal()) {
      call.emitOpError() << "expects a callee with a body, got external '"
                         << call.getCallee() << "'";
      return WalkResult::interrupt();
    }
    if (path.contains(callee)) {
      call.emitOpError() << "expects no recursion, got a call of '"
                         << call.getCallee() << "' inside itself";
      return WalkResult::interrupt();
    }
    return WalkResult(checkCalls(callee, symbols, path, good));
  });
  path.remove(function);
  good.insert(function);
  return failure(result.wasInterrupted());
}

namespace {
struct CheckCalls : attn::impl::CheckCallsBase<CheckCalls> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    DenseSet<Operation *> good;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      SetVector<Operation *> path;
      if (failed(checkCalls(function, symbols, path, good)))
        return signalPassFailure();
    }
    markAllAnalysesPreserved();
  }
};
} // namespace
