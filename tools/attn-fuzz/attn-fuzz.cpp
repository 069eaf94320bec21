// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-fuzz: compiles random configurations and compares them with what the
// ops mean.

#include "ToolOptions.h"

#include "attn/Execution/Fuzzer.h"

#include "llvm/Support/InitLLVM.h"

using namespace mlir;
using namespace mlir::attn;
namespace cl = llvm::cl;

namespace {
/// The command line.
struct Options : ToolOptions {
  Options() : ToolOptions("attn-fuzz options") {}

  cl::opt<uint64_t> count{"count", cl::value_desc("N"), cl::init(1000),
                          cl::desc("configurations to try (1000)"),
                          cl::cat(category)};
  cl::opt<uint64_t> seed{"seed", cl::value_desc("S"), cl::init(1),
                         cl::desc("what they begin from (1)"),
                         cl::cat(category)};
  cl::opt<double> seconds{"seconds", cl::value_desc("T"), cl::init(0),
                          cl::desc("begin none after so many seconds"),
                          cl::cat(category)};
  cl::opt<std::string> line{"case", cl::value_desc("KEY=VALUE ..."),
                            cl::desc("try this one, as a mismatch printed it"),
                            cl::cat(category)};
  cl::opt<bool> minimize{"minimize", cl::init(true),
                         cl::desc("make a mismatch smaller (true)"),
                         cl::cat(category)};
  cl::opt<unsigned> jobs{"jobs", cl::value_desc("N"), cl::init(0),
                         cl::desc("processes at a time; default: one for each "
                                  "core"),
                         cl::cat(category)};
  cl::opt<std::string> device{"device", cl::value_desc("cpu | cuda-emulated"),
                              cl::init("cpu"), cl::desc("where they run (cpu)"),
                              cl::cat(category)};
  cl::opt<bool> verbose{"verbose", cl::desc("print each case before it runs"),
                        cl::cat(category)};
};
} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  Options options;
  if (!options.parse(argc, argv,
                     "compares random attention with its meaning\n"))
    return kWrongUse;
  FuzzOptions fuzz;
  fuzz.count = options.count;
  fuzz.seed = options.seed;
  fuzz.seconds = options.seconds;
  fuzz.jobs = options.jobs;
  fuzz.minimize = options.minimize;
  fuzz.verbose = options.verbose;
  if (options.device != "cpu" && options.device != "cuda-emulated") {
    llvm::errs() << "attn-fuzz: --device expects cpu or cuda-emulated, got '"
                 << options.device << "'\n";
    return kWrongUse;
  }
  if (options.device != "cpu")
    fuzz.device = options.device;
  if (options.line.getNumOccurrences() > 0) {
    auto parsed = FuzzCase::parse(options.line);
    if (!parsed) {
      llvm::errs() << "attn-fuzz: " << llvm::toString(parsed.takeError())
                   << "\n";
      return kWrongUse;
    }
    fuzz.only = *parsed;
    if (fuzz.device.empty())
      fuzz.device = parsed->get("device").str();
    fuzz.only->set("device", fuzz.device);
  } else {
    llvm::outs() << "seed " << options.seed << "\n";
  }
  auto summary = runFuzzer(fuzz, llvm::outs());
  if (!summary) {
    llvm::errs() << "attn-fuzz: " << llvm::toString(summary.takeError())
                 << "\n";
    return kFailed;
  }
  llvm::outs() << summary->configurations << " configurations, "
               << summary->mismatches << " mismatches; " << summary->refused
               << " had to be refused";
  if (!fuzz.device.empty())
    llvm::outs() << ", " << summary->onBlocks << " ran on blocks of threads";
  llvm::outs() << "\n";
  return summary->mismatches > 0 ? kFailed : 0;
}
