// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles a module for this machine, loads the very object that attnc would write, and calls its functions through
// their C entries.

#ifndef ATTN_EXECUTION_EXECUTOR_H
#define ATTN_EXECUTION_EXECUTOR_H

#include "attn/Execution/CudaDevice.h"
#include "attn/Execution/Tensor.h"
#include "attn/Pipeline/Options.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::attn {

class CudaCalls;
class JitLibrary;

/// Compiled functions, loaded into this process. Calls from several threads at
/// once are fine.
class Executor {
public:
  /// Compile a copy of `module`; diagnostics go to its context, which must have
  /// the dialects of registerCompilerDialects. Kernels, of a target that has them,
  /// run as `cuda` says.
  static llvm::Expected<std::unique_ptr<Executor>>
  compile(ModuleOp module, const CompileOptions &options,
          const CudaRunOptions &cuda = {});

  ~Executor();

  /// Run `function` on tensors with any strides; outputs must have the right
  /// shapes and innermost stride 1. The error is the message of its C entry.
  llvm::Error run(StringRef function, ArrayRef<HostTensor> inputs,
                  ArrayRef<HostTensor> outputs) const;

  /// Return the milliseconds that a GPU took for each of `count` calls.
  llvm::Expected<std::vector<double>> timeOnDevice(StringRef function,
                                                   ArrayRef<HostTensor> inputs,
                                                   ArrayRef<HostTensor> outputs,
                                                   unsigned count) const;

  /// Allocate outputs of `function` in the shapes that it has for `inputs`.
  llvm::Expected<SmallVector<HostTensor>>
  createOutputs(StringRef function, ArrayRef<HostTensor> inputs) const;

  /// Let functions use `threads` threads from now on, in calls of the thread
  /// that says so; 0 leaves it to the system.
  void setThreads(unsigned threads) const;

  /// Return how many threads calls of this thread use.
  unsigned getThreads() const;

  /// Take another order of threads and copies, as CudaRunOptions::seed has it, where
  /// kernels are emulated.
  void setEmulatorSeed(uint64_t seed) const;

  /// Return how many programs of blocks of threads the emulator has run.
  uint64_t countBlockLaunches() const;

  /// Forget how much memory loaded functions of this process allocated, and
  /// return the most that they have held at once since then, beside outputs.
  static void resetPeakMemory();
  static int64_t getPeakMemory();

private:
  /// A result's type; the rank is that of its tensor.
  struct ResultType {
    ElementKind kind;
    int64_t rank;
  };
  Executor();
  llvm::Error readSignatures(ModuleOp module);
  llvm::Error load(ModuleOp compiled, const CompileOptions &options,
                   const CudaRunOptions &cuda);
  llvm::Error call(StringRef function, StringRef suffix,
                   ArrayRef<HostTensor> inputs, ArrayRef<HostTensor> outputs,
                   SmallVectorImpl<int64_t> *shapes) const;

  std::unique_ptr<JitLibrary> library;
  /// Where kernels are called; null for a CPU.
  std::unique_ptr<CudaCalls> kernels;
  llvm::StringMap<SmallVector<ResultType>> results;
};

} // namespace mlir::attn

#endif // ATTN_EXECUTION_EXECUTOR_H
