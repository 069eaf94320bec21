// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The copy engine. A load is the agent of the mbarrier that it arrives at, a store that of the thread that started it;
// both go through the asynchronous proxy. A late load is made when no thread can go on without it.

#include "Block.h"

#include <algorithm>
#include <cstring>

using namespace mlir::attn;
using namespace mlir::attn::emulator;

/// Alignment and unit of plain bulk copies.
constexpr uint32_t kBulkUnit = 16;

void BulkCopies::reset() {
  loads.clear();
  queues.assign(block.getThreads().size(), Queue());
}

BulkSource BulkCopies::getBox(const void *address, const int32_t *coordinates,
                              uint32_t rank, Site site) {
  const TensorMap *map = TensorMap::get(address);
  if (!map || map->rank != rank) {
    block.report("misuse", site,
                 block.nameThread(block.self().index) + " (" +
                     block.describe(site) + ") copies with no tensor map of " +
                     std::to_string(rank) + " dimensions");
    block.abort();
  }
  BulkSource box;
  box.map = map;
  std::memcpy(box.coordinates, coordinates, rank * sizeof(int32_t));
  box.bytes = map->getBoxBytes();
  return box;
}

/// Return how many of the `bytes` bytes from `at` on, counted in the innermost
/// dimension, lie in the tensor; all or none unless its end is among them.
static uint32_t getInside(const TensorMap &map, int64_t at, uint32_t bytes) {
  auto end = static_cast<int64_t>(map.sizes[0] * map.elementBytes);
  if (at < 0 || at >= end)
    return 0;
  return static_cast<uint32_t>(std::min<int64_t>(bytes, end - at));
}

/// Copy one row of a box, which in the tensor starts `at` bytes from `global`, in
/// units of the swizzle. What lies outside of the tensor is read as zeros and not
/// written.
void BulkCopies::copyRow(const TensorMap &map, char *global, int64_t at,
                         uint64_t number, bool isInside, bool isLoad) {
  uint32_t bytes = map.box[0] * map.elementBytes;
  for (uint32_t done = 0; done < bytes; done += kBulkUnit) {
    char *local = block.fromNumber(swizzleNumber(number + done, map.swizzle));
    char *remote = global + at + done;
    // Where the box starts in front of the tensor, units are cut at its start.
    uint32_t skip = 0;
    if (at + done < 0)
      skip = static_cast<uint32_t>(
          std::min<int64_t>(kBulkUnit, -(at + int64_t(done))));
    uint32_t inside = isInside && skip < kBulkUnit
                          ? getInside(map, at + done + skip, kBulkUnit - skip)
                          : 0;
    if (!isLoad) {
      std::memcpy(remote + skip, local + skip, inside);
      continue;
    }
    std::memset(local, map.fillsNan ? 0xff : 0, kBulkUnit);
    std::memcpy(local + skip, remote + skip, inside);
  }
}

void BulkCopies::copyBox(const BulkSource &box, char *shared, bool isLoad) {
  const TensorMap &map = *box.map;
  uint32_t place[kMostDimensions] = {};
  uint64_t number = block.toNumber(shared);
  uint32_t rowBytes = map.box[0] * map.elementBytes;
  int64_t at = int64_t(box.coordinates[0]) * map.elementBytes;
  for (uint64_t done = 0; done < box.bytes; done += rowBytes) {
    bool isInside = true;
    char *global = map.data;
    for (uint32_t d = 1; d < map.rank; ++d) {
      int64_t row = int64_t(box.coordinates[d]) + place[d];
      isInside &= row >= 0 && row < static_cast<int64_t>(map.sizes[d]);
      global += row * static_cast<int64_t>(map.strides[d - 1]);
    }
    copyRow(map, global, at, number + done, isInside, isLoad);
    for (uint32_t d = 1; d < map.rank && ++place[d] == map.box[d]; ++d)
      place[d] = 0;
  }
}

void BulkCopies::copy(const BulkSource &global, char *shared, bool isLoad) {
  if (global.map)
    copyBox(global, shared, isLoad);
  else if (isLoad)
    std::memcpy(shared, global.data, global.bytes);
  else
    std::memcpy(global.data, shared, global.bytes);
}

/// Check that the global side of a copy is there: for a box the whole tensor is.
void BulkCopies::checkGlobal(const BulkSource &global, Site site) {
  Tracker *tracker = block.getTracker();
  if (!tracker)
    return;
  if (!global.map) {
    if (global.bytes % kBulkUnit != 0)
      block.report("misaligned", site,
                   "a copy of " + std::to_string(global.bytes) +
                       " bytes is no multiple of 16 (" + block.describe(site) +
                       ")");
    tracker->checkGlobal(global.data, global.bytes, kBulkUnit, site);
    return;
  }
  tracker->checkGlobal(global.map->data, global.map->getBytes(), kBulkUnit,
                       site);
}

/// Return to what the shared side of a copy must be aligned.
static uint32_t getAlignment(const BulkSource &global) {
  return global.map ? global.map->getAlignment() : kBulkUnit;
}

void BulkCopies::load(char *to, const BulkSource &from, void *barrier,
                      Site site) {
  uint32_t offset = block.checkShared(to, from.bytes, getAlignment(from), site,
                                      "the target of a copy");
  checkGlobal(from, site);
  Moment moment;
  uint32_t place = block.mbarriers.startCopy(
      barrier, static_cast<int64_t>(from.bytes), site, moment);
  if (Tracker *tracker = block.getTracker())
    tracker->enterBackground(offset, static_cast<uint32_t>(from.bytes),
                             /*isWrite=*/true, kAsyncProxy, moment, site,
                             tracker->clocks.get(block.self().index));
  if (block.isEarlyCopy()) {
    copy(from, to, /*isLoad=*/true);
    block.mbarriers.finishCopy(place, static_cast<int64_t>(from.bytes), site);
    return;
  }
  std::memset(to, 0xff, from.bytes);
  loads.push_back({to, from, place, site});
}

bool BulkCopies::finishOne() {
  if (loads.empty())
    return false;
  std::swap(loads.front(),
            loads[block.draw(static_cast<uint32_t>(loads.size()))]);
  Load load = loads.front();
  loads.pop_front();
  copy(load.from, load.to, /*isLoad=*/true);
  block.mbarriers.finishCopy(load.barrier,
                             static_cast<int64_t>(load.from.bytes), load.site);
  return true;
}

void BulkCopies::store(const BulkSource &to, char *from, Site site) {
  uint32_t self = block.self().index;
  Queue &queue = queues[self];
  uint32_t offset = block.checkShared(from, to.bytes, getAlignment(to), site,
                                      "the source of a copy");
  checkGlobal(to, site);
  ++queue.started;
  queue.lastSite = site;
  if (Tracker *tracker = block.getTracker()) {
    if (queue.agent == 0)
      queue.agent = tracker->clocks.addAgent();
    tracker->enterBackground(offset, static_cast<uint32_t>(to.bytes),
                             /*isWrite=*/false, kAsyncProxy,
                             {queue.started, queue.agent}, site,
                             tracker->clocks.get(self));
  }
  if (block.isEarlyCopy())
    copy(to, from, /*isLoad=*/false);
  else
    queue.stores.push_back({queue.started, to, from});
}

void BulkCopies::finishStores(Queue &queue, Time number) {
  while (!queue.stores.empty() && queue.stores.front().number <= number) {
    const Store &store = queue.stores.front();
    copy(store.to, store.from, /*isLoad=*/false);
    queue.stores.pop_front();
  }
  queue.finished = std::max(queue.finished, number);
}

void BulkCopies::commit() {
  Queue &queue = queues[block.self().index];
  queue.groups.commit(queue.started);
}

void BulkCopies::wait(uint32_t pending) {
  uint32_t self = block.self().index;
  Queue &queue = queues[self];
  std::optional<Time> number = queue.groups.wait(pending);
  if (!number)
    return;
  finishStores(queue, *number);
  Tracker *tracker = block.getTracker();
  if (tracker && queue.agent != 0)
    tracker->clocks.learn(self, queue.agent, *number);
}

void BulkCopies::threadExited() {
  uint32_t self = block.self().index;
  Queue &queue = queues[self];
  if (queue.finished < queue.started)
    block.report("copy not waited for", queue.lastSite,
                 block.nameThread(self) +
                     " ends before its copy has read shared memory (" +
                     block.describe(queue.lastSite) + ")");
  finishStores(queue, queue.started);
  if (block.getLiveThreads() > 0)
    return;
  for (const Load &load : loads)
    block.report("copy not waited for", load.site,
                 "the block ends before a copy is done (" +
                     block.describe(load.site) + ")");
}
