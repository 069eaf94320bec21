// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finishes kernels and their launches:
//
//   gpu.func @f_k1(..., %status: memref<3xi64>) kernel attributes {attn.guarded, attn.shared_bytes = 49152} { work }
//
// becomes
//
//   gpu.func @f_k1(..., %status: memref<3xi64>) kernel attributes {attn.shared_bytes = 49152} {
//     cf.cond_br (status[0] == 0), ^work, ^done
//
// and each launch of it gets dynamic_shared_memory_size %c49152.

#include "attn/Codegen/CudaPasses.h"
#include "attn/Codegen/Workspace.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::attn {
#define GEN_PASS_DEF_GUARDKERNELS
#include "attn/Codegen/CudaPasses.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// Return at the beginning of `kernel` where a check has failed.
static void guard(gpu::GPUFuncOp kernel) {
  Location loc = kernel.getLoc();
  Block *entry = &kernel.getBody().front();
  Block *work = entry->splitBlock(entry->begin());
  OpBuilder b(kernel.getContext());
  Block *done = b.createBlock(&kernel.getBody());
  gpu::ReturnOp::create(b, loc);
  b.setInsertionPointToEnd(entry);
  unsigned arguments = kernel.getFunctionType().getNumInputs();
  Value status = entry->getArgument(arguments - 1);
  Value first = arith::ConstantIndexOp::create(b, loc, 0);
  Value number = memref::LoadOp::create(b, loc, status, first);
  Value zero = arith::ConstantIntOp::create(b, loc, 0, /*width=*/64);
  Value good =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, number, zero);
  cf::CondBranchOp::create(b, loc, good, work, done);
  kernel->removeAttr(kGuardedAttrName);
}

namespace {
struct GuardKernels : attn::impl::GuardKernelsBase<GuardKernels> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    module.walk([&](gpu::LaunchFuncOp launch) {
      auto kernel = SymbolTable::lookupNearestSymbolFrom<gpu::GPUFuncOp>(
          launch, launch.getKernelAttr());
      auto bytes =
          kernel ? kernel->getAttrOfType<IntegerAttr>(kSharedBytesAttrName)
                 : IntegerAttr();
      if (!bytes)
        return;
      OpBuilder b(launch);
      launch.getDynamicSharedMemorySizeMutable().assign(
          arith::ConstantIntOp::create(b, launch.getLoc(), bytes.getInt(),
                                       /*width=*/32));
    });
    module.walk([&](gpu::GPUFuncOp kernel) {
      if (kernel->hasAttr(kGuardedAttrName))
        guard(kernel);
    });
  }
};
} // namespace
