// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tries schedules round that of the cost model. One generation is all neighbours of the best so far: each is compiled, its
// results are compared with those of the cost model's schedule, and all take turns, round after round, of which the shortest
// times count. The best becomes the centre of the next one. In the end it meets the cost model's once more, alone, and must be
// faster by more than the noise.

#include "attn/Execution/Tuner.h"

#include "attn/Execution/Compare.h"
#include "attn/Execution/Executor.h"
#include "attn/Execution/TuneCase.h"
#include "attn/Pipeline/Phases.h"
#include "attn/Transforms/SelectSchedule.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"

#include <chrono>
#include <cmath>

using namespace mlir;
using namespace mlir::attn;
using llvm::Error;
using llvm::Expected;

/// A schedule must be this much faster than the cost model's: less is noise.
static constexpr double kNoise = 0.02;

/// Rounds of a comparison, and how many of them decide whether a schedule is so
/// slow that the rest would be wasted on it.
static constexpr unsigned kRounds = 20, kFirstRounds = 4;
static constexpr double kHopeless = 1.3;

/// How long a turn lasts at least, and calls in it at most: short calls are
/// repeated until caches hold what they need.
static constexpr double kTurnMs = 2;
static constexpr unsigned kMostCalls = 50;

/// The part of the time that the last comparison gets.
static constexpr double kLastShare = 0.15;

/// What results of two schedules may differ by, in the type's last places, of
/// numbers of about 1: a fault of code differs by far more.
static constexpr double kDifference = 256;

namespace {
using Clock = std::chrono::steady_clock;

struct Candidate {
  ScheduleAttr schedule;
  std::unique_ptr<Executor> executor;
  /// Of the shortest call.
  double ms = HUGE_VAL;
};

/// Finds the schedule of one case.
class CaseTuner {
public:
  CaseTuner(const TuneCase &tuneCase, const CompileOptions &options,
            double seconds)
      : tuneCase(tuneCase), options(options), start(Clock::now()),
        seconds(seconds) {}

  Expected<ScheduleEntry> run();

private:
  double secondsSince(Clock::time_point time) const {
    return std::chrono::duration<double>(Clock::now() - time).count();
  }
  double secondsLeft(double limit) const { return limit - secondsSince(start); }
  Error search();
  Expected<size_t> add(ScheduleAttr schedule);
  Error addChoice();
  SmallVector<size_t> addNeighbors();
  bool agrees(const Candidate &candidate) const;
  Error takeTurn(Candidate &candidate);
  Error compare(ArrayRef<size_t> turns, double limit);
  ScheduleEntry describe() const;
  void report() const;

  const TuneCase &tuneCase;
  const CompileOptions &options;
  Clock::time_point start;
  double seconds;
  /// About what one candidate takes before its first turn.
  double compileSeconds = 0;
  SmallVector<HostTensor> inputs, outputs, expected;
  /// The first is the cost model's.
  std::vector<Candidate> candidates;
  SmallVector<ScheduleAttr> seen;
  size_t best = 0;
};
} // namespace

/// Compile a candidate and return its number. What goes wrong is returned only, not
/// told.
Expected<size_t> CaseTuner::add(ScheduleAttr schedule) {
  seen.push_back(schedule);
  std::string reason;
  ScopedDiagnosticHandler handler(
      schedule.getContext(), [&](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
          reason += diagnostic.str() + "; ";
      });
  OwningOpRef<ModuleOp> module = tuneCase.buildModule(schedule);
  auto executor = Executor::compile(*module, options);
  if (!executor)
    return llvm::createStringError(reason +
                                   llvm::toString(executor.takeError()));
  candidates.push_back({schedule, std::move(*executor)});
  return candidates.size() - 1;
}

/// Add the cost model's choice, and make what all need.
Error CaseTuner::addChoice() {
  auto made = tuneCase.createInputs();
  if (!made)
    return made.takeError();
  inputs = std::move(*made);
  Clock::time_point before = Clock::now();
  Expected<size_t> first = add(tuneCase.getChoice());
  if (!first)
    return first.takeError();
  for (SmallVector<HostTensor> *tensors : {&expected, &outputs}) {
    auto results =
        candidates[0].executor->createOutputs(TuneCase::kFunction, inputs);
    if (!results)
      return results.takeError();
    *tensors = std::move(*results);
  }
  Error error =
      candidates[0].executor->run(TuneCase::kFunction, inputs, expected);
  compileSeconds = secondsSince(before);
  return error;
}

/// Return the distance of 1 to the next number of `kind`.
static double epsilonOf(ElementKind kind) {
  switch (kind) {
  case ElementKind::F16:
    return 0x1p-10;
  case ElementKind::BF16:
    return 0x1p-7;
  case ElementKind::F64:
    return 0x1p-52;
  default:
    return 0x1p-23;
  }
}

/// Return whether `candidate` runs and gives what the cost model's schedule gives,
/// but for another order of sums.
bool CaseTuner::agrees(const Candidate &candidate) const {
  if (Error error =
          candidate.executor->run(TuneCase::kFunction, inputs, outputs)) {
    llvm::consumeError(std::move(error));
    return false;
  }
  return llvm::all_of(llvm::zip(expected, outputs), [](auto pair) {
    auto [a, b] = pair;
    // Sums of 16-bit numbers are in f32, and a result is rounded once.
    double places = getByteSize(a.getKind()) == 2 ? 4 : kDifference;
    return largestDifference(a, b) <= places * epsilonOf(a.getKind());
  });
}

/// Compile those neighbours of the best that were not tried, as long as there is
/// time to measure them, and return their numbers.
SmallVector<size_t> CaseTuner::addNeighbors() {
  SmallVector<size_t> added;
  double turnSeconds = 1e-3 * std::max(candidates[best].ms, kTurnMs);
  for (ScheduleAttr schedule :
       listNeighbors(candidates[best].schedule, tuneCase.getSite())) {
    if (llvm::is_contained(seen, schedule))
      continue;
    double turns = turnSeconds * kFirstRounds * (added.size() + 3);
    if (secondsLeft(seconds * (1 - kLastShare)) < compileSeconds + turns)
      return added;
    Clock::time_point before = Clock::now();
    Expected<size_t> number = add(schedule);
    if (!number)
      llvm::consumeError(number.takeError());
    else if (agrees(candidates[*number]))
      added.push_back(*number);
    // One that was disturbed does not end the search.
    compileSeconds = 0.5 * (compileSeconds + secondsSince(before));
  }
  return added;
}

/// Call `candidate` some times and keep the shortest.
Error CaseTuner::takeTurn(Candidate &candidate) {
  double total = 0;
  for (unsigned i = 0; i < kMostCalls && total < kTurnMs; ++i) {
    Clock::time_point before = Clock::now();
    if (Error error =
            candidate.executor->run(TuneCase::kFunction, inputs, outputs))
      return error;
    double ms = 1e3 * secondsSince(before);
    candidate.ms = std::min(candidate.ms, ms);
    total += ms;
  }
  return Error::success();
}

/// Let the candidates in `turns` take turns until all rounds are done or `limit`
/// seconds have passed since the start, but one round in any case. Times of before
/// are forgotten: other programs may have disturbed them more, or less. The best of
/// `turns` is the best afterwards.
Error CaseTuner::compare(ArrayRef<size_t> turns, double limit) {
  best = turns.front();
  for (size_t number : turns)
    candidates[number].ms = HUGE_VAL;
  for (unsigned round = 0; round < kRounds; ++round) {
    if (round > 0 && secondsLeft(limit) <= 0)
      return Error::success();
    for (size_t number : turns) {
      Candidate &candidate = candidates[number];
      if (round >= kFirstRounds && number != 0 &&
          candidate.ms > kHopeless * candidates[best].ms)
        continue;
      if (Error error = takeTurn(candidate))
        return error;
    }
    best = *llvm::min_element(turns, [&](size_t a, size_t b) {
      return candidates[a].ms < candidates[b].ms;
    });
  }
  return Error::success();
}

ScheduleEntry CaseTuner::describe() const {
  ScheduleEntry entry;
  entry.key = tuneCase.getKey().str();
  entry.schedule = candidates[best].schedule;
  for (const HostTensor &input : inputs)
    entry.inputs.push_back(input.getTypeName());
  entry.threads = candidates[0].executor->getThreads();
  entry.ms = candidates[best].ms;
  entry.costModelMs = candidates[0].ms;
  return entry;
}

/// Say what was found.
void CaseTuner::report() const {
  remark::analysis(tuneCase.getLoc(),
                   remark::RemarkOpts::name("Tuned").category("attn"))
      << remark::metric("tried", candidates.size())
      << remark::metric("ms", candidates[best].ms)
      << remark::metric("cost_model_ms", candidates[0].ms);
}

Expected<ScheduleEntry> CaseTuner::run() {
  if (Error error = search())
    return std::move(error);
  report();
  return describe();
}

/// Measure until `best` is the schedule to take.
Error CaseTuner::search() {
  if (Error error = addChoice())
    return error;
  if (Error error = compare({0}, /*limit=*/0))
    return error;
  double searchSeconds = seconds * (1 - kLastShare);
  while (true) {
    SmallVector<size_t> turns = addNeighbors();
    if (turns.empty())
      break;
    turns.push_back(0);
    if (best != 0)
      turns.push_back(best);
    if (Error error = compare(turns, searchSeconds))
      return error;
  }
  if (best == 0)
    return Error::success();
  SmallVector<size_t> last = {0, best};
  // Of many that are alike one seems faster by chance, but hardly once more.
  if (Error error = compare(last, seconds))
    return error;
  best = last.back();
  if (candidates[best].ms > (1 - kNoise) * candidates[0].ms)
    best = 0;
  return Error::success();
}

/// Return the cases of `module` that `record` does not know, each once.
static std::vector<TuneCase> listCases(ModuleOp module,
                                       const ScheduleRecord &record) {
  std::vector<TuneCase> cases;
  auto add = [&](SdpaOp op, bool few) {
    TuneCase next(op, few);
    if (!record.find(next.getKey()) &&
        llvm::none_of(cases, [&](const TuneCase &other) {
          return other.getKey() == next.getKey();
        }))
      cases.push_back(std::move(next));
  };
  module.walk([&](SdpaOp op) {
    if (op.getSchedule() || !canRecord(op))
      return;
    RowCount count = getRowCount(op);
    if (count != RowCount::Few)
      add(op, /*few=*/false);
    if (count != RowCount::Many)
      add(op, /*few=*/true);
  });
  return cases;
}

/// Return a copy of `module` as phase core leaves it.
static Expected<OwningOpRef<ModuleOp>> toCore(ModuleOp module,
                                              const CompileOptions &options) {
  CompileOptions first;
  first.target = options.target;
  first.stopAfter = Phase::Core;
  OwningOpRef<ModuleOp> core = module.clone();
  PassManager pm(module.getContext());
  buildCpuPipeline(pm, first);
  if (failed(pm.run(*core)))
    return llvm::createStringError("the module could not be compiled");
  return core;
}

/// Fails unless `module` and `record` are for this machine, which an empty record
/// becomes.
static Error checkMachine(ModuleOp module, ScheduleRecord &record) {
  Expected<TargetInfo> host = TargetInfo::host();
  if (!host)
    return host.takeError();
  RecordMachine here = RecordMachine::get(*host);
  TargetInfo target = TargetInfo::get(module);
  if (!(RecordMachine::get(target) == here))
    return llvm::createStringError(
        "expects a module for this machine to measure, got one for '" +
        target.cpu + "'");
  if (record.file.empty())
    record.machine = here;
  if (record.machine == here)
    return Error::success();
  return llvm::createStringError(
      "expects a file with schedules of this machine to add to, got '" +
      record.file + "' for '" + record.machine.cpu + "'");
}

Error attn::tuneSchedules(ModuleOp module, const CompileOptions &options,
                          double seconds, ScheduleRecord &record) {
  Clock::time_point start = Clock::now();
  Expected<OwningOpRef<ModuleOp>> core = toCore(module, options);
  if (!core)
    return core.takeError();
  if (Error error = checkMachine(**core, record))
    return error;
  CompileOptions compileOptions;
  compileOptions.optLevel = options.optLevel;
  std::vector<TuneCase> cases = listCases(**core, record);
  for (auto [number, next] : llvm::enumerate(cases)) {
    double passed = std::chrono::duration<double>(Clock::now() - start).count();
    double share = std::max(seconds - passed, 0.0) /
                   static_cast<double>(cases.size() - number);
    Expected<ScheduleEntry> entry =
        CaseTuner(next, compileOptions, share).run();
    if (!entry)
      return entry.takeError();
    record.entries.push_back(std::move(*entry));
  }
  return Error::success();
}

Expected<std::shared_ptr<const ScheduleRecord>>
attn::openRecord(ModuleOp module, const CompileOptions &options, double seconds,
                 StringRef file) {
  auto record = std::make_shared<ScheduleRecord>();
  bool tunes = seconds > 0;
  if (!file.empty() && (!tunes || llvm::sys::fs::exists(file))) {
    Expected<ScheduleRecord> read =
        ScheduleRecord::read(file, module.getContext());
    if (!read)
      return read.takeError();
    *record = std::move(*read);
  }
  if (!tunes)
    return record;
  if (Error error = tuneSchedules(module, options, seconds, *record))
    return std::move(error);
  if (!file.empty())
    if (Error error = record->write(file))
      return std::move(error);
  return record;
}

llvm::Error attn::checkTuning(const CompileOptions &options, double seconds) {
  if (!(seconds > 0))
    return llvm::createStringError("expects --tune of more than 0 seconds");
  if (!options.target.empty() && options.target != "host")
    return llvm::createStringError(
        "expects --target=host with --tune, got --target=" + options.target);
  if (options.stopAfter < Phase::Schedule)
    return llvm::createStringError(
        "expects a phase from 'schedule' on with --tune, got --stop-after=" +
        getPhaseInfo(options.stopAfter).name);
  return llvm::Error::success();
}
