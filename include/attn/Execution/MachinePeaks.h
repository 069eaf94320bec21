// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What this machine can do at most, measured: the yardstick of every benchmark.

#ifndef ATTN_EXECUTION_MACHINEPEAKS_H
#define ATTN_EXECUTION_MACHINEPEAKS_H

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace mlir::attn {

/// Peaks of some threads together.
struct MachinePeaks {
  /// Fused multiply-adds on f32 registers alone, two operations each.
  double fmaGflops = 0;
  /// A product of f32 matrices that stay in the first-level cache.
  double gemmGflops = 0;
  /// Reading memory that no cache holds: each thread in 8 streams, 512 bytes
  /// from each in turn, and in one stream.
  double readGbs = 0, read1Gbs = 0;

  /// Keep what is higher in `other`.
  void raise(const MachinePeaks &other);
};

/// Measures peaks, as often and next to whatever it is asked to: others on the
/// machine can only take away, so the best of many short trials counts.
class PeakMeter {
public:
  PeakMeter();

  /// Return the best of `trials` trials of each loop on `threads` threads; a
  /// trial takes about 15 milliseconds.
  MachinePeaks measure(unsigned threads, unsigned trials = 3);

private:
  double rateOfRead(unsigned threads, unsigned trials, size_t streams);

  /// What is read, if there is memory for it, and how far each thread is in
  /// its part.
  std::unique_ptr<char[]> memory;
  std::vector<size_t> places;
};

/// Return the name of this machine's processor, as its system states it.
std::string getProcessorName();

} // namespace mlir::attn

#endif // ATTN_EXECUTION_MACHINEPEAKS_H
