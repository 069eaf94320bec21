// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One block of a launch: its threads as fibers, who may run, and its shared memory. What threads do together stands
// in the classes that are its members; each has a file.

#ifndef ATTN_LIB_EXECUTION_CUDAEMULATOR_BLOCK_H
#define ATTN_LIB_EXECUTION_CUDAEMULATOR_BLOCK_H

#include "AsyncCopies.h"
#include "Barriers.h"
#include "BulkCopies.h"
#include "Collectives.h"
#include "Fiber.h"
#include "Launch.h"
#include "MBarriers.h"
#include "Tracker.h"
#include "WarpGroups.h"

#include <deque>
#include <memory>
#include <optional>
#include <random>

namespace mlir::attn::emulator {

enum class ThreadState : uint8_t { Ready, Waiting, Polling, Exited };

/// One thread of a block.
struct Thread {
  Fiber fiber;
  uint32_t index = 0;
  uint32_t x = 0, y = 0, z = 0;
  ThreadState state = ThreadState::Ready;
  /// For what it waits, and where.
  const char *waitsFor = "";
  Site site = kNoSite;
  /// Registers that `setmaxregister` has asked for; 0 if it was not called.
  uint32_t registers = 0;
  /// Rounds of all its loops.
  uint32_t rounds = 0;
  /// In what states its loops went on since it has last let others run, as one
  /// number, and what that was before at each place where it lets others run.
  uint64_t trace = 0;
  std::vector<std::pair<Site, uint64_t>> traces;
};

class Block {
public:
  Block();
  ~Block();

  /// The block that this OS thread runs.
  static Block &current() { return *running; }

  /// Run block `x`, `y`, `z` of `launch` to its end. Fails if there is no memory.
  bool run(const Launch &launch, uint32_t x, uint32_t y, uint32_t z);

  /// The thread that runs.
  Thread &self() { return *active; }
  std::vector<Thread> &getThreads() { return threads; }
  const Launch &getLaunch() const { return *launch; }
  uint32_t getBlockIndex(unsigned axis) const { return blockIndex[axis]; }

  /// Let the thread wait for something until somebody wakes it.
  void wait(const char *what, Site site) {
    prepareWait(what, site);
    suspend();
  }
  /// The same in two steps, between which the thread may be woken already.
  void prepareWait(const char *what, Site site);
  void suspend();
  /// Let a waiting thread run again.
  void wake(uint32_t thread);
  /// Let others run that can; the thread asks again later.
  void poll(Site site);
  /// A loop of the thread goes on in `state`.
  void note(Site site, uint64_t state);
  /// The thread goes round a loop. Ends the block if it has done so too often.
  void countRound(Site site);
  /// End the thread.
  [[noreturn]] void exit();
  /// End the whole block, which cannot go on.
  [[noreturn]] void abort();
  /// Threads that have not ended.
  uint32_t getLiveThreads() const { return live; }

  /// Return a number below `count`, drawn from the schedule's seed; 0 where the
  /// seed is 0.
  uint32_t draw(uint32_t count);
  /// Return whether a copy that starts now shall be done at once.
  bool isEarlyCopy();

  /// Shared memory.
  char *getShared() { return shared; }
  uint32_t getSharedBytes() const { return sharedBytes; }
  /// Return whether `address` lies in the window of shared memory, inside or not.
  bool isInWindow(const void *address) const;
  bool isOnStack(const void *address) const;
  /// Return `address` as a number of the shared window, and back.
  uint64_t toNumber(const void *address) const;
  char *fromNumber(uint64_t number);
  /// Return the offset of `bytes` bytes of shared memory. If they are not all
  /// there, or `address` is not a multiple of `alignment`, says so and ends the
  /// block.
  uint32_t checkShared(const void *address, uint64_t bytes, uint32_t alignment,
                       Site site, const char *what);

  /// Add a problem of the running thread.
  void report(const char *kind, Site site, const std::string &text,
              Site other = kNoSite);
  /// `thread (3,0,0)`.
  std::string nameThread(uint32_t thread) const;
  /// `llvm.load at x.mlir:3:5`.
  std::string describe(Site site) const {
    return launch->reports->describe(site);
  }

  /// Null where nothing is tracked.
  Tracker *getTracker() { return tracker ? &*tracker : nullptr; }

  Barriers barriers;
  MBarriers mbarriers;
  Collectives collectives;
  AsyncCopies copies;
  BulkCopies bulk;
  WarpGroups warpGroups;

private:
  static void enter(void *argument);
  bool start();
  void schedule();
  bool askAgain();
  bool hasMoved(Site site);
  Thread *takeReady();
  bool runReady();
  void reportStuck(const char *kind, const std::string &what);
  void checkRegisters();

  static thread_local Block *running;

  const Launch *launch = nullptr;
  uint32_t blockIndex[3] = {};
  FiberStacks stacks;
  Fiber main;
  std::vector<Thread> threads;
  Thread *active = nullptr;
  std::deque<uint32_t> ready;
  std::vector<uint32_t> polling;
  /// Whether a thread that asks again has got on in this round; the rounds since one
  /// has, and since somebody was woken.
  bool isMoving = false;
  uint64_t idleRounds = 0;
  uint64_t quietRounds = 0;
  uint32_t live = 0;
  bool aborted = false;
  std::mt19937 random;
  bool isRandom = false;

  /// A large window of addresses; only the part at `shared` is the block's.
  char *window = nullptr;
  char *shared = nullptr;
  uint32_t sharedBytes = 0;
  std::optional<Tracker> tracker;
};

} // namespace mlir::attn::emulator

#endif // ATTN_LIB_EXECUTION_CUDAEMULATOR_BLOCK_H
