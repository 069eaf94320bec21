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
// many, under a test of M * H / G. Of packed sequences each has its own number: the op has both schedules, that for few
// rows as `attn.few_schedule`. On a GPU an op whose value has more channels than a block of threads adds up is several.

#include "attn/Transforms/SelectSchedule.h"
#include "FewRows.h"
#include "GivenSchedules.h"
#include "ValueParts.h"

#include "attn/Analysis/CostModel.h"
#include "attn/Analysis/CudaCostModel.h"
#include "attn/Analysis/KnownExtents.h"
#include "attn/IR/AttrNames.h"
#include "attn/Transforms/Passes.h"
#include "attn/Transforms/Projection.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/ADT/bit.h"

namespace mlir::attn {
#define GEN_PASS_DEF_SELECTSCHEDULE
#include "attn/Transforms/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// Write `schedule` on `op` and say so.
static void writeSchedule(SdpaOp op, ScheduleAttr schedule) {
  op.setScheduleAttr(schedule);
  remark::passed(op.getLoc(),
                 remark::RemarkOpts::name("Scheduled").category("attn"))
      << remark::metric("block_m", schedule.getBlockM())
      << remark::metric("block_n", schedule.getBlockN())
      << remark::metric("rows", schedule.getRows())
      << remark::metric("columns", schedule.getColumns())
      << remark::metric("chunk", schedule.getChunk());
}

ScheduleAttr attn::withoutChunks(ScheduleAttr schedule) {
  return ScheduleAttr::get(
      schedule.getContext(), schedule.getBlockM(), schedule.getBlockN(),
      schedule.getRows(), schedule.getColumns(), schedule.getLanes(),
      /*chunk=*/0, schedule.getFoldHeads(), schedule.getStreams(),
      schedule.getPrefetch(), schedule.getWarps(), schedule.getStages(),
      schedule.getPrecision());
}

/// Return `schedule`, which reads keys where they are, with blocks of a page of
/// `op` where that is long enough to read and divides a block.
static ScheduleAttr withBlocksInPages(ScheduleAttr schedule, SdpaOp op) {
  constexpr int64_t kLeastPage = 64;
  int64_t page = cast<RankedTensorType>(op.getKey().getType())
                     .getDimSize(sequenceDim(op.getKeyLayout()));
  if (ShapedType::isDynamic(page) || page < kLeastPage ||
      page % schedule.getColumns() != 0 || schedule.getBlockN() % page != 0)
    return schedule;
  return ScheduleAttr::get(
      schedule.getContext(), schedule.getBlockM(), page, schedule.getRows(),
      schedule.getColumns(), schedule.getLanes(), schedule.getChunk(),
      schedule.getFoldHeads(), schedule.getStreams(), schedule.getPrefetch());
}

bool attn::canSplitKeys(SdpaOp op) {
  int64_t heads = headDim(op.getQueryLayout());
  TensorDim key{op.getKey(), sequenceDim(op.getKeyLayout())};
  // The rows of a sequence are known when the program runs.
  if (op.hasPackedRows())
    return false;
  if (op.isPaged() && !isKnownOnEntry(TensorDim{op.getPageTable(), 1}))
    return false;
  TensorDim others[] = {{op.getQuery(), kBatchDim},
                        {op.getQuery(), heads},
                        {op.getValue(), kChannelDim}};
  return isKnownOnEntry(getWhole(key)) &&
         llvm::all_of(others,
                      [](TensorDim dim) { return isKnownOnEntry(dim); });
}

int64_t attn::getAccumulatorBits(SdpaOp op) {
  auto type = cast<RankedTensorType>(op.getQuery().getType());
  return type.getElementType().isF64() ? 64 : 32;
}

RowCount attn::getRowCount(SdpaOp op) {
  AttentionShape shape = AttentionShape::get(op);
  int64_t group = getGroupSize(shape);
  int64_t most = getFewRows(shape, getAccumulatorBits(op));
  // (Sequences of few rows have a schedule of their own.)
  if (op.hasPackedRows())
    return RowCount::Many;
  // Weights are computed from packed keys.
  if (op.getWeights() || ShapedType::isDynamic(group) || group > most)
    return RowCount::Many;
  if (ShapedType::isDynamic(shape.rows))
    return RowCount::Either;
  return shape.rows * group <= most ? RowCount::Few : RowCount::Many;
}

/// Return whether keys are looked at block by block: a mask may take all of some,
/// and pages end.
static bool hasBlocks(SdpaOp op) {
  return op.getMask() || !op.getMaskMod().empty() || op.isPaged();
}

/// Return whether `tensor` has the type of sums.
static bool isOfSums(Value tensor) {
  Type type = getElementTypeOrSelf(tensor);
  return type.isF32() || type.isF64();
}

ScheduleAttr attn::chooseSchedule(SdpaOp op, const TargetInfo &target,
                                  bool few) {
  ScheduleAttr best = chooseSchedule(
      op.getContext(), AttentionShape::get(op), getAccumulatorBits(op), target,
      few, hasBlocks(op), /*mayFold=*/!op.getWeights());
  if (op.isPaged() && best.getStreams() > 0)
    best = withBlocksInPages(best, op);
  if (best.getInPlace() && !isOfSums(op.getValue()))
    best = withoutChunks(best);
  // Keys of values in place are not split.
  return canSplitKeys(op) || best.getInPlace() ? best : withoutChunks(best);
}

void attn::writeSchedules(OpBuilder &b, SdpaOp op, int64_t most,
                          function_ref<ScheduleAttr(bool few)> choose) {
  b.setInsertionPoint(op);
  Value rows = getValueOrCreateConstantIndexOp(b, op.getLoc(),
                                               AttentionDims::get(b, op).rows);
  branchOnRows(b, op, rows, most, [&](OpBuilder &nested, bool few) {
    auto copy = cast<SdpaOp>(nested.clone(*op));
    writeSchedule(copy, choose(few));
    return copy.getOperation();
  });
}

void attn::setSchedule(OpBuilder &b, SdpaOp op,
                       function_ref<ScheduleAttr(bool few)> choose) {
  RowCount count = getRowCount(op);
  AttentionShape shape = AttentionShape::get(op);
  int64_t group = getGroupSize(shape),
          most = getFewRows(shape, getAccumulatorBits(op));
  // Of packed sequences each has its own number of rows.
  if (op.hasPackedRows() && ShapedType::isStatic(group) && group <= most)
    op->setAttr(kFewScheduleAttrName, choose(/*few=*/true));
  if (count != RowCount::Either)
    return writeSchedule(op, choose(count == RowCount::Few));
  writeSchedules(b, op, most / group, choose);
}

static bool isData(Value value, DenseSet<Value> &seen);

/// Return whether data says how often `op`, a loop or a branch, runs what is in it, or
/// it gives numbers that are data.
static bool isControlledByData(Operation *op, DenseSet<Value> &seen) {
  auto isAnyData = [&](ValueRange values) {
    return llvm::any_of(values, [&](Value v) { return isData(v, seen); });
  };
  if (isAnyData(op->getOperands()))
    return true;
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return isAnyData(loop.getYieldedValues());
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return op->getNumResults() > 0 &&
           (isAnyData(branch.thenYield().getResults()) ||
            isAnyData(branch.elseYield().getResults()));
  return !isa<scf::ForallOp>(op);
}

/// Return whether `value` is a number that is read from memory, where only a GPU
/// knows it: a number among the arguments, or an element of a tensor.
static bool isData(Value value, DenseSet<Value> &seen) {
  if (isa<RankedTensorType>(value.getType()) || !seen.insert(value).second)
    return false;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    return isa<func::FuncOp>(parent) || isControlledByData(parent, seen);
  }
  Operation *op = value.getDefiningOp();
  if (op->getNumRegions() > 0)
    return isControlledByData(op, seen);
  return isa<tensor::ExtractOp>(op) ||
         llvm::any_of(op->getOperands(),
                      [&](Value v) { return isData(v, seen); });
}

/// Return whether data says how often `op` runs: then one thread runs it.
static bool isUnderData(Operation *op) {
  DenseSet<Value> seen;
  Operation *at = op->getParentOp();
  while (!isa<func::FuncOp>(at) && !isControlledByData(at, seen))
    at = at->getParentOp();
  return !isa<func::FuncOp>(at);
}

/// Return `schedule`, of a block of threads, with blocks of keys that are in one page
/// of `op` each, or in several whole ones; null where there are none such.
static ScheduleAttr withPagedBlocks(ScheduleAttr schedule, SdpaOp op) {
  // Rows whose chunks are swizzled together in shared memory, by the columns that a
  // thread has side by side.
  int64_t rows = schedule.getLanes() > 2 ? 16 : 8;
  constexpr int64_t kLeastBlock = 16;
  int64_t page = cast<RankedTensorType>(op.getKey().getType())
                     .getDimSize(sequenceDim(op.getKeyLayout()));
  if (ShapedType::isDynamic(page) || page == 0 || page % rows != 0)
    return {};
  int64_t block = llvm::bit_floor<uint64_t>(schedule.getBlockN());
  while (page % block != 0 && block % page != 0 && block > kLeastBlock)
    block /= 2;
  if (page % block != 0 && block % page != 0)
    return {};
  return ScheduleAttr::get(
      schedule.getContext(), schedule.getBlockM(), block, schedule.getRows(),
      schedule.getColumns(), schedule.getLanes(), schedule.getChunk(),
      schedule.getFoldHeads(), schedule.getStreams(), schedule.getPrefetch(),
      schedule.getWarps(), schedule.getStages(), schedule.getPrecision());
}

/// Return whether a block of threads can work on tiles of `op`.
static bool isForBlocks(SdpaOp op) {
  auto elementOf = [](Value tensor) { return getElementTypeOrSelf(tensor); };
  Type element = elementOf(op.getQuery());
  if (element.isF64() || elementOf(op.getKey()) != element ||
      elementOf(op.getValue()) != element || op.hasPackedRows() ||
      op.hasPackedKeys() || op.getWeights() || op.getKeyScale() ||
      op.getValueScale() || isUnderData(op))
    return false;
  AttentionShape shape = AttentionShape::get(op);
  auto isKnown = [](int64_t size) {
    return ShapedType::isStatic(size) && size > 0;
  };
  return isKnown(shape.headSize) && isKnown(shape.valueSize) &&
         shape.valueSize <= kMostValueChannels;
}

/// Return whether heads of `op` may share a tile: not with rows of a bias or a mask,
/// which are read where they are, head by head.
static bool foldsRows(SdpaOp op) {
  return canSplitKeys(op) && !op.getBias() && !op.getMask();
}

/// Return how a block of threads works on `op` with few or many rows; null where none
/// can.
static ScheduleAttr chooseBlockSchedule(SdpaOp op, const TargetInfo &target,
                                        bool few) {
  int64_t bits = getElementTypeOrSelf(op.getQuery()).getIntOrFloatBitWidth();
  AttentionShape shape = AttentionShape::get(op);
  shape.valueSize = getValuePart(shape, bits);
  bool splits = canSplitKeys(op);
  ScheduleAttr schedule = chooseBlockSchedule(
      op.getContext(), shape, bits, target, few, foldsRows(op),
      op.getPrecision().value_or(Precision::Exact));
  if (op.isPaged())
    schedule = withPagedBlocks(schedule, op);
  return splits || !schedule ? schedule : withoutChunks(schedule);
}

/// Give `op` the schedule of a block of threads, if it can have one; else it is
/// computed by its definition.
static void setBlockSchedule(OpBuilder &b, SdpaOp op,
                             const TargetInfo &target) {
  if (!isForBlocks(op))
    return;
  auto choose = [&](bool few) { return chooseBlockSchedule(op, target, few); };
  if (!choose(/*few=*/true) || !choose(/*few=*/false))
    return;
  AttentionShape shape = AttentionShape::get(op);
  int64_t most = getFewBlockRows(shape, foldsRows(op));
  if (ShapedType::isDynamic(shape.rows))
    return writeSchedules(b, op, most, choose);
  writeSchedule(op, choose(shape.rows <= kFewBlockRows));
}

/// Write on `op`, a projection, its schedule for few rows or for many.
static void setSchedule(linalg::GenericOp op, const TargetInfo &target,
                        bool few) {
  auto tokens = cast<RankedTensorType>(op.getDpsInputs()[0].getType());
  auto weight = cast<RankedTensorType>(op.getDpsInputs()[1].getType());
  Type type = getElementTypeOrSelf(op.getResult(0));
  int64_t rows = ShapedType::kDynamic;
  if (!tokens.isDynamicDim(0) && !tokens.isDynamicDim(1))
    rows = tokens.getDimSize(0) * tokens.getDimSize(1);
  op->setAttr(
      kScheduleAttrName,
      chooseProjectionSchedule(op.getContext(), rows, weight.getDimSize(0),
                               weight.getDimSize(1),
                               type.getIntOrFloatBitWidth(), target, few));
}

/// Give a projection a schedule, as an attribute beside its own, or two under a
/// test where its rows are dynamic.
static void schedule(linalg::GenericOp op, const TargetInfo &target) {
  auto tokens = cast<RankedTensorType>(op.getDpsInputs()[0].getType());
  if (!tokens.isDynamicDim(0) && !tokens.isDynamicDim(1))
    return setSchedule(op, target,
                       tokens.getDimSize(0) * tokens.getDimSize(1) <=
                           kFewProjectedRows);
  // What rounds the result goes with it, so that both stay one loop.
  Operation *last = op;
  if (op.getResult(0).hasOneUse())
    if (auto user = dyn_cast<linalg::GenericOp>(*op.getResult(0).user_begin());
        user && user->getBlock() == op->getBlock() &&
        user.getNumDpsInputs() == 1)
      last = user;
  ImplicitLocOpBuilder at(op.getLoc(), last->getContext());
  at.setInsertionPoint(last);
  auto extent = [&](int64_t dim) {
    return tensor::getMixedSize(at, at.getLoc(), op.getDpsInits()[0], dim);
  };
  AffineExpr s0, s1;
  bindSymbols(at.getContext(), s0, s1);
  Value rows = getValueOrCreateConstantIndexOp(
      at, at.getLoc(),
      affine::makeComposedFoldedAffineApply(at, at.getLoc(), s0 * s1,
                                            {extent(0), extent(1)}));
  bool isAlone = last == op;
  branchOnRows(at, last, rows, kFewProjectedRows,
               [&](OpBuilder &nested, bool few) {
                 IRMapping copies;
                 Operation *copy = nested.clone(*op, copies);
                 setSchedule(cast<linalg::GenericOp>(copy), target, few);
                 return isAlone ? copy : nested.clone(*last, copies);
               });
  if (!isAlone)
    op.erase();
}

/// Return how a projection is multiplied.
static Precision getPrecision(linalg::GenericOp op) {
  auto given = op->getAttrOfType<StringAttr>(kPrecisionAttrName);
  if (!given)
    return Precision::Exact;
  return symbolizePrecision(given.getValue()).value_or(Precision::Exact);
}

/// Give `op`, a projection, the schedule of a block of threads, if it can have one.
static void setBlockSchedule(linalg::GenericOp op) {
  auto tokens = cast<RankedTensorType>(op.getDpsInputs()[0].getType());
  auto weight = cast<RankedTensorType>(op.getDpsInputs()[1].getType());
  Type element = weight.getElementType();
  if (tokens.getElementType() != element || element.isF64() ||
      !element.isIntOrFloat() || element.getIntOrFloatBitWidth() < 16 ||
      isUnderData(op))
    return;
  // Single rows of many entries are rows.
  int64_t rows = tokens.getDimSize(tokens.getDimSize(1) == 1 ? 0 : 1);
  op->setAttr(kScheduleAttrName,
              chooseBlockProjectionSchedule(
                  op.getContext(), rows, weight.getDimSize(0),
                  element.getIntOrFloatBitWidth(), getPrecision(op)));
}

/// Cut attentions that blocks of threads work on, where their values have too many
/// channels.
static void splitValues(Operation *root) {
  SmallVector<SdpaOp> ops;
  root->walk([&](SdpaOp op) {
    if (op.getSchedule() && op.getScheduleAttr().getWarps() > 0)
      ops.push_back(op);
  });
  IRRewriter rewriter(root->getContext());
  for (SdpaOp op : ops)
    splitValue(rewriter, op);
}

namespace {
struct SelectSchedule : public attn::impl::SelectScheduleBase<SelectSchedule> {
  void runOnOperation() override {
    TargetInfo target = TargetInfo::get(getOperation());
    removeForeignSchedules(getOperation(), target.isCuda());
    SmallVector<SdpaOp> ops, given;
    getOperation()->walk(
        [&](SdpaOp op) { (op.getSchedule() ? given : ops).push_back(op); });
    OpBuilder builder(&getContext());
    for (SdpaOp op : given)
      if (failed(acceptGivenSchedule(
              builder, op,
              target.isCuda() && isForBlocks(op)
                  ? chooseBlockSchedule(op, target, /*few=*/false)
                  : ScheduleAttr())))
        return signalPassFailure();
    SmallVector<linalg::GenericOp> projections;
    getOperation()->walk([&](linalg::GenericOp op) {
      if (!op->hasAttr(kScheduleAttrName) && isProjection(op))
        projections.push_back(op);
    });
    if (target.isCuda()) {
      for (SdpaOp op : ops)
        setBlockSchedule(builder, op, target);
      splitValues(getOperation());
      llvm::for_each(projections,
                     [](linalg::GenericOp op) { setBlockSchedule(op); });
      return;
    }
    for (SdpaOp op : ops)
      setSchedule(builder, op, [&](bool few) {
        return attn::chooseSchedule(op, target, few);
      });
    SmallVector<LinearAttentionOp> linear;
    getOperation()->walk([&](LinearAttentionOp op) {
      if (!op.getSchedule())
        linear.push_back(op);
    });
    for (LinearAttentionOp op : linear)
      setSchedule(builder, op, target);
    for (linalg::GenericOp op : projections)
      schedule(op, target);
  }
};
} // namespace
