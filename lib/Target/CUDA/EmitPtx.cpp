// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of the llvm, nvvm and attn_gpu dialects as PTX, by LLVM's own back end:
//
//   gpu.module @kernels { llvm.func @f_k0(...) attributes {nvvm.kernel} { ... } }
//
// becomes
//
//   .visible .entry f_k0(.param .u64 f_k0_param_0, ...) { ... }
//
// Functions such as the exponential, __nv_expf, are those of lib/Runtime/CudaMath.c.

#include "../Optimizer.h"

#include "attn/IR/AttnGpuOps.h"
#include "attn/Target/CUDA/Emit.h"
#include "attn/Target/CUDA/LinkMath.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;
using namespace mlir::attn;

void attn::registerCudaTranslations(DialectRegistry &registry) {
  registerNVVMDialectTranslation(registry);
}

/// Replace the instructions that nvvm lacks by LLVM's intrinsics.
static void lowerInstructions(ModuleOp module) {
  module.walk([](attn_gpu::Exp2Op op) {
    OpBuilder b(op);
    auto call = LLVM::CallIntrinsicOp::create(
        b, op.getLoc(), op.getType(),
        b.getStringAttr("llvm.nvvm.ex2.approx.ftz.f32"), op.getX());
    op.replaceAllUsesWith(call.getResult(0));
    op.erase();
  });
}

/// Say of the branches of loops what is said of the loops, where it is translated.
static void annotateLoops(ModuleOp module) {
  module.walk([](LLVM::BrOp op) {
    auto annotation = op->getAttrOfType<LLVM::LoopAnnotationAttr>(
        LLVM::LoopAnnotationAttr::name);
    if (annotation)
      op.setLoopAnnotationAttr(annotation);
  });
}

/// Return a module of the kernels alone, with nothing left that LLVM cannot
/// translate.
static OwningOpRef<ModuleOp> extractKernels(ModuleOp module) {
  OwningOpRef<ModuleOp> copy = ModuleOp::create(module.getLoc());
  for (auto kernels : module.getOps<gpu::GPUModuleOp>())
    for (Operation &op : *kernels.getBody())
      copy->push_back(op.clone());
  lowerInstructions(*copy);
  PassManager pm(module.getContext());
  pm.addPass(createConvertNVVMToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  if (failed(pm.run(*copy)))
    return nullptr;
  annotateLoops(*copy);
  return copy;
}

static void optimize(llvm::Module &module, llvm::TargetMachine &machine,
                     unsigned optLevel) {
  Optimizer optimizer(machine);
  llvm::PassBuilder &builder = optimizer.getBuilder();
  llvm::ModulePassManager passes =
      optLevel == 0
          ? builder.buildO0DefaultPipeline(llvm::OptimizationLevel::O0)
          : builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3);
  optimizer.run(passes, module);
}

static llvm::Error generate(llvm::Module &module, TargetInfo target,
                            StringRef architecture, unsigned optLevel,
                            std::string &ptx) {
  target.cpu = architecture.str();
  auto machine = target.createTargetMachine(/*optLevel=*/3);
  if (!machine)
    return machine.takeError();
  module.setTargetTriple((*machine)->getTargetTriple());
  module.setDataLayout((*machine)->createDataLayout());
  if (llvm::Error error = linkMath(module))
    return error;
  optimize(module, **machine, optLevel);
  SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  CodeGenPasses passes;
  if ((*machine)->addPassesToEmitFile(passes, stream, nullptr,
                                      llvm::CodeGenFileType::AssemblyFile))
    return llvm::createStringError("LLVM generates no PTX");
  passes.run(module);
  ptx.assign(bytes.begin(), bytes.end());
  return llvm::Error::success();
}

FailureOr<std::string> attn::emitPtx(ModuleOp module, StringRef architecture,
                                     unsigned optLevel) {
  OwningOpRef<ModuleOp> kernels = extractKernels(module);
  if (!kernels)
    return failure();
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> llvmModule =
      translateModuleToLLVMIR(*kernels, context, "kernels");
  if (!llvmModule)
    return module.emitError("cannot be translated to LLVM IR");
  std::string ptx;
  if (llvm::Error error = generate(*llvmModule, TargetInfo::get(module),
                                   architecture, optLevel, ptx))
    return module.emitError(llvm::toString(std::move(error)));
  return ptx;
}
