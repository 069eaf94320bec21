// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What this machine can do at most, measured: the yardstick of every benchmark.

#ifndef ATTN_EXECUTION_MACHINEPEAKS_H
#define ATTN_EXECUTION_MACHINEPEAKS_H

#include <string>

namespace mlir::attn {

/// Peaks of some threads together.
struct MachinePeaks {
  /// Fused multiply-adds on f32 registers alone, two operations each.
  double fmaGflops = 0;
  /// A product of f32 matrices that stay in the first-level cache.
  double gemmGflops = 0;
  /// Reading memory that no cache holds, in 8 streams a thread.
  double readGbs = 0;
};

/// Measure the peaks of `threads` threads; takes about half a second. The best
/// of several short trials counts: others on the machine can only take away.
MachinePeaks measurePeaks(unsigned threads);

/// Return the name of this machine's processor, as its system states it.
std::string getProcessorName();

} // namespace mlir::attn

#endif // ATTN_EXECUTION_MACHINEPEAKS_H
