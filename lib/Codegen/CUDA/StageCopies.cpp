// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Brings what products read of memory into shared memory, ahead of time:
//
//   scf.for %i = %lb to %ub step %c64 iter_args(...) {
//     %k = vector.transfer_read %keys[%i, %c0], %zero : memref<?x64xf16>, vector<64x64xf16>
//     %s = vector.contract ... %q, %k, ...
//   }
//
// becomes, with two stages,
//
//   %blocks = memref.subview %keys[0, 0] [%end, 64] ...             up to the end of the last block
//   attn_gpu.copy_to_shared %blocks[%lb, %c0] to %c0 ...             the first block
//   nvvm.cp.async.commit.group
//   scf.for %i = %lb to %ub step %c64 iter_args(..., %stage = %c0) {
//     nvvm.cp.async.wait.group 0                                     this block is there, of this thread
//     gpu.barrier                                                    and of all; and nobody reads the last one any more
//     attn_gpu.copy_to_shared %blocks[%next, %c0] to %other ...      the next one, or nothing
//     nvvm.cp.async.commit.group
//     %k = attn_gpu.read_shared %stage
//     %s = vector.contract ... %q, %k, ...
//   }
//   nvvm.cp.async.wait.group 0
//
// With more stages as many blocks less one are on their way. What is read once, before a loop, is waited for behind the
// loop's first copies. Any other read is copied where it stands, between two barriers.
//
// A loop over parts of channels in the loop over keys copies parts ahead in the same way. What the outer loop reads for
// behind the inner one has all the time of it to arrive:
//
//   scf.for %i = ... {
//     gpu.barrier
//     attn_gpu.copy_to_shared %values[%i, %c0] ...                   read last, behind the barrier, in the iteration before
//     attn_gpu.copy_to_shared %keys[%i, %c0] ...                     the first part
//     %s = scf.for %d = ... { wait, barrier, copy the next part, multiply }
//     %v = attn_gpu.read_shared ...
//     %o = vector.contract ... %v
//   }

#include "StagedReads.h"

#include "attn/Codegen/CudaPasses.h"
#include "attn/Codegen/Workspace.h"
#include "attn/IR/AttnDialect.h"
#include "attn/IR/AttnGpuOps.h"
#include "attn/IR/AttrNames.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::attn {
#define GEN_PASS_DEF_STAGECOPIES
#include "attn/Codegen/CudaPasses.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// Blocks that shared memory holds at once where the schedule does not say.
constexpr int64_t kDefaultStages = 2;

namespace {
/// What a loop copies ahead, where in its first stage, and how far stages are
/// apart.
struct LoopStages {
  ArrayRef<StagedRead> reads;
  SmallVector<int64_t> starts;
  int64_t bytes;
};

/// A read before a loop that is waited for with the loop's first copies.
struct LateRead {
  const StagedRead *read;
  Value offset;
  /// Whether it is for the loop itself, not for what comes behind it.
  bool isForLoop;
};

/// Stages all reads of one function.
class Stager {
public:
  explicit Stager(gpu::GPUFuncOp function);
  LogicalResult run();

private:
  LogicalResult collect();
  void cloneSlice(Value value, scf::ForOp loop, IRMapping &map, Value when);
  void stageLoop(scf::ForOp loop, MutableArrayRef<StagedRead> reads);
  void stageInPlace(const StagedRead &read);
  void copy(const StagedRead &read, Value offset, Value when,
            const IRMapping &map = {});
  Value startCopy(const StagedRead &read);
  Value integer(int64_t value) {
    return arith::ConstantIntOp::create(rewriter, loc, value, 32);
  }
  void commit() { NVVM::CpAsyncCommitGroupOp::create(rewriter, loc); }
  void wait(int64_t groups) {
    NVVM::CpAsyncWaitGroupOp::create(rewriter, loc, groups);
  }
  void barrier() { gpu::BarrierOp::create(rewriter, loc); }
  int64_t allocate(int64_t bytes) {
    int64_t start = used;
    used += bytes;
    return start;
  }
  void replaceByShared(const StagedRead &staged, Value offset,
                       Operation *before);
  Value iterationAfter(Value iteration, scf::ForOp loop, int64_t steps);
  Value isIteration(scf::ForOp loop, Value iteration);
  void copyStage(const LoopStages &stage, scf::ForOp loop, Value iteration,
                 Value to, IRMapping map = {});
  SmallVector<Value> findLoads(const LoopStages &of, scf::ForOp loop);
  SmallVector<Value> loadAhead(ValueRange loads, scf::ForOp loop,
                               Value iteration);
  Value nextStage(const LoopStages &of, Value stage);
  ValueRange carryStages(const LoopStages &of, scf::ForOp &loop,
                         ValueRange numbers);
  scf::ForOp loopBehind(Operation *tile);
  void stageLate(const StagedRead &read, scf::ForOp loop);
  bool isBehindLoops(Operation *tile);
  bool isInEntry(Operation *op) {
    return op->getBlock() == &function.getBody().front();
  }

  gpu::GPUFuncOp function;
  IRRewriter rewriter;
  Location loc;
  int64_t stages;
  int64_t used = 0;
  llvm::MapVector<Operation *, SmallVector<StagedRead>> loops;
  SmallVector<StagedRead> others;
  DenseMap<Operation *, SmallVector<LateRead>> lateReads;
};
} // namespace

Stager::Stager(gpu::GPUFuncOp function)
    : function(function), rewriter(function.getContext()),
      loc(function.getLoc()), stages(kDefaultStages) {
  auto schedule = function->getAttrOfType<ScheduleAttr>(kScheduleAttrName);
  if (schedule && schedule.getStages() > 0)
    stages = schedule.getStages();
}

LogicalResult Stager::collect() {
  FailureOr<SmallVector<StagedRead>> reads = findStagedReads(function);
  if (failed(reads))
    return failure();
  for (const StagedRead &read : *reads) {
    scf::ForOp loop = stages > 1 ? findLoopAhead(read) : scf::ForOp();
    if (loop)
      loops[loop].push_back(read);
    else
      others.push_back(read);
  }
  // What is read for behind an inner loop is copied while that runs.
  for (auto &[op, outer] : loops)
    llvm::erase_if(outer, [&](const StagedRead &read) {
      if (!loopBehind(read.tile))
        return false;
      others.push_back(read);
      return true;
    });
  loops.remove_if([](const auto &loop) { return loop.second.empty(); });
  return success();
}

/// Clone into `map` what `value` is computed from inside of `loop`. Of memory nothing
/// is read unless `when` holds.
void Stager::cloneSlice(Value value, scf::ForOp loop, IRMapping &map,
                        Value when) {
  if (map.contains(value) || loop.isDefinedOutsideOfLoop(value))
    return;
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    cloneSlice(operand, loop, map, when);
  if (!isa<memref::LoadOp>(op)) {
    rewriter.clone(*op, map);
    return;
  }
  auto branch = scf::IfOp::create(
      rewriter, op->getLoc(), when,
      [&](OpBuilder &b, Location at) {
        scf::YieldOp::create(b, at, b.clone(*op, map)->getResults());
      },
      [&](OpBuilder &b, Location at) {
        Value none =
            arith::ConstantOp::create(b, at, b.getZeroAttr(value.getType()));
        scf::YieldOp::create(b, at, none);
      });
  map.map(value, branch.getResult(0));
}

/// Copy the tile of `staged` to `offset`, of what `map` says.
void Stager::copy(const StagedRead &staged, Value offset, Value when,
                  const IRMapping &map) {
  for (auto [read, row] : staged.parts) {
    SmallVector<Value> indices;
    for (Value index : read.getIndices())
      indices.push_back(map.lookupOrDefault(index));
    SmallVector<bool> inBounds{read.isDimInBounds(0) && !staged.bounded,
                               read.isDimInBounds(1)};
    Value to = offset;
    if (row > 0)
      to = arith::AddIOp::create(rewriter, loc, offset,
                                 integer(row * staged.rowBytes()));
    attn_gpu::CopyToSharedOp::create(
        rewriter, read.getLoc(),
        staged.bounded ? staged.bounded : map.lookupOrDefault(read.getBase()),
        indices, to, when, staged.dims, inBounds, read.getVectorType());
  }
}

/// Let the tile at `offset`, read before `before`, replace `staged`.
void Stager::replaceByShared(const StagedRead &staged, Value offset,
                             Operation *before) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(before);
  Value tile = attn_gpu::ReadSharedOp::create(rewriter, staged.tile->getLoc(),
                                              staged.getType(), offset);
  rewriter.replaceAllUsesWith(staged.tile->getResult(0), tile);
  // What put it together needs one another; the same page may be there twice.
  Operation *next = staged.tile;
  while (auto insert = dyn_cast_or_null<vector::InsertStridedSliceOp>(next)) {
    if (!insert->use_empty())
      break;
    next = insert.getDest().getDefiningOp();
    rewriter.eraseOp(insert);
  }
  llvm::SetVector<Operation *> reads;
  for (StagedRead::Part part : staged.parts)
    reads.insert(part.read);
  for (Operation *read : reads)
    if (read->use_empty())
      rewriter.eraseOp(read);
}

Value Stager::iterationAfter(Value iteration, scf::ForOp loop, int64_t steps) {
  for (int64_t i = 0; i < steps; ++i)
    iteration = arith::AddIOp::create(rewriter, loc, iteration, loop.getStep(),
                                      arith::IntegerOverflowFlags::nsw);
  return iteration;
}

Value Stager::isIteration(scf::ForOp loop, Value iteration) {
  return arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::slt,
                               iteration, loop.getUpperBound());
}

/// Copy all that `iteration` of a loop reads to the stage `to`; nothing where it
/// is no iteration. `map` says what is known of it.
void Stager::copyStage(const LoopStages &stage, scf::ForOp loop,
                       Value iteration, Value to, IRMapping map) {
  Value when = isIteration(loop, iteration);
  map.map(loop.getInductionVar(), iteration);
  for (const auto &[read, start] : llvm::zip_equal(stage.reads, stage.starts)) {
    Value offset = arith::AddIOp::create(rewriter, loc, to, integer(start));
    for (StagedRead::Part part : read.parts) {
      cloneSlice(part.read.getBase(), loop, map, when);
      for (Value index : part.read.getIndices())
        cloneSlice(index, loop, map, when);
    }
    copy(read, offset, read.bounded ? Value() : when, map);
  }
  commit();
}

/// The numbers in memory that say where `loop` reads: the pages of keys.
SmallVector<Value> Stager::findLoads(const LoopStages &of, scf::ForOp loop) {
  llvm::SetVector<Value> values, loads;
  for (const StagedRead &read : of.reads)
    for (StagedRead::Part part : read.parts) {
      values.insert(part.read.getBase());
      values.insert(part.read.getIndices().begin(),
                    part.read.getIndices().end());
    }
  for (size_t i = 0; i < values.size(); ++i) {
    Operation *op = values[i].getDefiningOp();
    if (!op || loop.isDefinedOutsideOfLoop(values[i]))
      continue;
    if (isa<memref::LoadOp>(op))
      loads.insert(values[i]);
    values.insert(op->operand_begin(), op->operand_end());
  }
  return loads.takeVector();
}

/// Read `loads` as they are in `iteration` of `loop`.
SmallVector<Value> Stager::loadAhead(ValueRange loads, scf::ForOp loop,
                                     Value iteration) {
  if (loads.empty())
    return {};
  IRMapping map;
  map.map(loop.getInductionVar(), iteration);
  Value when = isIteration(loop, iteration);
  SmallVector<Value> numbers;
  for (Value load : loads) {
    cloneSlice(load, loop, map, when);
    numbers.push_back(map.lookup(load));
  }
  return numbers;
}

/// The stage after `stage`.
Value Stager::nextStage(const LoopStages &of, Value stage) {
  if (stages == 2)
    return arith::XOrIOp::create(rewriter, loc, stage, integer(of.bytes));
  Value up = arith::AddIOp::create(rewriter, loc, stage, integer(of.bytes));
  Value isLast = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq,
                                       stage, integer((stages - 1) * of.bytes));
  return arith::SelectOp::create(rewriter, loc, isLast, integer(0), up);
}

/// Let `loop` carry the stage of its block and, with more than two, the one that
/// is free, then `numbers`, which stay as they are; return them.
ValueRange Stager::carryStages(const LoopStages &of, scf::ForOp &loop,
                               ValueRange numbers) {
  SmallVector<Value> inits{integer(0)};
  if (stages > 2)
    inits.push_back(integer((stages - 1) * of.bytes));
  size_t count = inits.size();
  inits.append(numbers.begin(), numbers.end());
  loop = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
      rewriter, inits, /*replaceInitOperandUsesInLoop=*/false,
      [&](OpBuilder &b, Location, ArrayRef<BlockArgument> carried) {
        OpBuilder::InsertionGuard guard(rewriter);
        rewriter.restoreInsertionPoint(b.saveInsertionPoint());
        SmallVector<Value> next;
        for (BlockArgument stage : carried.take_front(count))
          next.push_back(nextStage(of, stage));
        llvm::append_range(next, carried.drop_front(count));
        return next;
      }));
  return loop.getRegionIterArgs().take_back(inits.size());
}

void Stager::stageLoop(scf::ForOp loop, MutableArrayRef<StagedRead> reads) {
  loc = loop.getLoc();
  rewriter.setInsertionPoint(loop);
  for (StagedRead &read : reads)
    boundRead(rewriter, read, loop);
  LoopStages of{reads, {}, 0};
  for (const StagedRead &read : reads) {
    of.starts.push_back(used + of.bytes);
    of.bytes += read.bytes;
  }
  used += stages * of.bytes;
  SmallVector<LateRead> late = std::move(lateReads[loop]);
  // A loop that runs again finds its stages read.
  if (!isInEntry(loop) && late.empty())
    barrier();
  for (int64_t stage = 0; stage + 1 < stages; ++stage)
    copyStage(of, loop, iterationAfter(loop.getLowerBound(), loop, stage),
              integer(stage * of.bytes));
  auto isForLoop = [](const LateRead &read) { return read.isForLoop; };
  if (llvm::any_of(late, isForLoop)) {
    wait(stages - 1);
    barrier();
    for (LateRead &read : llvm::make_filter_range(late, isForLoop))
      replaceByShared(*read.read, read.offset, loop);
  }
  // Where the block lies that is copied next is read one iteration before.
  SmallVector<Value> loads = findLoads(of, loop);
  SmallVector<Value> numbers = loadAhead(
      loads, loop, iterationAfter(loop.getLowerBound(), loop, stages - 1));
  ValueRange carried = carryStages(of, loop, numbers);
  rewriter.setInsertionPointToStart(loop.getBody());
  wait(stages - 2);
  barrier();
  Value free = stages > 2 ? carried[1] : nextStage(of, carried[0]);
  IRMapping known;
  known.map(ValueRange(loads), carried.take_back(loads.size()));
  Value next = iterationAfter(loop.getInductionVar(), loop, stages - 1);
  copyStage(of, loop, next, free, known);
  numbers = loadAhead(loads, loop, iterationAfter(next, loop, 1));
  Operation *yield = loop.getBody()->getTerminator();
  yield->setOperands(yield->getNumOperands() - numbers.size(), numbers.size(),
                     numbers);
  for (const auto &[read, start] : llvm::zip_equal(reads, of.starts)) {
    rewriter.setInsertionPoint(read.tile);
    Value offset =
        arith::AddIOp::create(rewriter, loc, carried[0], integer(start));
    replaceByShared(read, offset, read.tile);
  }
  rewriter.setInsertionPointAfter(loop);
  wait(0);
  Operation *behind = &*rewriter.getInsertionPoint();
  for (LateRead &read : late)
    if (!read.isForLoop)
      replaceByShared(*read.read, read.offset, behind);
}

/// The first loop that copies ahead behind `tile`, if nothing uses it before.
scf::ForOp Stager::loopBehind(Operation *tile) {
  Block *block = tile->getBlock();
  for (auto &[op, reads] : loops) {
    if (op->getBlock() != block || op->isBeforeInBlock(tile))
      continue;
    for (Operation *user : tile->getUsers()) {
      Operation *at = block->findAncestorOpInBlock(*user);
      if (!at || (at != op && at->isBeforeInBlock(op)))
        return {};
    }
    return cast<scf::ForOp>(op);
  }
  return {};
}

/// Whether `loop` is known to run, so that all threads have waited behind it for
/// what was copied before.
static bool isRun(scf::ForOp loop) {
  std::optional<int64_t> lower = getConstantIntValue(loop.getLowerBound()),
                         upper = getConstantIntValue(loop.getUpperBound());
  return lower && upper && *lower < *upper;
}

/// Start to copy `staged` where it stands, to a place of its own, which is returned.
Value Stager::startCopy(const StagedRead &staged) {
  loc = staged.tile->getLoc();
  rewriter.setInsertionPoint(staged.tile);
  Value offset = integer(allocate(staged.bytes));
  if (!isInEntry(staged.tile))
    barrier();
  copy(staged, offset, Value());
  commit();
  return offset;
}

/// Start to copy what the loop behind `staged` waits for.
void Stager::stageLate(const StagedRead &staged, scf::ForOp loop) {
  Value offset = startCopy(staged);
  bool isForLoop = !isRun(loop) ||
                   llvm::any_of(staged.tile->getUsers(), [&](Operation *user) {
                     return loop->isAncestor(user);
                   });
  lateReads[loop].push_back({&staged, offset, isForLoop});
}

void Stager::stageInPlace(const StagedRead &staged) {
  Value offset = startCopy(staged);
  wait(0);
  barrier();
  replaceByShared(staged, offset, staged.tile);
}

/// Whether all loops that copy ahead are over, for good, where `tile` is read.
bool Stager::isBehindLoops(Operation *tile) {
  Block &entry = function.getBody().front();
  Operation *at = entry.findAncestorOpInBlock(*tile);
  return !loops.empty() && llvm::all_of(loops, [&](const auto &loop) {
    return entry.findAncestorOpInBlock(*loop.first)->isBeforeInBlock(at);
  });
}

LogicalResult Stager::run() {
  if (failed(collect()))
    return failure();
  SmallVector<StagedRead> behind;
  for (const StagedRead &read : others) {
    if (isBehindLoops(read.tile))
      behind.push_back(read);
    else if (scf::ForOp loop = loopBehind(read.tile))
      stageLate(read, loop);
    else
      stageInPlace(read);
  }
  int64_t start = used;
  for (auto &[loop, reads] : loops)
    stageLoop(cast<scf::ForOp>(loop), reads);
  // The stages of loops that are over are free.
  int64_t end = std::exchange(used, start);
  for (const StagedRead &read : behind)
    stageInPlace(read);
  used = std::max(used, end);
  function->setAttr(kSharedBytesAttrName, rewriter.getI64IntegerAttr(used));
  return success();
}

namespace {
struct StageCopies : public attn::impl::StageCopiesBase<StageCopies> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<gpu::GPUFuncOp>())
      if (function->hasAttr(kScheduleAttrName) &&
          failed(Stager(function).run()))
        return signalPassFailure();
  }
};
} // namespace
