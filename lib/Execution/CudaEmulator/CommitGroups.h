// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Groups of what a thread has started, for which it waits: cp.async, bulk stores and products have such groups alike.

#ifndef ATTN_LIB_EXECUTION_CUDAEMULATOR_COMMITGROUPS_H
#define ATTN_LIB_EXECUTION_CUDAEMULATOR_COMMITGROUPS_H

#include "Clocks.h"

#include <deque>
#include <optional>

namespace mlir::attn::emulator {

/// The groups of one thread, the oldest first: each by the number of the last thing
/// in it.
class CommitGroups {
public:
  /// Make a group of what was started since the last one, up to `number`.
  void commit(Time number) { groups.push_back(number); }

  /// Forget all groups but the last `pending`. Returns up to which number all is
  /// to be done, or nothing if there is nothing to wait for.
  std::optional<Time> wait(uint32_t pending) {
    std::optional<Time> number;
    while (groups.size() > pending) {
      number = groups.front();
      groups.pop_front();
    }
    return number;
  }

private:
  std::deque<Time> groups;
};

} // namespace mlir::attn::emulator

#endif // ATTN_LIB_EXECUTION_CUDAEMULATOR_COMMITGROUPS_H
