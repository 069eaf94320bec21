// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes on the module for which processor it is compiled:
//
//   module {}
//
// becomes
//
//   module attributes {attn.target = {cpu = "x86-64-v3", vector_bits = 256, ...}} {}

#include "attn/Pipeline/Passes.h"
#include "attn/Target/TargetInfo.h"

namespace mlir::attn {
#define GEN_PASS_DEF_SETTARGET
#include "attn/Pipeline/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

namespace {
struct SetTarget : attn::impl::SetTargetBase<SetTarget> {
  using SetTargetBase::SetTargetBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (target.empty() && module->hasAttr(kTargetAttrName))
      return;
    llvm::Expected<TargetInfo> info = TargetInfo::parse(
        target.empty() ? StringRef("host") : StringRef(target));
    if (!info) {
      module.emitError(llvm::toString(info.takeError()));
      return signalPassFailure();
    }
    info->set(module);
  }
};
} // namespace
