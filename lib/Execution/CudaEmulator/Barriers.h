// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sixteen numbered barriers of a block, and that of a cluster, which is one block.

#ifndef ATTN_LIB_EXECUTION_CUDAEMULATOR_BARRIERS_H
#define ATTN_LIB_EXECUTION_CUDAEMULATOR_BARRIERS_H

#include "Clocks.h"
#include "Reports.h"

#include "attn/Conversion/HostCalls.h"

#include <array>

namespace mlir::attn::emulator {

class Block;

class Barriers {
public:
  explicit Barriers(Block &block) : block(block) {}

  void reset();

  /// Arrive at barrier `id` and wait for `count` threads, all if 0. Returns what
  /// `reduction` makes of the predicates.
  uint32_t sync(uint32_t id, uint32_t count,
                host_calls::BarrierReduction reduction, bool predicate,
                Site site);
  /// Arrive and go on.
  void arrive(uint32_t id, uint32_t count, Site site);

  void arriveCluster(bool relaxed);
  void waitCluster(Site site);

  /// A thread has ended: nobody waits for it any longer.
  void threadExited();

private:
  /// What has arrived of one warp.
  struct WarpArrivals {
    uint32_t lanes = 0;
    Site site = kNoSite;
  };

  struct Barrier {
    /// Threads that are waited for; 0 is all that live.
    uint32_t count = 0;
    uint32_t arrived = 0;
    uint32_t positive = 0;
    uint32_t predicates = 0;
    std::vector<uint32_t> waiting;
    std::vector<WarpArrivals> warps;
    Knowledge knowledge;
  };

  static constexpr uint32_t kBarriers = 16;

  Barrier *enter(uint32_t id, uint32_t count, Site site);
  void checkWarps(Barrier &barrier);
  void completeIfAll(Barrier &barrier);
  void completeCluster();

  Block &block;
  std::array<Barrier, kBarriers + 1> barriers;
  /// The result of the last reduction, for each thread.
  std::vector<host_calls::BarrierReduction> reductions;
  std::vector<uint32_t> results;
};

} // namespace mlir::attn::emulator

#endif // ATTN_LIB_EXECUTION_CUDAEMULATOR_BARRIERS_H
