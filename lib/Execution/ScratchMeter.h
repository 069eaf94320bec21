// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts what loaded functions allocate: their calls of malloc and its like are linked to functions here.

#ifndef ATTN_LIB_EXECUTION_SCRATCHMETER_H
#define ATTN_LIB_EXECUTION_SCRATCHMETER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace mlir::attn {

/// A function of libc that is replaced, and what replaces it.
struct MeteredFunction {
  llvm::StringRef name;
  void *address;
};

/// Return all functions that are replaced.
llvm::ArrayRef<MeteredFunction> getMeteredFunctions();

/// Forget the peak; what is allocated now stays counted.
void resetScratchPeak();

/// Return how many more bytes than now loaded functions held at once since the
/// reset.
int64_t getScratchPeak();

} // namespace mlir::attn

#endif // ATTN_LIB_EXECUTION_SCRATCHMETER_H
