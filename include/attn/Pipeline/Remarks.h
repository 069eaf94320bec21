// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Says what passes did, and what they did not do and why.

#ifndef ATTN_PIPELINE_REMARKS_H
#define ATTN_PIPELINE_REMARKS_H

#include "mlir/IR/MLIRContext.h"
#include "mlir/Support/LLVM.h"

namespace mlir::attn {

/// Print remarks of which the category matches `regex`, all if it is empty. Fails
/// where remarks are on already.
LogicalResult enableRemarks(MLIRContext &context, StringRef regex);

} // namespace mlir::attn

#endif // ATTN_PIPELINE_REMARKS_H
