// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a module and options to a report.

#include "attn/Execution/Runner.h"

#include "attn/Execution/InterpreterBridge.h"
#include "attn/Execution/Npy.h"

#include "mlir/IR/TypeUtilities.h"

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

llvm::Expected<RunReport> mlir::attn::runModule(ModuleOp module,
                                                const RunOptions &options) {
  auto function = selectFunction(module, options.function);
  if (!function)
    return function.takeError();
  if (options.outputs.size() > function->getNumResults())
    return llvm::make_error<UsageError>(
        "expects at most " + Twine(function->getNumResults()) +
        " times --output= for '" + function->getName() + "', got " +
        Twine(options.outputs.size()));
  auto inputs = makeInputs(*function, options.inputs);
  if (!inputs)
    return inputs.takeError();
  RunReport report;
  report.function = function->getName().str();
  auto results = runInterpreter(*function, *inputs);
  if (!results)
    return results.takeError();
  report.results = *results;
  for (auto [path, result] : llvm::zip(options.outputs, report.results))
    if (llvm::Error error = writeNpy(path, result))
      return std::move(error);
  if (options.verify) {
    auto verification = verifyResults(*function, *inputs, report.results);
    if (!verification)
      return verification.takeError();
    report.verification = *verification;
  }
  return report;
}
