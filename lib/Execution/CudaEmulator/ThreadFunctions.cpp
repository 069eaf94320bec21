// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a thread does alone, and barriers: the functions that kernels call for them.

#include "Block.h"
#include "HostFunctions.h"

using namespace mlir::attn;
using namespace mlir::attn::emulator;
using host_calls::kWarpSize;
using host_calls::Register;

/// Return the special registers that tell a lane's place in its warp.
static uint32_t getLaneMask(Register which, uint32_t lane) {
  uint32_t bit = 1u << lane;
  switch (which) {
  case Register::LaneMaskEq:
    return bit;
  case Register::LaneMaskLt:
    return bit - 1;
  case Register::LaneMaskLe:
    return bit | (bit - 1);
  case Register::LaneMaskGe:
    return ~(bit - 1);
  default:
    return ~(bit | (bit - 1));
  }
}

static uint32_t readRegister(Register which) {
  Block &block = Block::current();
  const Launch &launch = block.getLaunch();
  const Thread &self = block.self();
  auto index = static_cast<uint32_t>(which);
  switch (which) {
  case Register::ThreadX:
    return self.x;
  case Register::ThreadY:
    return self.y;
  case Register::ThreadZ:
    return self.z;
  case Register::BlockSizeX:
  case Register::BlockSizeY:
  case Register::BlockSizeZ:
    return launch.block[index - static_cast<uint32_t>(Register::BlockSizeX)];
  case Register::BlockX:
  case Register::BlockY:
  case Register::BlockZ:
    return block.getBlockIndex(index - static_cast<uint32_t>(Register::BlockX));
  case Register::GridSizeX:
  case Register::GridSizeY:
  case Register::GridSizeZ:
    return launch.grid[index - static_cast<uint32_t>(Register::GridSizeX)];
  case Register::Lane:
    return self.index % kWarpSize;
  case Register::Warp:
    return self.index / kWarpSize;
  case Register::Warps:
    return static_cast<uint32_t>((block.getThreads().size() + kWarpSize - 1) /
                                 kWarpSize);
  case Register::LaneMaskEq:
  case Register::LaneMaskLe:
  case Register::LaneMaskLt:
  case Register::LaneMaskGe:
  case Register::LaneMaskGt:
    return getLaneMask(which, self.index % kWarpSize);
  case Register::DynamicSharedBytes:
    return launch.dynamicBytes;
  case Register::TotalSharedBytes:
    return launch.sharedBytes;
  }
  return 0;
}

/// A clock that only goes forward.
static uint64_t readClock(Site) {
  static thread_local uint64_t ticks = 0;
  return ++ticks;
}

static char *getShared(uint32_t offset) {
  return Block::current().getShared() + offset;
}

static uint64_t getSharedNumber(const void *address) {
  return Block::current().toNumber(address);
}

static char *getSharedPointer(uint64_t number) {
  return Block::current().fromNumber(number);
}

static void access(Site site, const void *address, uint64_t bytes,
                   int32_t flags) {
  if (Tracker *tracker = Block::current().getTracker())
    tracker->access(address, bytes, flags, site);
}

static uint32_t barrier(Site site, uint32_t id, uint32_t count,
                        host_calls::BarrierReduction reduction,
                        uint32_t predicate) {
  return Block::current().barriers.sync(id, count, reduction, predicate != 0,
                                        site);
}

static void arriveBarrier(Site site, uint32_t id, uint32_t count) {
  Block::current().barriers.arrive(id, count, site);
}

static void arriveCluster(Site, uint32_t relaxed) {
  Block::current().barriers.arriveCluster(relaxed != 0);
}

static void waitCluster(Site site) {
  Block::current().barriers.waitCluster(site);
}

static void fenceProxy(Site, host_calls::ProxyFence kind) {
  Block &block = Block::current();
  Tracker *tracker = block.getTracker();
  if (tracker && kind == host_calls::ProxyFence::Async)
    tracker->clocks.fence(block.self().index);
}

static void fenceMemory(Site) {
  Block &block = Block::current();
  if (Tracker *tracker = block.getTracker())
    tracker->atomics.fence(block.self().index);
}

static void fenceMBarrierInit(Site) { Block::current().mbarriers.fenceInit(); }

/// Registers change hands by warpgroups: what one gives up another may take.
static void setMaxRegister(Site site, uint32_t count) {
  Block &block = Block::current();
  Thread &self = block.self();
  if (count % 8 != 0 || count < 24 || count > 256)
    block.report("misuse", site,
                 block.nameThread(self.index) + " (" + block.describe(site) +
                     ") asks for " + std::to_string(count) +
                     " registers, not 24, 32, ... or 256");
  self.registers = count;
}

static void exitThread(Site) { Block::current().exit(); }

static void trap(Site site) {
  Block &block = Block::current();
  block.report("trap", site,
               block.nameThread(block.self().index) + " reaches a trap (" +
                   block.describe(site) + ")");
  block.abort();
}

static void failAssertion(const char *message, const char *, uint32_t,
                          const char *, uint64_t) {
  Block &block = Block::current();
  block.report("assertion", kNoSite,
               block.nameThread(block.self().index) + ": " + message);
  block.abort();
}

static void yield(Site site) { Block::current().poll(site); }

static void poll(Site site, uint64_t state) {
  Block::current().note(site, state);
  Block::current().poll(site);
}

static void ask(Site site, uint64_t state) {
  Block::current().note(site, state);
}

static void countRound(Site site) { Block::current().countRound(site); }

static void initMBarrier(Site site, void *address, uint32_t count,
                         uint32_t predicate) {
  if (predicate)
    Block::current().mbarriers.init(address, count, site);
}

static void invalidateMBarrier(Site site, void *address) {
  Block::current().mbarriers.invalidate(address, site);
}

static uint64_t arriveMBarrier(Site site, void *address, uint32_t count,
                               uint32_t bytes, int32_t flags) {
  return Block::current().mbarriers.arrive(address, count, bytes, flags, site);
}

static void expectMBarrier(Site site, void *address, uint32_t bytes) {
  Block::current().mbarriers.expect(address, bytes, site);
}

static void completeMBarrier(Site site, void *address, uint32_t bytes) {
  Block::current().mbarriers.complete(address, bytes, site);
}

static uint32_t testMBarrier(Site site, void *address, uint64_t phase,
                             uint32_t isParity, uint32_t relaxed) {
  return Block::current().mbarriers.test(address, phase, isParity != 0,
                                         relaxed != 0, site);
}

static void waitMBarrier(Site site, void *address, uint32_t parity) {
  Block::current().mbarriers.wait(address, parity, site);
}

llvm::ArrayRef<HostFunction> emulator::getThreadFunctions() {
  static const HostFunction functions[] = {
      {"attn_cuda_register", readRegister},
      {"attn_cuda_clock", readClock},
      {"attn_cuda_shared", getShared},
      {"attn_cuda_shared_number", getSharedNumber},
      {"attn_cuda_shared_pointer", getSharedPointer},
      {"attn_cuda_access", access},
      {"attn_cuda_barrier", barrier},
      {"attn_cuda_barrier_arrive", arriveBarrier},
      {"attn_cuda_cluster_arrive", arriveCluster},
      {"attn_cuda_cluster_wait", waitCluster},
      {"attn_cuda_fence_proxy", fenceProxy},
      {"attn_cuda_fence_memory", fenceMemory},
      {"attn_cuda_fence_mbarrier_init", fenceMBarrierInit},
      {"attn_cuda_set_max_register", setMaxRegister},
      {"attn_cuda_exit", exitThread},
      {"attn_cuda_trap", trap},
      {"attn_cuda_assert_fail", failAssertion},
      {"attn_cuda_yield", yield},
      {"attn_cuda_poll", poll},
      {"attn_cuda_ask", ask},
      {"attn_cuda_round", countRound},
      {"attn_cuda_mbarrier_init", initMBarrier},
      {"attn_cuda_mbarrier_inval", invalidateMBarrier},
      {"attn_cuda_mbarrier_arrive", arriveMBarrier},
      {"attn_cuda_mbarrier_expect", expectMBarrier},
      {"attn_cuda_mbarrier_complete", completeMBarrier},
      {"attn_cuda_mbarrier_test", testMBarrier},
      {"attn_cuda_mbarrier_wait", waitMBarrier}};
  return functions;
}
