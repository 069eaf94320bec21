// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls of compiled functions whose kernels run on a device: copies there and back, the workspace, and the status.

#ifndef ATTN_LIB_EXECUTION_CUDACALLS_H
#define ATTN_LIB_EXECUTION_CUDACALLS_H

#include "JitLibrary.h"

#include "attn/Execution/CudaDevice.h"
#include "attn/Execution/Tensor.h"

namespace mlir::attn {

class CudaCalls {
public:
  /// `library` is an object with kernels for `device`, which finds the driver's
  /// functions where the device has them.
  static llvm::Expected<std::unique_ptr<CudaCalls>>
  create(const JitLibrary &library, std::unique_ptr<CudaDevice> device);

  CudaDevice &getDevice() const { return *device; }

  /// Run `function` once: tensors are in this process's memory. The error is that
  /// of the C entry, of a check of data, or what the emulator reports.
  llvm::Error run(StringRef function, ArrayRef<HostTensor> inputs,
                  ArrayRef<HostTensor> outputs) const;

  /// Return the milliseconds of `count` runs.
  llvm::Expected<std::vector<double>> time(StringRef function,
                                           ArrayRef<HostTensor> inputs,
                                           ArrayRef<HostTensor> outputs,
                                           unsigned count) const;

private:
  CudaCalls(const JitLibrary &library, std::unique_ptr<CudaDevice> device)
      : library(library), device(std::move(device)) {}

  const JitLibrary &library;
  std::unique_ptr<CudaDevice> device;
};

} // namespace mlir::attn

#endif // ATTN_LIB_EXECUTION_CUDACALLS_H
