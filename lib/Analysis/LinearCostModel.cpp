// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses the sizes of a schedule of linear attention.
//
// Steps of a chunk: with C steps a step costs 2 D E products for the state and about C (D + E) / 2 for the other steps of
// its chunk; and each chunk reads and writes the state, which must be little beside C products with it. Measured on
// AVX-512, of 16, 32 and 64 steps 32 are best for a D of 64 and of 128 by up to 15 %. With a decay per channel the weights
// of a chunk are made a vector of keys at a time, and C is that vector.

#include "EvenBlock.h"

#include "attn/Analysis/CostModel.h"

using namespace mlir;
using namespace mlir::attn;

/// Steps of a chunk, and columns of the state of a task: D rows of so many stay in
/// half of the L2 cache for a D of 512.
static constexpr int64_t kChunkSteps = 32;
static constexpr int64_t kStateColumns = 128;

/// Tasks below which each gets fewer columns.
static constexpr int64_t kEnoughStates = 4;

ScheduleAttr attn::chooseLinearSchedule(MLIRContext *context,
                                        const AttentionShape &shape,
                                        const LinearTraits &traits,
                                        const TargetInfo &target, bool few) {
  int64_t lanes = std::max<int64_t>(target.lanes(traits.bits), 1);
  bool manyRegisters = target.vectorRegisters >= 32;
  int64_t rows = manyRegisters ? 8 : 4, vectors = 2, steps = kChunkSteps;
  if (traits.channelDecay)
    steps = std::max(lanes, rows);
  if (ShapedType::isStatic(shape.keys) && !traits.nonCausal)
    steps = std::min<int64_t>(steps, llvm::alignTo(shape.keys, rows));
  if (few) {
    // All heads of a group read a row of the state at once, as wide as registers
    // allow.
    int64_t group = std::max<int64_t>(getGroupSize(shape), 1);
    rows = steps = 1;
    vectors = std::max<int64_t>((manyRegisters ? 16 : 8) / group, 1);
    vectors = std::min<int64_t>(vectors, manyRegisters ? 8 : 4);
    if (ShapedType::isStatic(shape.valueSize))
      vectors = std::min<int64_t>(
          vectors,
          llvm::divideCeil(std::max<int64_t>(shape.valueSize, 1), lanes));
  }
  int64_t columns = vectors * lanes;
  int64_t width = evenBlock(shape.valueSize, kStateColumns, columns);
  if (ShapedType::isStatic(shape.batch) && ShapedType::isStatic(shape.kvHeads))
    for (int64_t tasks = shape.batch * shape.kvHeads;
         tasks < kEnoughStates && width > columns; tasks *= 2)
      width = llvm::alignTo(width / 2, columns);
  if (traits.normalize)
    width += columns;
  return ScheduleAttr::get(context, steps, width, rows, columns, lanes,
                           /*chunk=*/0, /*fold_heads=*/false,
                           /*streams=*/few ? 1 : 0, /*prefetch=*/0);
}
