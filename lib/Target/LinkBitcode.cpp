// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Links a library of bitcode into a module:
//
//   declare i32 @attn_rt_open(...)    ->    define internal i32 @attn_rt_open(...) { ... }

#include "LinkBitcode.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Transforms/IPO/Internalize.h"

using llvm::StringRef;

llvm::Error
mlir::attn::linkBitcode(llvm::Module &module,
                        llvm::ArrayRef<unsigned char> bitcode, StringRef name,
                        llvm::function_ref<void(llvm::Function &)> prepare) {
  llvm::MemoryBufferRef buffer(
      StringRef(reinterpret_cast<const char *>(bitcode.data()), bitcode.size()),
      name);
  auto library = llvm::parseBitcodeFile(buffer, module.getContext());
  if (!library)
    return library.takeError();
  (*library)->setTargetTriple(module.getTargetTriple());
  (*library)->setDataLayout(module.getDataLayout());
  for (llvm::Function &function : **library) {
    for (StringRef attribute :
         {"target-cpu", "target-features", "tune-cpu", "frame-pointer",
          "min-legal-vector-width", "no-trapping-math"})
      function.removeFnAttr(attribute);
    prepare(function);
  }
  auto internalize = [](llvm::Module &linked, const llvm::StringSet<> &names) {
    llvm::internalizeModule(linked, [&](const llvm::GlobalValue &value) {
      return !value.hasName() || !names.contains(value.getName());
    });
  };
  if (llvm::Linker::linkModules(module, std::move(*library),
                                llvm::Linker::LinkOnlyNeeded, internalize))
    return llvm::createStringError("cannot link '" + name + "'");
  return llvm::Error::success();
}
