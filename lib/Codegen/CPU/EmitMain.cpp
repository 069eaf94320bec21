// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Adds to a module with the C entry of one function the main function of an executable:
//
//   llvm.func @main(%argc: i32, %argv: !llvm.ptr) -> i32 {
//     %status = llvm.call @attn_rt_main(%argc, %argv, @f.signature, @f.names, @f_shape_apply, @f_apply)
//     llvm.return %status : i32
//   }
//
// The work is done by lib/Runtime/Main.c.

#include "attn/Codegen/CpuPasses.h"
#include "attn/Target/CPU/RuntimeFeatures.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::attn {
#define GEN_PASS_DEF_EMITMAIN
#include "attn/Codegen/CpuPasses.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// Return whether `name` is an entry of another of `names` for packed weights.
static bool isForPacked(StringRef name, ArrayRef<StringRef> names) {
  return (name.consume_back("_pack") || name.consume_back("_packed")) &&
         llvm::is_contained(names, name);
}

/// Build main around the function called `name`.
static void buildMain(ModuleOp module, StringRef name) {
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  Location loc = module.getLoc();
  Type ptr = LLVM::LLVMPointerType::get(b.getContext());
  Type i32 = b.getI32Type();
  auto callee = LLVM::LLVMFuncOp::create(
      b, loc, "attn_rt_main",
      LLVM::LLVMFunctionType::get(i32, {i32, ptr, ptr, ptr, ptr, ptr}));
  auto main = LLVM::LLVMFuncOp::create(
      b, loc, "main", LLVM::LLVMFunctionType::get(i32, {i32, ptr}));
  main.setPassthroughAttr(b.getStrArrayAttr({kBaselineAttrName}));
  b.setInsertionPointToStart(main.addEntryBlock(b));
  SmallVector<Value> arguments(main.getArguments());
  for (StringRef suffix : {".signature", ".names", "_shape_apply", "_apply"})
    arguments.push_back(
        LLVM::AddressOfOp::create(b, loc, ptr, (name + suffix).str()));
  Value status = LLVM::CallOp::create(b, loc, callee, arguments).getResult();
  LLVM::ReturnOp::create(b, loc, status);
}

namespace {
struct EmitMain : attn::impl::EmitMainBase<EmitMain> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<StringRef> names;
    for (auto global : module.getOps<LLVM::GlobalOp>()) {
      StringRef name = global.getSymName();
      if (name.consume_back(".signature"))
        names.push_back(name);
    }
    SmallVector<StringRef> all = names;
    llvm::erase_if(names,
                   [&](StringRef name) { return isForPacked(name, all); });
    if (names.size() != 1) {
      module.emitError("expects one public function to make an executable of, "
                       "got ")
          << names.size();
      return signalPassFailure();
    }
    if (module.lookupSymbol("main")) {
      module.emitError("expects no function called 'main' in an executable");
      return signalPassFailure();
    }
    buildMain(module, names.front());
  }
};
} // namespace
