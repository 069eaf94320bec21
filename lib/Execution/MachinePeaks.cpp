// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Times the loops of PeakKernels, on one or more threads at once.

#include "attn/Execution/MachinePeaks.h"

#include "LargePages.h"
#include "PeakKernels.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

using namespace mlir::attn;

/// How long a trial of one loop lasts: shorter than the time that a busy machine
/// lets a thread run.
constexpr double kTrialSeconds = 0.003;

/// Bytes that are read together by all threads: more than the last-level caches
/// of servers hold, which come near to 300 MiB.
constexpr size_t kReadBytes = size_t(512) << 20;

static double now() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

/// Return how much `work` a second gets done, which returns how much it did.
static double rateOf(llvm::function_ref<double()> work) {
  double start = now(), done = 0, seconds = 0;
  do {
    done += work();
    seconds = now() - start;
  } while (seconds < kTrialSeconds);
  return done / seconds;
}

/// Return the best rate that `threads` threads reach together; each calls
/// `work` with its number.
static double bestRate(unsigned threads, unsigned trials,
                       llvm::function_ref<double(unsigned)> work) {
  double best = 0;
  for (unsigned trial = 0; trial < trials; ++trial) {
    std::vector<double> rates(threads, 0);
    std::atomic<unsigned> waiting{threads};
    auto runThread = [&](unsigned number) {
      // All begin together, or the first would have the machine to itself.
      for (--waiting; waiting > 0;)
        std::this_thread::yield();
      rates[number] = rateOf([&] { return work(number); });
    };
    std::vector<std::thread> others;
    for (unsigned number = 1; number < threads; ++number)
      others.emplace_back(runThread, number);
    runThread(0);
    for (std::thread &thread : others)
      thread.join();
    double sum = 0;
    for (double rate : rates)
      sum += rate;
    best = std::max(best, sum);
  }
  return best;
}

void MachinePeaks::raise(const MachinePeaks &other) {
  fmaGflops = std::max(fmaGflops, other.fmaGflops);
  gemmGflops = std::max(gemmGflops, other.gemmGflops);
  readGbs = std::max(readGbs, other.readGbs);
  read1Gbs = std::max(read1Gbs, other.read1Gbs);
}

PeakMeter::PeakMeter() : memory(new (std::nothrow) char[kReadBytes]) {
  if (!memory)
    return;
  adviseLargePages(memory.get(), kReadBytes);
  // Pages that nothing was written to are all the same one.
  std::fill_n(memory.get(), kReadBytes, 0);
}

double PeakMeter::rateOfRead(unsigned threads, unsigned trials,
                             size_t streams) {
  if (!memory)
    return 0;
  PeakKernels kernels = getPeakKernels();
  volatile float sink = 0;
  // Each thread walks through all streams of its part, a stretch at a time.
  constexpr size_t kStretch = size_t(1) << 20;
  size_t stretch = kStretch / streams, part = kReadBytes / threads;
  size_t apart = part / streams / stretch * stretch;
  places.resize(std::max<size_t>(places.size(), threads), 0);
  return 1e-9 * bestRate(threads, trials, [&](unsigned number) {
           if (apart == 0)
             return 0.0;
           size_t &place = places[number];
           place = (place + stretch) % apart / stretch * stretch;
           sink = kernels.read(memory.get() + number * part + place, apart,
                               streams, stretch);
           return double(streams * stretch);
         });
}

MachinePeaks PeakMeter::measure(unsigned threads, unsigned trials) {
  threads = std::max(threads, 1u);
  PeakKernels kernels = getPeakKernels();
  volatile float sink = 0;
  MachinePeaks peaks;
  constexpr int64_t kRounds = 20000;
  peaks.fmaGflops = 1e-9 * bestRate(threads, trials, [&](unsigned) {
                      sink = kernels.fma(kRounds);
                      return double(kRounds) * kernels.fmaOperations;
                    });

  std::vector<float> matrices(
      threads * kGemmDepth * (kernels.gemmRows + kernels.gemmColumns), 0.5f);
  constexpr int64_t kProducts = 200;
  peaks.gemmGflops =
      1e-9 * bestRate(threads, trials, [&](unsigned number) {
        const float *a =
            matrices.data() +
            number * kGemmDepth * (kernels.gemmRows + kernels.gemmColumns);
        sink = kernels.gemm(a, a + kGemmDepth * kernels.gemmRows, kProducts);
        return 2.0 * kProducts * kGemmDepth * kernels.gemmRows *
               kernels.gemmColumns;
      });
  peaks.readGbs = rateOfRead(threads, trials, /*streams=*/8);
  peaks.read1Gbs = rateOfRead(threads, trials, /*streams=*/1);
  return peaks;
}

std::string mlir::attn::getProcessorName() {
  auto file = llvm::MemoryBuffer::getFileAsStream("/proc/cpuinfo");
  if (!file)
    return "unknown";
  auto [before, after] = (*file)->getBuffer().split("model name");
  llvm::StringRef name = after.split('\n').first.trim(" \t:");
  return name.empty() ? "unknown" : name.str();
}
