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

/// Fails unless number `name` of `target` is one, where it is there, from `least` to
/// `most`.
static LogicalResult verifyNumber(ModuleOp module, DictionaryAttr target,
                                  StringRef name, int64_t least, int64_t most) {
  Attribute given = target.get(name);
  auto number = dyn_cast_or_null<IntegerAttr>(given);
  if (!given || (number && number.getType().isSignlessInteger(64) &&
                 number.getInt() >= least && number.getInt() <= most))
    return success();
  return module.emitError()
         << "expects '" << name << "' of 'attn.target' to be an i64 from "
         << least << " to " << most << ", got " << given;
}

/// Fails unless the target that `module` has is one that code can be made for.
static LogicalResult verifyTarget(ModuleOp module) {
  Attribute given = module->getAttr(kTargetAttrName);
  auto target = dyn_cast<DictionaryAttr>(given);
  if (!target)
    return module.emitError()
           << "expects 'attn.target' to be a dictionary, got " << given;
  for (StringRef name : {"triple", "cpu", "features"})
    if (Attribute text = target.get(name); text && !isa<StringAttr>(text))
      return module.emitError()
             << "expects '" << name << "' of 'attn.target' to be a string, got "
             << text;
  // A vector holds a number of f64; there are no wider ones than these.
  constexpr int64_t kLeastBits = 64, kMostBits = 65536,
                    kMostBytes = int64_t(1) << 40;
  if (failed(
          verifyNumber(module, target, "vector_bits", kLeastBits, kMostBits)) ||
      failed(verifyNumber(module, target, "vector_registers", 1, kMostBits)))
    return failure();
  if (auto bits = target.getAs<IntegerAttr>("vector_bits");
      bits && !llvm::isPowerOf2_64(bits.getInt()))
    return module.emitError() << "expects 'vector_bits' of 'attn.target' to be "
                                 "a power of two, got "
                              << bits.getInt();
  for (StringRef name :
       {"l1_bytes", "l2_bytes", "prefetch_bytes", "shared_block_bytes",
        "shared_processor_bytes", "processor_registers", "processor_warps",
        "thread_registers"})
    if (failed(verifyNumber(module, target, name, 0, kMostBytes)))
      return failure();
  return success();
}

namespace {
struct SetTarget : attn::impl::SetTargetBase<SetTarget> {
  using SetTargetBase::SetTargetBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (target.empty() && module->hasAttr(kTargetAttrName)) {
      if (failed(verifyTarget(module)))
        signalPassFailure();
      return;
    }
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
