// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What atomic accesses order: who reads what a release has written, with an acquire, knows what went before. A fence
// makes one of the relaxed accesses around it.

#ifndef ATTN_LIB_EXECUTION_CUDAEMULATOR_ATOMICORDER_H
#define ATTN_LIB_EXECUTION_CUDAEMULATOR_ATOMICORDER_H

#include "Clocks.h"

#include <unordered_map>

namespace mlir::attn::emulator {

class AtomicOrder {
public:
  explicit AtomicOrder(Clocks &clocks) : clocks(clocks) {}

  void reset();

  /// An atomic access of `thread`; `flags` are those of host_calls::AccessFlag.
  void access(unsigned thread, const void *address, int32_t flags);
  /// A plain write takes away what a release has left.
  void write(const void *address) {
    if (!released.empty())
      released.erase(address);
  }
  /// A fence of `thread` for all memory.
  void fence(unsigned thread);

private:
  /// What a thread's fences and relaxed accesses leave to each other.
  struct Pending {
    /// What it knew at its last fence.
    Knowledge fenced;
    /// What it has read since then that others have released.
    Knowledge seen;
  };

  Clocks &clocks;
  std::unordered_map<const void *, Knowledge> released;
  std::unordered_map<unsigned, Pending> pending;
};

} // namespace mlir::attn::emulator

#endif // ATTN_LIB_EXECUTION_CUDAEMULATOR_ATOMICORDER_H
