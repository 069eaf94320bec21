// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares what the compiler makes of random configurations with what the ops mean.

#ifndef ATTN_EXECUTION_FUZZER_H
#define ATTN_EXECUTION_FUZZER_H

#include "attn/Execution/FuzzCase.h"

#include "mlir/Support/LLVM.h"

namespace mlir::attn {

struct FuzzOptions {
  /// How many configurations are tried, of those that `seed` begins.
  uint64_t count = 1000, seed = 1;
  /// Begin no function after so many seconds; 0 sets no limit.
  double seconds = 0;
  /// Processes at a time; 0 is one for each core. They change no result.
  unsigned jobs = 0;
  /// Try smaller cases when one fails.
  bool minimize = true;
  /// Print each case before it runs.
  bool verbose = false;
  /// Where cases run: empty for this machine's CPU, or `cuda-emulated`.
  std::string device;
  /// Only this case.
  std::optional<FuzzCase> only;
};

struct FuzzSummary {
  uint64_t configurations = 0, mismatches = 0;
  /// Configurations that had to be refused, and were; and those that ran on blocks
  /// of threads.
  uint64_t refused = 0, onBlocks = 0;
};

/// Try configurations; print each mismatch with a line that brings it back to
/// `os`. Each function runs in a process of its own, so that a crash is a
/// mismatch like any other.
llvm::Expected<FuzzSummary> runFuzzer(const FuzzOptions &options,
                                      raw_ostream &os);

} // namespace mlir::attn

#endif // ATTN_EXECUTION_FUZZER_H
