// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes on attention and layers of f32 how a GPU may multiply, where they do not say it themselves:
//
//   %o = attn.sdpa %q, %k, %v : tensor<1x2x8x64xf32>, ...
//
// becomes, with precision=tf32,
//
//   %o = attn.sdpa %q, %k, %v precision = tf32 : tensor<1x2x8x64xf32>, ...

#include "attn/IR/AttnOps.h"
#include "attn/Pipeline/Passes.h"
#include "attn/Target/TargetInfo.h"

#include "mlir/IR/TypeUtilities.h"

namespace mlir::attn {
#define GEN_PASS_DEF_SETPRECISION
#include "attn/Pipeline/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

void attn::setPrecision(ModuleOp module, Precision precision) {
  auto set = [&](auto op) {
    if (!op.getPrecision() && getElementTypeOrSelf(op->getOperand(0)).isF32())
      op.setPrecision(precision);
  };
  module.walk([&](SdpaOp op) { set(op); });
  module.walk([&](MhaOp op) { set(op); });
}

llvm::Expected<Precision> attn::parsePrecision(StringRef name) {
  if (std::optional<Precision> precision = symbolizePrecision(name))
    return *precision;
  SmallVector<StringRef> known;
  for (uint32_t value = 0; value <= getMaxEnumValForPrecision(); ++value)
    known.push_back(stringifyPrecision(*symbolizePrecision(value)));
  return llvm::createStringError(
      withKnownValues("expects a precision, got '" + name + "'", name, known));
}

namespace {
struct SetPrecision : attn::impl::SetPrecisionBase<SetPrecision> {
  using SetPrecisionBase::SetPrecisionBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    llvm::Expected<Precision> wanted = parsePrecision(precision);
    if (!wanted) {
      module.emitError(llvm::toString(wanted.takeError()));
      return signalPassFailure();
    }
    TargetInfo target = TargetInfo::get(module);
    if (*wanted != Precision::Exact && !target.isCuda()) {
      module.emitError("expects a GPU as target with a precision of ")
          << precision << ", got '" << target.triple << "'";
      return signalPassFailure();
    }
    setPrecision(module, *wanted);
  }
};
} // namespace
