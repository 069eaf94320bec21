// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A thread's copies are an agent that works behind its back: what they write is known to nobody before the thread has
// waited for them. A copy that is made late leaves NaNs in its place until then.

#include "Block.h"

#include <cstring>

using namespace mlir::attn;
using namespace mlir::attn::emulator;

/// What shared memory holds before somebody writes it: NaN in every float type.
constexpr int kGarbage = 0xff;

void AsyncCopies::reset() { queues.assign(block.getThreads().size(), Queue()); }

static void copyNow(char *to, const char *from, uint32_t size, uint32_t bytes) {
  std::memcpy(to, from, bytes);
  std::memset(to + bytes, 0, size - bytes);
}

void AsyncCopies::start(char *to, const char *from, uint32_t size,
                        uint32_t bytes, Site site) {
  uint32_t self = block.self().index;
  Queue &queue = queues[self];
  uint32_t offset =
      block.checkShared(to, size, size, site, "the target of a copy");
  if (bytes > size) {
    block.report("misuse", site,
                 block.nameThread(self) + " (" + block.describe(site) +
                     ") copies " + std::to_string(bytes) + " of " +
                     std::to_string(size) + " bytes");
    bytes = size;
  }
  ++queue.started;
  queue.lastSite = site;
  if (Tracker *tracker = block.getTracker()) {
    if (queue.agent == 0)
      queue.agent = tracker->clocks.addAgent();
    if (bytes > 0)
      tracker->checkGlobal(from, bytes, size, site);
    tracker->enterBackground(offset, size, /*isWrite=*/true, kPlain,
                             {queue.started, queue.agent}, site,
                             tracker->clocks.get(self));
  }
  if (block.isEarlyCopy()) {
    copyNow(to, from, size, bytes);
    return;
  }
  std::memset(to, kGarbage, size);
  queue.copies.push_back({queue.started, to, from, size, bytes, site});
}

/// Make all copies up to `number`.
void AsyncCopies::finish(Queue &queue, Time number) {
  while (!queue.copies.empty() && queue.copies.front().number <= number) {
    const Copy &copy = queue.copies.front();
    copyNow(copy.to, copy.from, copy.size, copy.bytes);
    queue.copies.pop_front();
  }
  queue.finished = std::max(queue.finished, number);
}

void AsyncCopies::commit() {
  Queue &queue = queues[block.self().index];
  queue.groups.commit(queue.started);
}

void AsyncCopies::wait(uint32_t pending) {
  uint32_t self = block.self().index;
  Queue &queue = queues[self];
  std::optional<Time> number = queue.groups.wait(pending);
  if (!number)
    return;
  while (!queue.arrivals.empty() && queue.arrivals.front().number <= *number)
    finishArrival(queue);
  finish(queue, *number);
  Tracker *tracker = block.getTracker();
  if (tracker && queue.agent != 0)
    tracker->clocks.learn(self, queue.agent, *number);
}

void AsyncCopies::finishArrival(Queue &queue) {
  Arrival arrival = queue.arrivals.front();
  queue.arrivals.pop_front();
  finish(queue, arrival.number);
  block.mbarriers.arriveFromCopies(arrival.barrier,
                                   {arrival.number, queue.agent}, arrival.site);
}

void AsyncCopies::arrive(void *barrier, bool isCounted, Site site) {
  Queue &queue = queues[block.self().index];
  uint32_t offset = block.mbarriers.expectArrival(barrier, isCounted, site);
  Tracker *tracker = block.getTracker();
  if (tracker && queue.agent == 0)
    queue.agent = tracker->clocks.addAgent();
  queue.arrivals.push_back({queue.started, offset, site});
  // Nothing is left to be done where all copies were made early.
  if (queue.copies.empty())
    finishArrival(queue);
}

bool AsyncCopies::finishOne() {
  for (Queue &queue : queues)
    if (!queue.arrivals.empty()) {
      finishArrival(queue);
      return true;
    }
  return false;
}

void AsyncCopies::threadExited() {
  uint32_t self = block.self().index;
  Queue &queue = queues[self];
  // An arrival may well come after its thread has ended.
  Time last = queue.arrivals.empty() ? 0 : queue.arrivals.back().number;
  if (std::max(last, queue.finished) < queue.started)
    block.report("copy not waited for", queue.lastSite,
                 block.nameThread(self) + " ends before its copy is done (" +
                     block.describe(queue.lastSite) + ")");
  if (block.getLiveThreads() > 0)
    return;
  for (const Queue &other : queues)
    for (const Arrival &arrival : other.arrivals)
      block.report("copy not waited for", arrival.site,
                   "the block ends before copies are done and arrive (" +
                       block.describe(arrival.site) + ")");
}
