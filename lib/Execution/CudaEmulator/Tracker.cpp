// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns verdicts on accesses into reports.

#include "Tracker.h"

#include "Block.h"

#include "attn/Conversion/HostCalls.h"

using namespace mlir::attn;
using namespace mlir::attn::emulator;

void Tracker::reset(unsigned threads, uint32_t bytes) {
  clocks.reset(threads);
  atomics.reset();
  cells.reset(bytes, threads);
}

/// Say who makes an access: `thread (3,0,0)`, or what that thread has started.
static std::string nameActor(const Block &block, const Access &access) {
  std::string thread = block.nameThread(access.thread);
  if (access.kind & kInBackground)
    return "what " + thread + " started (" + block.describe(access.site) + ")";
  return thread + " (" + block.describe(access.site) + ")";
}

void Tracker::report(const Access &access, const Verdict &verdict) {
  std::string who = nameActor(block, access);
  std::string does = access.isWrite ? " writes" : " reads";
  std::string place =
      " byte " + std::to_string(verdict.offset) + " of shared memory";
  const Access &other = verdict.other;
  switch (verdict.fault) {
  case Fault::None:
    return;
  case Fault::Uninitialized:
    block.report("uninitialized", access.site,
                 who + does + place + ", which nobody has written");
    return;
  case Fault::NoFence:
    block.report("missing fence.proxy", access.site,
                 who + does + place + " through the asynchronous proxy, " +
                     nameActor(block, other) +
                     " has written it through the generic proxy",
                 other.site);
    return;
  case Fault::Barrier:
    block.report("misuse", access.site,
                 who + does + place + ", where an mbarrier lies (" +
                     block.describe(other.site) + ")",
                 other.site);
    return;
  case Fault::Race:
    block.report("race", access.site,
                 who + does + place + ", " + nameActor(block, other) +
                     (other.isWrite ? " writes" : " reads") +
                     " it, and nothing orders the two",
                 other.site);
    return;
  }
}

void Tracker::enterAccess(uint32_t offset, uint32_t bytes, const Access &access,
                          const Knowledge &knowledge) {
  Verdict verdict = cells.enter(offset, bytes, access, knowledge);
  if (verdict.fault != Fault::None)
    report(access, verdict);
}

void Tracker::enter(uint32_t offset, uint32_t bytes, bool isWrite, uint8_t kind,
                    Site site) {
  uint32_t thread = block.self().index;
  Access access{clocks.now(thread), static_cast<uint16_t>(thread), kind,
                isWrite, site};
  enterAccess(offset, bytes, access, clocks.get(thread));
}

void Tracker::enterFor(uint32_t thread, uint32_t offset, uint32_t bytes,
                       bool isWrite, Site site) {
  Access access{clocks.now(thread), static_cast<uint16_t>(thread), kPlain,
                isWrite, site};
  enterAccess(offset, bytes, access, clocks.get(thread));
}

void Tracker::enterBackground(uint32_t offset, uint32_t bytes, bool isWrite,
                              uint8_t kind, Moment moment, Site site,
                              const Knowledge &knowledge) {
  Access access{moment, static_cast<uint16_t>(block.self().index),
                static_cast<uint8_t>(kind | kInBackground), isWrite, site};
  enterAccess(offset, bytes, access, knowledge);
}

void Tracker::checkGlobal(const void *address, uint64_t bytes,
                          uint32_t alignment, Site site) {
  auto offset = reinterpret_cast<uintptr_t>(address) % alignment;
  const Buffers &buffers = *block.getLaunch().buffers;
  bool isThere = buffers.empty() || buffers.holds(address, bytes);
  if (offset == 0 && isThere)
    return;
  // What stands here is not destroyed when the block is left.
  auto who = [&] {
    return block.nameThread(block.self().index) + " (" + block.describe(site) +
           ")";
  };
  if (offset != 0)
    block.report("misaligned", site,
                 who() + " needs global memory aligned to " +
                     std::to_string(alignment) + " bytes, the address is " +
                     std::to_string(offset) + " bytes off");
  if (!isThere)
    block.report("out of bounds", site,
                 who() + " accesses " + std::to_string(bytes) +
                     " bytes of global memory " + buffers.describe(address));
  // A CPU would trap, or write to somebody else's memory.
  block.abort();
}

void Tracker::access(const void *address, uint64_t bytes, int32_t flags,
                     Site site) {
  if (bytes == 0 || block.isOnStack(address))
    return;
  uint32_t alignment = 1u << (flags >> host_calls::kAccessAlignmentShift);
  bool isWrite = (flags & host_calls::kAccessWrite) != 0;
  uint8_t kind = kPlain;
  if (flags & host_calls::kAccessAtomic)
    kind |= kAtomic;
  if (flags & host_calls::kAccessUpdate)
    kind |= kUpdate;
  if (block.isInWindow(address)) {
    uint32_t offset =
        block.checkShared(address, bytes, alignment, site, "shared memory");
    enter(offset, static_cast<uint32_t>(bytes), isWrite, kind, site);
  } else {
    checkGlobal(address, bytes, alignment, site);
  }
  if (kind & kAtomic)
    atomics.access(block.self().index, address, flags);
  else if (isWrite)
    atomics.write(address);
}
