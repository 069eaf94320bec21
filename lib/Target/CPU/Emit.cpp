// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Translates to LLVM IR, links what entries call into it, optimizes, and generates code:
//
//   llvm.func @attend(...)          ->   define i32 @attend(...)
//   llvm.func @attn_rt_open(...)         define internal i32 @attn_rt_open(...) { the code of lib/Runtime }

#include "attn/Target/CPU/Emit.h"
#include "../Optimizer.h"
#include "StepPointers.h"
#include "attn/Target/CPU/LinkRuntime.h"
#include "attn/Target/CPU/RuntimeFeatures.h"

#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/OpenMP/OpenMPToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Vectorize/LoopVectorize.h"

using namespace mlir;
using namespace mlir::attn;

void attn::registerCpuTranslations(DialectRegistry &registry) {
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerOpenMPDialectTranslation(registry);
}

/// Tell every function which CPU it may use. One without a word would get all
/// that the target has.
static void setFunctionTargets(llvm::Module &module, const TargetInfo &target) {
  for (llvm::Function &function : module) {
    if (function.isDeclaration() || function.hasFnAttribute(kBaselineAttrName))
      continue;
    if (!target.cpu.empty())
      function.addFnAttr("target-cpu", target.cpu);
    if (!target.features.empty())
      function.addFnAttr("target-features", target.features);
    function.addFnAttr("prefer-vector-width",
                       std::to_string(target.vectorBits));
  }
}

/// What is left to do for LLVM where our own passes have chosen vectors, tiles and
/// unrolling: addresses, invariants and leftovers. Its default pipeline takes three
/// times the time and was measured to make nothing faster; nor did induction
/// variables in another form.
static constexpr const char *kPasses =
    "sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,"
    "loop-mssa(loop-rotate,licm),gvn";
static constexpr const char *kLastPasses =
    "instcombine<no-verify-fixpoint>,simplifycfg,adce";

namespace {
/// Finds vectors for loops that are not ours: in functions without any.
struct VectorizeScalars : llvm::PassInfoMixin<VectorizeScalars> {
  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &manager) {
    for (const llvm::Instruction &instruction : llvm::instructions(function))
      if (instruction.getType()->isVectorTy())
        return llvm::PreservedAnalyses::all();
    return llvm::LoopVectorizePass().run(function, manager);
  }
};

/// Runs passes on functions that are ours: those of the run-time library have had
/// theirs.
struct OptimizeOurs : llvm::PassInfoMixin<OptimizeOurs> {
  explicit OptimizeOurs(llvm::FunctionPassManager passes)
      : passes(std::move(passes)) {}

  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &manager) {
    return function.hasOptNone() ? llvm::PreservedAnalyses::all()
                                 : passes.run(function, manager);
  }

  llvm::FunctionPassManager passes;
};
} // namespace

static llvm::Error optimize(llvm::Module &module, llvm::TargetMachine &machine,
                            unsigned optLevel) {
  Optimizer optimizer(machine);
  llvm::PassBuilder &builder = optimizer.getBuilder();
  if (optLevel == 0) {
    llvm::ModulePassManager none =
        builder.buildO0DefaultPipeline(llvm::OptimizationLevel::O0);
    optimizer.run(none, module);
    return llvm::Error::success();
  }
  llvm::FunctionPassManager first, last;
  if (llvm::Error error = builder.parsePassPipeline(first, kPasses))
    return error;
  if (llvm::Error error = builder.parsePassPipeline(last, kLastPasses))
    return error;
  first.addPass(VectorizeScalars());
  first.addPass(std::move(last));
  first.addPass(StepPointers());
  llvm::ModulePassManager passes;
  passes.addPass(
      llvm::createModuleToFunctionPassAdaptor(OptimizeOurs(std::move(first))));
  optimizer.run(passes, module);
  return llvm::Error::success();
}

/// Append the assembly or the object of `module` to `bytes`.
static llvm::Error generate(llvm::Module &module, llvm::TargetMachine &machine,
                            CpuOutput output, SmallVectorImpl<char> &bytes) {
  llvm::raw_svector_ostream stream(bytes);
  CodeGenPasses passes;
  llvm::CodeGenFileType type = output == CpuOutput::Assembly
                                   ? llvm::CodeGenFileType::AssemblyFile
                                   : llvm::CodeGenFileType::ObjectFile;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type,
                                  /*DisableVerify=*/true))
    return llvm::createStringError("the target generates no such file");
  passes.run(module);
  return llvm::Error::success();
}

static llvm::Error emit(llvm::Module &module, const TargetInfo &target,
                        CpuOutput output, unsigned optLevel,
                        SmallVectorImpl<char> &bytes) {
  auto machine = target.createTargetMachine(optLevel);
  if (!machine)
    return machine.takeError();
  module.setTargetTriple((*machine)->getTargetTriple());
  module.setDataLayout((*machine)->createDataLayout());
  module.setPICLevel(llvm::PICLevel::BigPIC);
  if (llvm::Error error = linkRuntime(module))
    return error;
  setFunctionTargets(module, target);
  if (llvm::Error error = optimize(module, **machine, optLevel))
    return error;
  llvm::raw_svector_ostream stream(bytes);
  switch (output) {
  case CpuOutput::LlvmIr:
    module.print(stream, nullptr);
    return llvm::Error::success();
  case CpuOutput::Bitcode:
    llvm::WriteBitcodeToFile(module, stream);
    return llvm::Error::success();
  case CpuOutput::Assembly:
  case CpuOutput::Object:
    return generate(module, **machine, output, bytes);
  }
  llvm_unreachable("every output is handled");
}

FailureOr<SmallVector<char, 0>> attn::emitCpu(ModuleOp module,
                                              const TargetInfo &target,
                                              CpuOutput output,
                                              unsigned optLevel) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> llvmModule = translateModuleToLLVMIR(
      module, context, module.getName().value_or("attn"));
  if (!llvmModule)
    return module.emitError("cannot be translated to LLVM IR");
  SmallVector<char, 0> bytes;
  if (llvm::Error error = emit(*llvmModule, target, output, optLevel, bytes))
    return module.emitError(llvm::toString(std::move(error)));
  return bytes;
}
