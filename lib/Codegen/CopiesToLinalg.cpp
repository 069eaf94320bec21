// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes copies loops. A memref.copy that is not contiguous would become a call of `memrefCopy`, which is a part of
// MLIR's own runner:
//
//   memref.copy %a, %b
//
// becomes
//
//   linalg.generic ... ins(%a) outs(%b) { linalg.yield %in }

#include "attn/Codegen/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::attn {
#define GEN_PASS_DEF_COPIESTOLINALG
#include "attn/Codegen/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;

namespace {
struct CopiesToLinalg : attn::impl::CopiesToLinalgBase<CopiesToLinalg> {
  void runOnOperation() override {
    getOperation().walk([](memref::CopyOp copy) {
      if (!isa<MemRefType>(copy.getSource().getType()) ||
          !isa<MemRefType>(copy.getTarget().getType()))
        return;
      if (copy.getSource() == copy.getTarget()) {
        copy.erase();
        return;
      }
      OpBuilder b(copy);
      linalg::makeMemRefCopyOp(b, copy.getLoc(), copy.getSource(),
                               copy.getTarget());
      copy.erase();
    });
  }
};
} // namespace
