// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How long a function takes, and what part of the machine's peaks that is.

#ifndef ATTN_EXECUTION_BENCHMARK_H
#define ATTN_EXECUTION_BENCHMARK_H

#include "attn/Execution/Executor.h"
#include "attn/Execution/MachinePeaks.h"

namespace mlir::attn {

/// What one call does, which its time is related to.
struct Workload {
  /// Floating-point operations.
  int64_t operations = 0;
  /// Bytes of all inputs that must be read, each once.
  int64_t inputBytes = 0;
  /// Whether numbers are computed in f64, of which registers hold half as many.
  bool isDouble = false;
};

/// Times of many calls. Rates and shares belong to the fastest.
struct Measurement {
  /// What the machine could do meanwhile, on as many threads.
  MachinePeaks peaks;
  double msMin = 0, msMedian = 0, msP95 = 0;
  double gflops = 0;
  /// Of the peaks, 1 for all.
  double fmaShare = 0, gemmShare = 0, readShare = 0;
  /// Most bytes that the function held at once beside inputs and outputs: what
  /// it allocated, stacks not counted.
  int64_t extraBytes = 0;
  /// 0 for a GPU, which has neither peaks nor shares.
  unsigned threads = 1;
};

/// Return how many threads `threads` stands for, 0 being one for each core.
unsigned resolveThreads(unsigned threads);

/// Call `function` at least `count` times in rounds, each of which measures the
/// machine's peaks first and then warms up: what disturbs the machine disturbs
/// all of them alike.
llvm::Expected<Measurement> measure(const Executor &executor,
                                    StringRef function,
                                    ArrayRef<HostTensor> inputs,
                                    ArrayRef<HostTensor> outputs,
                                    unsigned count, unsigned threads,
                                    const Workload &workload, PeakMeter &meter);

/// Call `function`, which has kernels, `count` times; the GPU says how long each
/// took.
llvm::Expected<Measurement>
measureOnDevice(const Executor &executor, StringRef function,
                ArrayRef<HostTensor> inputs, ArrayRef<HostTensor> outputs,
                unsigned count, const Workload &workload);

} // namespace mlir::attn

#endif // ATTN_EXECUTION_BENCHMARK_H
