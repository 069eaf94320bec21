// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What tiling of an attention is fastest on a processor, reasoned from its registers and caches.

#ifndef ATTN_ANALYSIS_COSTMODEL_H
#define ATTN_ANALYSIS_COSTMODEL_H

#include "attn/IR/AttentionShape.h"
#include "attn/Target/TargetInfo.h"

namespace mlir::attn {

/// Return how many rows, over all heads of a group, at most count as few: then these
/// heads share one tile, and keys may be split. `bits` is the width of the
/// accumulator's type.
int64_t getFewRows(const AttentionShape &shape, int64_t bits);

/// Return how many query heads share a key head, 1 where there are none, or
/// kDynamic.
int64_t getGroupSize(const AttentionShape &shape);

/// Return the schedule for many rows a head, or with `few` for at most getFewRows in
/// a group. `bits` is the width of the accumulator's type; `skipsBlocks` says
/// that a mask may take whole blocks of keys, `mayFold` that heads of a group may
/// share a tile of many rows. Depends on M, N, D, E, H / G, the
/// type, the target and that only.
ScheduleAttr chooseSchedule(MLIRContext *context, const AttentionShape &shape,
                            int64_t bits, const TargetInfo &target, bool few,
                            bool skipsBlocks, bool mayFold);

/// Return how many chunks at most the keys of a tile of `schedule` are cut into:
/// their states take memory, and more of them feed no more threads than heads and
/// these.
int64_t getMostChunks(ScheduleAttr schedule, int64_t valueSize, int64_t bits);

/// Return the bytes of the state of a tile of `schedule`.
int64_t getStateBytes(ScheduleAttr schedule, int64_t valueSize, int64_t bits);

/// The most rows, of all entries of a batch, for which a projection reads its
/// weights where they are.
constexpr int64_t kFewProjectedRows = 16;

/// Return the schedule of a projection of `rows` rows, of all entries of the
/// batch, from `ins` to `outs` channels, any of which may be dynamic. With `few`,
/// there are at most kFewProjectedRows.
ScheduleAttr chooseProjectionSchedule(MLIRContext *context, int64_t rows,
                                      int64_t outs, int64_t ins, int64_t bits,
                                      const TargetInfo &target, bool few);

/// The most steps of linear attention that are taken one by one where memory is:
/// a chunk of them would be mostly padding.
constexpr int64_t kFewSteps = 4;

/// What a schedule of linear attention depends on beside its shape: the width of
/// the accumulator's type, whether each channel has a decay, sums of keys, and
/// whether all steps write before any reads.
struct LinearTraits {
  int64_t bits;
  bool channelDecay, normalize, nonCausal;
};

/// Return the schedule of linear attention, with `few` for at most kFewSteps. Its
/// block of columns may depend on B and G too, which changes no bit of a result.
ScheduleAttr chooseLinearSchedule(MLIRContext *context,
                                  const AttentionShape &shape,
                                  const LinearTraits &traits,
                                  const TargetInfo &target, bool few);

/// What a machine does at most, on all threads that are asked for: operations in
/// f32 from registers and in products that stay in the first-level cache, in units
/// of 10^9 a second, and 10^9 bytes a second that it reads.
struct MachineLimits {
  double fmaGflops = 0, gemmGflops = 0, readGbs = 0;
};

/// How long something should take, in milliseconds: its products and exponentials,
/// and the memory that it reads and writes. Both go on at once.
struct TimeEstimate {
  double arithmetic = 0, memory = 0;
  double total() const { return std::max(arithmetic, memory); }
};

/// Return how long products of `operations` operations, `exponentials` weights and
/// `bytes` bytes should take. A `wide` one is in f64, of which a register holds
/// half.
TimeEstimate estimateTime(double operations, double exponentials, double bytes,
                          bool wide, const MachineLimits &limits);

} // namespace mlir::attn

#endif // ATTN_ANALYSIS_COSTMODEL_H
