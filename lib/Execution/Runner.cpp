// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a module and options to a report.

#include "attn/Execution/Runner.h"

#include "attn/Execution/Executor.h"
#include "attn/Execution/InterpreterBridge.h"
#include "attn/Execution/Npy.h"
#include "attn/Execution/OperationCount.h"
#include "attn/Execution/PlotWeights.h"
#include "attn/Pipeline/Passes.h"
#include "attn/Target/TargetInfo.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;
using namespace mlir::attn;

/// Interpret `function` with results in their own types.
static llvm::Expected<SmallVector<HostTensor>>
runInterpreter(func::FuncOp function, ArrayRef<HostTensor> inputs) {
  AttentionStatistics ignored;
  auto exact = interpretOnHost(function, inputs, Arithmetic::Exact, ignored);
  if (!exact)
    return exact.takeError();
  SmallVector<HostTensor> results;
  for (auto [tensor, type] :
       llvm::zip_equal(*exact, function.getResultTypes())) {
    auto stored = tensor.convert(*getElementKind(getElementTypeOrSelf(type)));
    if (!stored)
      return stored.takeError();
    results.push_back(*stored);
  }
  return results;
}

static bool isGpu(Device device) {
  return device == Device::Cuda || device == Device::CudaEmulated;
}

/// Return the target of `options`. Fails unless its code runs on their device.
static llvm::Expected<std::string> chooseTarget(const RunOptions &options) {
  bool onGpu = isGpu(options.device);
  if (options.target.empty())
    return std::string(!onGpu                           ? "host"
                       : options.device == Device::Cuda ? "sm_80,sm_90"
                                                        : "sm_80");
  llvm::Expected<TargetInfo> wanted = TargetInfo::parse(options.target);
  if (!wanted)
    return llvm::make_error<UsageError>("--target " +
                                        llvm::toString(wanted.takeError()));
  llvm::Triple here(llvm::sys::getProcessTriple());
  if (onGpu ? wanted->isCuda()
            : llvm::Triple(wanted->triple).getArch() == here.getArch())
    return options.target;
  if (onGpu || wanted->isCuda())
    return llvm::make_error<UsageError>(
        "--target expects " +
        std::string(onGpu ? "an architecture of CUDA, such as sm_80, with "
                            "--device=cuda or cuda-emulated"
                          : "--device=cuda or cuda-emulated with kernels") +
        ", got '" + options.target + "'");
  return llvm::make_error<UsageError>(
      "--target expects a target that runs here, such as host or " +
      here.getTriple() + ", got '" + options.target + "'");
}

/// Compile `function` and call it once.
static llvm::Expected<SmallVector<HostTensor>>
runCompiled(const Executor &executor, func::FuncOp function,
            ArrayRef<HostTensor> inputs) {
  auto outputs = executor.createOutputs(function.getName(), inputs);
  if (!outputs)
    return outputs.takeError();
  if (llvm::Error error = executor.run(function.getName(), inputs, *outputs))
    return std::move(error);
  return outputs;
}

/// Time `function` and relate it to what the machine can do.
static llvm::Expected<Measurement> runBenchmark(const Executor &executor,
                                                func::FuncOp function,
                                                ArrayRef<HostTensor> inputs,
                                                ArrayRef<HostTensor> outputs,
                                                const RunOptions &options) {
  auto workload = describeWork(function, inputs);
  if (!workload)
    return workload.takeError();
  if (options.device == Device::Cuda)
    return measureOnDevice(executor, function.getName(), inputs, outputs,
                           options.benchmark, *workload);
  PeakMeter meter;
  return measure(executor, function.getName(), inputs, outputs,
                 options.benchmark, options.threads, *workload, meter);
}

/// Let `function` return the weights that are to be drawn, if any, and return which
/// results these are.
static llvm::Expected<SmallVector<unsigned>>
chooseShown(func::FuncOp function, const RunOptions &options) {
  if (options.plotFolder.empty())
    return SmallVector<unsigned>();
  FailureOr<SmallVector<unsigned>> shown = exposeWeights(function);
  if (failed(shown))
    return llvm::createStringError("cannot show weights");
  if (shown->empty())
    return llvm::make_error<UsageError>(
        "--plot-weights expects attention outside of loops in '" +
        function.getName() + "'");
  return std::move(*shown);
}

/// Draw the results of `report` that `shown` numbers, and forget them: the function
/// did not have them.
static llvm::Error plotResults(RunReport &report, ArrayRef<unsigned> shown,
                               const RunOptions &options) {
  std::vector<std::string> labels;
  if (!options.labels.empty()) {
    auto lines = readLabels(options.labels);
    if (!lines)
      return lines.takeError();
    labels = std::move(*lines);
  }
  SmallVector<HostTensor> weights;
  for (unsigned number : shown)
    weights.push_back(report.results[number]);
  report.results.truncate(shown.front());
  return plotWeights(options.plotFolder, weights, labels);
}

/// Write the precision of `options` on ops of `module` that have none. Fails for a
/// device that multiplies exactly.
static llvm::Error writePrecision(ModuleOp module, const RunOptions &options) {
  if (options.precision.empty())
    return llvm::Error::success();
  auto precision = parsePrecision(options.precision);
  if (!precision)
    return llvm::make_error<UsageError>("--precision " +
                                        llvm::toString(precision.takeError()));
  if (*precision != Precision::Exact && !isGpu(options.device))
    return llvm::make_error<UsageError>(
        "--precision expects --device=cuda or cuda-emulated with " +
        options.precision);
  setPrecision(module, *precision);
  return llvm::Error::success();
}

/// Fails unless `function` and its device can do what `options` ask for.
static llvm::Error checkOptions(func::FuncOp function,
                                const RunOptions &options) {
  if (options.outputs.size() > function.getNumResults())
    return llvm::make_error<UsageError>(
        "expects at most " + Twine(function.getNumResults()) +
        " times --output= for '" + function.getName() + "', got " +
        Twine(options.outputs.size()));
  for (auto [i, path] : llvm::enumerate(options.outputs))
    if (llvm::is_contained(ArrayRef(options.outputs).take_front(i), path) &&
        (!llvm::sys::fs::exists(path) || llvm::sys::fs::is_regular_file(path)))
      return llvm::make_error<UsageError>(
          "expects different files for results, got --output=" + path +
          " again");
  if (!options.labels.empty() && options.plotFolder.empty())
    return llvm::make_error<UsageError>("expects --plot-weights with --labels");
  if (options.benchmark == 0 || options.device == Device::CPU ||
      options.device == Device::Cuda)
    return llvm::Error::success();
  return llvm::make_error<UsageError>(
      options.device == Device::CudaEmulated
          ? "--benchmark expects --device=cpu or cuda: the emulator's times "
            "say nothing of a GPU's"
          : "--benchmark expects --device=cpu: the interpreter is not timed");
}

/// Compile `module` for `target`, to run on the device of `options`.
static llvm::Expected<std::unique_ptr<Executor>>
compile(ModuleOp module, StringRef target, const RunOptions &options) {
  CompileOptions compileOptions;
  compileOptions.target = target.str();
  CudaRunOptions cuda = options.cuda;
  cuda.isEmulated = options.device == Device::CudaEmulated;
  auto executor = Executor::compile(module, compileOptions, cuda);
  if (executor)
    (*executor)->setThreads(options.threads);
  return executor;
}

llvm::Expected<RunReport> mlir::attn::runModule(ModuleOp module,
                                                const RunOptions &options) {
  auto function = selectFunction(module, options.function);
  if (!function)
    return function.takeError();
  if (llvm::Error error = checkOptions(*function, options))
    return std::move(error);
  if (llvm::Error error = writePrecision(module, options))
    return std::move(error);
  bool isCompiled = options.device != Device::Interpreter;
  llvm::Expected<std::string> target =
      isCompiled ? chooseTarget(options) : llvm::Expected<std::string>("");
  if (!target)
    return target.takeError();
  auto shown = chooseShown(*function, options);
  if (!shown)
    return shown.takeError();
  auto inputs = makeInputs(*function, options.inputs);
  if (!inputs)
    return inputs.takeError();
  RunReport report;
  report.function = function->getName().str();
  std::unique_ptr<Executor> executor;
  if (isCompiled) {
    auto compiled = compile(module, *target, options);
    if (!compiled)
      return compiled.takeError();
    executor = std::move(*compiled);
  }
  auto results = executor ? runCompiled(*executor, *function, *inputs)
                          : runInterpreter(*function, *inputs);
  if (!results)
    return results.takeError();
  report.results = *results;
  for (auto [path, result] : llvm::zip(options.outputs, report.results))
    if (llvm::Error error = writeNpy(path, result))
      return std::move(error);
  if (options.verify) {
    auto verification = verifyResults(*function, *inputs, report.results,
                                      isGpu(options.device));
    if (!verification)
      return verification.takeError();
    report.verification = *verification;
  }
  if (options.benchmark > 0) {
    auto measurement =
        runBenchmark(*executor, *function, *inputs, report.results, options);
    if (!measurement)
      return measurement.takeError();
    report.measurement = *measurement;
  }
  if (!shown->empty())
    if (llvm::Error error = plotResults(report, *shown, options))
      return std::move(error);
  return report;
}
