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

#include "attn/IR/AttnDialect.h"
#include "attn/Pipeline/Passes.h"
#include "attn/Target/TargetInfo.h"

namespace mlir::attn {
#define GEN_PASS_DEF_SETTARGET
#include "attn/Pipeline/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// Fails unless the precision that `module` has is one.
static LogicalResult verifyPrecision(ModuleOp module) {
  Attribute given = module->getAttr(kPrecisionAttrName);
  if (!given)
    return success();
  auto name = dyn_cast<StringAttr>(given);
  if (name && symbolizePrecision(name.getValue()))
    return success();
  SmallVector<StringRef> known;
  for (Precision value : {Precision::Exact, Precision::Tf32, Precision::Tf32x3})
    known.push_back(stringifyPrecision(value));
  StringRef text = name ? name.getValue() : StringRef();
  return module.emitError(
      withKnownValues("expects '" + kPrecisionAttrName.str() +
                          "' to be a precision, got '" + text + "'",
                      text, known));
}

namespace {
struct SetTarget : attn::impl::SetTargetBase<SetTarget> {
  using SetTargetBase::SetTargetBase;

  LogicalResult setPrecision(ModuleOp module) {
    if (!precision.empty())
      module->setAttr(kPrecisionAttrName,
                      StringAttr::get(&getContext(), precision));
    return verifyPrecision(module);
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(setPrecision(module)))
      return signalPassFailure();
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
