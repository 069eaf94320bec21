// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies from global to shared memory that a thread starts and waits for itself (cp.async).

#ifndef ATTN_LIB_EXECUTION_CUDAEMULATOR_ASYNCCOPIES_H
#define ATTN_LIB_EXECUTION_CUDAEMULATOR_ASYNCCOPIES_H

#include "Clocks.h"
#include "CommitGroups.h"
#include "Reports.h"

#include <deque>

namespace mlir::attn::emulator {

class Block;

class AsyncCopies {
public:
  explicit AsyncCopies(Block &block) : block(block) {}

  void reset();

  /// Copy `bytes` of `size` bytes; the rest becomes 0.
  void start(char *to, const char *from, uint32_t size, uint32_t bytes,
             Site site);
  /// Make a group of what the thread has started since the last one.
  void commit();
  /// Wait until at most `pending` groups of the thread are not done.
  void wait(uint32_t pending);
  /// Arrive at an mbarrier when all that the thread has started is done; with
  /// `isCounted` the barrier waits for this arrival anyway.
  void arrive(void *barrier, bool isCounted, Site site);

  /// Do what some thread's arrival waits for. Returns false if there is none.
  bool finishOne();
  /// The thread ends.
  void threadExited();

private:
  struct Copy {
    Time number;
    char *to;
    const char *from;
    uint32_t size;
    uint32_t bytes;
    Site site;
  };

  struct Arrival {
    Time number;
    uint32_t barrier;
    Site site;
  };

  /// What one thread has under way. Copies are numbered from 1.
  struct Queue {
    Time started = 0;
    Time finished = 0;
    Agent agent = 0;
    Site lastSite = kNoSite;
    CommitGroups groups;
    std::deque<Copy> copies;
    std::deque<Arrival> arrivals;
  };

  void finish(Queue &queue, Time number);
  void finishArrival(Queue &queue);

  Block &block;
  std::vector<Queue> queues;
};

} // namespace mlir::attn::emulator

#endif // ATTN_LIB_EXECUTION_CUDAEMULATOR_ASYNCCOPIES_H
