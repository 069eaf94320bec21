// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An object file that is linked into this process.

#ifndef ATTN_LIB_EXECUTION_JITLIBRARY_H
#define ATTN_LIB_EXECUTION_JITLIBRARY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"

namespace mlir::attn {

/// An object in memory, ready to be called.
class JitLibrary {
public:
  /// A function by the name under which it is called.
  using NamedFunction = std::pair<llvm::StringRef, void *>;

  /// Link `object` against this process and, where it has parallel loops,
  /// libomp, which is looked for where the loader does and beside libLLVM. It may
  /// also call `functions`, whether or not this process exports them.
  static llvm::Expected<std::unique_ptr<JitLibrary>>
  load(llvm::ArrayRef<char> object,
       llvm::ArrayRef<NamedFunction> functions = {});

  /// Return the address of `symbol`.
  llvm::Expected<void *> lookup(llvm::StringRef symbol) const;

  /// Return libomp's `omp_set_num_threads`, or null if libomp is not needed.
  void (*getSetNumThreads() const)(int) { return setNumThreads; }

  /// Return libomp's `omp_get_max_threads`, or null if libomp is not needed.
  int (*getGetMaxThreads() const)() { return getMaxThreads; }

private:
  llvm::Error defineAllocators();
  llvm::Error define(llvm::ArrayRef<NamedFunction> functions);
  llvm::Error loadOpenMP();

  /// What the linker had to say beside the error that it returned. Declared
  /// first: the linker may speak until it is gone.
  std::string complaints;
  std::unique_ptr<llvm::orc::LLJIT> jit;
  void (*setNumThreads)(int) = nullptr;
  int (*getMaxThreads)() = nullptr;
};

} // namespace mlir::attn

#endif // ATTN_LIB_EXECUTION_JITLIBRARY_H
