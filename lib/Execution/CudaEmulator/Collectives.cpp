// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lets the lanes of a warp meet.

#include "Block.h"

using namespace mlir::attn;
using namespace mlir::attn::emulator;
using host_calls::kWarpSize;

void Collectives::reset() {
  auto threads = static_cast<uint32_t>(block.getThreads().size());
  warps.resize((threads + kWarpSize - 1) / kWarpSize);
  for (uint32_t i = 0; i < warps.size(); ++i) {
    uint32_t lanes = threads - i * kWarpSize;
    warps[i].existing = lanes >= kWarpSize ? ~0u : (1u << lanes) - 1;
    warps[i].exited = 0;
    for (Meeting &meeting : warps[i].meetings)
      meeting.isActive = false;
  }
}

Collectives::Meeting &Collectives::find(Warp &warp, WarpFunction function,
                                        uint32_t kind, uint32_t mask) {
  Meeting *unused = nullptr;
  for (Meeting &meeting : warp.meetings) {
    if (!meeting.isActive) {
      unused = &meeting;
      continue;
    }
    if (meeting.function == function && meeting.kind == kind &&
        meeting.mask == mask)
      return meeting;
  }
  if (!unused) {
    warp.meetings.emplace_back();
    unused = &warp.meetings.back();
  }
  unused->function = function;
  unused->kind = kind;
  unused->mask = mask;
  unused->arrived = 0;
  unused->isActive = true;
  unused->call.site = kNoSite;
  return *unused;
}

/// Do what the meeting is for if all have come, and let all but `self` go on.
bool Collectives::completeIfAll(Warp &warp, Meeting &meeting, uint32_t self) {
  uint32_t needed = meeting.mask & warp.existing & ~warp.exited;
  if ((meeting.arrived & needed) != needed || meeting.arrived == 0)
    return false;
  // What is done may let threads run, but starts no other meeting.
  meeting.call.mask = meeting.arrived;
  meeting.function(block, meeting.call);
  meeting.isActive = false;
  uint32_t first = meeting.call.warp * kWarpSize;
  for (uint32_t lane = 0; lane < kWarpSize; ++lane)
    if ((meeting.arrived >> lane & 1) && first + lane != self)
      block.wake(first + lane);
  return true;
}

void Collectives::meet(WarpFunction function, uint32_t mask, uint32_t kind,
                       bool aligned, void *arguments, Site site,
                       const char *what) {
  uint32_t self = block.self().index;
  Warp &warp = warps[self / kWarpSize];
  uint32_t lane = self % kWarpSize;
  if (!(mask >> lane & 1)) {
    block.report("divergent collective", site,
                 block.nameThread(self) + " (" + block.describe(site) +
                     ") is not in its own mask of lanes");
    mask |= 1u << lane;
  }
  if (aligned && getLiveLanes(self / kWarpSize) != ~0u)
    block.report("divergent collective", site,
                 block.nameThread(self) + " (" + block.describe(site) +
                     ") needs all 32 threads of its warp, some are not there "
                     "or have ended");
  Meeting &meeting = find(warp, function, kind, mask);
  if (meeting.arrived == 0) {
    meeting.call.site = site;
    meeting.call.warp = self / kWarpSize;
  } else if (aligned && meeting.call.site != site) {
    block.report("divergent collective", site,
                 block.nameThread(self) + " is at " + block.describe(site) +
                     " while others of its warp are at " +
                     block.describe(meeting.call.site),
                 meeting.call.site);
  }
  meeting.arrived |= 1u << lane;
  meeting.call.lanes[lane] = arguments;
  if (!completeIfAll(warp, meeting, self))
    block.wait(what, site);
}

void Collectives::threadExited(uint32_t thread) {
  Warp &warp = warps[thread / kWarpSize];
  warp.exited |= 1u << (thread % kWarpSize);
  for (Meeting &meeting : warp.meetings)
    if (meeting.isActive)
      completeIfAll(warp, meeting, thread);
}

void Collectives::countBanks(const uint32_t *offsets) {
  constexpr uint32_t kRows = 8, kRowBytes = 16, kBankBytes = 4, kBanks = 32;
  uint32_t uses[kBanks] = {};
  uint32_t most = 1;
  for (uint32_t row = 0; row < kRows; ++row) {
    // Rows that are the same are read once.
    bool isRepeated = false;
    for (uint32_t other = 0; other < row; ++other)
      isRepeated |= offsets[other] == offsets[row];
    if (isRepeated)
      continue;
    for (uint32_t byte = 0; byte < kRowBytes; byte += kBankBytes)
      most =
          std::max(most, ++uses[(offsets[row] + byte) / kBankBytes % kBanks]);
  }
  ++phases;
  conflicts += most - 1;
}
