// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the list of lib/Runtime/Cpu.h against LLVM's tables.

#include "attn/Target/CPU/RuntimeFeatures.h"

#include "../../Runtime/Cpu.h"

#include "llvm/TargetParser/Triple.h"

using namespace mlir::attn;

uint64_t mlir::attn::getRuntimeFeatures(const TargetInfo &target) {
#define X86_NAME(name, leaf, subleaf, word, bit) name,
#define AARCH64_NAME(name, word, bit) name,
  static constexpr llvm::StringLiteral x86[] = {ATTN_X86_FEATURES(X86_NAME)};
  static constexpr llvm::StringLiteral aarch64[] = {
      ATTN_AARCH64_FEATURES(AARCH64_NAME)};
#undef X86_NAME
#undef AARCH64_NAME
  llvm::Triple triple(target.triple);
  if (!triple.isOSLinux())
    return 0;
  llvm::ArrayRef<llvm::StringLiteral> names;
  if (triple.getArch() == llvm::Triple::x86_64)
    names = x86;
  else if (triple.getArch() == llvm::Triple::aarch64)
    names = aarch64;
  return target.findFeatures(names);
}
