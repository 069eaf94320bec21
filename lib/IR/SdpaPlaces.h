// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The definitions of an attn.sdpa whose keys or rows do not lie as [B, G, N, D], by others.

#ifndef ATTN_LIB_IR_SDPAPLACES_H
#define ATTN_LIB_IR_SDPAPLACES_H

#include "attn/IR/AttnOps.h"

namespace mlir::attn {

/// Return the results of `op`, whose keys are in pages, by one whose keys are not.
SmallVector<Value> decomposePages(OpBuilder &builder, SdpaOp op);

/// Return the results of `op`, whose rows are those of several sequences, by a loop
/// over one of a sequence.
FailureOr<SmallVector<Value>> decomposeSequences(OpBuilder &builder, SdpaOp op);

} // namespace mlir::attn

#endif // ATTN_LIB_IR_SDPAPLACES_H
