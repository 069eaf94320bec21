// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the function on its standard input, turns attention into linalg and prints the result.

#include "attn/InitAll.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/MemoryBuffer.h"

int main() {
  mlir::DialectRegistry registry;
  registry.insert<mlir::func::FuncDialect>();
  mlir::attn::registerAllDialects(registry);
  mlir::MLIRContext context(registry);
  auto text = llvm::MemoryBuffer::getSTDIN();
  auto module = mlir::parseSourceString<mlir::ModuleOp>((*text)->getBuffer(),
                                                        &context, "stdin");
  if (!module)
    return 1;
  mlir::PassManager passes(&context);
  passes.addPass(mlir::attn::createAttnToLinalg());
  if (mlir::failed(passes.run(*module)))
    return 1;
  module->print(llvm::outs());
}
