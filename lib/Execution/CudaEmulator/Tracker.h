// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Watches what the threads of a block do with memory, and says what is wrong.

#ifndef ATTN_LIB_EXECUTION_CUDAEMULATOR_TRACKER_H
#define ATTN_LIB_EXECUTION_CUDAEMULATOR_TRACKER_H

#include "AtomicOrder.h"
#include "SharedCells.h"

namespace mlir::attn::emulator {

class Block;

class Tracker {
public:
  explicit Tracker(Block &block) : block(block) {}

  /// Start a block of `threads` threads and `bytes` bytes of shared memory.
  void reset(unsigned threads, uint32_t bytes);

  Clocks clocks;
  AtomicOrder atomics{clocks};

  /// Enter an access of the running thread to shared memory.
  void enter(uint32_t offset, uint32_t bytes, bool isWrite, uint8_t kind,
             Site site);

  /// Enter an access that `thread` makes together with its warp.
  void enterFor(uint32_t thread, uint32_t offset, uint32_t bytes, bool isWrite,
                Site site);

  /// Enter an access that the running thread starts and `agent` makes up to `time`,
  /// on behalf of somebody who knows `knowledge`.
  void enterBackground(uint32_t offset, uint32_t bytes, bool isWrite,
                       uint8_t kind, Moment moment, Site site,
                       const Knowledge &knowledge);

  /// Check an access of the running thread to any memory.
  void access(const void *address, uint64_t bytes, int32_t flags, Site site);

  /// Check that `bytes` bytes of global memory are there and aligned. What is not
  /// there ends the block.
  void checkGlobal(const void *address, uint64_t bytes, uint32_t alignment,
                   Site site);

private:
  void enterAccess(uint32_t offset, uint32_t bytes, const Access &access,
                   const Knowledge &knowledge);
  void report(const Access &access, const Verdict &verdict);

  Block &block;
  SharedCells cells;
};

} // namespace mlir::attn::emulator

#endif // ATTN_LIB_EXECUTION_CUDAEMULATOR_TRACKER_H
