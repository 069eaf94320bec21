// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hands knowledge on through memory. Threads take turns, so an access reads what the last one before it has written.

#include "AtomicOrder.h"

#include "attn/Conversion/HostCalls.h"

using namespace mlir::attn;
using namespace mlir::attn::emulator;

void AtomicOrder::reset() {
  released.clear();
  pending.clear();
}

void AtomicOrder::access(unsigned thread, const void *address, int32_t flags) {
  bool isUpdate = (flags & host_calls::kAccessUpdate) != 0;
  bool isWrite = (flags & host_calls::kAccessWrite) != 0;
  auto found = released.find(address);
  if (found != released.end() && (isUpdate || !isWrite)) {
    if (flags & host_calls::kAccessAcquire)
      clocks.acquire(thread, found->second);
    else
      pending[thread].seen.join(found->second);
  }
  if (!isWrite)
    return;
  // An update goes on with what a release has begun, a new value does not.
  if (!isUpdate && found != released.end())
    released.erase(found);
  if (flags & host_calls::kAccessRelease) {
    clocks.release(thread, released[address]);
    return;
  }
  auto mine = pending.find(thread);
  if (mine != pending.end() && !mine->second.fenced.order.empty())
    released[address].join(mine->second.fenced);
}

void AtomicOrder::fence(unsigned thread) {
  Pending &mine = pending[thread];
  clocks.acquire(thread, mine.seen);
  mine.seen.clear();
  mine.fenced.clear();
  clocks.release(thread, mine.fenced);
}
