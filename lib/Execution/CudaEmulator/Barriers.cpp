// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Barriers hand on what each thread that arrives knows to each that waits.

#include "Block.h"

using namespace mlir::attn;
using namespace mlir::attn::emulator;
using host_calls::BarrierReduction;
using host_calls::kWarpSize;

void Barriers::reset() {
  size_t threads = block.getThreads().size();
  for (Barrier &barrier : barriers) {
    barrier = Barrier();
    barrier.warps.resize((threads + kWarpSize - 1) / kWarpSize);
  }
  reductions.assign(threads, BarrierReduction::None);
  results.assign(threads, 0);
}

/// Return what `reduction` gives when `positive` of `all` predicates hold.
static uint32_t reduce(BarrierReduction reduction, uint32_t positive,
                       uint32_t all) {
  switch (reduction) {
  case BarrierReduction::None:
    return 0;
  case BarrierReduction::PopCount:
    return positive;
  case BarrierReduction::And:
    return positive == all;
  case BarrierReduction::Or:
    return positive > 0;
  }
  return 0;
}

/// Report warps of which only a part has come: barriers count whole warps.
void Barriers::checkWarps(Barrier &barrier) {
  for (size_t warp = 0; warp < barrier.warps.size(); ++warp) {
    WarpArrivals &arrivals = barrier.warps[warp];
    if (arrivals.lanes == 0)
      continue;
    uint32_t missing =
        block.collectives.getLiveLanes(static_cast<uint32_t>(warp)) &
        ~arrivals.lanes;
    if (missing != 0)
      block.report("divergent barrier", arrivals.site,
                   "only " +
                       std::to_string(__builtin_popcount(arrivals.lanes)) +
                       " threads of warp " + std::to_string(warp) +
                       " arrive at " + block.describe(arrivals.site));
    arrivals = WarpArrivals();
  }
}

void Barriers::completeIfAll(Barrier &barrier) {
  uint32_t needed = barrier.count == 0 ? block.getLiveThreads() : barrier.count;
  if (barrier.arrived == 0 || barrier.arrived < needed)
    return;
  checkWarps(barrier);
  Tracker *tracker = block.getTracker();
  for (uint32_t thread : barrier.waiting) {
    results[thread] =
        reduce(reductions[thread], barrier.positive, barrier.predicates);
    if (tracker)
      tracker->clocks.acquire(thread, barrier.knowledge);
    block.wake(thread);
  }
  barrier.waiting.clear();
  barrier.knowledge.clear();
  barrier.count = barrier.arrived = barrier.positive = barrier.predicates = 0;
}

Barriers::Barrier *Barriers::enter(uint32_t id, uint32_t count, Site site) {
  Thread &self = block.self();
  auto report = [&](const char *kind, const std::string &text,
                    Site other = kNoSite) {
    block.report(kind, site,
                 block.nameThread(self.index) + " (" + block.describe(site) +
                     ") " + text,
                 other);
  };
  if (id >= kBarriers) {
    report("misuse", "names barrier " + std::to_string(id) + ", there are 16");
    block.abort();
  }
  if (count % kWarpSize != 0)
    report("misuse", "waits for " + std::to_string(count) +
                         " threads, which are no whole warps");
  Barrier &barrier = barriers[id];
  if (barrier.arrived > 0 && barrier.count != count)
    report("misuse", "waits for " + std::to_string(count) +
                         " threads at a barrier where others wait for " +
                         std::to_string(barrier.count) + " (0 is all)");
  barrier.count = count;
  ++barrier.arrived;
  WarpArrivals &warp = barrier.warps[self.index / kWarpSize];
  if (warp.lanes != 0 && warp.site != site)
    report("divergent barrier",
           "arrives, other threads of its warp arrive at " +
               block.describe(warp.site),
           warp.site);
  warp.lanes |= 1u << (self.index % kWarpSize);
  warp.site = site;
  if (Tracker *tracker = block.getTracker())
    tracker->clocks.release(self.index, barrier.knowledge);
  return &barrier;
}

uint32_t Barriers::sync(uint32_t id, uint32_t count, BarrierReduction reduction,
                        bool predicate, Site site) {
  Barrier &barrier = *enter(id, count, site);
  uint32_t self = block.self().index;
  barrier.positive += predicate;
  ++barrier.predicates;
  reductions[self] = reduction;
  barrier.waiting.push_back(self);
  block.prepareWait("a barrier", site);
  completeIfAll(barrier);
  block.suspend();
  return results[self];
}

void Barriers::arrive(uint32_t id, uint32_t count, Site site) {
  completeIfAll(*enter(id, count, site));
}

void Barriers::threadExited() {
  for (uint32_t id = 0; id < kBarriers; ++id)
    completeIfAll(barriers[id]);
  completeCluster();
}

void Barriers::arriveCluster(bool relaxed) {
  Barrier &barrier = barriers[kBarriers];
  ++barrier.arrived;
  Tracker *tracker = block.getTracker();
  if (tracker && !relaxed)
    tracker->clocks.release(block.self().index, barrier.knowledge);
}

/// The barrier of the cluster is complete once all threads wait at it: then all
/// have arrived, and none needs to be remembered.
void Barriers::completeCluster() {
  Barrier &barrier = barriers[kBarriers];
  if (barrier.waiting.size() >= block.getLiveThreads())
    completeIfAll(barrier);
}

void Barriers::waitCluster(Site site) {
  barriers[kBarriers].waiting.push_back(block.self().index);
  block.prepareWait("the barrier of the cluster", site);
  completeCluster();
  block.suspend();
}
