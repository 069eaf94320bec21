// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Times named workloads next to the peaks of the same run.

#ifndef ATTN_EXECUTION_BENCH_H
#define ATTN_EXECUTION_BENCH_H

#include "attn/Execution/BenchWorkloads.h"
#include "attn/Execution/Benchmark.h"

namespace mlir::attn {

struct BenchRow {
  StringRef name;
  Measurement measurement;
};

struct BenchReport {
  std::string cpu;
  /// Peaks of the most threads.
  MachinePeaks peaks;
  unsigned threads = 1;
  std::vector<BenchRow> rows;
};

/// Time each of `workloads` on each number of `threads`, next to the peaks of
/// the machine at that time; print a line of a table to `os` for each as it is
/// there. Without a workload only the peaks are measured.
llvm::Expected<BenchReport> runBench(ArrayRef<const NamedWorkload *> workloads,
                                     ArrayRef<unsigned> threads,
                                     raw_ostream &os);

/// Print `report` as one JSON object.
void printJson(const BenchReport &report, raw_ostream &os);

} // namespace mlir::attn

#endif // ATTN_EXECUTION_BENCH_H
