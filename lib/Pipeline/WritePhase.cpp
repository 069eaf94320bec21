// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the module as it stands to a file: what --dump-phases-to is made of.

#include "attn/Pipeline/Passes.h"
#include "attn/Target/CPU/Link.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::attn {
#define GEN_PASS_DEF_WRITEPHASE
#include "attn/Pipeline/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

namespace {
struct WritePhase : attn::impl::WritePhaseBase<WritePhase> {
  using WritePhaseBase::WritePhaseBase;

  void runOnOperation() override {
    std::string text;
    llvm::raw_string_ostream stream(text);
    getOperation().print(stream);
    stream << "\n";
    StringRef folder = llvm::sys::path::parent_path(file);
    if (!folder.empty())
      // A failure shows when the file is written.
      (void)llvm::sys::fs::create_directories(folder);
    if (llvm::Error error = writeOutput({text.data(), text.size()}, file)) {
      getOperation().emitError(llvm::toString(std::move(error)));
      return signalPassFailure();
    }
    markAllAnalysesPreserved();
  }
};
} // namespace
