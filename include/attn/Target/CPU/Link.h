// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From an object in memory to a shared library or an executable, by a linker that is found in PATH.

#ifndef ATTN_TARGET_CPU_LINK_H
#define ATTN_TARGET_CPU_LINK_H

#include "attn/Target/TargetInfo.h"

namespace mlir::attn {

/// What to link.
struct LinkOptions {
  /// `cc` or `ld.lld`, by name or path; empty: whichever PATH has, in this
  /// order (for another target the compiler of its triple first).
  std::string linker;
  /// False: an executable of the objects, one of which has main.
  bool shared = true;
};

/// Link `objects` into `output`, which is complete or absent afterwards. Fails
/// with a message where no linker is found or where it does not succeed.
llvm::Error link(llvm::ArrayRef<llvm::ArrayRef<char>> objects,
                 const TargetInfo &target, const LinkOptions &options,
                 llvm::StringRef output);

/// Write `bytes` to `path` ("-": standard output), which is complete or absent
/// afterwards.
llvm::Error writeOutput(llvm::ArrayRef<char> bytes, llvm::StringRef path);

} // namespace mlir::attn

#endif // ATTN_TARGET_CPU_LINK_H
