// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-translate: mlir-translate with what our modules need, and two translations of ours.
//
//   attnc x.mlir --stop-after=llvm | attn-translate --attn-to-llvmir
//   attn-translate x.mlir --attn-to-c-header

#include "attn/Pipeline/Input.h"
#include "attn/Pipeline/Output.h"
#include "attn/Pipeline/Phases.h"
#include "attn/Target/CPU/Emit.h"

#include "mlir/InitAllTranslations.h"
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"
#include "mlir/Tools/mlir-translate/Translation.h"

using namespace mlir;

/// Print a module of the phase llvm as LLVM IR that nothing has optimized yet.
static LogicalResult translateToLlvmIr(ModuleOp module, raw_ostream &os) {
  attn::TargetInfo target = attn::TargetInfo::get(module);
  FailureOr<SmallVector<char, 0>> text =
      attn::emitCpu(module, target, attn::CpuOutput::LlvmIr, /*optLevel=*/0);
  if (failed(text))
    return failure();
  os.write(text->data(), text->size());
  return success();
}

/// Print the C header of the functions in a file that attnc would compile.
static LogicalResult
translateToHeader(const std::shared_ptr<llvm::SourceMgr> &sources,
                  raw_ostream &os, MLIRContext *context) {
  DialectRegistry registry;
  attn::registerCompilerDialects(registry);
  context->appendDialectRegistry(registry);
  OwningOpRef<ModuleOp> module = attn::parseInput(*sources, context);
  return module ? attn::printHeader(*module, /*target=*/"", os) : failure();
}

int main(int argc, char **argv) {
  registerAllTranslations();
  TranslateFromMLIRRegistration toLlvmIr(
      "attn-to-llvmir", "from the phase llvm to LLVM IR", translateToLlvmIr,
      attn::registerCompilerDialects);
  TranslateRegistration toHeader("attn-to-c-header",
                                 "the C declarations of compiled functions",
                                 translateToHeader);
  return failed(mlirTranslateMain(argc, argv, "attn-mlir translations"));
}
