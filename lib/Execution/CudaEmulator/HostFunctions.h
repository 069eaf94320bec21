// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions that compiled kernels call, by name. Each file of what threads do has a table of its own.

#ifndef ATTN_LIB_EXECUTION_CUDAEMULATOR_HOSTFUNCTIONS_H
#define ATTN_LIB_EXECUTION_CUDAEMULATOR_HOSTFUNCTIONS_H

#include "llvm/ADT/ArrayRef.h"

namespace mlir::attn::emulator {

struct HostFunction {
  const char *name;
  void *address;

  /// Pair `name` with any function.
  template <typename Result, typename... Arguments>
  HostFunction(const char *name, Result (*function)(Arguments...))
      : name(name), address(reinterpret_cast<void *>(function)) {}
};

llvm::ArrayRef<HostFunction> getThreadFunctions();
llvm::ArrayRef<HostFunction> getMathFunctions();
llvm::ArrayRef<HostFunction> getWarpFunctions();
llvm::ArrayRef<HostFunction> getMatrixFunctions();
llvm::ArrayRef<HostFunction> getWarpGroupFunctions();
llvm::ArrayRef<HostFunction> getCopyFunctions();

} // namespace mlir::attn::emulator

#endif // ATTN_LIB_EXECUTION_CUDAEMULATOR_HOSTFUNCTIONS_H
