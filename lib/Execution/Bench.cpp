// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles workloads, calls them for about two seconds each, and prints what came out.

#include "attn/Execution/Bench.h"

#include "attn/Execution/Inputs.h"
#include "attn/Execution/OperationCount.h"
#include "attn/Execution/Report.h"
#include "attn/Pipeline/Phases.h"

#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::attn;

/// Time for the calls of one row, and how many they are at least and at most.
constexpr double kMilliseconds = 2000;
constexpr double kFewest = 4, kMost = 1000;

namespace {
/// One workload, compiled, with its arguments.
struct Prepared {
  OwningOpRef<ModuleOp> module;
  std::unique_ptr<Executor> executor;
  SmallVector<HostTensor> inputs, outputs;
  Workload workload;
};
} // namespace

static llvm::Expected<Prepared> prepare(MLIRContext &context,
                                        const NamedWorkload &named) {
  Prepared result;
  result.module = parseSourceString<ModuleOp>(named.getModule(), &context);
  if (!result.module)
    return llvm::createStringError("'" + named.name + "' is no module");
  auto executor = Executor::compile(*result.module, CompileOptions());
  if (!executor)
    return executor.takeError();
  result.executor = std::move(*executor);
  auto function = selectFunction(*result.module, "");
  if (!function)
    return function.takeError();
  auto inputs = makeInputs(*function, {});
  if (!inputs)
    return inputs.takeError();
  result.inputs = *inputs;
  auto outputs = result.executor->createOutputs("f", result.inputs);
  if (!outputs)
    return outputs.takeError();
  result.outputs = *outputs;
  auto operations = countOperations(*function, result.inputs);
  if (!operations)
    return operations.takeError();
  result.workload.operations = *operations;
  for (const HostTensor &input : result.inputs)
    result.workload.inputBytes +=
        input.getSize() * getByteSize(input.getKind());
  return result;
}

/// Time `prepared` on `threads` threads: one call says how many fit the time.
static llvm::Expected<Measurement> timeCalls(const Prepared &prepared,
                                             unsigned threads,
                                             const MachinePeaks &peaks) {
  auto once = measure(*prepared.executor, "f", prepared.inputs,
                      prepared.outputs, 1, threads, prepared.workload, peaks);
  if (!once)
    return once;
  double calls =
      std::clamp(kMilliseconds / std::max(once->msMin, 1e-3), kFewest, kMost);
  return measure(*prepared.executor, "f", prepared.inputs, prepared.outputs,
                 static_cast<unsigned>(calls), threads, prepared.workload,
                 peaks);
}

static void printRow(StringRef name, const Measurement &m, raw_ostream &os) {
  os << llvm::format("%-20s %3u %10.3f %10.3f %10.3f %9.1f %6.1f %6.1f %6.1f",
                     name.str().c_str(), m.threads, m.msMin, m.msMedian,
                     m.msP95, m.gflops, 100 * m.fmaShare, 100 * m.gemmShare,
                     100 * m.readShare)
     << llvm::format(" %10lld\n", static_cast<long long>(m.extraBytes));
  os.flush();
}

llvm::Expected<BenchReport>
mlir::attn::runBench(ArrayRef<const NamedWorkload *> workloads,
                     ArrayRef<unsigned> threads, raw_ostream &os) {
  BenchReport report;
  report.cpu = getProcessorName();
  std::vector<MachinePeaks> peaks;
  os << report.cpu << "\n";
  for (unsigned number : threads) {
    peaks.push_back(measurePeaks(number));
    os << llvm::format("%u threads: %.1f GFLOP/s of fused multiply-adds, %.1f "
                       "of an L1 GEMM loop, reads %.1f GB/s\n",
                       number, peaks.back().fmaGflops, peaks.back().gemmGflops,
                       peaks.back().readGbs);
  }
  report.peaks = peaks.back();
  report.threads = threads.back();
  os << "name                 thr     min ms  median ms     p95 ms   GFLOP/s"
        "  fma %  gemm % read % extra bytes\n";
  DialectRegistry registry;
  registerCompilerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  for (const NamedWorkload *named : workloads) {
    auto prepared = prepare(context, *named);
    if (!prepared)
      return prepared.takeError();
    for (auto [number, peak] : llvm::zip_equal(threads, peaks)) {
      auto measurement = timeCalls(*prepared, number, peak);
      if (!measurement)
        return measurement.takeError();
      printRow(named->name, *measurement, os);
      report.rows.push_back({named->name, *measurement});
    }
  }
  return report;
}

void mlir::attn::printJson(const BenchReport &report, raw_ostream &os) {
  llvm::json::OStream json(os, /*IndentSize=*/2);
  json.object([&] {
    json.attributeObject("machine", [&] {
      json.attribute("cpu", report.cpu);
      json.attribute("fma_gflops", report.peaks.fmaGflops);
      json.attribute("gemm_gflops", report.peaks.gemmGflops);
      json.attribute("read_gbs", report.peaks.readGbs);
      json.attribute("threads", report.threads);
    });
    json.attributeArray("results", [&] {
      for (const BenchRow &row : report.rows)
        json.object([&] {
          json.attribute("name", row.name);
          writeMeasurement(row.measurement, json);
        });
    });
  });
  os << "\n";
}
