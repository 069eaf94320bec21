// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the threads of a warp do together. A thread that comes first waits; the last one does it for all.

#ifndef ATTN_LIB_EXECUTION_CUDAEMULATOR_COLLECTIVES_H
#define ATTN_LIB_EXECUTION_CUDAEMULATOR_COLLECTIVES_H

#include "Reports.h"

#include "attn/Conversion/HostCalls.h"

namespace mlir::attn::emulator {

class Block;

/// All that a warp needs to do something: each lane's arguments, null for lanes
/// that do not take part.
struct WarpCall {
  uint32_t warp = 0;
  uint32_t mask = 0;
  Site site = kNoSite;
  void *lanes[host_calls::kWarpSize] = {};

  /// Return the arguments of `lane`.
  template <typename Arguments>
  Arguments &get(unsigned lane) const {
    return *static_cast<Arguments *>(lanes[lane]);
  }
};

using WarpFunction = void (*)(Block &, WarpCall &);

class Collectives {
public:
  explicit Collectives(Block &block) : block(block) {}

  void reset();

  /// Let the lanes of `mask` do `function` together; `kind` tells calls of one
  /// function apart that do not belong together. With `aligned` all must come from
  /// one place, and all of the warp. `what` says what it is.
  void meet(WarpFunction function, uint32_t mask, uint32_t kind, bool aligned,
            void *arguments, Site site, const char *what);

  /// Return the lanes of `warp` that have not ended.
  uint32_t getLiveLanes(uint32_t warp) const {
    return warps[warp].existing & ~warps[warp].exited;
  }

  /// A thread has ended: nobody waits for it any longer.
  void threadExited(uint32_t thread);

  /// Count the times that the banks of shared memory are needed for eight rows of
  /// 16 bytes.
  void countBanks(const uint32_t *offsets);

  /// Rows that were asked for, eight at a time, and how many more times than that
  /// the banks were needed.
  uint64_t phases = 0;
  uint64_t conflicts = 0;

private:
  struct Meeting {
    WarpFunction function = nullptr;
    uint32_t kind = 0;
    uint32_t mask = 0;
    uint32_t arrived = 0;
    bool isActive = false;
    WarpCall call;
  };

  struct Warp {
    uint32_t existing = 0;
    uint32_t exited = 0;
    std::vector<Meeting> meetings;
  };

  Meeting &find(Warp &warp, WarpFunction function, uint32_t kind,
                uint32_t mask);
  bool completeIfAll(Warp &warp, Meeting &meeting, uint32_t self);

  Block &block;
  std::vector<Warp> warps;
};

} // namespace mlir::attn::emulator

#endif // ATTN_LIB_EXECUTION_CUDAEMULATOR_COLLECTIVES_H
