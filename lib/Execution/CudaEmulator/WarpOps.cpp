// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shuffles, votes and reductions over the lanes of a warp.

#include "Block.h"
#include "Elements.h"
#include "HostFunctions.h"

#include <cmath>

using namespace mlir::attn;
using namespace mlir::attn::emulator;
using host_calls::kWarpSize;

namespace {
/// What a lane gives to an exchange of words, and what it gets.
struct Exchange {
  uint64_t value;
  uint32_t offset;
  uint32_t clamp;
  uint32_t kind;
  uint32_t result;
  uint32_t flag;
};
} // namespace

/// Call `apply(lane, exchange)` for the lanes that take part.
template <typename Function>
static void forEachLane(const WarpCall &call, Function apply) {
  for (uint32_t lane = 0; lane < kWarpSize; ++lane)
    if (call.mask >> lane & 1)
      apply(lane, call.get<Exchange>(lane));
}

/// Give each lane the word of the lane that it asks for, where that is in its part
/// of the warp; else its own.
static void runShuffle(Block &block, WarpCall &call) {
  forEachLane(call, [&](uint32_t lane, Exchange &mine) {
    using host_calls::Shuffle;
    uint32_t bound = mine.clamp & 0x1f;
    uint32_t segment = mine.clamp >> 8 & 0x1f;
    uint32_t most = (lane & segment) | (bound & ~segment);
    uint32_t least = lane & segment;
    uint32_t offset = mine.offset & 0x1f;
    uint32_t from = lane;
    bool isValid = false;
    switch (static_cast<Shuffle>(mine.kind)) {
    case Shuffle::Up:
      from = lane - offset;
      isValid = static_cast<int32_t>(from) >= static_cast<int32_t>(most);
      break;
    case Shuffle::Down:
      from = lane + offset;
      isValid = from <= most;
      break;
    case Shuffle::Xor:
      from = lane ^ offset;
      isValid = from <= most;
      break;
    case Shuffle::Index:
      from = least | (offset & ~segment);
      isValid = from <= most;
      break;
    }
    if (!isValid)
      from = lane;
    mine.flag = isValid;
    if (call.mask >> from & 1) {
      mine.result = static_cast<uint32_t>(call.get<Exchange>(from).value);
      return;
    }
    block.report("misuse", call.site,
                 "lane " + std::to_string(lane) + " of warp " +
                     std::to_string(call.warp) + " asks lane " +
                     std::to_string(from) + " for a value (" +
                     block.describe(call.site) +
                     "), which is not in the mask or has ended");
    mine.result = ~0u;
  });
}

static void runVote(Block &, WarpCall &call) {
  uint32_t ballot = 0;
  forEachLane(call, [&](uint32_t lane, Exchange &mine) {
    ballot |= static_cast<uint32_t>(mine.value & 1) << lane;
  });
  forEachLane(call, [&](uint32_t, Exchange &mine) {
    using host_calls::Vote;
    switch (static_cast<Vote>(mine.kind)) {
    case Vote::Any:
      mine.result = ballot != 0;
      break;
    case Vote::All:
      mine.result = ballot == call.mask;
      break;
    case Vote::Uniform:
      mine.result = ballot == 0 || ballot == call.mask;
      break;
    case Vote::Ballot:
      mine.result = ballot;
      break;
    }
  });
}

/// Return the smaller or larger of two floats. A NaN loses, unless it is to win.
static uint32_t reduceFloat(uint32_t a, uint32_t b, bool isMax, bool isAbs,
                            bool nanWins) {
  float x = bitsToFloat(a), y = bitsToFloat(b);
  if (isAbs) {
    x = std::fabs(x);
    y = std::fabs(y);
  }
  if (nanWins && (std::isnan(x) || std::isnan(y)))
    return 0x7fffffff;
  return floatToBits(isMax ? std::fmax(x, y) : std::fmin(x, y));
}

static uint32_t reduceWords(host_calls::Redux kind, uint32_t a, uint32_t b) {
  using host_calls::Redux;
  auto x = static_cast<int32_t>(a), y = static_cast<int32_t>(b);
  switch (kind) {
  case Redux::Add:
    return a + b;
  case Redux::And:
    return a & b;
  case Redux::Or:
    return a | b;
  case Redux::Xor:
    return a ^ b;
  case Redux::Max:
    return static_cast<uint32_t>(std::max(x, y));
  case Redux::Min:
    return static_cast<uint32_t>(std::min(x, y));
  case Redux::UMax:
    return std::max(a, b);
  case Redux::UMin:
    return std::min(a, b);
  case Redux::FMin:
    return reduceFloat(a, b, /*isMax=*/false, /*isAbs=*/false, false);
  case Redux::FMax:
    return reduceFloat(a, b, /*isMax=*/true, /*isAbs=*/false, false);
  case Redux::FMinAbs:
    return reduceFloat(a, b, /*isMax=*/false, /*isAbs=*/true, false);
  case Redux::FMaxAbs:
    return reduceFloat(a, b, /*isMax=*/true, /*isAbs=*/true, false);
  case Redux::FMinNan:
    return reduceFloat(a, b, /*isMax=*/false, /*isAbs=*/false, true);
  case Redux::FMaxNan:
    return reduceFloat(a, b, /*isMax=*/true, /*isAbs=*/false, true);
  case Redux::FMinAbsNan:
    return reduceFloat(a, b, /*isMax=*/false, /*isAbs=*/true, true);
  case Redux::FMaxAbsNan:
    return reduceFloat(a, b, /*isMax=*/true, /*isAbs=*/true, true);
  }
  return 0;
}

static void runRedux(Block &, WarpCall &call) {
  bool isFirst = true;
  uint32_t total = 0;
  forEachLane(call, [&](uint32_t, Exchange &mine) {
    auto word = static_cast<uint32_t>(mine.value);
    auto kind = static_cast<host_calls::Redux>(mine.kind);
    total = isFirst ? word : reduceWords(kind, total, word);
    isFirst = false;
  });
  forEachLane(call, [&](uint32_t, Exchange &mine) { mine.result = total; });
}

static void runMatch(Block &, WarpCall &call) {
  forEachLane(call, [&](uint32_t, Exchange &mine) {
    uint32_t same = 0;
    forEachLane(call, [&](uint32_t lane, Exchange &other) {
      same |= static_cast<uint32_t>(other.value == mine.value) << lane;
    });
    bool wantsAll = mine.kind != 0;
    mine.flag = same == call.mask;
    mine.result = wantsAll && !mine.flag ? 0 : same;
  });
}

static void runElect(Block &, WarpCall &call) {
  uint32_t leader = call.mask & -call.mask;
  forEachLane(call, [&](uint32_t lane, Exchange &mine) {
    mine.result = (1u << lane) == leader;
  });
}

/// Lanes that meet know what all of them know.
static void runSync(Block &block, WarpCall &call) {
  Tracker *tracker = block.getTracker();
  if (!tracker)
    return;
  Knowledge all;
  uint32_t first = call.warp * kWarpSize;
  forEachLane(call, [&](uint32_t lane, Exchange &) {
    tracker->clocks.release(first + lane, all);
  });
  forEachLane(call, [&](uint32_t lane, Exchange &) {
    tracker->clocks.acquire(first + lane, all);
  });
}

static uint32_t shuffle(Site site, uint32_t mask, uint32_t value,
                        uint32_t offset, uint32_t clamp, uint32_t kind,
                        uint32_t *valid) {
  Exchange mine{value, offset, clamp, kind, 0, 0};
  Block::current().collectives.meet(runShuffle, mask, kind, /*aligned=*/false,
                                    &mine, site, "a shuffle");
  *valid = mine.flag;
  return mine.result;
}

static uint32_t vote(Site site, uint32_t mask, uint32_t predicate,
                     uint32_t kind) {
  Exchange mine{predicate, 0, 0, kind, 0, 0};
  Block::current().collectives.meet(runVote, mask, kind, /*aligned=*/false,
                                    &mine, site, "a vote");
  return mine.result;
}

static uint32_t redux(Site site, uint32_t mask, uint32_t value, uint32_t kind) {
  Exchange mine{value, 0, 0, kind, 0, 0};
  Block::current().collectives.meet(runRedux, mask, kind, /*aligned=*/false,
                                    &mine, site, "a reduction over a warp");
  return mine.result;
}

static uint32_t match(Site site, uint32_t mask, uint64_t value, uint32_t all,
                      uint32_t *same) {
  Exchange mine{value, 0, 0, all, 0, 0};
  Block::current().collectives.meet(runMatch, mask, all, /*aligned=*/false,
                                    &mine, site, "a match over a warp");
  *same = mine.flag;
  return mine.result;
}

static uint32_t elect(Site site, uint32_t mask) {
  Exchange mine{0, 0, 0, 0, 0, 0};
  Block::current().collectives.meet(runElect, mask, 0, /*aligned=*/false, &mine,
                                    site, "an election");
  return mine.result;
}

static void syncWarp(Site site, uint32_t mask) {
  Exchange mine{0, 0, 0, 0, 0, 0};
  Block::current().collectives.meet(runSync, mask, 0, /*aligned=*/false, &mine,
                                    site, "a barrier of the warp");
}

llvm::ArrayRef<HostFunction> emulator::getWarpFunctions() {
  static const HostFunction functions[] = {
      {"attn_cuda_shuffle", shuffle}, {"attn_cuda_vote", vote},
      {"attn_cuda_redux", redux},     {"attn_cuda_match", match},
      {"attn_cuda_elect", elect},     {"attn_cuda_sync_warp", syncWarp}};
  return functions;
}
