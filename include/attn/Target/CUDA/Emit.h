// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a module after phase `llvm` of a GPU, which still holds its kernels, to PTX, cubins, and an object for the host
// that brings both along.

#ifndef ATTN_TARGET_CUDA_EMIT_H
#define ATTN_TARGET_CUDA_EMIT_H

#include "attn/Target/CUDA/Ptxas.h"
#include "attn/Target/TargetInfo.h"

#include "mlir/IR/DialectRegistry.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::attn {

/// How kernels become machine code.
struct CudaOptions {
  /// Path or name of ptxas; empty: where a CUDA toolkit or a Python package puts it.
  std::string ptxas;
  /// Of LLVM's optimizer, 0 to 3.
  unsigned optLevel = 3;
  /// Leave machine code out, and let the one who loads the object bring a driver:
  /// `attn_set_driver` is exported.
  bool isForEmulator = false;
  /// Where to print what machine code needs and issues when it is made, for each
  /// architecture; then there must be a ptxas. Null: nowhere.
  llvm::raw_ostream *report = nullptr;
};

/// The kernels for one architecture.
struct CudaBinary {
  std::string architecture;
  std::string ptx;
  /// Empty where there is no ptxas.
  SmallVector<char, 0> cubin;
  /// What ptxas -v said.
  std::string log;
};

/// Register the translations that the functions below need.
void registerCudaTranslations(DialectRegistry &registry);

/// Return the kernels of `module` as PTX for `architecture`. Fails with a diagnostic.
FailureOr<std::string> emitPtx(ModuleOp module, StringRef architecture,
                               unsigned optLevel);

/// Return the kernels of `module` for each architecture of its target. Cubins are
/// made where there is a ptxas; with `needsCubins` it must be there. Fails with a
/// diagnostic.
FailureOr<SmallVector<CudaBinary>>
emitCudaBinaries(ModuleOp module, const CudaOptions &options, bool needsCubins);

/// Replace the kernels of `module` by constants of the host that hold `binaries`,
/// so that emitCpu makes an object of it.
void embedBinaries(ModuleOp module, ArrayRef<CudaBinary> binaries,
                   const CudaOptions &options);

/// Return the target of the host's part of an object.
TargetInfo getHostTarget();

} // namespace mlir::attn

#endif // ATTN_TARGET_CUDA_EMIT_H
