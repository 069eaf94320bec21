// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A phase of a barrier in shared memory is complete when nobody is waited for and no byte is missing. Who sees that
// knows what all knew who had arrived, and that the copies of the phase are done.

#include "Block.h"

#include "attn/Conversion/HostCalls.h"

#include <algorithm>

using namespace mlir::attn;
using namespace mlir::attn::emulator;

/// Bytes and alignment of a barrier.
constexpr uint32_t kBarrierBytes = 8;

/// Arrivals, and bytes, that one phase may wait for.
constexpr uint32_t kMostArrivals = (1u << 20) - 1;
constexpr int64_t kMostBytes = (int64_t(1) << 20) - 1;

/// Say what the running thread does wrong.
void MBarriers::misuse(Site site, const std::string &text) {
  block.report("misuse", site,
               block.nameThread(block.self().index) + " (" +
                   block.describe(site) + ") " + text);
}

MBarrier &MBarriers::find(void *address, Site site, uint32_t &offset) {
  offset = block.checkShared(address, kBarrierBytes, kBarrierBytes, site,
                             "an mbarrier");
  auto barrier = barriers.find(offset);
  if (barrier == barriers.end()) {
    misuse(site, "uses an mbarrier at byte " + std::to_string(offset) +
                     " of shared memory that nobody has initialized");
    block.abort();
  }
  if (Tracker *tracker = block.getTracker())
    tracker->enter(offset, kBarrierBytes, /*isWrite=*/false, kAtomic | kBarrier,
                   site);
  return barrier->second;
}

void MBarriers::init(void *address, uint32_t count, Site site) {
  uint32_t offset = block.checkShared(address, kBarrierBytes, kBarrierBytes,
                                      site, "an mbarrier");
  auto [place, isNew] = barriers.try_emplace(offset);
  MBarrier &barrier = place->second;
  if (!isNew)
    misuse(site, "initializes an mbarrier that is in use");
  if (count == 0 || count > kMostArrivals)
    misuse(site, "initializes an mbarrier for " + std::to_string(count) +
                     " arrivals, not for 1 to " +
                     std::to_string(kMostArrivals));
  barrier = MBarrier();
  barrier.expected = barrier.pending = count;
  if (Tracker *tracker = block.getTracker()) {
    tracker->enter(offset, kBarrierBytes, /*isWrite=*/true, kBarrier, site);
    barrier.start = tracker->clocks.now(block.self().index);
    auto [agent, isFirst] = agents.try_emplace(offset);
    if (isFirst)
      agent->second.agent = tracker->clocks.addAgent();
    barrier.agent = agent->second.agent;
    barrier.begin = agent->second.time;
  }
}

void MBarriers::invalidate(void *address, Site site) {
  uint32_t offset;
  find(address, site, offset);
  if (Tracker *tracker = block.getTracker())
    tracker->enter(offset, kBarrierBytes, /*isWrite=*/true,
                   kBarrier | kBarrierEnd, site);
  barriers.erase(offset);
}

void MBarriers::completeIfAll(MBarrier &barrier, Site site) {
  if (barrier.pending != 0 || barrier.bytes != 0)
    return;
  if (barrier.inFlight != 0)
    block.report("copy not expected", site,
                 "an mbarrier's phase is complete (" + block.describe(site) +
                     ") while " + std::to_string(barrier.inFlight) +
                     " bytes of copies to it are on their way");
  barrier.inFlight = 0;
  ++barrier.phase;
  barrier.pending = barrier.expected;
  if (block.getTracker()) {
    Time now = barrier.begin + static_cast<Time>(barrier.phase);
    barrier.completed.join(barrier.arriving);
    barrier.completed.learn(barrier.agent, now);
  }
  for (uint32_t thread : barrier.waiting)
    block.wake(thread);
  barrier.waiting.clear();
}

uint64_t MBarriers::arrive(void *address, uint32_t count, uint32_t bytes,
                           int32_t flags, Site site) {
  if (count == 0)
    return 0;
  uint32_t offset;
  MBarrier &barrier = find(address, site, offset);
  uint64_t phase = barrier.phase;
  if (flags & host_calls::kArriveExpect)
    addBytes(barrier, bytes, site);
  Tracker *tracker = block.getTracker();
  if (tracker && !(flags & host_calls::kArriveRelaxed))
    tracker->clocks.release(block.self().index, barrier.arriving);
  if (count > barrier.pending)
    misuse(site, "arrives " + std::to_string(count) +
                     " times at an mbarrier that waits for " +
                     std::to_string(barrier.pending) + " of " +
                     std::to_string(barrier.expected) + " arrivals");
  barrier.pending -= std::min(count, barrier.pending);
  if (flags & host_calls::kArriveDrop)
    barrier.expected -= std::min(count, barrier.expected);
  if ((flags & host_calls::kArriveNoComplete) && barrier.pending == 0)
    misuse(site, "completes a phase that it must not");
  completeIfAll(barrier, site);
  return phase;
}

/// Wait for `bytes` bytes more.
void MBarriers::addBytes(MBarrier &barrier, int64_t bytes, Site site) {
  barrier.bytes += bytes;
  if (barrier.bytes > kMostBytes || barrier.bytes < -kMostBytes)
    misuse(site, "lets an mbarrier wait for " + std::to_string(barrier.bytes) +
                     " bytes, it can count " + std::to_string(kMostBytes));
}

void MBarriers::expect(void *address, uint32_t bytes, Site site) {
  uint32_t offset;
  addBytes(find(address, site, offset), bytes, site);
}

void MBarriers::complete(void *address, uint32_t bytes, Site site) {
  uint32_t offset;
  MBarrier &barrier = find(address, site, offset);
  addBytes(barrier, -int64_t(bytes), site);
  completeIfAll(barrier, site);
}

void MBarriers::acquire(MBarrier &barrier) {
  if (Tracker *tracker = block.getTracker())
    tracker->clocks.acquire(block.self().index, barrier.completed);
}

/// Return whether the phase with parity or number `phase` is over.
static bool isComplete(const MBarrier &barrier, uint64_t phase, bool isParity) {
  if (isParity)
    return (barrier.phase & 1) != (phase & 1);
  return barrier.phase > phase;
}

bool MBarriers::test(void *address, uint64_t phase, bool isParity, bool relaxed,
                     Site site) {
  uint32_t offset;
  MBarrier &barrier = find(address, site, offset);
  if (!isComplete(barrier, phase, isParity)) {
    // The answer stays no, so that a program must ask again.
    block.poll(site);
    return false;
  }
  if (!relaxed)
    acquire(barrier);
  return true;
}

void MBarriers::wait(void *address, uint32_t parity, Site site) {
  uint32_t offset;
  while (!isComplete(find(address, site, offset), parity, /*isParity=*/true)) {
    barriers[offset].waiting.push_back(block.self().index);
    block.wait("an mbarrier", site);
  }
  acquire(barriers[offset]);
}

void MBarriers::fenceInit() {
  uint32_t self = block.self().index;
  for (auto &[offset, barrier] : barriers)
    barrier.isFenced |= barrier.start.agent == self;
}

uint32_t MBarriers::startCopy(void *address, int64_t bytes, Site site,
                              Moment &moment) {
  uint32_t offset;
  MBarrier &barrier = find(address, site, offset);
  barrier.inFlight += bytes;
  Time done = barrier.begin + static_cast<Time>(barrier.phase + 1);
  moment = {done, barrier.agent};
  Time &last = agents[offset].time;
  last = std::max(last, done);
  Tracker *tracker = block.getTracker();
  if (tracker && !barrier.isFenced &&
      !tracker->clocks.get(block.self().index).sees(barrier.start))
    block.report("missing fence.proxy", site,
                 block.nameThread(block.self().index) + " (" +
                     block.describe(site) +
                     ") starts a copy to an mbarrier with no "
                     "fence.mbarrier.init behind its initialization");
  return offset;
}

void MBarriers::finishCopy(uint32_t offset, int64_t bytes, Site site) {
  auto barrier = barriers.find(offset);
  if (barrier == barriers.end()) {
    block.report("copy not waited for", site,
                 "a copy (" + block.describe(site) +
                     ") arrives at an mbarrier that is gone");
    return;
  }
  barrier->second.inFlight -= bytes;
  barrier->second.bytes -= bytes;
  completeIfAll(barrier->second, site);
}

uint32_t MBarriers::expectArrival(void *address, bool isCounted, Site site) {
  uint32_t offset;
  MBarrier &barrier = find(address, site, offset);
  if (!isCounted && ++barrier.pending > kMostArrivals)
    misuse(site, "lets an mbarrier wait for more than " +
                     std::to_string(kMostArrivals) + " arrivals");
  return offset;
}

void MBarriers::arriveFromCopies(uint32_t offset, Moment moment, Site site) {
  auto barrier = barriers.find(offset);
  if (barrier == barriers.end()) {
    block.report("misuse", site,
                 "copies (" + block.describe(site) +
                     ") arrive at an mbarrier that is gone");
    return;
  }
  if (block.getTracker())
    barrier->second.arriving.learn(moment.agent, moment.time);
  if (barrier->second.pending == 0)
    block.report("misuse", site,
                 "copies (" + block.describe(site) +
                     ") arrive at an mbarrier that waits for nobody");
  else
    --barrier->second.pending;
  completeIfAll(barrier->second, site);
}
