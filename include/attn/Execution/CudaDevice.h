// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where compiled kernels run: on a GPU by its driver, or in the emulator. What runs them sees the same memory, copies
// and names of the driver's functions.

#ifndef ATTN_EXECUTION_CUDADEVICE_H
#define ATTN_EXECUTION_CUDADEVICE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>
#include <vector>

namespace mlir::attn {

/// How kernels are run.
struct CudaRunOptions {
  bool isEmulated = true;
  /// Of the emulator: whether it checks every access, and the seed of the order in
  /// which threads run and copies are made; 0: in order, copies late; 1: in order,
  /// copies early.
  bool track = true;
  uint64_t seed = 0;
  /// As CudaOptions has it.
  std::string ptxas;
};

class CudaDevice {
public:
  /// Finds a function of the driver; null where it does not know the name.
  using Lookup = void *(*)(const char *name);

  virtual ~CudaDevice() = default;

  /// Return who knows the driver's functions in this process.
  virtual Lookup getLookup() const = 0;

  /// Allocate memory; reports call it `name`. The content is not defined.
  /// The emulator's begins as far beyond a multiple of 256 bytes as `like` does.
  virtual llvm::Expected<void *> allocate(size_t bytes, StringRef name,
                                          const void *like) = 0;
  virtual void free(void *memory) = 0;

  virtual llvm::Error copyIn(void *device, const void *host, size_t bytes) = 0;
  virtual llvm::Error copyOut(void *host, const void *device, size_t bytes) = 0;

  /// Wait for everything that was launched.
  virtual llvm::Error synchronize() = 0;

  /// Call `launch` `count` times and return the milliseconds that the device took
  /// for each.
  virtual llvm::Expected<std::vector<double>>
  time(unsigned count, llvm::function_ref<llvm::Error()> launch) = 0;

  /// Take another seed, as CudaRunOptions has it, from now on. A GPU has an order of
  /// its own.
  virtual void setSeed(uint64_t seed) {}

  /// Return how many launches had shared memory, as programs of blocks of threads
  /// do. A GPU does not count.
  virtual uint64_t countBlockLaunches() const { return 0; }

  /// Return what went wrong since the last call, and forget it.
  virtual std::vector<std::string> takeReports() { return {}; }
};

/// Return an emulator of the kernels in `module`, which is after phase nvvm.
llvm::Expected<std::unique_ptr<CudaDevice>>
createEmulatedDevice(ModuleOp module, const CudaRunOptions &options);

/// Return the first GPU. Fails where there is none.
llvm::Expected<std::unique_ptr<CudaDevice>> createDriverDevice();

} // namespace mlir::attn

#endif // ATTN_EXECUTION_CUDADEVICE_H
