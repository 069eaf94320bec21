// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the threads of a block by turns, one at a time.

#include "Block.h"

#include "attn/Conversion/HostCalls.h"

#include <cstring>
#include <sys/mman.h>

using namespace mlir::attn;
using namespace mlir::attn::emulator;
using host_calls::kSharedWindow;

/// Addresses that count as shared memory, and where in them a block's own starts:
/// a pointer that has gone astray by less is recognized.
constexpr size_t kWindowBytes = size_t(1) << 22;
constexpr size_t kWindowStart = size_t(1) << 21;

/// Rounds in which nobody but threads that ask again and again has run, each in the
/// same state as before, until they count as stuck. They may change memory.
constexpr uint64_t kMostIdleRounds = 100000;

/// The same in whatever state.
constexpr uint64_t kMostQuietRounds = uint64_t(1) << 22;

/// Rounds of loops in one thread, until it counts as one that never ends.
constexpr uint32_t kMostRounds = uint32_t(1) << 28;

thread_local Block *Block::running = nullptr;

Block::Block()
    : barriers(*this), mbarriers(*this), collectives(*this), copies(*this),
      bulk(*this), warpGroups(*this) {}

Block::~Block() {
  if (window)
    munmap(window, kWindowBytes);
}

void Block::enter(void *argument) {
  enterFiber();
  auto *block = static_cast<Block *>(argument);
  block->launch->entry(block->launch->parameters);
  block->exit();
}

/// Make the threads and the memory of the block.
bool Block::start() {
  const uint32_t *size = launch->block;
  threads.resize(size_t(size[0]) * size[1] * size[2]);
  if (!window) {
    void *memory =
        mmap(nullptr, kWindowBytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, /*fd=*/-1, 0);
    if (memory == MAP_FAILED)
      return false;
    window = static_cast<char *>(memory);
    shared = window + kWindowStart;
  }
  sharedBytes = launch->sharedBytes;
  std::memset(shared, 0xff, sharedBytes);
  ready.clear();
  polling.clear();
  for (uint32_t i = 0; i < threads.size(); ++i) {
    char *stack = stacks.get(i);
    if (!stack)
      return false;
    Thread &thread = threads[i];
    thread = Thread();
    thread.index = i;
    thread.x = i % size[0];
    thread.y = i / size[0] % size[1];
    thread.z = i / size[0] / size[1];
    prepareFiber(thread.fiber, stack, enter, this);
    ready.push_back(i);
  }
  live = static_cast<uint32_t>(threads.size());
  aborted = false;
  idleRounds = quietRounds = 0;
  return true;
}

bool Block::run(const Launch &next, uint32_t x, uint32_t y, uint32_t z) {
  launch = &next;
  blockIndex[0] = x;
  blockIndex[1] = y;
  blockIndex[2] = z;
  isRandom = launch->options.seed != 0;
  random.seed(static_cast<uint32_t>(launch->options.seed * 2654435761u +
                                    (z * 977 + y) * 8191 + x));
  if (!start())
    return false;
  if (launch->options.track && !tracker)
    tracker.emplace(*this);
  if (tracker)
    tracker->reset(static_cast<unsigned>(threads.size()), sharedBytes);
  barriers.reset();
  mbarriers.reset();
  collectives.reset();
  copies.reset();
  bulk.reset();
  warpGroups.reset();
  Block *before = running;
  running = this;
  schedule();
  checkRegisters();
  if (live > 0)
    stacks.clear();
  running = before;
  return true;
}

/// Run threads until all have ended or none can go on.
void Block::schedule() {
  while (live > 0 && !aborted) {
    if (runReady())
      continue;
    // Late copies are made when nothing else can happen.
    if (bulk.finishOne() || copies.finishOne())
      continue;
    if (!askAgain())
      return;
  }
}

/// Let threads that ask again and again do so. Returns false if there are none, or
/// if that leads nowhere.
bool Block::askAgain() {
  idleRounds = isMoving ? 0 : idleRounds + 1;
  isMoving = false;
  ++quietRounds;
  if (polling.empty() || idleRounds > kMostIdleRounds) {
    reportStuck("deadlock", "no thread can go on:");
    return false;
  }
  if (quietRounds > kMostQuietRounds) {
    reportStuck("endless loop", "threads ask again and again, and nobody else "
                                "can go on:");
    return false;
  }
  for (uint32_t thread : polling) {
    threads[thread].state = ThreadState::Ready;
    ready.push_back(thread);
  }
  polling.clear();
  return true;
}

/// Return the thread whose turn it is, or null if none is ready.
Thread *Block::takeReady() {
  if (ready.empty())
    return nullptr;
  if (isRandom)
    std::swap(ready.front(), ready[draw(static_cast<uint32_t>(ready.size()))]);
  Thread *next = &threads[ready.front()];
  ready.pop_front();
  return next;
}

/// Run threads until none is ready. Returns false if none was.
bool Block::runReady() {
  Thread *next = takeReady();
  if (!next)
    return false;
  active = next;
  switchFiber(main, next->fiber);
  active = nullptr;
  return true;
}

void Block::prepareWait(const char *what, Site site) {
  active->state = ThreadState::Waiting;
  active->waitsFor = what;
  active->site = site;
}

void Block::suspend() {
  Thread *self = active;
  // Straight to the next one, which saves half of the switches.
  Thread *next = takeReady();
  if (next == self)
    return;
  active = next ? next : self;
  switchFiber(self->fiber, next ? next->fiber : main);
}

void Block::wake(uint32_t thread) {
  idleRounds = quietRounds = 0;
  threads[thread].state = ThreadState::Ready;
  ready.push_back(thread);
}

void Block::poll(Site site) {
  active->state = ThreadState::Polling;
  active->waitsFor = "a condition, asking again and again";
  active->site = site;
  isMoving |= hasMoved(site);
  polling.push_back(active->index);
  suspend();
}

void Block::note(Site site, uint64_t state) {
  // Mixed, so that what loops do one after the other does not cancel out.
  constexpr uint64_t kFactor = 0x9e3779b97f4a7c15;
  active->trace = (active->trace ^ state) * kFactor + site;
}

/// Return whether the thread has come to `site` in another way than the last time.
bool Block::hasMoved(Site site) {
  uint64_t trace = active->trace;
  active->trace = 0;
  for (auto &[place, last] : active->traces)
    if (place == site)
      return std::exchange(last, trace) != trace;
  active->traces.emplace_back(site, trace);
  return true;
}

void Block::countRound(Site site) {
  if (++active->rounds < kMostRounds)
    return;
  report("endless loop", site,
         nameThread(active->index) + " has gone round loops " +
             std::to_string(kMostRounds) + " times, the last time at " +
             describe(site));
  abort();
}

void Block::exit() {
  active->state = ThreadState::Exited;
  --live;
  copies.threadExited();
  warpGroups.threadExited();
  bulk.threadExited();
  collectives.threadExited(active->index);
  barriers.threadExited();
  switchFiber(active->fiber, main, /*done=*/true);
  __builtin_unreachable();
}

void Block::abort() {
  aborted = true;
  switchFiber(active->fiber, main, /*done=*/true);
  __builtin_unreachable();
}

/// Check that what `setmaxregister` left to the threads fits into the registers of
/// a multiprocessor, where all have said what they need.
void Block::checkRegisters() {
  constexpr uint32_t kRegisters = 64 * 1024;
  uint64_t sum = 0;
  for (const Thread &thread : threads) {
    if (thread.registers == 0)
      return;
    sum += thread.registers;
  }
  if (sum > kRegisters)
    report("misuse", kNoSite,
           "setmaxregister asks for " + std::to_string(sum) +
               " registers for the block, there are 65536");
}

/// Say `what`, and of each place how many threads wait there.
void Block::reportStuck(const char *kind, const std::string &what) {
  struct Crowd {
    uint32_t first;
    uint32_t count;
  };
  std::map<std::pair<Site, std::string>, Crowd> crowds;
  uint32_t ended = 0;
  for (const Thread &thread : threads) {
    if (thread.state == ThreadState::Exited) {
      ++ended;
      continue;
    }
    auto place = crowds.try_emplace({thread.site, thread.waitsFor},
                                    Crowd{thread.index, 0});
    ++place.first->second.count;
  }
  std::string text = what;
  for (const auto &[place, crowd] : crowds)
    text += " " + std::to_string(crowd.count) + " from " +
            nameThread(crowd.first) + " on wait for " + place.second + " (" +
            describe(place.first) + "),";
  text.back() = ended > 0 ? ',' : ' ';
  if (ended > 0)
    text += " " + std::to_string(ended) + " have ended";
  while (text.back() == ' ')
    text.pop_back();
  report(kind, crowds.empty() ? kNoSite : crowds.begin()->first.first, text);
}

uint32_t Block::draw(uint32_t count) {
  return isRandom ? static_cast<uint32_t>(random() % count) : 0;
}

bool Block::isEarlyCopy() {
  switch (launch->options.copies) {
  case CopyTiming::Early:
    return true;
  case CopyTiming::Late:
    return false;
  case CopyTiming::Drawn:
    return draw(2) == 0;
  }
  return false;
}

bool Block::isInWindow(const void *address) const {
  auto *byte = static_cast<const char *>(address);
  return byte >= window && byte < window + kWindowBytes;
}

bool Block::isOnStack(const void *address) const {
  auto *byte = static_cast<const char *>(address);
  const char *stack = active->fiber.stack;
  return byte >= stack && byte < stack + kStackBytes;
}

uint64_t Block::toNumber(const void *address) const {
  return static_cast<uint64_t>(static_cast<const char *>(address) - shared +
                               kSharedWindow);
}

char *Block::fromNumber(uint64_t number) {
  return shared + static_cast<int64_t>(number) - kSharedWindow;
}

uint32_t Block::checkShared(const void *address, uint64_t bytes,
                            uint32_t alignment, Site site, const char *what) {
  auto offset = static_cast<const char *>(address) - shared;
  // No sum is made of `bytes`, which a kernel may have computed.
  bool isThere = isInWindow(address) && offset >= 0 && offset <= sharedBytes &&
                 bytes <= sharedBytes - static_cast<uint64_t>(offset);
  bool isAligned = (offset + kSharedWindow) % alignment == 0;
  if (isThere && isAligned)
    return static_cast<uint32_t>(offset);
  if (!isAligned)
    report("misaligned", site,
           nameThread(active->index) + " (" + describe(site) + ") needs " +
               what + " aligned to " + std::to_string(alignment) +
               " bytes, it is at byte " + std::to_string(offset));
  if (!isThere)
    report("out of bounds", site,
           nameThread(active->index) + " (" + describe(site) + ") accesses " +
               what + ", " + std::to_string(bytes) + " bytes from byte " +
               std::to_string(offset) + " on, of " +
               std::to_string(sharedBytes) + " bytes of shared memory");
  abort();
}

void Block::report(const char *kind, Site site, const std::string &text,
                   Site other) {
  launch->reports->add(kind, site, other,
                       "kernel '" + launch->kernel + "', block (" +
                           std::to_string(blockIndex[0]) + "," +
                           std::to_string(blockIndex[1]) + "," +
                           std::to_string(blockIndex[2]) + "): " + text);
}

std::string Block::nameThread(uint32_t thread) const {
  const Thread &t = threads[thread];
  return "thread (" + std::to_string(t.x) + "," + std::to_string(t.y) + "," +
         std::to_string(t.z) + ")";
}
