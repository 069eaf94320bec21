// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns the linalg ops of every task into vectors:
//
//   scf.forall ... { linalg.pack; linalg.fill; linalg.generic ... }
//
// becomes
//
//   scf.forall ... { loops over vector.transfer_read, arithmetic, vector.transfer_write }
//
// The vector width is that of the schedule that the loop carries. An op that does not fit stays linalg; a remark says
// which, and it becomes scalar loops later.

#include "attn/Codegen/CpuPasses.h"
#include "attn/Codegen/RegisterTile.h"
#include "attn/IR/AttnDialect.h"
#include "attn/IR/AttrNames.h"
#include "attn/Target/TargetInfo.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::attn {
#define GEN_PASS_DEF_REGISTERTILES
#include "attn/Codegen/CpuPasses.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// Emit `op` as vectors.
static LogicalResult emitOp(RewriterBase &rewriter, Operation *op,
                            int64_t lanes) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](linalg::GenericOp generic) {
        auto schedule = generic->getAttrOfType<ScheduleAttr>(kScheduleAttrName);
        if (schedule && schedule.getStreams() > 0 &&
            succeeded(emitStreamTile(rewriter, generic, schedule)))
          return success();
        return emitRegisterTile(rewriter, generic, lanes);
      })
      .Case(
          [&](linalg::FillOp fill) { return emitFill(rewriter, fill, lanes); })
      .Case(
          [&](linalg::PackOp pack) { return emitPack(rewriter, pack, lanes); })
      .Case([&](linalg::UnPackOp unpack) {
        return emitUnpack(rewriter, unpack, lanes);
      })
      .Default([](Operation *) { return failure(); });
}

/// Return the number of elements in the vectors of `op`: what the schedule of the
/// task around it says, or else what the target has for f32. (A loop over one
/// task is no loop any more.)
static int64_t getLanes(Operation *op, const TargetInfo &target) {
  for (auto task = op->getParentOfType<scf::ForallOp>(); task;
       task = task->getParentOfType<scf::ForallOp>())
    if (auto schedule = task->getAttrOfType<ScheduleAttr>(kScheduleAttrName))
      return schedule.getLanes();
  return target.lanes(32);
}

namespace {
struct RegisterTiles : public attn::impl::RegisterTilesBase<RegisterTiles> {
  void runOnOperation() override {
    // Packs come first, since they may do what makes their source, and fills
    // last: one that starts an accumulation is not stored at all.
    SmallVector<Operation *> ops, generics, fills;
    getOperation()->walk([&](Operation *op) {
      if (isa<linalg::PackOp, linalg::UnPackOp>(op))
        ops.push_back(op);
      else if (isa<linalg::GenericOp>(op))
        generics.push_back(op);
      else if (isa<linalg::FillOp>(op))
        fills.push_back(op);
    });
    llvm::append_range(ops, generics);
    llvm::append_range(ops, fills);
    TargetInfo target = TargetInfo::get(getOperation());
    IRRewriter rewriter(&getContext());
    for (Operation *op : ops) {
      if (isOpTriviallyDead(op)) {
        rewriter.eraseOp(op);
        continue;
      }
      // A fill that fails has become another op by then.
      Location loc = op->getLoc();
      StringRef name = op->getName().getStringRef();
      if (failed(emitOp(rewriter, op, getLanes(op, target))))
        remark::missed(
            loc, remark::RemarkOpts::name("RegisterTile").category("attn"))
            << remark::reason("'{0}' is not read along its vectors", name);
    }
  }
};
} // namespace
