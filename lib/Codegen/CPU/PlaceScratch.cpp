// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Puts all that a function allocates into one block of memory:
//
//   func.func @f(...) -> i32 {
//     scf.forall (%i) ... {
//       %a = memref.alloc() : memref<8x64x32xf32>
//
// becomes
//
//   func.func @f(...) -> i32 {
//     %threads = call @omp_get_max_threads()
//     %block = memref.alloc(bytes of the function + %threads * bytes of a task)
//     %status = scf.if (%block is not null) {
//       scf.forall (%i) ... {
//         %thread = call @omp_get_thread_num()
//         %a = memref.view %block[place of the thread + offset]
//       }
//       scf.yield %good
//     } else { scf.yield %out_of_memory }
//     memref.dealloc %block
//     return %status
//
// so that no loop allocates, memory grows with the tile and the threads only, and a failure is a status. Parallel loops,
// of which one runs at a time, share the places of a thread. What asks for the number of threads gets it here.

#include "JoinStatuses.h"

#include "OpenMPCalls.h"

#include "attn/Codegen/CpuPasses.h"
#include "attn/Codegen/Status.h"
#include "attn/IR/AttnOps.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::attn {
#define GEN_PASS_DEF_PLACESCRATCH
#include "attn/Codegen/CpuPasses.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// Bytes to which every allocation is aligned: a cache line, and the widest
/// vector register.
static constexpr int64_t kAlignment = 64;

namespace {
/// Places the allocations of one function.
class ScratchPlacer {
public:
  explicit ScratchPlacer(func::FuncOp function)
      : function(function), b(function.getContext()), loc(function.getLoc()) {}

  LogicalResult run();

private:
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  LogicalResult collect();
  LogicalResult hoist(Value value);
  FailureOr<Value> sizeOnEntry(Value size);
  Value bytesOf(memref::AllocOp alloc);
  void answerThreads();
  Value layOut(ArrayRef<memref::AllocOp> allocs,
               SmallVectorImpl<Value> &offsets);
  void replace(ArrayRef<memref::AllocOp> allocs, ArrayRef<Value> offsets,
               Value base);
  void replaceInTasks(ArrayRef<SmallVector<Value>> offsets, Value sharedBytes,
                      Value threadBytes);
  void guard(Value isGood);

  func::FuncOp function;
  OpBuilder b;
  Location loc;
  /// Allocations outside of parallel loops, and in each of them.
  SmallVector<memref::AllocOp> shared;
  llvm::MapVector<Operation *, SmallVector<memref::AllocOp>> perThread;
  /// For each dynamic size of an allocation, the most that it can be.
  DenseMap<Value, Value> most;
  Value block;
};
} // namespace

/// Return the outermost parallel loop round `op`.
static scf::ForallOp outermostTask(Operation *op) {
  scf::ForallOp task;
  while ((op = op->getParentOp()))
    if (auto forall = dyn_cast<scf::ForallOp>(op))
      task = forall;
  return task;
}

LogicalResult ScratchPlacer::collect() {
  return failure(
      function
          .walk([&](memref::AllocOp alloc) -> WalkResult {
            scf::ForallOp task = outermostTask(alloc);
            (task ? perThread[task] : shared).push_back(alloc);
            for (Value size : alloc.getDynamicSizes()) {
              FailureOr<Value> known = sizeOnEntry(size);
              if (failed(known))
                return alloc.emitOpError()
                       << "expects a size that is known, or bounded, when the "
                          "function starts";
              most[size] = *known;
            }
            return WalkResult::advance();
          })
          .wasInterrupted());
}

/// Return `size` where it can be had on entry, else a constant that it does not
/// exceed: a block at the end of a loop is smaller than the others.
FailureOr<Value> ScratchPlacer::sizeOnEntry(Value size) {
  if (succeeded(hoist(size)))
    return size;
  FailureOr<int64_t> bound = ValueBoundsConstraintSet::computeConstantBound(
      presburger::BoundType::UB, size, /*stopCondition=*/nullptr,
      /*closedUB=*/true);
  if (failed(bound))
    return failure();
  return index(std::max<int64_t>(*bound, 0));
}

/// Return whether `op` reads an argument of the function that nothing writes: a
/// scalar that the function takes.
static bool readsScalarArgument(Operation *op) {
  auto load = dyn_cast<memref::LoadOp>(op);
  if (!load || load.getMemRefType().getRank() != 0)
    return false;
  auto argument = dyn_cast<BlockArgument>(load.getMemRef());
  return argument && isa<func::FuncOp>(argument.getOwner()->getParentOp()) &&
         llvm::all_of(argument.getUsers(), [](Operation *user) {
           return isa<memref::LoadOp>(user);
         });
}

/// Move what computes `value` to the start of the function.
LogicalResult ScratchPlacer::hoist(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return success(isa<func::FuncOp>(value.getParentRegion()->getParentOp()));
  Block *entry = &function.getBody().front();
  if (op->getBlock() == entry && op->isBeforeInBlock(&*b.getInsertionPoint()))
    return success();
  if (!isPure(op) && !isa<memref::DimOp>(op) && !readsScalarArgument(op))
    return failure();
  for (Value operand : op->getOperands())
    if (failed(hoist(operand)))
      return failure();
  op->moveBefore(entry, b.getInsertionPoint());
  return success();
}

/// Return the bytes of `alloc`, rounded up to the alignment.
Value ScratchPlacer::bytesOf(memref::AllocOp alloc) {
  MemRefType type = alloc.getType();
  Type element = type.getElementType();
  int64_t fixed = element.isIndex()
                      ? 8
                      : llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  for (int64_t size : type.getShape())
    if (ShapedType::isStatic(size))
      fixed *= size;
  if (alloc.getDynamicSizes().empty())
    return index(llvm::alignTo(fixed, kAlignment));
  Value bytes = index(fixed);
  for (Value size : alloc.getDynamicSizes())
    bytes = arith::MulIOp::create(b, loc, bytes, most[size]);
  Value mask = index(kAlignment - 1);
  bytes = arith::AddIOp::create(b, loc, bytes, mask);
  return arith::AndIOp::create(b, loc, bytes, index(-kAlignment));
}

/// Replace every question for the number of threads by what OpenMP says.
void ScratchPlacer::answerThreads() {
  Value count;
  function.walk([&](ThreadsOp op) {
    if (!count)
      count = callOpenMP(b, loc, "omp_get_max_threads");
    op.getResult().replaceAllUsesWith(count);
    op.erase();
  });
}

/// Add the places of `allocs`, one after the other, to `offsets`, and return the
/// bytes of all.
Value ScratchPlacer::layOut(ArrayRef<memref::AllocOp> allocs,
                            SmallVectorImpl<Value> &offsets) {
  Value total = index(0);
  for (memref::AllocOp alloc : allocs) {
    offsets.push_back(total);
    total = b.createOrFold<arith::AddIOp>(loc, total, bytesOf(alloc));
  }
  return total;
}

/// Replace `allocs` by views of the block, at `offsets` from `base`.
void ScratchPlacer::replace(ArrayRef<memref::AllocOp> allocs,
                            ArrayRef<Value> offsets, Value base) {
  for (auto [place, offset] : llvm::zip(allocs, offsets)) {
    memref::AllocOp alloc = place;
    b.setInsertionPoint(alloc);
    Value at =
        base ? arith::AddIOp::create(b, loc, base, offset).getResult() : offset;
    Value view = memref::ViewOp::create(b, loc, alloc.getType(), block, at,
                                        alloc.getDynamicSizes());
    alloc.getResult().replaceAllUsesWith(view);
    for (Operation *user : llvm::make_early_inc_range(view.getUsers()))
      if (isa<memref::DeallocOp>(user))
        user->erase();
    alloc.erase();
  }
}

/// Replace the allocations of parallel loops by views of the part of the block
/// that belongs to a thread.
void ScratchPlacer::replaceInTasks(ArrayRef<SmallVector<Value>> offsets,
                                   Value sharedBytes, Value threadBytes) {
  for (auto [entry, own] : llvm::zip(perThread, offsets)) {
    auto task = cast<scf::ForallOp>(entry.first);
    b.setInsertionPointToStart(task.getBody());
    Value start = arith::MulIOp::create(
        b, loc, callOpenMP(b, loc, "omp_get_thread_num"), threadBytes);
    start = arith::AddIOp::create(b, loc, start, sharedBytes);
    replace(entry.second, own, start);
  }
}

/// Put all that follows the insertion point under the condition `isGood`.
void ScratchPlacer::guard(Value isGood) {
  Block *entry = b.getInsertionBlock();
  auto terminator = cast<func::ReturnOp>(entry->getTerminator());
  Value status = terminator.getOperand(0);
  auto choice = scf::IfOp::create(b, loc, TypeRange{b.getI32Type()}, isGood,
                                  /*withElseRegion=*/true);
  Block *good = choice.thenBlock();
  good->getOperations().splice(good->end(), entry->getOperations(),
                               std::next(choice->getIterator()),
                               terminator->getIterator());
  b.setInsertionPointToEnd(good);
  scf::YieldOp::create(b, loc, status);
  b.setInsertionPointToEnd(choice.elseBlock());
  Value outOfMemory = arith::ConstantIntOp::create(
      b, loc, static_cast<int64_t>(Status::OutOfMemory), 32);
  scf::YieldOp::create(b, loc, outOfMemory);
  b.setInsertionPoint(terminator);
  memref::DeallocOp::create(b, loc, block);
  terminator->setOperand(0, choice.getResult(0));
}

LogicalResult ScratchPlacer::run() {
  Block &entry = function.getBody().front();
  b.setInsertionPointToStart(&entry);
  // Sizes and the block stand before everything else, after a marker that
  // does not move.
  auto marker = arith::ConstantIndexOp::create(b, loc, 0);
  b.setInsertionPoint(marker);
  answerThreads();
  if (failed(collect()))
    return failure();
  if (shared.empty() && perThread.empty()) {
    marker->erase();
    return success();
  }
  SmallVector<Value> sharedAt;
  SmallVector<SmallVector<Value>> threadAt;
  Value sharedBytes = layOut(shared, sharedAt);
  Value bytes = sharedBytes, threadBytes;
  for (auto &[task, allocs] : perThread) {
    Value own = layOut(allocs, threadAt.emplace_back());
    threadBytes = threadBytes
                      ? b.createOrFold<arith::MaxSIOp>(loc, threadBytes, own)
                      : own;
  }
  if (threadBytes) {
    Value all = arith::MulIOp::create(
        b, loc, threadBytes, callOpenMP(b, loc, "omp_get_max_threads"));
    bytes = arith::AddIOp::create(b, loc, sharedBytes, all);
  }
  auto type = MemRefType::get({ShapedType::kDynamic}, b.getI8Type());
  block = memref::AllocOp::create(b, loc, type, ValueRange{bytes},
                                  b.getI64IntegerAttr(kAlignment));
  Value address = memref::ExtractAlignedPointerAsIndexOp::create(b, loc, block);
  Value isGood = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne,
                                       address, index(0));
  guard(isGood);
  replace(shared, sharedAt, /*base=*/Value());
  replaceInTasks(threadAt, sharedBytes, threadBytes);
  return success();
}

namespace {
struct PlaceScratch : public attn::impl::PlaceScratchBase<PlaceScratch> {
  void getDependentDialects(DialectRegistry &registry) const override {
    PlaceScratchBase::getDependentDialects(registry);
    affine::registerValueBoundsOpInterfaceExternalModels(registry);
    arith::registerValueBoundsOpInterfaceExternalModels(registry);
    memref::registerValueBoundsOpInterfaceExternalModels(registry);
    scf::registerValueBoundsOpInterfaceExternalModels(registry);
  }

  void runOnOperation() override {
    SmallVector<func::FuncOp> functions;
    getOperation().walk([&](func::FuncOp function) {
      if (!function.isDeclaration())
        functions.push_back(function);
    });
    for (func::FuncOp function : functions) {
      auto results = function.getFunctionType().getResults();
      if (results.size() != 1 || !results[0].isInteger(32) ||
          !function.getBody().hasOneBlock()) {
        if (function
                .walk([](memref::AllocOp) { return WalkResult::interrupt(); })
                .wasInterrupted()) {
          function.emitOpError()
              << "expects one block and a status as its only result";
          return signalPassFailure();
        }
        continue;
      }
      joinStatuses(function);
      if (failed(ScratchPlacer(function).run()))
        return signalPassFailure();
    }
  }
};
} // namespace
