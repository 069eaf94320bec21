// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Barriers in shared memory ("mbarriers"): they count arrivals and bytes, and go from phase to phase.

#ifndef ATTN_LIB_EXECUTION_CUDAEMULATOR_MBARRIERS_H
#define ATTN_LIB_EXECUTION_CUDAEMULATOR_MBARRIERS_H

#include "Clocks.h"
#include "Reports.h"

#include <unordered_map>

namespace mlir::attn::emulator {

class Block;

/// One barrier. Copies that arrive at it are its agent's, at the time of the phase
/// that they complete.
struct MBarrier {
  uint32_t expected = 0;
  uint32_t pending = 0;
  int64_t bytes = 0;
  /// Bytes of copies that have been started in this phase and are not done.
  int64_t inFlight = 0;
  uint64_t phase = 0;
  /// Its agent, and the time at which that began with this barrier.
  Agent agent = 0;
  Time begin = 0;
  /// When it was initialized, and whether the asynchronous proxy sees that.
  Moment start;
  bool isFenced = false;
  Knowledge arriving;
  Knowledge completed;
  std::vector<uint32_t> waiting;
};

class MBarriers {
public:
  explicit MBarriers(Block &block) : block(block) {}

  void reset() {
    barriers.clear();
    agents.clear();
  }

  void init(void *address, uint32_t count, Site site);
  void invalidate(void *address, Site site);
  /// Arrive `count` times; `flags` are those of host_calls::ArriveFlag. Returns
  /// the phase before.
  uint64_t arrive(void *address, uint32_t count, uint32_t bytes, int32_t flags,
                  Site site);
  void expect(void *address, uint32_t bytes, Site site);
  /// Take off `bytes` as a thread's own act.
  void complete(void *address, uint32_t bytes, Site site);
  /// Return whether a phase is complete, the one with `phase` as its parity or as
  /// its number; gives others a turn if it is not.
  bool test(void *address, uint64_t phase, bool isParity, bool relaxed,
            Site site);
  /// Wait until the phase of this parity is complete.
  void wait(void *address, uint32_t parity, Site site);
  /// Let the asynchronous proxy see the barriers that the thread has initialized.
  void fenceInit();

  /// A copy of `bytes` bytes starts that will arrive here. Returns its offset, and
  /// in `moment` whose access it is.
  uint32_t startCopy(void *address, int64_t bytes, Site site, Moment &moment);
  /// Such a copy is done.
  void finishCopy(uint32_t offset, int64_t bytes, Site site);

  /// Count an arrival more that is waited for.
  uint32_t expectArrival(void *address, bool isCounted, Site site);
  /// A thread's copies up to `moment` are done, and arrive.
  void arriveFromCopies(uint32_t offset, Moment moment, Site site);

private:
  MBarrier &find(void *address, Site site, uint32_t &offset);
  void misuse(Site site, const std::string &text);
  void addBytes(MBarrier &barrier, int64_t bytes, Site site);
  void completeIfAll(MBarrier &barrier, Site site);
  void acquire(MBarrier &barrier);

  Block &block;
  std::unordered_map<uint32_t, MBarrier> barriers;
  /// The agent of all barriers at a place, and its time: a kernel may make barriers
  /// again and again.
  std::unordered_map<uint32_t, Moment> agents;
};

} // namespace mlir::attn::emulator

#endif // ATTN_LIB_EXECUTION_CUDAEMULATOR_MBARRIERS_H
