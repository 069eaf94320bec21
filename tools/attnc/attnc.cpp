// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attnc: a file of attention in, a file that a CPU, a linker or a person reads out.
//
//   attnc x.mlir -o x.so --header=x.h
//
// Exit status: 0 good, 1 the compilation failed, 2 wrong use.

#include "attn/Codegen/Signature.h"
#include "attn/Pipeline/Input.h"
#include "attn/Pipeline/Phases.h"
#include "attn/Target/CPU/Emit.h"
#include "attn/Target/CPU/Link.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Support/Timing.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace mlir::attn;
namespace cl = llvm::cl;

namespace {

constexpr int kWrongUse = 2;

/// The kinds of output, by the names of --emit and the suffixes of -o.
struct OutputKind {
  StringRef name, suffix;
};
constexpr OutputKind kOutputs[] = {{"mlir", ".mlir"}, {"llvm", ".ll"},
                                   {"asm", ".s"},     {"obj", ".o"},
                                   {"shared", ".so"}, {"exe", ""}};

struct Flags {
  cl::OptionCategory ours{"Options of attnc"};
  cl::OptionCategory theirs{"Options of MLIR"};
  cl::opt<std::string> input{cl::Positional, cl::desc("INPUT"), cl::cat(ours)};
  cl::opt<std::string> output{
      "o", cl::value_desc("OUTPUT"), cl::cat(ours),
      cl::desc("where to write; its suffix says what: "
               ".mlir .ll .s .o .so, none: executable")};
  cl::opt<std::string> target{"target", cl::value_desc("host|TRIPLE[:CPU]"),
                              cl::cat(ours),
                              cl::desc("the processor to compile for")};
  cl::opt<std::string> emit{"emit", cl::cat(ours),
                            cl::value_desc("mlir|llvm|asm|obj|shared|exe"),
                            cl::desc("what to write, whatever the suffix")};
  cl::opt<std::string> stopAfter{"stop-after", cl::value_desc("PHASE"),
                                 cl::cat(ours),
                                 cl::desc("write the IR after this phase")};
  cl::opt<std::string> dump{"dump-phases-to", cl::value_desc("DIR"),
                            cl::cat(ours),
                            cl::desc("write the IR after each phase")};
  cl::opt<std::string> remarks{"remarks", cl::value_desc("REGEX"),
                               cl::ValueOptional, cl::cat(ours),
                               cl::desc("say what was and was not done")};
  cl::opt<bool> printPhases{"print-phases", cl::cat(ours),
                            cl::desc("list the phases")};
  cl::opt<std::string> header{"header", cl::value_desc("FILE.h"), cl::cat(ours),
                              cl::desc("write a C header of the functions")};
  cl::opt<std::string> linker{"linker", cl::value_desc("PATH"), cl::cat(ours),
                              cl::desc("instead of cc or ld.lld from PATH")};
};

} // namespace

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

/// Return the kind of output that the flags ask for; empty: none.
static std::string getOutputKind(const Flags &flags) {
  if (!flags.emit.empty())
    return flags.emit;
  if (!flags.stopAfter.empty() && flags.stopAfter != "object")
    return "mlir";
  if (flags.output.empty() || flags.output == "-")
    return flags.output.empty() ? "" : "mlir";
  StringRef suffix = llvm::sys::path::extension(flags.output);
  for (const OutputKind &kind : kOutputs)
    if (kind.suffix == suffix)
      return kind.name.str();
  return suffix.str();
}

/// Print remarks of which the category matches `regex`.
static void enableRemarks(MLIRContext &context, StringRef regex) {
  remark::RemarkCategories categories;
  categories.all = regex.empty() ? ".*" : regex.str();
  (void)remark::enableOptimizationRemarks(
      context, nullptr, std::make_unique<remark::RemarkEmittingPolicyAll>(),
      categories, /*printAsEmitRemarks=*/true);
}

/// Write the header of the functions in `module`.
static LogicalResult emitHeader(ModuleOp module, StringRef path) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (mlir::failed(writeHeader(module, stream)))
    return failure();
  if (llvm::Error error = writeOutput({text.data(), text.size()}, path))
    return module.emitError(llvm::toString(std::move(error)));
  return success();
}

/// Write `module`, which has gone through all phases asked for, as `kind`.
static int emit(ModuleOp module, const Flags &flags, StringRef kind,
                const CompileOptions &options) {
  std::string output = flags.output;
  if (output.empty())
    output = "-";
  if (kind == "mlir") {
    std::string text;
    llvm::raw_string_ostream(text) << module << "\n";
    llvm::Error error = writeOutput({text.data(), text.size()}, output);
    return error ? failed(std::move(error)) : EXIT_SUCCESS;
  }
  CpuOutput form = kind == "llvm"  ? CpuOutput::LlvmIr
                   : kind == "asm" ? CpuOutput::Assembly
                                   : CpuOutput::Object;
  TargetInfo target = TargetInfo::get(module);
  FailureOr<SmallVector<char, 0>> bytes =
      emitCpu(module, target, form, options.optLevel);
  if (mlir::failed(bytes))
    return EXIT_FAILURE;
  LinkOptions linkOptions;
  linkOptions.linker = flags.linker;
  linkOptions.shared = kind == "shared";
  bool links = kind == "shared" || kind == "exe";
  llvm::Error error =
      links ? link({ArrayRef<char>(*bytes)}, target, linkOptions, output)
            : writeOutput(*bytes, output);
  return error ? failed(std::move(error)) : EXIT_SUCCESS;
}

/// Read, run the phases, write.
static int compile(const Flags &flags, StringRef kind,
                   const CompileOptions &options) {
  DialectRegistry registry;
  registerCompilerDialects(registry);
  // One small module gains nothing from threads.
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  if (flags.remarks.getNumOccurrences())
    enableRemarks(context, flags.remarks);
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
  if (!flags.header.empty() && mlir::failed(emitHeader(*module, flags.header)))
    return EXIT_FAILURE;
  if (kind.empty() && options.dumpFolder.empty())
    return EXIT_SUCCESS;
  PassManager pm(&context);
  pm.enableTiming(scope);
  if (mlir::failed(applyPassManagerCLOptions(pm)))
    return EXIT_FAILURE;
  buildCpuPipeline(pm, options);
  if (mlir::failed(pm.run(*module)))
    return EXIT_FAILURE;
  if (kind.empty())
    return EXIT_SUCCESS;
  TimingScope emitting = scope.nest("Emit");
  return emit(*module, flags, kind, options);
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
  options.dumpFolder = flags.dump;
  if (!flags.stopAfter.empty()) {
    std::optional<Phase> phase = findPhase(flags.stopAfter);
    if (!phase)
      return wrongUse(withKnownValues("expects a phase, got --stop-after=" +
                                          flags.stopAfter,
                                      flags.stopAfter, getPhaseNames()));
    options.stopAfter = *phase;
  }
  std::string kind = getOutputKind(flags);
  SmallVector<StringRef> kinds;
  for (const OutputKind &output : kOutputs)
    kinds.push_back(output.name);
  if (!kind.empty() && !llvm::is_contained(kinds, kind))
    return wrongUse(withKnownValues(
        "expects a kind of output, got '" + kind + "'", kind, kinds));
  if (kind.empty() && flags.dump.empty() && flags.header.empty())
    return wrongUse("expects -o OUTPUT, --emit=KIND or --stop-after=PHASE");
  if (kind != "mlir" && !kind.empty() && options.stopAfter != Phase::Object)
    return wrongUse("expects --emit=mlir with --stop-after=" + flags.stopAfter +
                    ", got --emit=" + kind);
  options.executable = kind == "exe";
  if (!options.target.empty())
    if (llvm::Error error = TargetInfo::parse(options.target).takeError())
      return wrongUse(llvm::toString(std::move(error)));
  return compile(flags, kind, options);
}
