// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes of everything that a function does with memory kernels, and of the function itself what launches them:
//
//   linalg.generic ... ins(%x : memref<?xf32>) outs(%y : memref<?xf32>)
//
// becomes
//
//   gpu.launch_func @kernels::@f_k0 blocks in (%blocks, %c1, %c1) threads in (%c128, %c1, %c1)
//       args(%x : memref<?xf32>, %y : memref<?xf32>)
//
//   gpu.module @kernels {
//     gpu.func @f_k0(%x: memref<?xf32>, %y: memref<?xf32>) kernel {
//       ... one thread an element of %y
//     }
//   }
//
// An scf.forall whose schedule has warps is a program of thread blocks, and becomes the body of a kernel as it is. What
// the host cannot know, since it is read from memory, each kernel computes again; loops over such numbers are the work
// of one thread. Kernels that do the same are one.

#include "DistributeChecks.h"
#include "KernelOutliner.h"
#include "ThreadKernel.h"

#include "../SearchLoops.h"

#include "attn/Codegen/CudaPasses.h"
#include "attn/Codegen/Signature.h"
#include "attn/Codegen/Workspace.h"
#include "attn/IR/AttnDialect.h"
#include "attn/IR/AttrNames.h"

namespace mlir::attn {
#define GEN_PASS_DEF_OUTLINEKERNELS
#include "attn/Codegen/CudaPasses.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

LogicalResult KernelOutliner::outlineLinalg(linalg::LinalgOp op) {
  if (!canRunByThreads(op))
    return outlineSerial(op);
  Location loc = op.getLoc();
  // Constants are memory of kernels, but their shapes are known.
  bool isKnown = llvm::none_of(op->getOperands(), [&](Value operand) {
    return isa<MemRefType>(operand.getType()) && device.isOnDevice(operand) &&
           !getMemory(operand).getDefiningOp<memref::GetGlobalOp>();
  });
  LaunchShape shape;
  shape.threads = kThreads;
  OpBuilder builder(op);
  Value unit = constant(builder, loc, kThreads);
  shape.blocks[0] = isKnown ? arith::CeilDivUIOp::create(
                                  builder, loc, countThreads(builder, op), unit)
                                  .getResult()
                            : constant(builder, loc, kBlocksOfUnknown);
  IRMapping mapping;
  auto kernel = createKernel(op, shape, mapping);
  if (failed(kernel))
    return failure();
  OpBuilder inner(kernel->getBody().front().getTerminator());
  auto clone = cast<linalg::LinalgOp>(inner.clone(*op, mapping));
  inner.setInsertionPoint(clone);
  Value places = countThreads(inner, clone);
  forPlaces(inner, loc, places, isKnown,
            [&](OpBuilder &at, Value place) { emitThread(at, clone, place); });
  clone.erase();
  op.erase();
  return success();
}

/// One thread for all of `op`.
LogicalResult KernelOutliner::outlineSerial(Operation *op) {
  IRMapping mapping;
  auto kernel = createKernel(op, LaunchShape(), mapping);
  if (failed(kernel))
    return failure();
  OpBuilder inner(kernel->getBody().front().getTerminator());
  inner.clone(*op, mapping);
  op->erase();
  return lowerToLoops(kernel->getBody());
}

LogicalResult KernelOutliner::visitOp(Operation *op) {
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return outlineLinalg(linalgOp);
  if (auto forall = dyn_cast<scf::ForallOp>(op)) {
    auto schedule = forall->getAttrOfType<ScheduleAttr>(kScheduleAttrName);
    if (schedule && schedule.getWarps() > 0)
      return outlineBlocks(forall, schedule.getWarps());
    return outlineForall(forall);
  }
  if (!writesMemory(op))
    return success();
  if (isa<scf::ForOp, scf::IfOp>(op) && !device.isControlledByDevice(op)) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (failed(visit(block)))
          return failure();
    return success();
  }
  if (op->getNumResults() > 0)
    return op->emitOpError("expects no results where only the device knows how "
                           "often it runs");
  return outlineSerial(op);
}

LogicalResult KernelOutliner::visit(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block))
    if (!isa<gpu::LaunchFuncOp>(op) && failed(visitOp(&op)))
      return failure();
  return success();
}

/// Let only the first thread of a block store to `words`.
static void storeOnce(gpu::GPUFuncOp kernel, Value words) {
  Operation *terminator = kernel.getBody().front().getTerminator();
  OpBuilder b(terminator);
  Location loc = kernel.getLoc();
  Value thread = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value isFirst =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, thread, zero);
  auto branch = scf::IfOp::create(b, loc, isFirst);
  for (Operation *user : llvm::make_early_inc_range(words.getUsers()))
    user->moveBefore(branch.thenBlock()->getTerminator());
}

/// Launch, before all else, a block of threads that write the status.
LogicalResult KernelOutliner::outlineChecks(func::FuncOp checks) {
  Location loc = function.getLoc();
  Block &entry = function.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&entry);
  Value workspace = entry.getArguments().back();
  auto view = [&](int64_t words) -> Value {
    return memref::ViewOp::create(
        builder, loc, MemRefType::get({words}, builder.getI64Type()), workspace,
        constant(builder, loc, 0), ValueRange());
  };
  Value visible = view(kStatusWords), words = view(kCheckWords);
  // What the kernel is made from: a branch that is always taken.
  Value yes = arith::ConstantIntOp::create(builder, loc, 1, /*width=*/1);
  auto branch = scf::IfOp::create(builder, loc, yes);
  builder.setInsertionPointToStart(&branch.getThenRegion().front());
  IRMapping mapping;
  mapping.map(checks.getArguments(),
              entry.getArguments().take_front(checks.getNumArguments()));
  for (Operation &op : checks.getBody().front().without_terminator())
    builder.clone(op, mapping);
  Operation *returnOp = checks.getBody().front().getTerminator();
  for (auto [number, value] : llvm::enumerate(returnOp->getOperands()))
    memref::StoreOp::create(builder, loc, mapping.lookupOrDefault(value), words,
                            constant(builder, loc, number));
  checks.erase();
  if (failed(outlineSearches(branch, words)))
    return failure();
  status = visible;
  function->setAttr(kGuardedAttrName, b.getUnitAttr());
  return success();
}

/// One block for `branch`, whose threads share its searches and write `words`.
LogicalResult KernelOutliner::outlineSearches(scf::IfOp branch, Value words) {
  bool searches =
      branch
          ->walk([](Operation *op) {
            return WalkResult(failure(op->hasAttr(kSearchAttrName)));
          })
          .wasInterrupted();
  LaunchShape shape;
  shape.threads = searches ? kCheckThreads : 1;
  IRMapping mapping;
  auto kernel = createKernel(branch, shape, mapping);
  if (failed(kernel))
    return failure();
  OpBuilder inner(kernel->getBody().front().getTerminator());
  // (The branch is none any more.)
  for (Operation &op : branch.thenBlock()->without_terminator())
    inner.clone(op, mapping);
  branch->erase();
  if (failed(lowerToLoops(kernel->getBody())))
    return failure();
  Value own = mapping.lookup(words);
  storeOnce(*kernel, own);
  distributeSearches(*kernel, shape.threads, own);
  return success();
}

LogicalResult KernelOutliner::run() {
  auto module = function->getParentOfType<ModuleOp>();
  if (auto checks = module.lookupSymbol<func::FuncOp>(
          dataCheckFunctionName(function.getName())))
    if (failed(outlineChecks(checks)))
      return failure();
  return visit(function.getBody().front());
}

/// Return whether both kernels do the same with their arguments.
static bool areSame(gpu::GPUFuncOp a, gpu::GPUFuncOp b) {
  auto attributesOf = [](gpu::GPUFuncOp kernel) {
    NamedAttrList attributes(kernel->getAttrs());
    attributes.erase(SymbolTable::getSymbolAttrName());
    return attributes.getDictionary(kernel.getContext());
  };
  return attributesOf(a) == attributesOf(b) &&
         OperationEquivalence::isRegionEquivalentTo(
             &a.getBody(), &b.getBody(),
             OperationEquivalence::Flags::IgnoreLocations);
}

/// Of kernels of `function` that do the same keep the first, which all are launched as:
/// those of layers, or of the parts of a value.
static void shareKernels(func::FuncOp function, gpu::GPUModuleOp kernels) {
  SmallVector<gpu::GPUFuncOp> kept;
  function.walk([&](gpu::LaunchFuncOp launch) {
    // (What launched kernels before has those of another module.)
    if (launch.getKernelModuleName() != kernels.getNameAttr())
      return;
    auto kernel = kernels.lookupSymbol<gpu::GPUFuncOp>(launch.getKernelName());
    auto *same = llvm::find_if(
        kept, [&](gpu::GPUFuncOp other) { return areSame(other, kernel); });
    if (same == kept.end()) {
      kept.push_back(kernel);
      return;
    }
    launch.setKernelAttr(
        SymbolRefAttr::get(launch.getKernelModuleName(),
                           {FlatSymbolRefAttr::get(same->getNameAttr())}));
    kernel.erase();
  });
}

/// Give kernels their own constants.
static void copyGlobals(ModuleOp module, gpu::GPUModuleOp kernels) {
  OpBuilder b = OpBuilder::atBlockBegin(kernels.getBody());
  kernels.walk([&](memref::GetGlobalOp get) {
    if (kernels.lookupSymbol(get.getName()))
      return;
    if (auto global = module.lookupSymbol<memref::GlobalOp>(get.getName()))
      b.clone(*global);
  });
}

namespace {
struct OutlineKernels : attn::impl::OutlineKernelsBase<OutlineKernels> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    OpBuilder b(module.getContext());
    auto kernels =
        gpu::GPUModuleOp::create(b, module.getLoc(), kKernelModuleName);
    // Under another name where a function has this one.
    SymbolTable(module).insert(kernels);
    SmallVector<func::FuncOp> functions;
    for (auto function : module.getOps<func::FuncOp>())
      if (function->hasAttr(kSignatureAttrName))
        functions.push_back(function);
    for (func::FuncOp function : functions) {
      if (failed(KernelOutliner(function, kernels).run()))
        return signalPassFailure();
      shareKernels(function, kernels);
    }
    copyGlobals(module, kernels);
    module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                    b.getUnitAttr());
  }
};
} // namespace
