// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles workloads, calls them for about two seconds each, and prints what came out.

#include "attn/Execution/Bench.h"

#include "attn/Execution/Inputs.h"
#include "attn/Execution/OperationCount.h"
#include "attn/Execution/Report.h"
#include "attn/Execution/SingleAttention.h"
#include "attn/Pipeline/Phases.h"

#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace mlir::attn;

/// Time for the calls of one row, and how many they are at least and at most.
constexpr double kMilliseconds = 1500;
constexpr double kFewest = 30, kMost = 1000;

/// Trials of the peaks before the first row.
constexpr unsigned kFirstTrials = 20;

namespace {
/// One workload, compiled, with its arguments.
struct Prepared {
  OwningOpRef<ModuleOp> module;
  std::unique_ptr<Executor> executor;
  SmallVector<HostTensor> inputs, outputs;
  Workload workload;
};
} // namespace

/// Give a linear attention of random numbers what keeps a state finite: decays
/// that are none or little, betas that are positive and keys of length 1.
static void calm(const LinearProblem &problem) {
  auto map = [](const HostTensor *tensor, function_ref<double(double)> body) {
    if (tensor)
      tensor->forEach([&](int64_t offset) {
        tensor->store(offset, body(tensor->load(offset)));
      });
  };
  double size = static_cast<double>(problem.key->getDim(3));
  map(problem.key, [&](double x) { return x * std::sqrt(3 / size); });
  map(problem.decay, [](double x) { return -0.1 * std::fabs(x); });
  map(problem.beta, [](double x) { return std::fabs(x); });
}

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
  for (auto [b, length] : llvm::enumerate(named.getLengths()))
    result.inputs.back().storeInteger(static_cast<int64_t>(b), length);
  if (LinearAttentionOp op = getSingleLinearAttention(*function))
    calm(getProblem(op, result.inputs));
  for (auto [j, document] : llvm::enumerate(named.getDocuments()))
    result.inputs.back().storeInteger(static_cast<int64_t>(j), document);
  auto outputs = result.executor->createOutputs("f", result.inputs);
  if (!outputs)
    return outputs.takeError();
  result.outputs = *outputs;
  auto workload = describeWork(*function, result.inputs);
  if (!workload)
    return workload.takeError();
  result.workload = *workload;
  return result;
}

/// Time `prepared` on `threads` threads: one call says how many fit the time.
static llvm::Expected<Measurement>
timeCalls(const Prepared &prepared, unsigned threads, PeakMeter &meter) {
  auto timeSome = [&](unsigned count) {
    return measure(*prepared.executor, "f", prepared.inputs, prepared.outputs,
                   count, threads, prepared.workload, meter);
  };
  auto once = timeSome(1);
  if (!once)
    return once;
  return timeSome(static_cast<unsigned>(
      std::clamp(kMilliseconds / std::max(once->msMin, 1e-3), kFewest, kMost)));
}

static void printRow(StringRef name, const Measurement &m, raw_ostream &os) {
  os << llvm::format("%-20s %3u %10.3f %10.3f %10.3f %9.1f %6.1f %6.1f %6.1f",
                     name.str().c_str(), m.threads, m.msMin, m.msMedian,
                     m.msP95, m.gflops, 100 * m.fmaShare, 100 * m.gemmShare,
                     100 * m.readShare)
     << llvm::format(" %10lld\n", static_cast<long long>(m.extraBytes));
  os.flush();
}

/// Measure the peaks of each number of `threads`, print them, and return those
/// of the last.
static MachinePeaks measureMachine(ArrayRef<unsigned> threads, PeakMeter &meter,
                                   raw_ostream &os) {
  MachinePeaks peaks;
  for (unsigned number : threads) {
    peaks = meter.measure(number, kFirstTrials);
    os << llvm::format("%u threads: %.1f GFLOP/s of fused multiply-adds, %.1f "
                       "of an L1 GEMM loop; reads %.1f GB/s in 8 streams, %.1f "
                       "in one\n",
                       number, peaks.fmaGflops, peaks.gemmGflops, peaks.readGbs,
                       peaks.read1Gbs);
  }
  return peaks;
}

llvm::Expected<BenchReport>
mlir::attn::runBench(ArrayRef<const NamedWorkload *> workloads,
                     ArrayRef<unsigned> threads, raw_ostream &os) {
  BenchReport report;
  report.cpu = getProcessorName();
  report.threads = threads.back();
  os << report.cpu << "\n";
  PeakMeter meter;
  report.peaks = measureMachine(threads, meter, os);
  if (!workloads.empty())
    os << "name                 thr     min ms  median ms     p95 ms   GFLOP/s"
          "  fma %  gemm % read % extra bytes\n";
  DialectRegistry registry;
  registerCompilerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  for (const NamedWorkload *named : workloads) {
    auto prepared = prepare(context, *named);
    if (!prepared)
      return prepared.takeError();
    for (unsigned number : threads) {
      auto measurement = timeCalls(*prepared, number, meter);
      if (!measurement)
        return measurement.takeError();
      printRow(named->name, *measurement, os);
      report.rows.push_back({named->name, *measurement});
      if (number == report.threads)
        report.peaks.raise(measurement->peaks);
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
      json.attribute("read1_gbs", report.peaks.read1Gbs);
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
