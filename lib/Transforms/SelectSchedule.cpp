// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses how each attention is tiled and writes it into the IR:
//
//   %o = attn.sdpa %q, %k, %v scale = 0.125 : ...
//
// becomes
//
//   %o = attn.sdpa %q, %k, %v scale = 0.125
//        schedule = <block_m = 256, block_n = 256, rows = 8, columns = 32, lanes = 16> : ...
//
// Nothing is tiled here. Where the number of rows is known at run time only, the op is there twice, for few rows and for
// many, under a test of M * H / G.

#include "attn/Analysis/CostModel.h"
#include "attn/Analysis/KnownExtents.h"
#include "attn/Transforms/Passes.h"
#include "attn/Transforms/Projection.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Remarks.h"

namespace mlir::attn {
#define GEN_PASS_DEF_SELECTSCHEDULE
#include "attn/Transforms/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// Write `schedule` on `op` and say so.
static void setSchedule(SdpaOp op, ScheduleAttr schedule) {
  op.setScheduleAttr(schedule);
  remark::passed(op.getLoc(),
                 remark::RemarkOpts::name("Scheduled").category("attn"))
      << remark::metric("block_m", schedule.getBlockM())
      << remark::metric("block_n", schedule.getBlockN())
      << remark::metric("rows", schedule.getRows())
      << remark::metric("columns", schedule.getColumns())
      << remark::metric("chunk", schedule.getChunk());
}

/// Return `schedule` for keys in one piece.
static ScheduleAttr withoutChunks(ScheduleAttr schedule) {
  return ScheduleAttr::get(
      schedule.getContext(), schedule.getBlockM(), schedule.getBlockN(),
      schedule.getRows(), schedule.getColumns(), schedule.getLanes(),
      /*chunk=*/0, schedule.getFoldHeads(), schedule.getStreams());
}

/// Return whether the states of chunks of keys can be given memory when the
/// function starts: as many as `op` can have in any iteration of a loop round it.
static bool canSplitKeys(SdpaOp op) {
  int64_t heads = headDim(op.getQueryLayout());
  TensorDim key{op.getKey(), sequenceDim(op.getKeyLayout())};
  TensorDim others[] = {{op.getQuery(), kBatchDim},
                        {op.getQuery(), heads},
                        {op.getValue(), kChannelDim}};
  return isKnownOnEntry(getWhole(key)) &&
         llvm::all_of(others,
                      [](TensorDim dim) { return isKnownOnEntry(dim); });
}

/// Give `op` a schedule, or two under a test where its rows are dynamic.
static void schedule(OpBuilder &b, SdpaOp op, const TargetInfo &target) {
  AttentionShape shape = AttentionShape::get(op);
  auto type = cast<RankedTensorType>(op.getQuery().getType());
  int64_t bits = type.getElementType().isF64() ? 64 : 32;
  int64_t group = getGroupSize(shape);
  bool canSplit = canSplitKeys(op);
  auto choose = [&](bool few) {
    ScheduleAttr best =
        chooseSchedule(op.getContext(), shape, bits, target, few);
    return canSplit ? best : withoutChunks(best);
  };
  int64_t most = getFewRows(group);
  bool mayBeFew = ShapedType::isStatic(group) && group <= most;
  if (!mayBeFew || ShapedType::isStatic(shape.rows))
    return setSchedule(op, choose(mayBeFew && shape.rows * group <= most));
  Location loc = op.getLoc();
  b.setInsertionPoint(op);
  Value rows =
      getValueOrCreateConstantIndexOp(b, loc, AttentionDims::get(b, op).rows);
  Value limit = arith::ConstantIndexOp::create(b, loc, most / group);
  Value few =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, rows, limit);
  auto branch = [&](bool isFew) {
    return [&, isFew](OpBuilder &nested, Location) {
      auto copy = cast<SdpaOp>(nested.clone(*op));
      setSchedule(copy, choose(isFew));
      scf::YieldOp::create(nested, loc, copy->getResults());
    };
  };
  auto choice = scf::IfOp::create(b, loc, few, branch(true), branch(false));
  op->replaceAllUsesWith(choice);
  op.erase();
}

/// Give a projection a schedule, as an attribute beside its own.
static void scheduleProjection(linalg::GenericOp op, const TargetInfo &target) {
  auto type = cast<RankedTensorType>(op.getResult(0).getType());
  auto weight = cast<RankedTensorType>(op.getDpsInputs()[1].getType());
  op->setAttr("attn.schedule",
              chooseProjectionSchedule(
                  op.getContext(), type.getDimSize(1), weight.getDimSize(0),
                  weight.getDimSize(1), type.getElementTypeBitWidth(), target));
}

namespace {
struct SelectSchedule : public attn::impl::SelectScheduleBase<SelectSchedule> {
  void runOnOperation() override {
    SmallVector<SdpaOp> ops;
    getOperation()->walk([&](SdpaOp op) {
      if (!op.getSchedule())
        ops.push_back(op);
    });
    TargetInfo target = TargetInfo::get(getOperation());
    OpBuilder builder(&getContext());
    for (SdpaOp op : ops)
      schedule(builder, op, target);
    getOperation()->walk([&](linalg::GenericOp op) {
      if (!op->hasAttr("attn.schedule") && isProjection(op))
        scheduleProjection(op, target);
    });
  }
};
} // namespace
