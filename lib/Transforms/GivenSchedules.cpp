// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Looks at schedules that somebody wrote or measured. What one of them says of the rows of a tile may be more than it has
// room for, which for a dynamic number is known when the program runs:
//
//   %o = attn.sdpa %q, %k, %v schedule = <block_m = 8, ..., chunk = 1024> : tensor<1x8x?x64xf32>, ...
//
// becomes
//
//   %few = arith.cmpi sle, %rows, %c8
//   %o = scf.if %few { attn.sdpa ... schedule = <block_m = 8, ..., chunk = 1024> }
//        else { attn.sdpa ... schedule = <block_m = 8, ...> }

#include "GivenSchedules.h"

#include "attn/Analysis/CostModel.h"
#include "attn/Analysis/CudaCostModel.h"
#include "attn/IR/AttrNames.h"
#include "attn/Transforms/SelectSchedule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::attn;

void attn::removeForeignSchedules(Operation *root, bool isCuda) {
  auto isForeign = [&](ScheduleAttr schedule) {
    return schedule && (schedule.getWarps() > 0) != isCuda;
  };
  root->walk([&](Operation *op) {
    auto remove = [&](auto attention) {
      if (isForeign(attention.getScheduleAttr()))
        attention.removeScheduleAttr();
      auto few = op->getAttrOfType<ScheduleAttr>(kFewScheduleAttrName);
      if (isCuda || isForeign(few))
        op->removeDiscardableAttr(kFewScheduleAttrName);
    };
    llvm::TypeSwitch<Operation *>(op)
        .Case<SdpaOp, LinearAttentionOp>(remove)
        .Case([&](linalg::GenericOp generic) {
          if (isForeign(
                  generic->getAttrOfType<ScheduleAttr>(kScheduleAttrName)))
            generic->removeDiscardableAttr(kScheduleAttrName);
        });
  });
}

/// Return whether `op` is there for at most `most` rows, by a test round it.
static bool isTestedForRows(SdpaOp op, int64_t most) {
  using Bounds = ValueBoundsConstraintSet;
  int64_t dim = sequenceDim(op.getQueryLayout());
  for (Operation *at = op; auto branch = at->getParentOfType<scf::IfOp>();
       at = branch) {
    auto test = branch.getCondition().getDefiningOp<arith::CmpIOp>();
    if (!branch.getThenRegion().isAncestor(op->getParentRegion()) || !test ||
        test.getPredicate() != arith::CmpIPredicate::sle)
      continue;
    std::optional<int64_t> limit = getConstantIntValue(test.getRhs());
    if (!limit || *limit > most)
      continue;
    FailureOr<bool> same = Bounds::areEqual(
        Bounds::Variable(test.getLhs()), Bounds::Variable(op.getQuery(), dim));
    if (succeeded(same) && *same)
      return true;
  }
  return false;
}

/// Fails unless blocks of threads can work on `op`, of which `chosen` says how.
static LogicalResult acceptWarps(SdpaOp op, ScheduleAttr chosen) {
  ScheduleAttr schedule = op.getScheduleAttr();
  if (!chosen)
    return op.emitOpError()
           << "expects no 'warps' in the schedule of attention "
              "that is computed by its definition, got "
           << schedule.getWarps();
  if (schedule.getLanes() != chosen.getLanes())
    return op.emitOpError()
           << "expects a schedule of " << chosen.getLanes()
           << " 'lanes' for its type, got " << schedule.getLanes();
  if (schedule.getStreams() > 0)
    return op.emitOpError() << "expects no 'streams' with 'warps', got "
                            << schedule.getStreams();
  return success();
}

LogicalResult attn::acceptGivenSchedule(OpBuilder &b, SdpaOp op,
                                        ScheduleAttr chosen) {
  ScheduleAttr schedule = op.getScheduleAttr();
  bool isForThreads = schedule.getWarps() > 0;
  if (isForThreads && failed(acceptWarps(op, chosen)))
    return failure();
  AttentionShape shape = AttentionShape::get(op);
  int64_t group = getGroupSize(shape);
  bool folds = schedule.getFoldHeads() && ShapedType::isStatic(group);
  int64_t heads = folds ? std::max<int64_t>(group, 1) : 1;
  int64_t most = schedule.getBlockM() / heads;
  if (most == 0)
    return op.emitOpError()
           << "expects 'block_m' of a schedule with "
              "'fold_heads' to be at least the "
           << heads << " heads of a group, got " << schedule.getBlockM();
  if (schedule.getChunk() == 0)
    return success();
  if (!canSplitKeys(op))
    return op.emitOpError()
           << "expects no 'chunk' in a schedule where sizes are not known when "
              "the function is called, got "
           << schedule.getChunk();
  // Heads that are put together for blocks of threads have few rows each.
  if (isForThreads && heads > 1)
    most = std::min(most, kFewBlockRows);
  if (ShapedType::isStatic(shape.rows) && shape.rows > most)
    return op.emitOpError() << "expects a schedule with 'chunk' for at most "
                            << most << " rows of " << heads
                            << " heads, as 'block_m' says, got " << shape.rows;
  if (ShapedType::isDynamic(shape.rows) && !isTestedForRows(op, most))
    writeSchedules(b, op, most, [&](bool few) {
      return few ? schedule : withoutChunks(schedule);
    });
  return success();
}
