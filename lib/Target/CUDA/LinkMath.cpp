// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Links lib/Runtime/CudaMath.c, which the build has compiled to bitcode, into a module of kernels. The emulator runs the
// same functions as a GPU:
//
//   declare float @__nv_expf(float)    ->    define internal float @__nv_expf(float %x) { ... }

#include "attn/Target/CUDA/LinkMath.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Transforms/IPO/Internalize.h"

using namespace mlir::attn;
using llvm::StringRef;

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

/// Take away what ties the functions of `math` to one machine.
static void retarget(llvm::Module &math, const llvm::Module &like) {
  math.setTargetTriple(like.getTargetTriple());
  math.setDataLayout(like.getDataLayout());
  for (llvm::Function &function : math)
    for (StringRef name : {"target-cpu", "target-features", "tune-cpu",
                           "frame-pointer", "no-trapping-math"})
      function.removeFnAttr(name);
}

llvm::Error mlir::attn::linkMath(llvm::Module &module) {
  if (!findMissing(module))
    return llvm::Error::success();
  llvm::MemoryBufferRef buffer(
      StringRef(reinterpret_cast<const char *>(kMath), sizeof kMath),
      "attn math");
  auto math = llvm::parseBitcodeFile(buffer, module.getContext());
  if (!math)
    return math.takeError();
  retarget(**math, module);
  auto internalize = [](llvm::Module &linked, const llvm::StringSet<> &names) {
    llvm::internalizeModule(linked, [&](const llvm::GlobalValue &value) {
      return !value.hasName() || !names.contains(value.getName());
    });
  };
  if (llvm::Linker::linkModules(module, std::move(*math),
                                llvm::Linker::LinkOnlyNeeded, internalize))
    return llvm::createStringError("cannot link the functions of kernels");
  if (const llvm::Function *missing = findMissing(module))
    return llvm::createStringError(
        "expects functions that kernels have, got a call of '" +
        missing->getName() + "'");
  return llvm::Error::success();
}
