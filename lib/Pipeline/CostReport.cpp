// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reports of costs:
//
//   x.mlir:4:8: attn.sdpa
//     sizes: B = 1, H = 8, G = 8, M = 1024, N = 1024, D = 64, E = 64
//     cells: 524800 = S = sum over i < M of max(0, min(N, p + 1)), p = i; 50.0 % of M N
//     operations: 1074790400 = 2 B H S D + 2 B H S E, without mask 2147483648
//     ...
//
// A number that depends on a size that is not known is `?`, and null in JSON.

#include "attn/Pipeline/CostReport.h"

#include "attn/Analysis/AttentionCost.h"
#include "attn/Pipeline/HeldMemory.h"
#include "attn/Pipeline/Passes.h"
#include "attn/Pipeline/Phases.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/ToolOutputFile.h"

namespace mlir::attn {
#define GEN_PASS_DEF_REPORT
#include "attn/Pipeline/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;
using llvm::Expected;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

namespace {
/// A formula, its value, and its value if every row saw all keys.
struct Line {
  StringRef name, unit;
  std::string formula;
  std::optional<int64_t> value, whole;
};

/// One attention, evaluated.
struct EvaluatedCost {
  AttentionCost cost;
  Sizes sizes;
  CostPart total;
  std::vector<Line> lines;
  std::optional<HeldMemory> held;
  std::optional<double> intensity;
  std::optional<TimeEstimate> time;
};
} // namespace

/// Return whether `cost` is about numbers of f64.
static bool isWide(const AttentionCost &cost) {
  return getElementTypeOrSelf(cost.op->getOperand(0).getType()).isF64();
}

static EvaluatedCost evaluate(AttentionCost cost,
                              const CostReportOptions &options) {
  EvaluatedCost result;
  result.sizes = cost.getSizes(options.sizes);
  result.sizes["threads"] =
      std::max<int64_t>(options.sizes.lookup("threads"), 1);
  Sizes whole = AttentionCost::withoutBand(result.sizes);
  result.total = cost.total();
  bool cut = cost.band && !cost.band->isWhole();
  auto add = [&](StringRef name, StringRef unit, const Formula &formula) {
    if (formula.isZero())
      return;
    result.lines.push_back({name, unit, formula.str(),
                            formula.evaluate(result.sizes),
                            cut ? formula.evaluate(whole) : std::nullopt});
  };
  const CostPart &total = result.total;
  add("operations", "", total.operations);
  add("exponentials", "", total.exponentials);
  add("read", " bytes", total.read);
  add("written", " bytes", total.written);
  std::optional<int64_t> operations = total.operations.evaluate(result.sizes),
                         bytes = (total.read + total.written)
                                     .evaluate(result.sizes);
  if (operations && bytes && *bytes > 0)
    result.intensity = double(*operations) / double(*bytes);
  std::optional<int64_t> weights = total.exponentials.evaluate(result.sizes);
  if (options.limits && operations && weights && bytes)
    result.time = estimateTime(*operations, *weights, *bytes, isWide(cost),
                               *options.limits);
  result.held = getHeldMemory(cost, result.sizes, options.target);
  result.cost = std::move(cost);
  return result;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static std::string placeOf(Location loc) {
  if (auto file = loc->findInstanceOf<FileLineColLoc>())
    return (llvm::sys::path::filename(file.getFilename()) + ":" +
            Twine(file.getLine()) + ":" + Twine(file.getColumn()))
        .str();
  return "unknown place";
}

static std::string numberText(std::optional<int64_t> value) {
  return value ? std::to_string(*value) : "?";
}

/// Return the size called `name`, if it is known.
static std::optional<int64_t> sizeOf(const EvaluatedCost &cost,
                                     StringRef name) {
  auto size = cost.sizes.find(name);
  if (size == cost.sizes.end())
    return std::nullopt;
  return size->second;
}

static void printSizes(const EvaluatedCost &cost, raw_ostream &os) {
  os << "  sizes: ";
  llvm::interleaveComma(cost.cost.extents, os, [&](const auto &extent) {
    os << extent.first << " = " << numberText(sizeOf(cost, extent.first));
  });
  os << "\n";
}

static void printBand(const EvaluatedCost &cost, raw_ostream &os) {
  if (!cost.cost.band)
    return;
  const ScoreBand &band = *cost.cost.band;
  std::optional<int64_t> cells = sizeOf(cost, "S"), keys = sizeOf(cost, "K"),
                         rows = sizeOf(cost, "M"), all = sizeOf(cost, "N");
  os << "  cells: " << numberText(cells) << " = S = " << band.cellsText();
  if (!band.isWhole() && cells && rows && all) {
    double whole = double(*rows) * double(*all);
    os << llvm::format("; %.1f %% of M N",
                       whole > 0 ? 100 * (double(*cells) / whole) : 0);
  }
  os << "\n  keys: " << numberText(keys) << " = K = " << band.keysText()
     << "\n";
}

static void printHeld(const EvaluatedCost &cost, raw_ostream &os) {
  if (cost.held)
    os << "  held: " << numberText(cost.held->bytes)
       << " bytes = " << cost.held->formula.str() << "\n";
  if (!cost.cost.scores.isZero())
    os << "  a tensor of all scores: "
       << numberText(cost.cost.scores.evaluate(cost.sizes))
       << " bytes = " << cost.cost.scores.str() << "\n";
}

static void printParts(const EvaluatedCost &cost, raw_ostream &os) {
  if (cost.cost.parts.size() < 2)
    return;
  for (const CostPart &part : cost.cost.parts)
    os << "  part " << part.name << ": operations "
       << numberText(part.operations.evaluate(cost.sizes)) << " = "
       << part.operations.str() << "; read "
       << numberText(part.read.evaluate(cost.sizes)) << ", written "
       << numberText(part.written.evaluate(cost.sizes)) << "\n";
}

static void printText(const EvaluatedCost &cost, raw_ostream &os) {
  os << placeOf(cost.cost.op->getLoc()) << ": " << cost.cost.op->getName()
     << "\n";
  printSizes(cost, os);
  printBand(cost, os);
  for (const Line &line : cost.lines) {
    os << "  " << line.name << ": " << numberText(line.value) << line.unit
       << " = " << line.formula;
    if (line.whole && line.whole != line.value)
      os << ", without mask " << *line.whole;
    os << "\n";
  }
  if (cost.intensity)
    os << llvm::format("  intensity: %.2f operations a byte\n",
                       *cost.intensity);
  printHeld(cost, os);
  os << "  time: " << cost.cost.time << "\n"
     << "  memory: " << cost.cost.space << "\n";
  printParts(cost, os);
  if (cost.time)
    os << llvm::format("  expected: %.4g ms, by ", cost.time->total())
       << (cost.time->arithmetic >= cost.time->memory ? "arithmetic" : "memory")
       << llvm::format(" (arithmetic %.4g ms, memory %.4g ms)\n",
                       cost.time->arithmetic, cost.time->memory);
  for (const std::string &note : cost.cost.notes)
    os << "  note: " << note << "\n";
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static llvm::json::Value toJson(std::optional<int64_t> value) {
  if (value)
    return *value;
  return nullptr;
}

/// Write `formula` and its value as an object called `name`.
static void writeFormula(llvm::json::OStream &json, StringRef name,
                         StringRef formula, std::optional<int64_t> value,
                         std::optional<int64_t> whole = std::nullopt) {
  json.attributeObject(name, [&] {
    json.attribute("formula", formula);
    json.attribute("value", toJson(value));
    if (whole)
      json.attribute("without_mask", *whole);
  });
}

static void writeParts(const EvaluatedCost &cost, llvm::json::OStream &json) {
  json.attributeArray("parts", [&] {
    for (const CostPart &part : cost.cost.parts)
      json.object([&] {
        json.attribute("name", part.name);
        for (auto [name, formula] : {std::pair<StringRef, const Formula *>{
                                         "operations", &part.operations},
                                     {"exponentials", &part.exponentials},
                                     {"read", &part.read},
                                     {"written", &part.written}})
          writeFormula(json, name, formula->str(),
                       formula->evaluate(cost.sizes));
      });
  });
}

static void writeJson(const EvaluatedCost &cost, llvm::json::OStream &json) {
  json.attribute("place", placeOf(cost.cost.op->getLoc()));
  json.attribute("op", cost.cost.op->getName().getStringRef());
  json.attributeObject("sizes", [&] {
    for (const auto &[name, extent] : cost.cost.extents)
      json.attribute(name, toJson(sizeOf(cost, name)));
  });
  if (const std::optional<ScoreBand> &band = cost.cost.band) {
    writeFormula(json, "cells", band->cellsText(), sizeOf(cost, "S"));
    writeFormula(json, "keys", band->keysText(), sizeOf(cost, "K"));
  }
  for (const Line &line : cost.lines)
    writeFormula(json, line.name, line.formula, line.value, line.whole);
  if (cost.intensity)
    json.attribute("intensity", *cost.intensity);
  if (cost.held)
    writeFormula(json, "held_bytes", cost.held->formula.str(),
                 cost.held->bytes);
  if (!cost.cost.scores.isZero())
    writeFormula(json, "score_bytes", cost.cost.scores.str(),
                 cost.cost.scores.evaluate(cost.sizes));
  json.attribute("time", cost.cost.time);
  json.attribute("memory", cost.cost.space);
  writeParts(cost, json);
  if (cost.time)
    json.attributeObject("expected_ms", [&] {
      json.attribute("total", cost.time->total());
      json.attribute("arithmetic", cost.time->arithmetic);
      json.attribute("memory", cost.time->memory);
    });
  json.attributeArray("notes", [&] {
    for (const std::string &note : cost.cost.notes)
      json.value(note);
  });
}

//===----------------------------------------------------------------------===//
// The report
//===----------------------------------------------------------------------===//

/// Call `visit` with each `NAME=VALUE` of `text`. Fails for anything else.
static llvm::Error forEachWord(StringRef text, StringRef example,
                               function_ref<bool(StringRef, StringRef)> visit) {
  SmallVector<StringRef> words;
  text.split(words, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef word : words) {
    auto [name, value] = word.split('=');
    if (!visit(name.trim(), value.trim()))
      return llvm::createStringError("expects words like " + example +
                                     ", got '" + word + "'");
  }
  return llvm::Error::success();
}

Expected<Sizes> attn::parseSizes(StringRef text) {
  static constexpr StringRef kNames[] = {
      "B",  "H", "G", "M", "N",  "D",  "E",    "T",    "C",     "F",      "C'",
      "N'", "P", "R", "O", "Tq", "Tk", "pool", "page", "pages", "threads"};
  Sizes sizes;
  llvm::Error error =
      forEachWord(text, "M=1024", [&](StringRef name, StringRef value) {
        int64_t size;
        if (!llvm::is_contained(kNames, name) || value.getAsInteger(10, size))
          return false;
        sizes[name] = size;
        return size >= 0 || name == "O";
      });
  if (error)
    return std::move(error);
  return sizes;
}

Expected<MachineLimits> attn::parseLimits(StringRef text) {
  MachineLimits limits;
  llvm::Error error =
      forEachWord(text, "fma=200", [&](StringRef name, StringRef value) {
        double *limit = name == "fma"    ? &limits.fmaGflops
                        : name == "gemm" ? &limits.gemmGflops
                        : name == "read" ? &limits.readGbs
                                         : nullptr;
        return limit && !value.getAsDouble(*limit) && *limit > 0;
      });
  if (error)
    return std::move(error);
  if (limits.fmaGflops == 0 || limits.gemmGflops == 0 || limits.readGbs == 0)
    return llvm::createStringError(
        "expects peaks like fma=200,gemm=180,read=40, got '" + text + "'");
  return limits;
}

Expected<CostReportOptions> attn::parseReportOptions(StringRef sizes,
                                                     StringRef peaks) {
  CostReportOptions options;
  auto given = parseSizes(sizes);
  if (!given)
    return given.takeError();
  options.sizes = std::move(*given);
  if (peaks.empty())
    return options;
  auto limits = parseLimits(peaks);
  if (!limits)
    return limits.takeError();
  options.limits = *limits;
  return options;
}

void attn::printCostReport(ModuleOp module, const CostReportOptions &options,
                           raw_ostream &os) {
  std::vector<EvaluatedCost> costs;
  module.walk([&](Operation *op) {
    if (std::optional<AttentionCost> cost = AttentionCost::get(op))
      costs.push_back(evaluate(std::move(*cost), options));
  });
  if (options.json) {
    llvm::json::OStream json(os, /*IndentSize=*/2);
    json.array([&] {
      for (const EvaluatedCost &cost : costs)
        json.object([&] { writeJson(cost, json); });
    });
    os << "\n";
    return;
  }
  for (const EvaluatedCost &cost : costs)
    printText(cost, os);
  if (costs.empty())
    os << "no attention\n";
}

namespace {
struct Report : attn::impl::ReportBase<Report> {
  using ReportBase::ReportBase;

  /// What an op is compiled with to see what it holds.
  void getDependentDialects(DialectRegistry &registry) const override {
    registerCompilerDialects(registry);
  }

  void runOnOperation() override {
    Expected<CostReportOptions> options = parseReportOptions(sizes, peaks);
    if (!options)
      return fail(options.takeError());
    options->json = json;
    std::string message;
    auto out = openOutputFile(file, &message);
    if (!out)
      return fail(llvm::createStringError(message));
    printCostReport(getOperation(), *options, out->os());
    out->keep();
    markAllAnalysesPreserved();
  }

  void fail(llvm::Error error) {
    getOperation().emitError(llvm::toString(std::move(error)));
    signalPassFailure();
  }
};
} // namespace
