// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tensor between two pages that nobody may touch, with NaN in every byte that is not an element's:
//
//   | guard | NaN NaN ... NaN  elements | guard |

#ifndef ATTN_EXECUTION_GUARDEDTENSOR_H
#define ATTN_EXECUTION_GUARDEDTENSOR_H

#include "attn/Execution/Tensor.h"

namespace mlir::attn {

/// Owns the memory of one tensor.
class GuardedTensor {
public:
  GuardedTensor() = default;
  GuardedTensor(GuardedTensor &&other) { *this = std::move(other); }
  GuardedTensor &operator=(GuardedTensor &&other);
  ~GuardedTensor();

  /// Allocate; `strides` may be 0 or negative. The elements lie next to the
  /// guard behind them if `atBack`, else next to the one in front; but for `gap`
  /// elements.
  static llvm::Expected<GuardedTensor> create(ElementKind kind,
                                              llvm::ArrayRef<int64_t> shape,
                                              llvm::ArrayRef<int64_t> strides,
                                              bool atBack, int64_t gap = 0);

  const HostTensor &get() const { return tensor; }

  /// Let any further write crash.
  void forbidWrites();

  /// Return whether all bytes, or all that are no element's, are as create left
  /// them.
  bool isUntouched() const;
  bool isRestUntouched() const;

  /// Return whether both hold the same bytes, which were allocated alike.
  bool hasSameBits(const GuardedTensor &other) const;

private:
  HostTensor tensor;
  char *mapping = nullptr;
  /// Bytes of the mapping, guards included, and between the guards.
  size_t mapped = 0, usable = 0;
  size_t page = 0;
};

} // namespace mlir::attn

#endif // ATTN_EXECUTION_GUARDEDTENSOR_H
