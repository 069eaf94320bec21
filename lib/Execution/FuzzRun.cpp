// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs cases of the fuzzer. Inputs cannot be written and every buffer ends at
// a page that cannot be touched, so that most wrong accesses crash.

#include "attn/Execution/FuzzRun.h"

#include "attn/Execution/FuzzData.h"
#include "attn/Execution/FuzzJudge.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace mlir::attn;

/// The name of the function of each module.
constexpr llvm::StringLiteral kName = "f";

std::unique_ptr<FuzzFunction> FuzzFunction::compile(MLIRContext &context,
                                                    const FuzzCase &fuzz,
                                                    Complaint &complaint) {
  std::string diagnostics;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    diagnostics += diagnostic.str() + "; ";
    return success();
  });
  auto result = std::make_unique<FuzzFunction>();
  std::string text = getFuzzModule(fuzz);
  result->module = parseSourceString<ModuleOp>(text, &context);
  if (isRefusedByVerifier(fuzz)) {
    if (result->module)
      complaint = "the verifier accepts " + text;
    return nullptr;
  }
  if (!result->module) {
    complaint = "the verifier refuses: " + diagnostics + text;
    return nullptr;
  }
  CompileOptions options;
  options.optLevel = static_cast<unsigned>(fuzz.getInt("opt"));
  if (fuzz.has("device"))
    options.target = "sm_80";
  auto executor = Executor::compile(*result->module, options);
  if (!executor) {
    complaint = llvm::toString(executor.takeError()) + ": " + diagnostics;
    return nullptr;
  }
  result->executor = std::move(*executor);
  return result;
}

/// Return the tensors of `memory`.
static SmallVector<HostTensor> getTensors(ArrayRef<GuardedTensor> memory) {
  SmallVector<HostTensor> tensors;
  for (const GuardedTensor &tensor : memory)
    tensors.push_back(tensor.get());
  return tensors;
}

static llvm::Expected<std::vector<GuardedTensor>>
makeOutputs(const FuzzCase &fuzz) {
  std::vector<GuardedTensor> outputs;
  for (auto [number, result] : llvm::enumerate(getFuzzResults(fuzz))) {
    auto tensor = allocate(fuzz, result, 32 + number, /*isInput=*/false);
    if (!tensor)
      return tensor.takeError();
    outputs.push_back(std::move(*tensor));
  }
  return outputs;
}

/// Return whether `NAME_shape` gives the shapes of `outputs`.
static Complaint checkShapes(const Executor &executor,
                             ArrayRef<HostTensor> inputs,
                             ArrayRef<HostTensor> outputs) {
  auto shaped = executor.createOutputs(kName, inputs);
  if (!shaped)
    return "shapes: " + llvm::toString(shaped.takeError());
  for (auto [got, wanted] : llvm::zip_equal(*shaped, outputs))
    if (got.getTypeName() != wanted.getTypeName())
      return "expects a result of " + wanted.getTypeName() + ", got " +
             got.getTypeName();
  return std::nullopt;
}

/// Call the function on `threads` threads, or with those of the emulator in another
/// order, and expect the bits of `outputs`.
static Complaint checkThreads(const Executor &executor, const FuzzCase &fuzz,
                              ArrayRef<HostTensor> inputs,
                              ArrayRef<GuardedTensor> outputs,
                              unsigned threads) {
  auto again = makeOutputs(fuzz);
  if (!again)
    return llvm::toString(again.takeError());
  executor.setThreads(threads);
  executor.setEmulatorSeed(static_cast<uint64_t>(fuzz.getInt("order")) + 1);
  if (llvm::Error error = executor.run(kName, inputs, getTensors(*again)))
    return "again: " + llvm::toString(std::move(error));
  for (auto [a, b] : llvm::zip_equal(outputs, *again))
    if (!a.hasSameBits(b))
      return fuzz.has("device") ? "other bits with threads in another order"
                                : "other bits on " + std::to_string(threads) +
                                      " threads than on 1";
  return std::nullopt;
}

/// Copy the elements of `from` to `to`, which has the same type.
static void copyElements(const HostTensor &from, const HostTensor &to) {
  const int64_t size = getByteSize(from.getKind());
  SmallVector<const char *> elements;
  from.forEach([&](int64_t offset) {
    elements.push_back(from.getData() + offset * size);
  });
  size_t next = 0;
  to.forEach([&](int64_t offset) {
    std::memcpy(to.getData() + offset * size, elements[next++], size);
  });
}

/// Return entry `b` of the first dimension, which stays, with an extent of 1.
static HostTensor takeEntry(const HostTensor &tensor, int64_t b) {
  SmallVector<int64_t> shape(tensor.getShape());
  shape.front() = 1;
  return HostTensor::view(tensor.getKind(), shape, tensor.getStrides(),
                          tensor.getData() + b * tensor.getStrides().front() *
                                                 getByteSize(tensor.getKind()));
}

/// Return whether two tensors of one type hold the same bits.
static bool isSame(const HostTensor &a, const HostTensor &b) {
  const int64_t size = getByteSize(a.getKind());
  SmallVector<const char *> elements;
  a.forEach(
      [&](int64_t offset) { elements.push_back(a.getData() + offset * size); });
  size_t next = 0;
  bool same = true;
  b.forEach([&](int64_t offset) {
    same &=
        std::memcmp(b.getData() + offset * size, elements[next++], size) == 0;
  });
  return same;
}

/// Call the function with the cache in the memory of the result, where rows are added
/// in place, and expect the bits of `outputs`.
static Complaint checkInPlace(const Executor &executor, const FuzzCase &fuzz,
                              ArrayRef<HostTensor> inputs,
                              ArrayRef<GuardedTensor> outputs) {
  auto again = makeOutputs(fuzz);
  if (!again)
    return llvm::toString(again.takeError());
  SmallVector<HostTensor> arguments(inputs), results = getTensors(*again);
  constexpr size_t kCache = 1;
  copyElements(arguments[kCache], results[0]);
  arguments[kCache] = results[0];
  if (llvm::Error error = executor.run(kName, arguments, results))
    return "in place: " + llvm::toString(std::move(error));
  for (auto [elsewhere, here] : llvm::zip_equal(outputs, *again))
    if (!elsewhere.hasSameBits(here))
      return "other bits in place than elsewhere";
  return std::nullopt;
}

/// Call the function on the last entry of the batch alone and expect its bits.
static Complaint checkEntry(const Executor &executor, const FuzzCase &fuzz,
                            ArrayRef<HostTensor> inputs,
                            ArrayRef<HostTensor> outputs) {
  int64_t entry = fuzz.getInt("B") - 1;
  SmallVector<HostTensor> alone;
  for (auto [input, operand] : llvm::zip_equal(inputs, getFuzzOperands(fuzz)))
    alone.push_back(StringRef(operand.shape).starts_with("B")
                        ? takeEntry(input, entry)
                        : input);
  FuzzCase single = fuzz;
  single.set("B", "1");
  auto results = makeOutputs(single);
  if (!results)
    return llvm::toString(results.takeError());
  if (llvm::Error error = executor.run(kName, alone, getTensors(*results)))
    return "one entry: " + llvm::toString(std::move(error));
  for (auto [all, one] : llvm::zip_equal(outputs, *results))
    if (!isSame(takeEntry(all, entry), one.get()))
      return "other bits for an entry alone than in a batch";
  return std::nullopt;
}

/// Expect that the function refuses its arguments and writes nothing.
static Complaint checkRefusal(llvm::Error error,
                              ArrayRef<GuardedTensor> outputs) {
  if (!error)
    return "accepts what it has to refuse";
  llvm::consumeError(std::move(error));
  for (const GuardedTensor &output : outputs)
    if (!output.isUntouched())
      return "refuses, but has written";
  return std::nullopt;
}

Complaint FuzzFunction::run(const FuzzCase &fuzz) const {
  auto inputs = makeFuzzInputs(fuzz);
  if (!inputs)
    return llvm::toString(inputs.takeError());
  auto outputs = makeOutputs(fuzz);
  if (!outputs)
    return llvm::toString(outputs.takeError());
  auto arguments = getTensors(*inputs), results = getTensors(*outputs);
  executor->setThreads(static_cast<unsigned>(fuzz.getInt("threads")));
  executor->setEmulatorSeed(static_cast<uint64_t>(fuzz.getInt("order")));
  llvm::Error error = executor->run(kName, arguments, results);
  if (isRefusedAtRunTime(fuzz))
    return checkRefusal(std::move(error), *outputs);
  if (error)
    return "refuses: " + llvm::toString(std::move(error));
  for (const GuardedTensor &output : *outputs)
    if (!output.isRestUntouched())
      return "writes between the elements of a result";
  ModuleOp compiled = module.get();
  auto function = *compiled.getOps<func::FuncOp>().begin();
  if (Complaint wrong =
          judgeFuzzResults(function, arguments, results, fuzz.has("device")))
    return wrong;
  StringRef check = fuzz.get("check");
  if (check == "shapes")
    return checkShapes(*executor, arguments, results);
  if (check == "threads")
    return checkThreads(*executor, fuzz, arguments, *outputs, 2);
  if (check == "place")
    return checkInPlace(*executor, fuzz, arguments, *outputs);
  if (check == "entry" && fuzz.getInt("B") > 0)
    return checkEntry(*executor, fuzz, arguments, results);
  return std::nullopt;
}
