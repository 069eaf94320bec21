// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// libLLVM registers hundreds of options in every program that links it. Ours
// should neither collide with them
// (`--threads` is one) nor be lost among them in --help and in "did you mean".

#ifndef ATTN_TOOLS_LIBRARYOPTIONS_H
#define ATTN_TOOLS_LIBRARYOPTIONS_H

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"

namespace mlir::attn {

/// Take away all options but --help and --version. Call it in main before the
/// tool's own options exist.
inline void dropLibraryOptions() {
  llvm::SmallVector<llvm::cl::Option *> dropped;
  for (auto &[name, option] : llvm::cl::getRegisteredOptions())
    if (name != "help" && name != "version")
      dropped.push_back(option);
  for (llvm::cl::Option *option : dropped)
    option->removeArgument();
}

} // namespace mlir::attn

#endif // ATTN_TOOLS_LIBRARYOPTIONS_H
