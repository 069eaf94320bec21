// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM's passes on the way to a CPU and to PTX.

#ifndef ATTN_LIB_TARGET_OPTIMIZER_H
#define ATTN_LIB_TARGET_OPTIMIZER_H

#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Passes/PassBuilder.h"

namespace mlir::attn {

/// Runs passes of LLVM IR, with their analyses.
class Optimizer {
public:
  explicit Optimizer(llvm::TargetMachine &machine) : builder(&machine) {
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(components);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, components, modules);
  }

  /// What makes passes for `run`.
  llvm::PassBuilder &getBuilder() { return builder; }

  void run(llvm::ModulePassManager &passes, llvm::Module &module) {
    passes.run(module, modules);
  }

private:
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;
};

/// The passes of the code generator but those that choose what all loops count with:
/// loops over register tiles of a CPU have had that already, and on a GPU one
/// induction variable for every address takes registers that kernels do not have.
/// Their analyses alone would take a tenth of the code generator's time.
struct CodeGenPasses : llvm::legacy::PassManager {
  void add(llvm::Pass *pass) override {
    llvm::StringRef name = pass->getPassName();
    if (name != "Loop Strength Reduction" &&
        name != "Canonicalize Freeze Instructions in Loops")
      return llvm::legacy::PassManager::add(pass);
    delete pass;
  }
};

} // namespace mlir::attn

#endif // ATTN_LIB_TARGET_OPTIMIZER_H
