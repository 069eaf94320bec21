// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the command lines of attn-run, attn-bench and attn-fuzz have in common.

#ifndef ATTN_TOOLS_TOOLOPTIONS_H
#define ATTN_TOOLS_TOOLOPTIONS_H

#include "llvm/Support/CommandLine.h"

namespace mlir::attn {

/// Exit statuses beside 0: what was asked for failed; wrong use.
constexpr int kFailed = 1;
constexpr int kWrongUse = 2;

/// The command line of a tool. A tool derives a struct from it whose members
/// are its options, each in `category`.
struct ToolOptions {
  llvm::cl::OptionCategory category;

  /// `title` heads the options in --help. LLVM has hundreds of options of its
  /// own, --threads among them: they are forgotten before ours are made.
  explicit ToolOptions(llvm::StringRef title) : category(forgetOthers(title)) {}

  /// Read the command line; false where it is wrong, which has been said then.
  bool parse(int argc, char **argv, llvm::StringRef overview) {
    llvm::cl::HideUnrelatedOptions(category);
    return llvm::cl::ParseCommandLineOptions(argc, argv, overview,
                                             &llvm::errs());
  }

private:
  static llvm::StringRef forgetOthers(llvm::StringRef title) {
    llvm::cl::ResetCommandLineParser();
    return title;
  }
};

} // namespace mlir::attn

#endif // ATTN_TOOLS_TOOLOPTIONS_H
