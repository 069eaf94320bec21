// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-bench: times named workloads and relates them to what this machine can
// do.

#include "ToolOptions.h"

#include "attn/Execution/Bench.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;
using namespace mlir::attn;
namespace cl = llvm::cl;

namespace {
/// The command line.
struct Options : ToolOptions {
  Options() : ToolOptions("attn-bench options") {}

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
  cl::opt<bool> list{
      "list", cl::desc("print the names and shapes; as JSON, the IR too"),
      cl::cat(category)};
  cl::opt<bool> peaks{"peaks", cl::desc("measure the machine alone"),
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

/// Open the file that --json names, before time is spent; null where there is
/// none, or where it cannot be written, which `status` says then.
static std::unique_ptr<llvm::ToolOutputFile> openJson(StringRef path,
                                                      int &status) {
  if (path.empty())
    return nullptr;
  std::error_code error;
  auto file = std::make_unique<llvm::ToolOutputFile>(path, error,
                                                     llvm::sys::fs::OF_Text);
  if (!error)
    return file;
  llvm::errs() << "attn-bench: '" << path << "': " << error.message() << "\n";
  status = kWrongUse;
  return nullptr;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  Options options;
  if (!options.parse(argc, argv, "times attention\n"))
    return kWrongUse;
  SmallVector<const NamedWorkload *> workloads = select(options.filter);
  if (workloads.empty())
    return kWrongUse;
  int status = 0;
  std::unique_ptr<llvm::ToolOutputFile> file = openJson(options.json, status);
  if (status)
    return status;
  auto writeJson = [&](const auto &content) {
    if (!file)
      return;
    printJson(content, file->os());
    file->keep();
  };
  if (options.list) {
    for (const NamedWorkload *workload : workloads)
      llvm::outs() << llvm::left_justify(workload->name, 20) << " "
                   << workload->describe() << "\n";
    writeJson(ArrayRef(workloads));
    return 0;
  }
  if (options.peaks)
    workloads.clear();
  SmallVector<unsigned> threads = {resolveThreads(options.threads)};
  if (options.threads == 0 && threads.front() > 1)
    threads.insert(threads.begin(), 1);
  auto report = runBench(workloads, threads, llvm::outs());
  if (!report) {
    llvm::errs() << "attn-bench: " << llvm::toString(report.takeError())
                 << "\n";
    return kFailed;
  }
  writeJson(*report);
  return 0;
}
