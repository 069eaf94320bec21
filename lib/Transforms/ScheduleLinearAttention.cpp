// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses how linear attention is tiled, for SelectSchedule:
//
//   %o = attn.linear_attention %q, %k, %v rule = linear : ...
//
// becomes
//
//   %o = attn.linear_attention %q, %k, %v rule = linear
//        schedule = <block_m = 32, block_n = 64, rows = 8, columns = 32, lanes = 16> : ...
//
// Where the number of steps is known at run time only, the op is there twice, for single steps and for chunks of them. One
// without any element in an operand or a result is left to its definition.

#include "FewRows.h"
#include "attn/Transforms/SelectSchedule.h"

#include "attn/Analysis/CostModel.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::attn;

/// Write on `op` its schedule for few steps or for many.
static void writeSchedule(LinearAttentionOp op, const TargetInfo &target,
                          bool few) {
  bool isDouble = getElementTypeOrSelf(op.getQuery()).isF64();
  LinearTraits traits = {isDouble ? 64 : 32, op.hasChannelDecay(),
                         op.getNormalize(), op.getNonCausal()};
  ScheduleAttr schedule = chooseLinearSchedule(
      op.getContext(), AttentionShape::get(op), traits, target, few);
  op.setScheduleAttr(schedule);
  remark::passed(op.getLoc(),
                 remark::RemarkOpts::name("Scheduled").category("attn"))
      << remark::metric("block_m", schedule.getBlockM())
      << remark::metric("block_n", schedule.getBlockN())
      << remark::metric("rows", schedule.getRows())
      << remark::metric("columns", schedule.getColumns());
}

/// Return whether a type says that `op` has nothing to read or to give.
static bool isEmpty(const AttentionShape &shape) {
  return llvm::is_contained({shape.batch, shape.heads, shape.kvHeads,
                             shape.rows, shape.keys, shape.headSize,
                             shape.valueSize},
                            0);
}

void attn::setSchedule(OpBuilder &b, LinearAttentionOp op,
                       const TargetInfo &target) {
  AttentionShape shape = AttentionShape::get(op);
  if (isEmpty(shape))
    return;
  if (op.getNonCausal())
    return writeSchedule(op, target, /*few=*/false);
  if (ShapedType::isStatic(shape.keys))
    return writeSchedule(op, target, shape.keys <= kFewSteps);
  b.setInsertionPoint(op);
  Value steps = getValueOrCreateConstantIndexOp(b, op.getLoc(),
                                                AttentionDims::get(b, op).keys);
  branchOnRows(b, op, steps, kFewSteps, [&](OpBuilder &nested, bool few) {
    auto copy = cast<LinearAttentionOp>(nested.clone(*op));
    writeSchedule(copy, target, few);
    return copy.getOperation();
  });
}
