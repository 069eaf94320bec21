// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Replaces ops by their definitions (the method decomposeOperation of
// AggregatedOpInterface).

#ifndef ATTN_IR_DECOMPOSE_H
#define ATTN_IR_DECOMPOSE_H

#include "attn/IR/AttnOps.h"
#include "mlir/IR/Operation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

namespace mlir::attn {

/// Replace every op inside `root` that `filter` accepts by its definition, and
/// then those that came out of it, until none is left. Fails, naming the op, at
/// the first that has no definition.
LogicalResult decomposeOps(Operation *root,
                           function_ref<bool(Operation *)> filter);

/// Return tensors without content in the shapes of the results of `op`.
FailureOr<SmallVector<Value>>
createEmptyResults(OpBuilder &b, ReifyRankedShapedTypeOpInterface op);

/// Return true if `op` stands in a loop over blocks of threads, whose tiles become
/// vectors without becoming linalg.
bool isForThreads(Operation *op);

/// Return `op`, whose rows are those of all sequences, or a copy before it whose
/// tensors have a leading dimension of 1, and in `results` what it gives in the
/// shapes of the results of `op`.
SdpaOp withLeadingOne(OpBuilder &builder, SdpaOp op,
                      SmallVectorImpl<Value> &results);

} // namespace mlir::attn

#endif // ATTN_IR_DECOMPOSE_H
