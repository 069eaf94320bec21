// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Times calls of compiled functions.

#include "attn/Execution/Benchmark.h"

#include <algorithm>
#include <chrono>
#include <thread>

using namespace mlir;
using namespace mlir::attn;

unsigned mlir::attn::resolveThreads(unsigned threads) {
  return threads ? threads : std::max(std::thread::hardware_concurrency(), 1u);
}

/// Return the element of `sorted` that `share` of them do not exceed.
static double percentile(ArrayRef<double> sorted, double share) {
  auto at = static_cast<size_t>(share * static_cast<double>(sorted.size()));
  return sorted[std::min(at, sorted.size() - 1)];
}

llvm::Expected<Measurement>
mlir::attn::measure(const Executor &executor, StringRef function,
                    ArrayRef<HostTensor> inputs, ArrayRef<HostTensor> outputs,
                    unsigned count, unsigned threads, const Workload &workload,
                    const MachinePeaks &peaks) {
  Measurement result;
  result.threads = resolveThreads(threads);
  executor.setThreads(result.threads);
  Executor::resetPeakMemory();
  if (llvm::Error error = executor.run(function, inputs, outputs))
    return std::move(error);
  result.extraBytes = Executor::getPeakMemory();
  std::vector<double> times;
  for (unsigned i = 0, e = std::max(count, 1u); i < e; ++i) {
    auto start = std::chrono::steady_clock::now();
    if (llvm::Error error = executor.run(function, inputs, outputs))
      return std::move(error);
    std::chrono::duration<double, std::milli> time =
        std::chrono::steady_clock::now() - start;
    times.push_back(time.count());
  }
  llvm::sort(times);
  result.msMin = times.front();
  result.msMedian = percentile(times, 0.5);
  result.msP95 = percentile(times, 0.95);
  double seconds = 1e-3 * std::max(result.msMin, 1e-9);
  double lanes = workload.isDouble ? 0.5 : 1.0;
  auto shareOf = [](double got, double peak) {
    return peak > 0 ? got / peak : 0;
  };
  result.gflops = 1e-9 * static_cast<double>(workload.operations) / seconds;
  result.fmaShare = shareOf(result.gflops, peaks.fmaGflops * lanes);
  result.gemmShare = shareOf(result.gflops, peaks.gemmGflops * lanes);
  result.readShare = shareOf(
      1e-9 * static_cast<double>(workload.inputBytes) / seconds, peaks.readGbs);
  return result;
}
