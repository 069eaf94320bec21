// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Links lib/Runtime/CudaMath.c, which the build has compiled to bitcode, into a module of kernels. The emulator runs the
// same functions as a GPU:
//
//   declare float @__nv_expf(float)    ->    define internal float @__nv_expf(float %x) { ... }

#include "attn/Target/CUDA/LinkMath.h"

#include "../LinkBitcode.h"

#include "llvm/IR/Module.h"

using namespace mlir::attn;

static constexpr unsigned char kMath[] = {
#include "attn/Target/CUDA/CudaMath.inc"
};

/// Return a function that `module` calls and lacks, of a name that kernels' functions
/// have; null if there is none.
static const llvm::Function *findMissing(const llvm::Module &module) {
  for (const llvm::Function &function : module)
    if (function.isDeclaration() && !function.isIntrinsic() &&
        function.getName().starts_with("__nv_"))
      return &function;
  return nullptr;
}

llvm::Error mlir::attn::linkMath(llvm::Module &module) {
  if (!findMissing(module))
    return llvm::Error::success();
  if (llvm::Error error = linkBitcode(module, kMath, "functions of kernels",
                                      [](llvm::Function &) {}))
    return error;
  if (const llvm::Function *missing = findMissing(module))
    return llvm::createStringError(
        "expects functions that kernels have, got a call of '" +
        missing->getName() + "'");
  return llvm::Error::success();
}
