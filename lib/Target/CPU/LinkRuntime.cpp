// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Links lib/Runtime, which the build has compiled to bitcode, into a module:
//
//   declare i32 @attn_rt_open(...)    ->    define internal i32 @attn_rt_open(...) { ... }

#include "attn/Target/CPU/LinkRuntime.h"

#include "../LinkBitcode.h"

#include "attn/Target/CPU/RuntimeFeatures.h"
#include "attn/Target/CUDA/LinkMath.h"

#include "llvm/IR/Module.h"

using namespace mlir::attn;
using llvm::StringRef;

static constexpr unsigned char kEntry[] = {
#include "attn/Target/CPU/RuntimeEntry.inc"
};
static constexpr unsigned char kMain[] = {
#include "attn/Target/CPU/RuntimeMain.inc"
};
static constexpr unsigned char kCuda[] = {
#include "attn/Target/CPU/RuntimeCuda.inc"
};
static constexpr unsigned char kCpuX86[] = {
#include "attn/Target/CPU/RuntimeCpuX86.inc"
};
static constexpr unsigned char kCpuAArch64[] = {
#include "attn/Target/CPU/RuntimeCpuAArch64.inc"
};

/// Let `function`, of the run-time library, be for the oldest CPU. The build has
/// optimized it for size; once more would take a third of the time to compile one
/// attention.
static void keep(llvm::Function &function) {
  if (function.isDeclaration())
    return;
  function.addFnAttr(kBaselineAttrName);
  for (llvm::Attribute::AttrKind kind :
       {llvm::Attribute::MinSize, llvm::Attribute::OptimizeForSize,
        llvm::Attribute::AlwaysInline})
    function.removeFnAttr(kind);
  function.addFnAttr(llvm::Attribute::NoInline);
  function.addFnAttr(llvm::Attribute::OptimizeNone);
}

/// Name the oldest CPU of the architecture where it has a name.
static void setBaseline(llvm::Module &module) {
  const llvm::Triple &triple = module.getTargetTriple();
  StringRef cpu = triple.getArch() == llvm::Triple::x86_64    ? "x86-64"
                  : triple.getArch() == llvm::Triple::aarch64 ? "generic"
                                                              : "";
  for (llvm::Function &function : module) {
    if (cpu.empty() || !function.hasFnAttribute(kBaselineAttrName))
      continue;
    function.addFnAttr("target-cpu", cpu);
    function.addFnAttr("target-features", "");
  }
}

llvm::Error mlir::attn::linkRuntime(llvm::Module &module) {
  llvm::SmallVector<llvm::ArrayRef<unsigned char>> parts = {kMain, kCuda,
                                                            kEntry};
  const llvm::Triple &triple = module.getTargetTriple();
  if (triple.getArch() == llvm::Triple::x86_64)
    parts.push_back(kCpuX86);
  if (triple.getArch() == llvm::Triple::aarch64)
    parts.push_back(kCpuAArch64);
  for (llvm::ArrayRef<unsigned char> part : parts)
    if (llvm::Error error = linkBitcode(module, part, "run-time library", keep))
      return error;
  setBaseline(module);
  return linkMath(module);
}
