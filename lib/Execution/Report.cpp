// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reports of runs:
//
//   result 0: 1x2x8x64xf32 = [0.1523, -0.0481, 0.3312, ...]
//   pass: largest error 1.19e-07 at result 0 [0, 1, 5, 60], limit 3.1e-06, 0
//   elements beyond it

#include "attn/Execution/Report.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include <cmath>

using namespace mlir;
using namespace mlir::attn;

/// Elements of a result that are shown.
constexpr int64_t kShownElements = 8;

/// Call `visit` with the first elements of `tensor`.
static void forFirst(const HostTensor &tensor,
                     llvm::function_ref<void(int64_t)> visit) {
  int64_t shown = 0;
  tensor.forEach([&](int64_t offset) {
    if (shown++ < kShownElements)
      visit(offset);
  });
}

static void printTensor(const HostTensor &tensor, raw_ostream &os) {
  os << tensor.getTypeName() << " = [";
  StringRef separator;
  forFirst(tensor, [&](int64_t offset) {
    os << separator;
    if (isFloat(tensor.getKind()))
      os << llvm::format("%.6g", tensor.load(offset));
    else
      os << tensor.loadInteger(offset);
    separator = ", ";
  });
  os << (tensor.getSize() > kShownElements ? ", ...]" : "]");
}

/// Return where the largest error is: `result 0 [0, 1, 5]`.
static std::string placeOf(const Verification &verification) {
  std::string place;
  llvm::raw_string_ostream os(place);
  os << "result " << verification.result << " [";
  llvm::interleaveComma(verification.worst.at, os);
  os << "]";
  return place;
}

static void printVerification(const Verification &verification,
                              raw_ostream &os) {
  const Comparison &worst = verification.worst;
  os << (verification.pass ? "pass" : "FAIL") << ": largest error "
     << llvm::format("%.3g", worst.maxError) << " at " << placeOf(verification)
     << " against " << verification.judge << ", limit "
     << llvm::format("%.3g", worst.limit) << ", " << verification.count
     << " elements beyond it\n";
}

static void printMeasurement(const Measurement &m, raw_ostream &os) {
  if (m.threads == 0) {
    os << llvm::format("time: min %.4g ms, median %.4g ms, p95 %.4g ms on the "
                       "GPU\nrate: %.4g GFLOP/s\n",
                       m.msMin, m.msMedian, m.msP95, m.gflops);
    return;
  }
  os << llvm::format("time: min %.4g ms, median %.4g ms, p95 %.4g ms on %u "
                     "threads\n",
                     m.msMin, m.msMedian, m.msP95, m.threads)
     << llvm::format("rate: %.4g GFLOP/s, %.1f %% of the FMA peak, %.1f %% of "
                     "an L1 GEMM loop, %.1f %% of the read bandwidth\n",
                     m.gflops, 100 * m.fmaShare, 100 * m.gemmShare,
                     100 * m.readShare)
     << "extra memory: " << m.extraBytes << " bytes\n";
}

void mlir::attn::printReport(const RunReport &report, raw_ostream &os) {
  for (auto [number, result] : llvm::enumerate(report.results)) {
    os << "result " << number << ": ";
    printTensor(result, os);
    os << "\n";
  }
  if (report.measurement)
    printMeasurement(*report.measurement, os);
  if (report.verification)
    printVerification(*report.verification, os);
}

static llvm::json::Value numberOrNull(double value) {
  if (std::isfinite(value))
    return value;
  return nullptr;
}

static void writeVerification(const Verification &verification,
                              llvm::json::OStream &json) {
  json.attribute("pass", verification.pass);
  json.attribute("max_error", numberOrNull(verification.worst.maxError));
  json.attribute("at", placeOf(verification));
  json.attribute("limit", numberOrNull(verification.worst.limit));
  json.attribute("count", verification.count);
}

void mlir::attn::writeMeasurement(const Measurement &m,
                                  llvm::json::OStream &json) {
  json.attribute("ms_min", m.msMin);
  json.attribute("ms_median", m.msMedian);
  json.attribute("ms_p95", m.msP95);
  json.attribute("gflops", m.gflops);
  json.attribute("fma_share", m.fmaShare);
  json.attribute("gemm_share", m.gemmShare);
  json.attribute("read_share", m.readShare);
  json.attribute("extra_bytes", m.extraBytes);
  json.attribute("threads", m.threads);
}

void mlir::attn::printJson(const RunReport &report, raw_ostream &os) {
  llvm::json::OStream json(os, /*IndentSize=*/2);
  json.object([&] {
    json.attribute("function", report.function);
    json.attributeArray("results", [&] {
      for (const HostTensor &result : report.results)
        json.object([&] {
          json.attribute("type", result.getTypeName());
          json.attributeArray("first", [&] {
            forFirst(result, [&](int64_t offset) {
              json.value(numberOrNull(result.load(offset)));
            });
          });
        });
    });
    if (report.verification)
      json.attributeObject(
          "verify", [&] { writeVerification(*report.verification, json); });
    if (report.measurement)
      json.attributeObject(
          "benchmark", [&] { writeMeasurement(*report.measurement, json); });
  });
  os << "\n";
}
