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

#include "attn/Codegen/Passes.h"
#include "attn/IR/AttnDialect.h"
#include "attn/IR/AttnGpuOps.h"

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
#include "attn/Codegen/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// Blocks that shared memory holds at once where the schedule does not say.
constexpr int64_t kDefaultStages = 2;

/// What tiles are aligned to: the banks of shared memory, once round.
constexpr int64_t kTileAlignment = 128;

namespace {
/// A read of memory by a product.
struct StagedRead {
  vector::TransferReadOp read;
  SmallVector<int64_t> dims;
  int64_t bytes;
  /// The memory as far as a loop reads it; null where that is not known.
  Value bounded;

  explicit StagedRead(vector::TransferReadOp read) : read(read) {
    for (AffineExpr result : read.getPermutationMap().getResults())
      if (auto dim = dyn_cast<AffineDimExpr>(result))
        dims.push_back(dim.getPosition());
    VectorType type = read.getVectorType();
    bytes =
        llvm::alignTo(type.getNumElements() * type.getElementTypeBitWidth() / 8,
                      kTileAlignment);
  }
};

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
};

/// Stages all reads of one function.
class Stager {
public:
  explicit Stager(gpu::GPUFuncOp function);
  LogicalResult run();

private:
  LogicalResult collect();
  void boundRead(StagedRead &read, scf::ForOp loop);
  void stageLoop(scf::ForOp loop, MutableArrayRef<StagedRead> reads);
  void stageInPlace(const StagedRead &read);
  void copy(const StagedRead &read, Value offset, Value when,
            scf::ForOp loop = {}, Value iteration = {});
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
  void replaceByShared(const StagedRead &read, Value offset, Operation *before);
  Value iterationAfter(Value iteration, scf::ForOp loop, int64_t steps);
  void copyStage(const LoopStages &stage, scf::ForOp loop, Value iteration,
                 Value to);
  Value nextStage(const LoopStages &of, Value stage);
  ValueRange carryStages(const LoopStages &of, scf::ForOp &loop);
  scf::ForOp loopBehind(vector::TransferReadOp read);
  void stageLate(const StagedRead &read, scf::ForOp loop);
  bool isBehindLoops(vector::TransferReadOp read);

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

//===----------------------------------------------------------------------===//
// Which reads
//===----------------------------------------------------------------------===//

/// Whether a product reads `value`, maybe extended to a wider type.
static bool isReadByProduct(Value value) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    if (auto extend = dyn_cast<arith::ExtFOp>(user))
      return isReadByProduct(extend.getResult());
    auto contract = dyn_cast<vector::ContractionOp>(user);
    return contract &&
           (contract.getLhs() == value || contract.getRhs() == value);
  });
}

/// Whether `value` can be computed for another iteration of `loop`: nothing but
/// the induction variable and pure ops inside it.
static bool dependsOnIterationOnly(Value value, scf::ForOp loop) {
  if (value == loop.getInductionVar() || loop.isDefinedOutsideOfLoop(value))
    return true;
  Operation *op = value.getDefiningOp();
  return op && isPure(op) && op->getNumRegions() == 0 &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return dependsOnIterationOnly(operand, loop);
         });
}

/// The loop in which `read` can be done ahead of time; null if there is none. It
/// is done whether a branch inside the loop asks for it or not. A loop over single
/// keys runs rarely and waits for its reads.
static scf::ForOp loopAhead(vector::TransferReadOp read) {
  Operation *parent = read->getParentOp();
  while (isa<scf::IfOp>(parent))
    parent = parent->getParentOp();
  auto loop = dyn_cast<scf::ForOp>(parent);
  if (!loop || getConstantIntValue(loop.getStep()) == 1 ||
      !dependsOnIterationOnly(read.getBase(), loop) ||
      !llvm::all_of(read.getIndices(), [&](Value index) {
        return dependsOnIterationOnly(index, loop);
      }))
    return {};
  return loop;
}

Stager::Stager(gpu::GPUFuncOp function)
    : function(function), rewriter(function.getContext()),
      loc(function.getLoc()), stages(kDefaultStages) {
  auto schedule = function->getAttrOfType<ScheduleAttr>("attn.schedule");
  if (schedule && schedule.getStages() > 0)
    stages = schedule.getStages();
}

LogicalResult Stager::collect() {
  WalkResult result =
      function.walk([&](vector::TransferReadOp read) {
        if (!isReadByProduct(read))
          return WalkResult::advance();
        StagedRead staged(read);
        VectorType type = read.getVectorType();
        bool isZero = matchPattern(read.getPadding(), m_AnyZeroFloat()) ||
                      matchPattern(read.getPadding(), m_Zero());
        if (!isa<MemRefType>(read.getBase().getType()) || type.getRank() != 2 ||
            staged.dims.size() != 2 || read.getMask() || !isZero) {
          read.emitOpError()
              << "expects a matrix without mask or broadcast, padded "
                 "with 0, where a product reads it";
          return WalkResult::interrupt();
        }
        int64_t rowBits = type.getDimSize(1) * type.getElementTypeBitWidth();
        if (rowBits % 128 != 0) {
          read.emitOpError()
              << "expects rows of a multiple of 16 bytes where a "
                 "product reads them, got "
              << type;
          return WalkResult::interrupt();
        }
        scf::ForOp loop = stages > 1 ? loopAhead(read) : scf::ForOp();
        if (loop)
          loops[loop].push_back(staged);
        else
          others.push_back(staged);
        return WalkResult::advance();
      });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// How they are staged
//===----------------------------------------------------------------------===//

/// Clone into `map` what `value` is computed from inside of `loop`.
static void cloneSlice(RewriterBase &b, Value value, scf::ForOp loop,
                       IRMapping &map) {
  if (map.contains(value) || loop.isDefinedOutsideOfLoop(value))
    return;
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    cloneSlice(b, operand, loop, map);
  b.clone(*op, map);
}

/// Copy the tile of `read` to `offset`, for iteration `iteration` of `loop` if
/// there is one.
void Stager::copy(const StagedRead &staged, Value offset, Value when,
                  scf::ForOp loop, Value iteration) {
  vector::TransferReadOp read = staged.read;
  IRMapping map;
  if (loop) {
    map.map(loop.getInductionVar(), iteration);
    cloneSlice(rewriter, read.getBase(), loop, map);
    for (Value index : read.getIndices())
      cloneSlice(rewriter, index, loop, map);
  }
  SmallVector<Value> indices;
  for (Value index : read.getIndices())
    indices.push_back(map.lookupOrDefault(index));
  SmallVector<bool> inBounds{read.isDimInBounds(0) && !staged.bounded,
                             read.isDimInBounds(1)};
  attn_gpu::CopyToSharedOp::create(
      rewriter, read.getLoc(),
      staged.bounded ? staged.bounded : map.lookupOrDefault(read.getBase()),
      indices, offset, when, staged.dims, inBounds, read.getVectorType());
}

/// Let the tile at `offset`, read before `before`, replace `staged`.
void Stager::replaceByShared(const StagedRead &staged, Value offset,
                             Operation *before) {
  vector::TransferReadOp read = staged.read;
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(before);
  Value tile = attn_gpu::ReadSharedOp::create(rewriter, read.getLoc(),
                                              read.getVectorType(), offset);
  rewriter.replaceOp(read, tile);
}

Value Stager::iterationAfter(Value iteration, scf::ForOp loop, int64_t steps) {
  for (int64_t i = 0; i < steps; ++i)
    iteration = arith::AddIOp::create(rewriter, loc, iteration, loop.getStep(),
                                      arith::IntegerOverflowFlags::nsw);
  return iteration;
}

/// Copy all that `iteration` of a loop reads to the stage `to`; nothing where it
/// is no iteration.
void Stager::copyStage(const LoopStages &stage, scf::ForOp loop,
                       Value iteration, Value to) {
  Value when = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::slt,
                                     iteration, loop.getUpperBound());
  for (const auto &[read, start] : llvm::zip_equal(stage.reads, stage.starts)) {
    Value offset = arith::AddIOp::create(rewriter, loc, to, integer(start));
    copy(read, offset, read.bounded ? Value() : when, loop, iteration);
  }
  commit();
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
/// is free; return them.
ValueRange Stager::carryStages(const LoopStages &of, scf::ForOp &loop) {
  SmallVector<Value> inits{integer(0)};
  if (stages > 2)
    inits.push_back(integer((stages - 1) * of.bytes));
  loop = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
      rewriter, inits, /*replaceInitOperandUsesInLoop=*/false,
      [&](OpBuilder &b, Location, ArrayRef<BlockArgument> carried) {
        OpBuilder::InsertionGuard guard(rewriter);
        rewriter.restoreInsertionPoint(b.saveInsertionPoint());
        SmallVector<Value> next;
        for (BlockArgument stage : carried)
          next.push_back(nextStage(of, stage));
        return next;
      }));
  return loop.getRegionIterArgs().take_back(inits.size());
}

/// Where a loop reads one block of rows after the other, cut the memory at the end
/// of the last block: then the bounds of a copy say when to stop, and no iteration
/// has to ask whether there is a next one.
void Stager::boundRead(StagedRead &staged, scf::ForOp loop) {
  vector::TransferReadOp read = staged.read;
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  auto type = cast<MemRefType>(read.getBase().getType());
  int64_t rows = read.getVectorType().getDimSize(0);
  if (type.getRank() != 2 || staged.dims[0] != 0 || step != rows ||
      read.getIndices()[0] != loop.getInductionVar() ||
      !loop.isDefinedOutsideOfLoop(read.getBase()))
    return;
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  };
  Value lower = loop.getLowerBound();
  Value span =
      arith::SubIOp::create(rewriter, loc, loop.getUpperBound(), lower);
  Value blocks = arith::DivSIOp::create(
      rewriter, loc,
      arith::AddIOp::create(rewriter, loc, span, constant(rows - 1)),
      constant(rows));
  Value end = arith::AddIOp::create(
      rewriter, loc, lower,
      arith::MulIOp::create(rewriter, loc, blocks, constant(rows)));
  Value extent = memref::DimOp::create(rewriter, loc, read.getBase(), 0);
  end = arith::MinSIOp::create(rewriter, loc, end, extent);
  end = arith::MaxSIOp::create(rewriter, loc, end, constant(0));
  OpFoldResult columns = memref::getMixedSize(rewriter, loc, read.getBase(), 1);
  OpFoldResult zero = rewriter.getIndexAttr(0), one = rewriter.getIndexAttr(1);
  staged.bounded = memref::SubViewOp::create(
      rewriter, loc, read.getBase(), ArrayRef<OpFoldResult>{zero, zero},
      ArrayRef<OpFoldResult>{end, columns}, ArrayRef<OpFoldResult>{one, one});
}

void Stager::stageLoop(scf::ForOp loop, MutableArrayRef<StagedRead> reads) {
  loc = loop.getLoc();
  rewriter.setInsertionPoint(loop);
  for (StagedRead &read : reads)
    boundRead(read, loop);
  LoopStages of{reads, {}, 0};
  for (const StagedRead &read : reads) {
    of.starts.push_back(used + of.bytes);
    of.bytes += read.bytes;
  }
  used += stages * of.bytes;
  SmallVector<LateRead> late = std::move(lateReads[loop]);
  for (int64_t stage = 0; stage + 1 < stages; ++stage)
    copyStage(of, loop, iterationAfter(loop.getLowerBound(), loop, stage),
              integer(stage * of.bytes));
  if (!late.empty()) {
    wait(stages - 1);
    barrier();
    for (LateRead &read : late)
      replaceByShared(*read.read, read.offset, loop);
  }
  ValueRange carried = carryStages(of, loop);
  rewriter.setInsertionPointToStart(loop.getBody());
  wait(stages - 2);
  barrier();
  Value free = stages > 2 ? carried[1] : nextStage(of, carried[0]);
  copyStage(of, loop, iterationAfter(loop.getInductionVar(), loop, stages - 1),
            free);
  for (const auto &[read, start] : llvm::zip_equal(reads, of.starts)) {
    vector::TransferReadOp op = read.read;
    rewriter.setInsertionPoint(op);
    Value offset =
        arith::AddIOp::create(rewriter, loc, carried[0], integer(start));
    replaceByShared(read, offset, op);
  }
  rewriter.setInsertionPointAfter(loop);
  wait(0);
}

/// The first loop that copies ahead behind `read`, if nothing uses it before.
scf::ForOp Stager::loopBehind(vector::TransferReadOp read) {
  Block *block = read->getBlock();
  for (auto &[op, reads] : loops) {
    if (op->getBlock() != block || op->isBeforeInBlock(read))
      continue;
    for (Operation *user : read->getUsers()) {
      Operation *at = block->findAncestorOpInBlock(*user);
      if (!at || (at != op && at->isBeforeInBlock(op)))
        return {};
    }
    return cast<scf::ForOp>(op);
  }
  return {};
}

/// Start to copy what the loop behind `staged` waits for.
void Stager::stageLate(const StagedRead &staged, scf::ForOp loop) {
  vector::TransferReadOp read = staged.read;
  loc = read.getLoc();
  rewriter.setInsertionPoint(read);
  Value offset = integer(allocate(staged.bytes));
  copy(staged, offset, Value());
  commit();
  lateReads[loop].push_back({&staged, offset});
}

void Stager::stageInPlace(const StagedRead &staged) {
  vector::TransferReadOp read = staged.read;
  loc = read.getLoc();
  rewriter.setInsertionPoint(read);
  Value offset = integer(allocate(staged.bytes));
  if (read->getBlock() != &function.getBody().front())
    barrier();
  copy(staged, offset, Value());
  commit();
  wait(0);
  barrier();
  replaceByShared(staged, offset, read);
}

/// Whether all loops that copy ahead are over, for good, where `read` is done.
bool Stager::isBehindLoops(vector::TransferReadOp read) {
  Block &entry = function.getBody().front();
  Operation *at = entry.findAncestorOpInBlock(*read);
  return !loops.empty() && llvm::all_of(loops, [&](const auto &loop) {
    return loop.first->getBlock() == &entry && loop.first->isBeforeInBlock(at);
  });
}

LogicalResult Stager::run() {
  if (failed(collect()))
    return failure();
  SmallVector<StagedRead> behind;
  for (const StagedRead &read : others) {
    if (isBehindLoops(read.read))
      behind.push_back(read);
    else if (scf::ForOp loop = loopBehind(read.read))
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
  function->setAttr("attn.shared_bytes", rewriter.getI64IntegerAttr(used));
  return success();
}

namespace {
struct StageCopies : public attn::impl::StageCopiesBase<StageCopies> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<gpu::GPUFuncOp>())
      if (function->hasAttr("attn.schedule") && failed(Stager(function).run()))
        return signalPassFailure();
  }
};
} // namespace
