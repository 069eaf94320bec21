// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the references of attention by softmax and of linear attention share.

#ifndef ATTN_LIB_EXECUTION_REFERENCEPARTS_H
#define ATTN_LIB_EXECUTION_REFERENCEPARTS_H

#include "attn/Execution/Reference.h"

namespace mlir::attn::reference {

/// The extents of a problem, and its three main tensors as [B, H, S, D].
struct Geometry {
  HostTensor query, key, value;
  int64_t batch, heads, kvHeads, rows, keys, headSize, valueSize;
};

/// Fails unless query, key and value are there and of rank 4.
llvm::Expected<Geometry> readGeometry(const HeadsProblem &problem);

/// Fails unless the query heads share the key heads evenly.
llvm::Error checkHeads(const Geometry &geometry);

/// Return what scores are multiplied by.
double getScale(const HeadsProblem &problem, const Geometry &geometry);

/// Return `tensor` as [B, H, S, D].
HostTensor headsFirst(const HostTensor &tensor, AxisOrder order);

/// Add two numbers; the nearest end of the range where the sum leaves it.
int64_t addSaturating(int64_t a, int64_t b);

} // namespace mlir::attn::reference

#endif // ATTN_LIB_EXECUTION_REFERENCEPARTS_H
