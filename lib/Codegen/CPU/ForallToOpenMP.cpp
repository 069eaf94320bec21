// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the tasks of a parallel loop on threads as they become free:
//
//   scf.forall (%b, %h, %m) = (...) to (...) step (...) { body }
//
// becomes
//
//   omp.parallel {
//     omp.wsloop schedule(dynamic = 1) {
//       omp.loop_nest (%b, %h, %m) : index = (...) to (...) step (...) { body }
//     }
//   }
//
// Upstream's conversion gives each thread a fixed share; tasks of a causal attention differ in length, so here a thread
// takes the next one when it is done. What a task computes does not depend on who runs it.

#include "attn/Codegen/CpuPasses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/OpenMP/OpenMPDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::attn {
#define GEN_PASS_DEF_FORALLTOOPENMP
#include "attn/Codegen/CpuPasses.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// Replace `op`, on buffers, by a dynamically scheduled OpenMP loop.
static void convert(RewriterBase &b, scf::ForallOp op) {
  Location loc = op.getLoc();
  b.setInsertionPoint(op);
  SmallVector<Value> lower = getValueOrCreateConstantIndexOp(
                         b, loc, op.getMixedLowerBound()),
                     upper = getValueOrCreateConstantIndexOp(
                         b, loc, op.getMixedUpperBound()),
                     step = getValueOrCreateConstantIndexOp(b, loc,
                                                            op.getMixedStep());
  Value chunk = arith::ConstantIntOp::create(b, loc, 1, 32);
  auto parallel = omp::ParallelOp::create(b, loc);
  b.createBlock(&parallel.getRegion());
  omp::WsloopOperands schedule;
  schedule.scheduleKind = omp::ClauseScheduleKindAttr::get(
      b.getContext(), omp::ClauseScheduleKind::Dynamic);
  schedule.scheduleChunk = chunk;
  auto shared = omp::WsloopOp::create(b, loc, schedule);
  omp::TerminatorOp::create(b, loc);
  b.createBlock(&shared.getRegion());
  omp::LoopNestOperands bounds;
  bounds.collapseNumLoops = b.getI64IntegerAttr(lower.size());
  bounds.loopLowerBounds = lower;
  bounds.loopUpperBounds = upper;
  bounds.loopSteps = step;
  auto nest = omp::LoopNestOp::create(b, loc, bounds);
  SmallVector<Type> types(lower.size(), b.getIndexType());
  SmallVector<Location> locations(lower.size(), loc);
  Block *body = b.createBlock(&nest.getRegion(), {}, types, locations);
  b.eraseOp(op.getTerminator());
  b.mergeBlocks(op.getBody(), body, body->getArguments());
  b.setInsertionPointToEnd(body);
  omp::YieldOp::create(b, loc);
  b.eraseOp(op);
}

namespace {
struct ForallToOpenMP : public attn::impl::ForallToOpenMPBase<ForallToOpenMP> {
  void runOnOperation() override {
    SmallVector<scf::ForallOp> loops;
    getOperation()->walk([&](scf::ForallOp op) { loops.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (scf::ForallOp op : loops) {
      if (op.getNumResults() != 0) {
        op.emitOpError() << "expects buffers, got results of tensor type";
        return signalPassFailure();
      }
      if (op->getParentOfType<scf::ForallOp>())
        continue;
      convert(rewriter, op);
    }
  }
};
} // namespace
