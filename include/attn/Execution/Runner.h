// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs one function of a module once, as attn-run does.

#ifndef ATTN_EXECUTION_RUNNER_H
#define ATTN_EXECUTION_RUNNER_H

#include "attn/Execution/Benchmark.h"
#include "attn/Execution/CudaDevice.h"
#include "attn/Execution/Inputs.h"
#include "attn/Execution/Verify.h"

namespace mlir::attn {

/// Who runs a function.
enum class Device { CPU, Interpreter, Cuda, CudaEmulated };

/// What to run and what to do with it.
struct RunOptions {
  std::string function;
  std::vector<std::string> inputs, outputs;
  Device device = Device::CPU;
  /// Empty: this machine's CPU, or GPUs of the newer kinds.
  std::string target;
  /// How a GPU multiplies f32 where an op does not say: exact, tf32 or tf32x3.
  std::string precision;
  /// 0 leaves the number of threads to the system.
  unsigned threads = 0;
  bool verify = false;
  /// How many calls are timed; 0 for none.
  unsigned benchmark = 0;
  /// How kernels are run on Device::Cuda and Device::CudaEmulated.
  CudaRunOptions cuda;
  /// Where pictures of weights go, and a file of what rows and keys are called;
  /// empty for none.
  std::string plotFolder, labels;
};

/// What came out.
struct RunReport {
  std::string function;
  SmallVector<HostTensor> results;
  std::optional<Verification> verification;
  std::optional<Measurement> measurement;
};

/// Run the function of `module` that `options` name, write its results to the
/// files that they name, and verify and time it where asked. A UsageError is
/// the fault of the options.
llvm::Expected<RunReport> runModule(ModuleOp module, const RunOptions &options);

} // namespace mlir::attn

#endif // ATTN_EXECUTION_RUNNER_H
