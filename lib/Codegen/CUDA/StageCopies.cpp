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
//   attn_gpu.copy_to_shared %keys[%lb, %c0] to %c0 when %any ...     the first block
//   nvvm.cp.async.commit.group
//   scf.for %i = %lb to %ub step %c64 iter_args(..., %stage = %c0) {
//     nvvm.cp.async.wait.group 0                                     this block is there, of this thread
//     gpu.barrier                                                    and of all; and nobody reads the last one any more
//     attn_gpu.copy_to_shared %keys[%next, %c0] to %other when %more ...
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

/// Stages all reads of one function.
class Stager {
public:
  explicit Stager(gpu::GPUFuncOp function);
  LogicalResult run();

private:
  LogicalResult collect();
  void stageLoop(scf::ForOp loop, ArrayRef<StagedRead> reads);
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
  void replaceByShared(const StagedRead &read, Value offset);

  gpu::GPUFuncOp function;
  IRRewriter rewriter;
  Location loc;
  int64_t stages;
  int64_t used = 0;
  llvm::MapVector<Operation *, SmallVector<StagedRead>> loops;
  SmallVector<StagedRead> others;
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
  return op && op->getBlock() == loop.getBody() && isPure(op) &&
         op->getNumRegions() == 0 &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return dependsOnIterationOnly(operand, loop);
         });
}

/// The loop in which `read` can be done ahead of time; null if there is none.
static scf::ForOp loopAhead(vector::TransferReadOp read) {
  auto loop = dyn_cast<scf::ForOp>(read->getParentOp());
  if (!loop || !dependsOnIterationOnly(read.getBase(), loop) ||
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
  SmallVector<bool> inBounds{read.isDimInBounds(0), read.isDimInBounds(1)};
  attn_gpu::CopyToSharedOp::create(
      rewriter, read.getLoc(), map.lookupOrDefault(read.getBase()), indices,
      offset, when, staged.dims, inBounds, read.getVectorType());
}

void Stager::replaceByShared(const StagedRead &staged, Value offset) {
  vector::TransferReadOp read = staged.read;
  rewriter.replaceOpWithNewOp<attn_gpu::ReadSharedOp>(
      read, read.getVectorType(), offset);
}

void Stager::stageLoop(scf::ForOp loop, ArrayRef<StagedRead> reads) {
  int64_t stageBytes = 0;
  SmallVector<int64_t> starts;
  for (const StagedRead &read : reads) {
    starts.push_back(stageBytes);
    stageBytes += read.bytes;
  }
  loc = loop.getLoc();
  rewriter.setInsertionPoint(loop);
  int64_t base = allocate(stages * stageBytes);
  auto issue = [&](Value iteration, Value to) {
    Value when = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::slt,
                                       iteration, loop.getUpperBound());
    for (auto [read, start] : llvm::zip_equal(reads, starts)) {
      Value offset =
          arith::AddIOp::create(rewriter, loc, to, integer(base + start));
      copy(read, offset, when, loop, iteration);
    }
    commit();
  };
  auto later = [&](Value iteration, int64_t steps) -> Value {
    for (int64_t i = 0; i < steps; ++i)
      iteration =
          arith::AddIOp::create(rewriter, loc, iteration, loop.getStep(),
                                arith::IntegerOverflowFlags::nsw);
    return iteration;
  };
  for (int64_t stage = 0; stage + 1 < stages; ++stage)
    issue(later(loop.getLowerBound(), stage), integer(stage * stageBytes));

  // The stage of this block is carried, and so is, with more than two, the one
  // that is free.
  Value zero = integer(0), last = integer((stages - 1) * stageBytes);
  SmallVector<Value> inits{zero};
  if (stages > 2)
    inits.push_back(last);
  auto next = [&](Value stage) -> Value {
    if (stages == 2)
      return arith::XOrIOp::create(rewriter, loc, stage, integer(stageBytes));
    Value up = arith::AddIOp::create(rewriter, loc, stage, integer(stageBytes));
    Value wraps =
        arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq, stage,
                              integer((stages - 1) * stageBytes));
    return arith::SelectOp::create(rewriter, loc, wraps, integer(0), up);
  };
  auto replaced = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
      rewriter, inits, /*replaceInitOperandUsesInLoop=*/false,
      [&](OpBuilder &b, Location, ArrayRef<BlockArgument> carried) {
        OpBuilder::InsertionGuard guard(rewriter);
        rewriter.restoreInsertionPoint(b.saveInsertionPoint());
        SmallVector<Value> out;
        for (BlockArgument stage : carried)
          out.push_back(next(stage));
        return out;
      }));
  loop = replaced;
  ValueRange carried = loop.getRegionIterArgs().take_back(stages > 2 ? 2 : 1);
  rewriter.setInsertionPointToStart(loop.getBody());
  wait(stages - 2);
  barrier();
  Value free = stages > 2 ? carried[1] : next(carried[0]);
  issue(later(loop.getInductionVar(), stages - 1), free);
  for (auto [read, start] : llvm::zip_equal(reads, starts)) {
    rewriter.setInsertionPoint(read.read);
    replaceByShared(read, arith::AddIOp::create(rewriter, loc, carried[0],
                                                integer(base + start)));
  }
  rewriter.setInsertionPointAfter(loop);
  wait(0);
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
  replaceByShared(staged, offset);
}

LogicalResult Stager::run() {
  if (failed(collect()))
    return failure();
  for (const StagedRead &read : others)
    stageInPlace(read);
  for (auto &[loop, reads] : loops)
    stageLoop(cast<scf::ForOp>(loop), reads);
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
