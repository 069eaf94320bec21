// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention as models have it, under names that stay.

#ifndef ATTN_EXECUTION_BENCHWORKLOADS_H
#define ATTN_EXECUTION_BENCHWORKLOADS_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace mlir::attn {

/// One attention with as many value channels as key channels.
struct NamedWorkload {
  /// What decides beside the diagonal which keys count, and how much.
  enum class Scores { Plain, Mask, Bias };

  StringLiteral name;
  int64_t batch, heads, kvHeads, rows, keys, headSize;
  StringLiteral type;
  bool causal = false;
  Scores scores = Scores::Plain;

  /// Return a module whose only function is this attention.
  std::string getModule() const;

  /// Return the shape in words.
  std::string describe() const;
};

/// Return all workloads.
ArrayRef<NamedWorkload> getNamedWorkloads();

} // namespace mlir::attn

#endif // ATTN_EXECUTION_BENCHWORKLOADS_H
