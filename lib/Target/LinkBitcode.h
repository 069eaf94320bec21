// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes what a module calls of a library, which the build has compiled to bitcode, a part of it.

#ifndef ATTN_LIB_TARGET_LINKBITCODE_H
#define ATTN_LIB_TARGET_LINKBITCODE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

namespace llvm {
class Function;
class Module;
} // namespace llvm

namespace mlir::attn {

/// Link what `module` calls of `bitcode`, the library `name`, into it, with internal
/// linkage, for the triple and data layout of `module`. `prepare` sees each function
/// of the library before, without the attributes that tie it to one machine.
llvm::Error linkBitcode(llvm::Module &module,
                        llvm::ArrayRef<unsigned char> bitcode,
                        llvm::StringRef name,
                        llvm::function_ref<void(llvm::Function &)> prepare);

} // namespace mlir::attn

#endif // ATTN_LIB_TARGET_LINKBITCODE_H
