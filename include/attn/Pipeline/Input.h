// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads a module from text or bytecode.

#ifndef ATTN_PIPELINE_INPUT_H
#define ATTN_PIPELINE_INPUT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace llvm {
class SourceMgr;
} // namespace llvm

namespace mlir::attn {

/// Return the module in the main buffer of `sources`. From text, arguments and
/// results of functions keep the names that they have there, as their attribute
/// `attn.name`. Fails with a diagnostic.
OwningOpRef<ModuleOp> parseInput(const llvm::SourceMgr &sources,
                                 MLIRContext *context);

} // namespace mlir::attn

#endif // ATTN_PIPELINE_INPUT_H
