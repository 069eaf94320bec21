// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the tasks of a parallel loop on threads as they become free:
//
//   scf.forall (%b, %h) in (8, 12) { body }
//
// becomes
//
//   %left = memref.alloca() : memref<64x16xi64>       the tasks left of each part: the first, and 2^32 times the end
//   %parts = as many as there are threads; all tasks of each are stored in %left
//   omp.parallel {
//     %self = call @omp_get_thread_num
//     scf.for %k = 0 to %parts {                       its own part, then those of others
//       %part = (%self + %k) mod %parts
//       %take = %k == 0 ? 1 : -2^32                    the first task, or the last
//       scf.while (%were = memref.atomic_rmw addi %take, %left[%part, 0]; first of %were < end of %were) {
//         %b, %h = the task, by the numbers of tasks in each dimension
//         body
//
// Upstream's conversion gives each thread a fixed share; tasks of a causal attention differ in length, so here a thread
// that is done takes what others have left, from the end, as they ask for memory of what follows. What a task computes
// does not depend on who runs it. OpenMP's own loops with dynamic scheduling do the same, but a task that they hand out
// costs 0.7 us where the library is built with its checks, and short prompts have tasks of 8.

#include "IndexBuilder.h"
#include "OpenMPCalls.h"
#include "TaskNumbers.h"

#include "attn/Codegen/CpuPasses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/OpenMP/OpenMPDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::attn {
#define GEN_PASS_DEF_FORALLTOOPENMP
#include "attn/Codegen/CpuPasses.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// Parts that tasks are cut into at most: more threads share them.
static constexpr int64_t kMostParts = 64;

/// Numbers from one part to the next: two lines of the cache, which come together.
static constexpr int64_t kPlace = 16;

/// Bits of the first task of a part that is left. More tasks than half of those bits
/// count are several parts.
static constexpr int64_t kTaskBits = 32;

namespace {
/// Builds what runs the tasks of one loop.
class TaskRunner : IndexBuilder {
public:
  TaskRunner(RewriterBase &rewriter, scf::ForallOp op, Value left)
      : IndexBuilder(rewriter, op.getLoc()), rewriter(rewriter), op(op),
        left(left), tasks(rewriter, op) {}

  void run();

private:
  Value number(int64_t value) {
    return arith::ConstantIntOp::create(b, loc, value, 64);
  }
  Value asIndex(Value x) {
    return arith::IndexCastOp::create(b, loc, b.getIndexType(), x);
  }
  void countParts();
  Value beginOf(Value part);
  void storeParts();
  Value take(Value part, Value isOwn, Value &task);
  void runPart(Value part, Value isOwn);

  RewriterBase &rewriter;
  scf::ForallOp op;
  /// What is left of each part.
  Value left;
  TaskNumbers tasks;
  Value parts;
};
} // namespace

/// Find out into how many parts tasks are cut.
void TaskRunner::countParts() {
  Value total = tasks.getCount();
  Value many = fold<arith::ShRUIOp>(total, index(kTaskBits - 2));
  parts = fold<arith::MaxSIOp>(callOpenMP(b, loc, "omp_get_max_threads"), many);
  parts = fold<arith::MinSIOp>(parts, index(kMostParts));
  parts = fold<arith::MinSIOp>(parts, fold<arith::MaxSIOp>(total, index(1)));
}

/// Return the first task of `part`.
Value TaskRunner::beginOf(Value part) {
  return fold<arith::DivUIOp>(fold<arith::MulIOp>(part, tasks.getCount()),
                              parts);
}

/// Store that all tasks of each part are left, counted from its first.
void TaskRunner::storeParts() {
  auto loop = scf::ForOp::create(b, loc, index(0), parts, index(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value part = loop.getInductionVar();
  Value next = fold<arith::AddIOp>(part, index(1));
  Value count = fold<arith::SubIOp>(beginOf(next), beginOf(part));
  count = arith::IndexCastOp::create(b, loc, b.getI64Type(), count);
  count = fold<arith::ShLIOp>(count, number(kTaskBits));
  memref::StoreOp::create(b, loc, count, left, {part, index(0)});
}

/// Take the first task of `part` if it is the thread's own, else the last, and return
/// whether there was one.
Value TaskRunner::take(Value part, Value isOwn, Value &task) {
  Value first = number(1), last = number(-(int64_t(1) << kTaskBits));
  Value change = arith::SelectOp::create(b, loc, isOwn, first, last);
  Value were = memref::AtomicRMWOp::create(b, loc, arith::AtomicRMWKind::addi,
                                           change, left, {part, index(0)});
  Value bits = number(kTaskBits);
  Value begin = arith::ShLIOp::create(b, loc, were, bits);
  begin = arith::ShRSIOp::create(b, loc, begin, bits);
  Value end = arith::ShRSIOp::create(b, loc, were, bits);
  Value before = arith::SubIOp::create(b, loc, end, number(1));
  task = asIndex(arith::SelectOp::create(b, loc, isOwn, begin, before));
  task = arith::AddIOp::create(b, loc, beginOf(part), task);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, begin, end);
}

/// Run what is left of `part`, task by task.
void TaskRunner::runPart(Value part, Value isOwn) {
  auto loop = scf::WhileOp::create(b, loc, b.getIndexType(), ValueRange());
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&loop.getBefore());
  Value task;
  Value isLeft = take(part, isOwn, task);
  scf::ConditionOp::create(b, loc, isLeft, task);
  Block *body = b.createBlock(&loop.getAfter(), {}, b.getIndexType(), loc);
  SmallVector<Value> place = tasks.placeOf(body->getArgument(0));
  rewriter.eraseOp(op.getTerminator());
  rewriter.mergeBlocks(op.getBody(), body, place);
  b.setInsertionPointToEnd(body);
  scf::YieldOp::create(b, loc);
}

void TaskRunner::run() {
  countParts();
  storeParts();
  auto parallel = omp::ParallelOp::create(b, loc);
  b.createBlock(&parallel.getRegion());
  Value self = callOpenMP(b, loc, "omp_get_thread_num");
  auto loop = scf::ForOp::create(b, loc, index(0), parts, index(1));
  omp::TerminatorOp::create(b, loc);
  b.setInsertionPointToStart(loop.getBody());
  Value round = loop.getInductionVar();
  Value isOwn =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, round, index(0));
  Value part = fold<arith::AddIOp>(self, round);
  runPart(fold<arith::RemUIOp>(part, parts), isOwn);
  rewriter.eraseOp(op);
}

/// Return a place for the parts of each loop of `function`, which run one after the
/// other.
static Value placeParts(OpBuilder &b, FunctionOpInterface function) {
  b.setInsertionPointToStart(&function.getFunctionBody().front());
  auto type = MemRefType::get({kMostParts, kPlace}, b.getI64Type());
  int64_t alignment = kPlace * static_cast<int64_t>(sizeof(int64_t));
  return memref::AllocaOp::create(b, function.getLoc(), type,
                                  b.getI64IntegerAttr(alignment));
}

namespace {
struct ForallToOpenMP : public attn::impl::ForallToOpenMPBase<ForallToOpenMP> {
  void runOnOperation() override {
    SmallVector<scf::ForallOp> loops;
    getOperation()->walk([&](scf::ForallOp op) { loops.push_back(op); });
    IRRewriter rewriter(&getContext());
    DenseMap<Operation *, Value> left;
    for (scf::ForallOp op : loops) {
      if (op.getNumResults() != 0) {
        op.emitOpError() << "expects buffers, got results of tensor type";
        return signalPassFailure();
      }
      if (op->getParentOfType<scf::ForallOp>())
        continue;
      auto function = op->getParentOfType<FunctionOpInterface>();
      if (!function) {
        op.emitOpError() << "expects to be in a function";
        return signalPassFailure();
      }
      Value &places = left[function];
      if (!places)
        places = placeParts(rewriter, function);
      rewriter.setInsertionPoint(op);
      TaskRunner(rewriter, op, places).run();
    }
  }
};
} // namespace
