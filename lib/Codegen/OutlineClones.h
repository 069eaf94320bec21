// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions beside the public ones of a module, which answer a question about a call: OutlineChecks and OutlineShapes.

#ifndef ATTN_LIB_CODEGEN_OUTLINECLONES_H
#define ATTN_LIB_CODEGEN_OUTLINECLONES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::attn {

/// Put a private clone behind each public function of `module` that has one block,
/// called as `nameOf` says, unless `rebuild` returns false for it. What is left of
/// extents then is computed from those of arguments.
LogicalResult outlineClones(ModuleOp module,
                            function_ref<std::string(StringRef)> nameOf,
                            function_ref<bool(func::FuncOp)> rebuild);

/// Let `function` return `values`.
void returnValues(func::FuncOp function, ValueRange values);

} // namespace mlir::attn

#endif // ATTN_LIB_CODEGEN_OUTLINECLONES_H
