// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks what a phase promises, one function a phase. A promise is kept by all later ones, unless they say more.

#include "attn/IR/AttnDialect.h"
#include "attn/IR/AttnOps.h"
#include "attn/IR/Decompose.h"
#include "attn/Pipeline/Passes.h"
#include "attn/Pipeline/Phases.h"
#include "attn/Target/TargetInfo.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/OpenMP/OpenMPDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace mlir::attn {
#define GEN_PASS_DEF_VERIFYPHASE
#include "attn/Pipeline/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// Bytes of stack that one function may take: what is left of the smallest
/// default stack of an OpenMP thread is more.
static constexpr int64_t kStackBytes = 256 * 1024;

/// Complain that `op` is still there.
static LogicalResult leftOver(Operation *op, StringRef phase) {
  return op->emitOpError() << "expects to be gone after phase '" << phase
                           << "'";
}

/// Return true if a result or a block argument of `op` satisfies `predicate`.
static bool anyType(Operation *op, function_ref<bool(Type)> predicate) {
  if (llvm::any_of(op->getResultTypes(), predicate))
    return true;
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (llvm::any_of(block.getArgumentTypes(), predicate))
        return true;
  return false;
}

static LogicalResult verifyCore(Operation *op) {
  if (isa<CacheAppendOp, MhaOp, RopeOp>(op))
    return leftOver(op, "core");
  return success();
}

/// Return whether `sdpa` may do without a schedule: for a GPU it is computed by its
/// definition then.
static bool mayBePlain(SdpaOp sdpa) {
  return !sdpa.getSchedule() && TargetInfo::get(sdpa).isCuda();
}

static LogicalResult verifySchedule(Operation *op) {
  if (auto sdpa = dyn_cast<SdpaOp>(op);
      sdpa && !sdpa.getSchedule() && !mayBePlain(sdpa))
    return sdpa.emitOpError("expects a schedule after phase 'schedule'");
  return verifyCore(op);
}

static LogicalResult verifyTiles(Operation *op) {
  auto linear = dyn_cast<LinearAttentionOp>(op);
  auto sdpa = dyn_cast<SdpaOp>(op);
  if ((sdpa && !mayBePlain(sdpa)) || (linear && linear.getSchedule()))
    return leftOver(op, "tiles");
  return verifyCore(op);
}

static LogicalResult verifyLinalg(Operation *op) {
  if (isa_and_nonnull<AttnDialect>(op->getDialect()) &&
      !isa<CallOp, ThreadsOp>(op))
    return leftOver(op, "linalg");
  return success();
}

/// The same in a loop over blocks of threads: steps of tiles become vectors next.
static LogicalResult verifyThreadTiles(Operation *op) {
  if (isa<BlockStepOp, MergeOp, FinishOp, YieldOp>(op))
    return success();
  return verifyLinalg(op);
}

/// Return the bytes that `op` takes from the stack.
static int64_t getStackBytes(Operation *op) {
  auto alloca = dyn_cast<memref::AllocaOp>(op);
  if (!alloca)
    return 0;
  MemRefType type = alloca.getType();
  // A size that is not known is too much.
  if (!type.hasStaticShape() || !type.getElementType().isIntOrIndexOrFloat())
    return kStackBytes + 1;
  int64_t bits = isa<IndexType>(type.getElementType())
                     ? 64
                     : type.getElementTypeBitWidth();
  return type.getNumElements() * llvm::divideCeil(bits, 8);
}

static LogicalResult verifyBuffers(Operation *op) {
  if (anyType(op, [](Type type) { return isa<TensorType>(type); }))
    return op->emitOpError("expects no tensor after phase 'buffers'");
  if (isa<CallOp, ThreadsOp>(op))
    return leftOver(op, "buffers");
  if (isa<memref::AllocOp>(op) && op->getParentOfType<LoopLikeOpInterface>() &&
      !TargetInfo::get(op).isCuda())
    return op->emitOpError("expects no loop around it after phase 'buffers'");
  if (auto function = dyn_cast<FunctionOpInterface>(op)) {
    int64_t bytes = 0;
    function.walk([&](Operation *inner) { bytes += getStackBytes(inner); });
    if (bytes > kStackBytes)
      return op->emitOpError() << "expects at most " << kStackBytes
                               << " bytes of stack, got " << bytes;
  }
  return verifyLinalg(op);
}

/// Return true if `op` is one of those that kernels may be of.
static bool isOfKernels(Operation *op) {
  StringRef dialect =
      op->getDialect() ? op->getDialect()->getNamespace() : StringRef();
  return dialect == "llvm" || dialect == "nvvm" || dialect == "attn_gpu";
}

static LogicalResult verifyKernels(Operation *op) {
  if (isa<linalg::LinalgOp, scf::ForallOp>(op))
    return leftOver(op, "kernels");
  return verifyLinalg(op);
}

static LogicalResult verifyNvvm(Operation *op) {
  if (op->getParentOfType<gpu::GPUModuleOp>() && !isOfKernels(op))
    return leftOver(op, "nvvm");
  return verifyKernels(op);
}

static LogicalResult verifyLlvm(Operation *op) {
  if (isa_and_nonnull<LLVM::LLVMDialect, omp::OpenMPDialect>(
          op->getDialect()) ||
      isa<ModuleOp>(op) || isa<gpu::GPUModuleOp>(op) ||
      op->getParentOfType<gpu::GPUModuleOp>())
    return success();
  return leftOver(op, "llvm");
}

/// Check one op.
static LogicalResult verifyOp(Operation *op, Phase phase) {
  switch (phase) {
  case Phase::Input:
    return success();
  case Phase::Core:
    return verifyCore(op);
  case Phase::Schedule:
    return verifySchedule(op);
  case Phase::Tiles:
    return verifyTiles(op);
  case Phase::Linalg:
    return isForThreads(op) ? verifyThreadTiles(op) : verifyLinalg(op);
  case Phase::Vectors:
    return verifyLinalg(op);
  case Phase::Buffers:
    return verifyBuffers(op);
  case Phase::Kernels:
    return verifyKernels(op);
  case Phase::Nvvm:
    return verifyNvvm(op);
  case Phase::Llvm:
  case Phase::Object:
    return verifyLlvm(op);
  }
  llvm_unreachable("every phase is handled");
}

LogicalResult attn::verifyPhase(ModuleOp module, Phase phase) {
  if (failed(verify(module)))
    return failure();
  return failure(
      module
          .walk([&](Operation *op) { return WalkResult(verifyOp(op, phase)); })
          .wasInterrupted());
}

namespace {
struct VerifyPhase : attn::impl::VerifyPhaseBase<VerifyPhase> {
  using VerifyPhaseBase::VerifyPhaseBase;

  void runOnOperation() override {
    std::optional<Phase> wanted = findPhase(phase);
    if (!wanted) {
      getOperation().emitError(
          withKnownValues("expects the name of a phase, got '" + phase + "'",
                          phase, getPhaseNames()));
      return signalPassFailure();
    }
    if (failed(verifyPhase(getOperation(), *wanted)))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
