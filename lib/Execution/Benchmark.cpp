// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Times calls of compiled functions.

#include "attn/Execution/Benchmark.h"

#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <chrono>
#include <thread>

using namespace mlir;
using namespace mlir::attn;

/// Calls of a round at least, and rounds at most.
constexpr unsigned kCallsOfRound = 3, kMostRounds = 10;

/// After how long threads that wait for more work no longer keep a core busy:
/// 200 ms is what libomp lets them spin.
constexpr std::chrono::milliseconds kUntilIdle(220);

unsigned mlir::attn::resolveThreads(unsigned threads) {
  return threads ? threads : std::max(std::thread::hardware_concurrency(), 1u);
}

/// Return the element of `sorted` that `share` of them do not exceed.
static double percentile(ArrayRef<double> sorted, double share) {
  auto at = static_cast<size_t>(share * static_cast<double>(sorted.size()));
  return sorted[std::min(at, sorted.size() - 1)];
}

/// Call `function` `count` times, add what each took to `times`, and return the
/// first error.
static llvm::Error timeCalls(const Executor &executor, StringRef function,
                             ArrayRef<HostTensor> inputs,
                             ArrayRef<HostTensor> outputs, unsigned count,
                             std::vector<double> &times) {
  for (unsigned i = 0; i < count; ++i) {
    auto start = std::chrono::steady_clock::now();
    if (llvm::Error error = executor.run(function, inputs, outputs))
      return error;
    std::chrono::duration<double, std::milli> time =
        std::chrono::steady_clock::now() - start;
    times.push_back(time.count());
  }
  return llvm::Error::success();
}

/// Derive from `times`, of which there is one at least, what depends on them.
static void summarize(std::vector<double> times, const Workload &workload,
                      Measurement &result) {
  llvm::sort(times);
  result.msMin = times.front();
  result.msMedian = percentile(times, 0.5);
  result.msP95 = percentile(times, 0.95);
  double seconds = 1e-3 * std::max(result.msMin, 1e-9);
  double lanes = workload.isDouble ? 0.5 : 1.0;
  const MachinePeaks &peaks = result.peaks;
  auto shareOf = [](double got, double peak) {
    return peak > 0 ? got / peak : 0;
  };
  result.gflops = 1e-9 * static_cast<double>(workload.operations) / seconds;
  result.fmaShare = shareOf(result.gflops, peaks.fmaGflops * lanes);
  result.gemmShare = shareOf(result.gflops, peaks.gemmGflops * lanes);
  result.readShare = shareOf(
      1e-9 * static_cast<double>(workload.inputBytes) / seconds, peaks.readGbs);
}

llvm::Expected<Measurement>
mlir::attn::measure(const Executor &executor, StringRef function,
                    ArrayRef<HostTensor> inputs, ArrayRef<HostTensor> outputs,
                    unsigned count, unsigned threads, const Workload &workload,
                    PeakMeter &meter) {
  Measurement result;
  result.threads = resolveThreads(threads);
  executor.setThreads(result.threads);
  Executor::resetPeakMemory();
  if (llvm::Error error = executor.run(function, inputs, outputs))
    return std::move(error);
  result.extraBytes = Executor::getPeakMemory();
  std::vector<double> times, ignored;
  unsigned rounds = std::clamp(count / kCallsOfRound, 1u, kMostRounds);
  for (unsigned round = 0; round < rounds; ++round) {
    if (result.threads > 1)
      std::this_thread::sleep_for(kUntilIdle);
    result.peaks.raise(meter.measure(result.threads));
    if (llvm::Error error =
            timeCalls(executor, function, inputs, outputs, 1, ignored))
      return std::move(error);
    if (llvm::Error error =
            timeCalls(executor, function, inputs, outputs,
                      std::max(llvm::divideCeil(count, rounds), 1u), times))
      return std::move(error);
  }
  summarize(std::move(times), workload, result);
  return result;
}

llvm::Expected<Measurement> mlir::attn::measureOnDevice(
    const Executor &executor, StringRef function, ArrayRef<HostTensor> inputs,
    ArrayRef<HostTensor> outputs, unsigned count, const Workload &workload) {
  auto times = executor.timeOnDevice(function, inputs, outputs, count);
  if (!times)
    return times.takeError();
  Measurement result;
  result.threads = 0;
  summarize(std::move(*times), workload, result);
  return result;
}
