// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fuzzer's loop: draw a function, compile it, call it with several draws.

#include "attn/Execution/Fuzzer.h"

#include "attn/Execution/Benchmark.h"
#include "attn/Execution/FuzzDraw.h"
#include "attn/Execution/FuzzRun.h"
#include "attn/Execution/Isolated.h"
#include "attn/Pipeline/Phases.h"

#include <chrono>

using namespace mlir;
using namespace mlir::attn;

/// Calls of one compiled function, with dynamic and with static extents.
struct CallCounts {
  uint64_t dynamic, fixed;
};

/// On this machine's processor, where it takes far longer to compile than to call,
/// and in the emulator, where both take as long.
constexpr CallCounts kCalls = {32, 8}, kEmulatedCalls = {10, 3};

/// Seconds after which a function is taken to hang.
constexpr unsigned kSeconds = 120;

/// Smaller cases that are tried for one mismatch, and mismatches for which
/// that is done.
constexpr unsigned kTrials = 150;
constexpr uint64_t kMinimized = 12;

namespace {
/// One run of the fuzzer.
class Fuzzer {
public:
  Fuzzer(const FuzzOptions &options, raw_ostream &os)
      : options(options), os(os),
        context(registry(), MLIRContext::Threading::DISABLED) {
    // Once, and not again in each process.
    context.loadAllAvailableDialects();
  }

  llvm::Error run() {
    unsigned jobs = options.only ? 1 : resolveThreads(options.jobs);
    for (unsigned i = 0; i < jobs; ++i) {
      auto shared = SharedNotes::create();
      if (!shared)
        return shared.takeError();
      notes.push_back(std::move(*shared));
    }
    auto start = std::chrono::steady_clock::now();
    auto isLate = [&] {
      std::chrono::duration<double> taken =
          std::chrono::steady_clock::now() - start;
      return options.seconds > 0 && taken.count() >= options.seconds;
    };
    uint64_t number = 0;
    while (summary.configurations < options.count && !isLate()) {
      runJobs(number);
      number += jobs;
      if (options.only)
        break;
    }
    return llvm::Error::success();
  }

  FuzzSummary summary;

private:
  static DialectRegistry registry() {
    DialectRegistry registry;
    registerCompilerDialects(registry);
    return registry;
  }

  /// Try functions `first`, `first` + 1 ... at the same time, and report what
  /// is wrong with them in this order.
  void runJobs(uint64_t first) {
    os.flush();
    std::vector<IsolatedProcess> processes;
    for (auto [i, shared] : llvm::enumerate(notes)) {
      shared.clear();
      SharedNotes *mine = &shared;
      // Independent of how many calls the functions before it had.
      FuzzRandom random(options.seed * 0x9e3779b97f4a7c15 + first + i);
      processes.emplace_back(
          [&] {
            if (options.only)
              tryOne(*options.only, *mine);
            else
              tryFunction(random, *mine);
          },
          kSeconds, /*quiet=*/false);
    }
    for (auto [process, shared] : llvm::zip_equal(processes, notes)) {
      if (auto end = process.wait())
        shared.setComplaint(*end);
      // Those beyond the number that was asked for do not count.
      if (summary.configurations >= options.count)
        continue;
      summary.configurations +=
          std::clamp<uint64_t>(shared.getConfigurations(), 1,
                               options.count - summary.configurations);
      summary.refused += shared.getRefused();
      summary.onBlocks += shared.getOnBlocks();
      if (!shared.getComplaint().empty())
        report(shared);
    }
  }

  void begin(const FuzzCase &fuzz, SharedNotes &shared) {
    shared.setCase(fuzz.print());
    if (!options.verbose)
      return;
    os << shared.getCase() << "\n";
    os.flush();
  }

  /// Compile and run one case. Return whether nothing was wrong.
  bool tryOne(const FuzzCase &fuzz, SharedNotes &shared) {
    shared.setCase(fuzz.print());
    Complaint complaint;
    auto function = FuzzFunction::compile(context, fuzz, complaint);
    if (function)
      return tryCall(*function, fuzz, shared);
    begin(fuzz, shared);
    if (complaint)
      shared.setComplaint(*complaint);
    else
      shared.countRefused();
    return !complaint;
  }

  /// The same for a function that is compiled.
  bool tryCall(const FuzzFunction &function, const FuzzCase &fuzz,
               SharedNotes &shared) {
    begin(fuzz, shared);
    uint64_t launches = function.countBlockLaunches();
    if (Complaint complaint = function.run(fuzz)) {
      shared.setComplaint(*complaint);
      return false;
    }
    if (isRefusedAtRunTime(fuzz))
      shared.countRefused();
    else if (function.countBlockLaunches() > launches)
      shared.countOnBlocks();
    return true;
  }

  /// Compile one function and call it until something is wrong.
  void tryFunction(FuzzRandom &random, SharedNotes &shared) {
    FuzzCase fuzz = drawFunction(random, options.device);
    begin(fuzz, shared);
    Complaint complaint;
    auto function = FuzzFunction::compile(context, fuzz, complaint);
    if (!function)
      return shared.setComplaint(*complaint);
    CallCounts counts = options.device.empty() ? kCalls : kEmulatedCalls;
    uint64_t calls = fuzz.has("dynamic") ? counts.dynamic : counts.fixed;
    calls = std::min(calls, options.count - summary.configurations);
    for (uint64_t i = 0; i < calls; ++i) {
      FuzzCase call = drawCall(fuzz, random);
      shared.countConfiguration();
      // A static extent that is wrong makes another module.
      bool isRight = isRefusedByVerifier(call)
                         ? tryOne(call, shared)
                         : tryCall(*function, call, shared);
      if (!isRight)
        return;
    }
  }

  void report(SharedNotes &shared) {
    ++summary.mismatches;
    std::string line = shared.getCase().str();
    os << "mismatch: " << shared.getComplaint() << "\n  attn-fuzz --case='"
       << line << "'\n";
    os.flush();
    auto fuzz = FuzzCase::parse(line);
    if (!fuzz) {
      os << "  which is not read: " << llvm::toString(fuzz.takeError()) << "\n";
      return;
    }
    if (!options.minimize || summary.mismatches > kMinimized)
      return;
    FuzzCase smallest = minimize(*fuzz, kTrials, [&](const FuzzCase &simpler) {
      shared.clear();
      IsolatedProcess process([&] { tryOne(simpler, shared); }, kSeconds,
                              /*quiet=*/true);
      auto end = process.wait();
      return end || !shared.getComplaint().empty();
    });
    os << "  smallest: attn-fuzz --case='" << smallest.print() << "'\n";
    os.flush();
  }

  const FuzzOptions &options;
  raw_ostream &os;
  MLIRContext context;
  /// Of each process at work.
  std::vector<SharedNotes> notes;
};
} // namespace

llvm::Expected<FuzzSummary> mlir::attn::runFuzzer(const FuzzOptions &options,
                                                  raw_ostream &os) {
  Fuzzer fuzzer(options, os);
  if (llvm::Error error = fuzzer.run())
    return std::move(error);
  return fuzzer.summary;
}
