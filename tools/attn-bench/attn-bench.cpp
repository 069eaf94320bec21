// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-bench: times named workloads and relates them to what this machine can
// do.

#include "attn/Execution/Bench.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;
using namespace mlir::attn;
namespace cl = llvm::cl;

/// Exit statuses: a workload could not be timed; wrong use.
constexpr int kFailed = 1;
constexpr int kWrongUse = 2;

namespace {
/// The command line.
struct Options {
  cl::OptionCategory category{"attn-bench options"};
  cl::opt<std::string> filter{"filter", cl::value_desc("REGEX"),
                              cl::desc("only workloads whose name it matches"),
                              cl::cat(category)};
  cl::opt<unsigned> threads{"threads", cl::value_desc("N"), cl::init(0),
                            cl::desc("number of threads; default: 1, and one "
                                     "for each core"),
                            cl::cat(category)};
  cl::opt<std::string> json{"json", cl::value_desc("FILE"),
                            cl::desc("write the results as JSON, too"),
                            cl::cat(category)};
  cl::opt<bool> list{"list", cl::desc("print the names and shapes"),
                     cl::cat(category)};
};
} // namespace

/// Return the workloads that `filter` matches. Says what there is, and returns
/// none, if it matches none.
static SmallVector<const NamedWorkload *> select(StringRef filter) {
  llvm::Regex regex(filter.empty() ? StringRef(".") : filter);
  std::string problem;
  if (!regex.isValid(problem)) {
    llvm::errs() << "attn-bench: --filter expects a regular expression, got '"
                 << filter << "': " << problem << "\n";
    return {};
  }
  SmallVector<const NamedWorkload *> selected;
  for (const NamedWorkload &workload : getNamedWorkloads())
    if (regex.match(workload.name))
      selected.push_back(&workload);
  if (selected.empty()) {
    llvm::errs() << "attn-bench: --filter='" << filter
                 << "' matches none of these:\n";
    for (const NamedWorkload &workload : getNamedWorkloads())
      llvm::errs() << "  " << workload.name << "\n";
  }
  return selected;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  // LLVM has hundreds of options of its own, --threads among them.
  cl::ResetCommandLineParser();
  Options options;
  cl::HideUnrelatedOptions(options.category);
  if (!cl::ParseCommandLineOptions(argc, argv, "times attention\n",
                                   &llvm::errs()))
    return kWrongUse;
  SmallVector<const NamedWorkload *> workloads = select(options.filter);
  if (workloads.empty())
    return kWrongUse;
  if (options.list) {
    for (const NamedWorkload *workload : workloads)
      llvm::outs() << llvm::left_justify(workload->name, 20) << " "
                   << workload->describe() << "\n";
    return 0;
  }
  SmallVector<unsigned> threads = {resolveThreads(options.threads)};
  if (options.threads == 0 && threads.front() > 1)
    threads.insert(threads.begin(), 1);
  // Before the time is spent.
  std::unique_ptr<llvm::ToolOutputFile> file;
  if (!options.json.empty()) {
    std::error_code error;
    file = std::make_unique<llvm::ToolOutputFile>(options.json, error,
                                                  llvm::sys::fs::OF_Text);
    if (error) {
      llvm::errs() << "attn-bench: '" << options.json
                   << "': " << error.message() << "\n";
      return kWrongUse;
    }
  }
  auto report = runBench(workloads, threads, llvm::outs());
  if (!report) {
    llvm::errs() << "attn-bench: " << llvm::toString(report.takeError())
                 << "\n";
    return kFailed;
  }
  if (file) {
    printJson(*report, file->os());
    file->keep();
  }
  return 0;
}
