// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-run: compiles a function, runs it, and verifies or times what it gives.

#include "ToolOptions.h"

#include "attn/Execution/Report.h"
#include "attn/Pipeline/Input.h"
#include "attn/Pipeline/Phases.h"

#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;
using namespace mlir::attn;
namespace cl = llvm::cl;

namespace {
/// The command line.
struct Options : ToolOptions {
  Options() : ToolOptions("attn-run options") {}

  cl::opt<std::string> input{cl::Positional, cl::Required,
                             cl::desc("INPUT: text or bytecode, - for stdin"),
                             cl::cat(category)};
  cl::opt<std::string> function{
      "function", cl::value_desc("NAME"),
      cl::desc("function to run; not needed where there is only one"),
      cl::cat(category)};
  cl::list<std::string> inputs{
      "input", cl::value_desc("SHAPExTYPE[=SEED] | @FILE.npy"),
      cl::desc("one for each argument, in order; default: filled at random "
               "from the argument's number"),
      cl::cat(category)};
  cl::list<std::string> outputs{
      "output", cl::value_desc("FILE.npy"),
      cl::desc("where to write each result, in order"), cl::cat(category)};
  cl::opt<std::string> target{
      "target", cl::value_desc("host|sm_80"),
      cl::desc("what to compile for; must run on the device"),
      cl::cat(category)};
  cl::opt<std::string> precision{
      "precision", cl::value_desc("exact|tf32|tf32x3"),
      cl::desc("how a GPU multiplies f32 where an op does not say (exact)"),
      cl::cat(category)};
  cl::opt<unsigned> threads{
      "threads", cl::value_desc("N"), cl::init(0),
      cl::desc("number of threads; default: one for each core"),
      cl::cat(category)};
  cl::opt<bool> verify{"verify",
                       cl::desc("compare with the f64 interpreter, and with "
                                "the reference for one attention"),
                       cl::cat(category)};
  cl::opt<std::string> benchmark{
      "benchmark", cl::value_desc("N"), cl::ValueOptional,
      cl::desc("time N calls (30) and compare with this machine's peaks"),
      cl::cat(category)};
  cl::opt<std::string> device{
      "device", cl::value_desc("cpu | interpreter | cuda | cuda-emulated"),
      cl::init("cpu"), cl::desc("who runs it"), cl::cat(category)};
  cl::opt<uint64_t> emulatorSeed{
      "emulator-seed", cl::value_desc("N"), cl::init(0),
      cl::desc("of the order of threads and copies in the emulator"),
      cl::cat(category)};
  cl::opt<bool> emulatorTracks{
      "emulator-tracks", cl::init(true),
      cl::desc("let the emulator check every access (default)"),
      cl::cat(category)};
  cl::opt<std::string> ptxas{"ptxas", cl::value_desc("PATH"),
                             cl::desc("of CUDA, instead of the one found"),
                             cl::cat(category)};
  cl::opt<std::string> plot{
      "plot-weights", cl::value_desc("DIR"),
      cl::desc("draw what each head attends to, and a page of all heads"),
      cl::cat(category)};
  cl::opt<std::string> labels{
      "labels", cl::value_desc("FILE"),
      cl::desc("what rows and keys are called in pictures, one a line"),
      cl::cat(category)};
  cl::opt<bool> json{"json", cl::desc("print one JSON object"),
                     cl::cat(category)};
};
} // namespace

/// Report an error and return the exit status that its kind has.
static int report(llvm::Error error) {
  int status = error.isA<UsageError>() ? kWrongUse : kFailed;
  llvm::errs() << "attn-run: " << llvm::toString(std::move(error)) << "\n";
  return status;
}

static llvm::Expected<RunOptions> readOptions(const Options &options) {
  RunOptions run;
  run.function = options.function;
  run.inputs.assign(options.inputs.begin(), options.inputs.end());
  run.outputs.assign(options.outputs.begin(), options.outputs.end());
  run.target = options.target;
  run.precision = options.precision;
  run.threads = options.threads;
  run.verify = options.verify;
  run.plotFolder = options.plot;
  run.labels = options.labels;
  run.cuda.seed = options.emulatorSeed;
  run.cuda.track = options.emulatorTracks;
  run.cuda.ptxas = options.ptxas;
  if (options.benchmark.getNumOccurrences() > 0) {
    run.benchmark = 30;
    StringRef count = options.benchmark;
    if (!count.empty() &&
        (count.getAsInteger(10, run.benchmark) || run.benchmark == 0))
      return llvm::make_error<UsageError>(
          "--benchmark expects a number of calls, got '" + count + "'");
  }
  static constexpr std::pair<StringRef, Device> kDevices[] = {
      {"cpu", Device::CPU},
      {"interpreter", Device::Interpreter},
      {"cuda", Device::Cuda},
      {"cuda-emulated", Device::CudaEmulated}};
  SmallVector<StringRef> names;
  for (auto [name, device] : kDevices) {
    if (options.device == name) {
      run.device = device;
      return run;
    }
    names.push_back(name);
  }
  return llvm::make_error<UsageError>(
      "--device expects cpu, interpreter, cuda or cuda-emulated, got '" +
      options.device + "'; the nearest is '" +
      nearestName(options.device, names) + "'");
}

static OwningOpRef<ModuleOp> readInput(StringRef path, llvm::SourceMgr &source,
                                       MLIRContext &context, int &status) {
  std::string message;
  auto file = openInputFile(path, &message);
  if (!file) {
    llvm::errs() << "attn-run: " << message << "\n";
    status = kWrongUse;
    return nullptr;
  }
  source.AddNewSourceBuffer(std::move(file), llvm::SMLoc());
  status = kFailed;
  return parseInput(source, &context);
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  Options options;
  if (!options.parse(argc, argv, "runs attention IR\n"))
    return kWrongUse;
  auto run = readOptions(options);
  if (!run)
    return report(run.takeError());

  DialectRegistry registry;
  registerCompilerDialects(registry);
  // One small module gains nothing from threads.
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  llvm::SourceMgr source;
  SourceMgrDiagnosticHandler diagnostics(source, &context);
  int status;
  OwningOpRef<ModuleOp> module =
      readInput(options.input, source, context, status);
  if (!module)
    return status;
  auto result = runModule(*module, *run);
  if (!result)
    return report(result.takeError());
  if (options.json)
    printJson(*result, llvm::outs());
  else
    printReport(*result, llvm::outs());
  bool isWrong = result->verification && !result->verification->pass;
  return isWrong ? kFailed : 0;
}
