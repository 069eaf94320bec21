// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How much of an attention a block of threads of a GPU works on, reasoned from its registers and shared memory.

#ifndef ATTN_ANALYSIS_CUDACOSTMODEL_H
#define ATTN_ANALYSIS_CUDACOSTMODEL_H

#include "attn/IR/AttentionShape.h"
#include "attn/Target/TargetInfo.h"

namespace mlir::attn {

/// The most rows for which a GPU splits keys over blocks of threads, of one warp
/// each.
constexpr int64_t kFewBlockRows = 16;

/// Return how many rows are few for heads of `shape`: at most kFewBlockRows, and
/// where `folds` says that rows of all heads of a group may share a tile, no more
/// than fit one.
int64_t getFewBlockRows(const AttentionShape &shape, bool folds);

/// The most parts that a GPU splits keys into: more take longer to merge than they
/// save.
constexpr int64_t kMostBlockChunks = 64;

/// The most channels of which a block of threads has its rows of the query, and
/// keys, in shared memory as they are. Of more it takes a part at a time: scores are
/// sums of products.
constexpr int64_t kMostWholeChannels = 256;

/// Return how many channels of `bits` bits such a part has: those that the 32 banks
/// of shared memory hold.
constexpr int64_t getPartChannels(int64_t bits) { return 32 * 32 / bits; }

/// The most channels of a value on a GPU, of which a block of threads adds up a part
/// in registers. Each part is an attention with scores of its own.
constexpr int64_t kMostValueChannels = 4096;

/// Return how many channels each part has, but for the last, of a head of `shape`
/// whose elements have `bits` bits.
int64_t getValuePart(const AttentionShape &shape, int64_t bits);

/// Return the schedule of an attention on a GPU whose elements have `bits` bits and
/// whose heads have a known number of channels: for a block of threads that works
/// on many rows, or with `few` on at most getFewBlockRows. `folds` says whether
/// several rows of several heads may share a tile where keys are split. `precision` is
/// that of f32.
ScheduleAttr chooseBlockSchedule(MLIRContext *context,
                                 const AttentionShape &shape, int64_t bits,
                                 const TargetInfo &target, bool few, bool folds,
                                 Precision precision);

/// Return the schedule of a projection on a GPU of `rows` rows, which may be
/// dynamic, to `outs` outputs, whose elements have `bits` bits. `precision` is that of
/// f32.
ScheduleAttr chooseBlockProjectionSchedule(MLIRContext *context, int64_t rows,
                                           int64_t outs, int64_t bits,
                                           Precision precision);

} // namespace mlir::attn

#endif // ATTN_ANALYSIS_CUDACOSTMODEL_H
