// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attnc: a file of attention in, a file that a CPU, a linker or a person reads out.
//
//   attnc x.mlir -o x.so --header=x.h
//
// Exit status: 0 good, 1 the compilation failed, 2 wrong use.

#include "Flags.h"

#include "attn/Execution/ReportLimits.h"
#include "attn/Execution/Tuner.h"
#include "attn/Pipeline/CostReport.h"
#include "attn/Pipeline/Input.h"
#include "attn/Pipeline/Output.h"
#include "attn/Pipeline/Phases.h"
#include "attn/Pipeline/Remarks.h"

#include "mlir/IR/AsmState.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Support/Timing.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/Threading.h"

using namespace mlir;
using namespace mlir::attn;
namespace cl = llvm::cl;

static constexpr int kWrongUse = 2;

/// Say what is wrong with the command line.
static int wrongUse(const llvm::Twine &message) {
  llvm::errs() << "attnc: " << message << "\n";
  return kWrongUse;
}

static int failed(llvm::Error error) {
  llvm::errs() << "attnc: " << llvm::toString(std::move(error)) << "\n";
  return EXIT_FAILURE;
}

static int printPhases() {
  for (const PhaseInfo &info : kPhases)
    llvm::outs() << llvm::left_justify(info.name, 10) << info.holds << "\n";
  return EXIT_SUCCESS;
}

/// Return the kind of output that the flags ask for; nothing: none.
static llvm::Expected<std::optional<OutputKind>>
getOutputKind(const Flags &flags, Phase stopAfter) {
  bool writes =
      !flags.emit.empty() || !flags.output.empty() || !flags.stopAfter.empty();
  if (!writes && flags.dump.empty() && flags.header.empty() &&
      !isGiven(flags.report))
    return llvm::createStringError(
        "expects -o OUTPUT, --emit=KIND or --stop-after=PHASE");
  if (!writes)
    return std::nullopt;
  llvm::Expected<OutputKind> kind =
      chooseOutput(flags.emit, flags.output, stopAfter);
  if (!kind)
    return kind.takeError();
  return *kind;
}

/// Return whether `one` and `other` are one file, which writing both would leave
/// with one of them.
static bool isSameFile(StringRef one, StringRef other) {
  namespace fs = llvm::sys::fs;
  // (A device takes both.)
  if (one.empty() || one == "-" ||
      (fs::exists(one) && !fs::is_regular_file(one)))
    return false;
  return one == other || fs::equivalent(one, other);
}

/// Fails where two flags would write one file, or one of them the input. (The IR of
/// that may be replaced by what becomes of it.)
static llvm::Error checkPaths(const Flags &flags) {
  using Named = std::pair<StringRef, StringRef>;
  Named input("INPUT", flags.input), output("-o", flags.output),
      header("--header", flags.header), record("--tune-record", flags.record);
  for (auto [one, other] :
       {std::pair(input, header), std::pair(input, record),
        std::pair(output, header), std::pair(output, record),
        std::pair(header, record)})
    if (isSameFile(one.second, other.second))
      return llvm::createStringError("expects different files for " +
                                     one.first + " and " + other.first +
                                     ", got '" + other.second + "' for both");
  return llvm::Error::success();
}

/// Fails unless --tune and --tune-record go together with the other flags.
static llvm::Error checkTuning(const Flags &flags,
                               const CompileOptions &options, bool compiles) {
  for (const cl::Option *option :
       {static_cast<const cl::Option *>(&flags.tune),
        static_cast<const cl::Option *>(&flags.record)})
    if (isGiven(*option) && !compiles)
      return llvm::createStringError(
          "expects -o OUTPUT, --emit=KIND, --stop-after=PHASE or "
          "--dump-phases-to=DIR with --" +
          option->ArgStr);
  return isGiven(flags.tune) ? checkTuning(options, flags.tune)
                             : llvm::Error::success();
}

/// Return how --report is to be made; peaks are not measured yet.
static llvm::Expected<CostReportOptions> getReportOptions(const Flags &flags) {
  if (!isGiven(flags.report))
    for (const cl::opt<std::string> *option :
         {&flags.reportSizes, &flags.reportPeaks})
      if (isGiven(*option))
        return llvm::createStringError("expects --report with --" +
                                       option->ArgStr);
  if (!flags.report.empty() && flags.report != "text" && flags.report != "json")
    return llvm::createStringError("expects --report=text or json, got " +
                                   flags.report);
  auto options = parseReportOptions(flags.reportSizes, flags.reportPeaks);
  if (!options)
    return options;
  options->target = flags.target;
  options->json = flags.report == "json";
  if (!options->sizes.contains("threads"))
    options->sizes["threads"] =
        llvm::hardware_concurrency().compute_thread_count();
  return options;
}

/// Print what each attention in `module` needs, if that is asked for.
static llvm::Error report(const Flags &flags, ModuleOp module) {
  auto options = getReportOptions(flags);
  if (!options || !isGiven(flags.report))
    return options.takeError();
  addLimits(*options);
  printCostReport(module, *options, llvm::outs());
  return llvm::Error::success();
}

/// Write what the phases have made of `module`, and print what its kernels need.
static int write(const Flags &flags, ModuleOp module,
                 std::optional<OutputKind> kind, bool reportsKernels,
                 unsigned optLevel) {
  CudaOptions cuda;
  cuda.ptxas = flags.ptxas;
  cuda.report = reportsKernels ? &llvm::outs() : nullptr;
  // These make no machine code.
  bool isText = !kind || *kind == OutputKind::Mlir;
  if (reportsKernels && isText &&
      mlir::failed(emitCudaBinaries(module, cuda, /*needsCubins=*/false)))
    return EXIT_FAILURE;
  if (!kind)
    return EXIT_SUCCESS;
  StringRef output = flags.output.empty() ? StringRef("-") : flags.output;
  if (llvm::Error error =
          writeModule(module, *kind, output, flags.linker, optLevel, cuda))
    return failed(std::move(error));
  return EXIT_SUCCESS;
}

/// Read, run the phases, write.
static int compile(const Flags &flags, std::optional<OutputKind> kind,
                   CompileOptions options) {
  DialectRegistry registry;
  registerCompilerDialects(registry);
  // One small module gains nothing from threads.
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  if (isGiven(flags.remarks) &&
      mlir::failed(enableRemarks(context, flags.remarks)))
    return failed(llvm::createStringError("cannot print remarks"));
  DefaultTimingManager timing;
  applyDefaultTimingManagerCLOptions(timing);
  TimingScope scope = timing.getRootScope();
  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> file =
      openInputFile(flags.input, &message);
  if (!file) {
    llvm::errs() << "attnc: " << message << "\n";
    return EXIT_FAILURE;
  }
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(file), SMLoc());
  SourceMgrDiagnosticHandler handler(sources, &context);
  TimingScope parsing = scope.nest("Parse");
  OwningOpRef<ModuleOp> module = parseInput(sources, &context);
  parsing.stop();
  if (!module)
    return EXIT_FAILURE;
  if (!flags.header.empty())
    if (llvm::Error error =
            writeHeaderFile(*module, options.target, flags.header))
      return failed(std::move(error));
  if (llvm::Error error = report(flags, *module))
    return failed(std::move(error));
  // (JSON is that of attention alone.)
  bool reportsKernels = isGiven(flags.report) && flags.report != "json" &&
                        isForCuda(*module, options) &&
                        options.stopAfter == Phase::Object;
  if (!kind && options.dumpFolder.empty() && !reportsKernels)
    return EXIT_SUCCESS;
  if (flags.tune > 0 || !flags.record.empty()) {
    TimingScope tuning = scope.nest("Tune");
    auto record = openRecord(*module, options, flags.tune, flags.record);
    if (!record)
      return failed(record.takeError());
    options.record = std::move(*record);
  }
  PassManager pm(&context);
  pm.enableTiming(scope);
  if (mlir::failed(applyPassManagerCLOptions(pm)))
    return EXIT_FAILURE;
  if (mlir::failed(runPipeline(pm, *module, options)))
    return EXIT_FAILURE;
  TimingScope emitting = scope.nest("Emit");
  return write(flags, *module, kind, reportsKernels, options.optLevel);
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  // LLVM has a --stop-after and hundreds more of its own.
  cl::ResetCommandLineParser();
  Flags flags;
  registerCompilerPasses();
  registerAsmPrinterCLOptions();
  registerPassManagerCLOptions();
  registerDefaultTimingManagerCLOptions();
  for (auto &[name, option] : cl::getRegisteredOptions())
    if (name.starts_with("mlir-"))
      option->addCategory(flags.theirs);
  cl::HideUnrelatedOptions({&flags.ours, &flags.theirs});
  if (!cl::ParseCommandLineOptions(
          argc, argv, "attnc: compiles attention to a fast binary\n",
          &llvm::errs()))
    return kWrongUse;
  if (flags.printPhases)
    return printPhases();
  if (flags.input.empty())
    return wrongUse("expects INPUT, a file or '-'");
  CompileOptions options;
  options.target = flags.target;
  options.precision = flags.precision;
  options.dumpFolder = flags.dump;
  if (!flags.stopAfter.empty()) {
    llvm::Expected<Phase> phase = parsePhase(flags.stopAfter);
    if (!phase)
      return wrongUse(llvm::toString(phase.takeError()));
    options.stopAfter = *phase;
  }
  llvm::Expected<std::optional<OutputKind>> kind =
      getOutputKind(flags, options.stopAfter);
  if (!kind)
    return wrongUse(llvm::toString(kind.takeError()));
  options.executable = *kind == OutputKind::Executable;
  if (llvm::Error error = checkPaths(flags))
    return wrongUse(llvm::toString(std::move(error)));
  if (!options.target.empty())
    if (llvm::Error error = checkOutput(options, *kind))
      return wrongUse(llvm::toString(std::move(error)));
  bool compiles = *kind || !flags.dump.empty();
  if (llvm::Error error = checkTuning(flags, options, compiles))
    return wrongUse(llvm::toString(std::move(error)));
  if (llvm::Error error = getReportOptions(flags).takeError())
    return wrongUse(llvm::toString(std::move(error)));
  if (!flags.remarks.empty() && !llvm::Regex(flags.remarks).isValid())
    return wrongUse("expects a regular expression, got --remarks=" +
                    flags.remarks);
  return compile(flags, *kind, options);
}
