// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns functions of a GPU that say what a block of threads does into functions that say what a thread does:
//
//   gpu.func @k(%q: memref<?x64xf16>, ...) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
//     %a = attn_gpu.read_shared %at : vector<64x64xf16>
//     %s = vector.contract ... %a, %b, %zero : ... into vector<64x64xf32>
//     %p = math.exp2 %s : vector<64x64xf32>
//
// becomes
//
//   gpu.func @k(%q: memref<?x64xf16>, ...) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
//     %a:4 = nvvm.ldmatrix ...
//     %s0:4 = nvvm.mma.sync ...
//     %p0 = math.exp2 %s0#0 : f32
//
// FragmentLayouts.h says which thread has which number.

#include "FragmentDistributor.h"
#include "GpuUnits.h"
#include "attn/Codegen/CudaPasses.h"
#include "attn/IR/AttrNames.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::attn {
#define GEN_PASS_DEF_DISTRIBUTEFRAGMENTS
#include "attn/Codegen/CudaPasses.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// What 8 rows that are swizzled with one another are aligned to.
constexpr int64_t kSharedAlignment = 1024;

/// Whether `function` has vectors of a block in it.
static bool isBlockProgram(gpu::GPUFuncOp function) {
  WalkResult result = function.walk([](Operation *op) {
    bool vectors = llvm::any_of(op->getResultTypes(), [](Type type) {
      auto vector = dyn_cast<VectorType>(type);
      return vector && vector.getRank() > 0;
    });
    return vectors ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted() && function->hasAttr(kScheduleAttrName);
}

/// Declare the dynamic shared memory of a block, once in `module`.
static void declareShared(gpu::GPUModuleOp module) {
  if (module.lookupSymbol("attn_shared"))
    return;
  OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
  auto type = LLVM::LLVMArrayType::get(b.getI8Type(), 0);
  LLVM::GlobalOp::create(b, module.getLoc(), type, /*isConstant=*/false,
                         LLVM::Linkage::External, "attn_shared", Attribute(),
                         kSharedAlignment, /*addrSpace=*/3);
}

template <typename From, typename To>
static void replaceScalar(Operation *op) {
  auto from = dyn_cast<From>(op);
  if (!from || !(from.getType().isF32() || from.getType().isF64()))
    return;
  OpBuilder b(op);
  Value to =
      To::create(b, op->getLoc(), from.getType(), from.getLhs(), from.getRhs());
  op->replaceAllUsesWith(ValueRange(to));
  op->erase();
}

/// Make the larger and the smaller of two numbers one instruction: --arith-expand
/// would make comparisons of them.
static void lowerExtrema(gpu::GPUFuncOp function) {
  function.walk([](Operation *op) {
    if (isa<arith::MaxNumFOp>(op))
      replaceScalar<arith::MaxNumFOp, LLVM::MaxNumOp>(op);
    else if (isa<arith::MinNumFOp>(op))
      replaceScalar<arith::MinNumFOp, LLVM::MinNumOp>(op);
    else if (isa<arith::MaximumFOp>(op))
      replaceScalar<arith::MaximumFOp, LLVM::MaximumOp>(op);
    else if (isa<arith::MinimumFOp>(op))
      replaceScalar<arith::MinimumFOp, LLVM::MinimumOp>(op);
  });
}

static LogicalResult distributeFunction(gpu::GPUFuncOp function) {
  std::optional<ArrayRef<int32_t>> block = function.getKnownBlockSize();
  if (!block || block->size() != 3 || (*block)[0] % kWarp != 0 ||
      (*block)[1] != 1 || (*block)[2] != 1)
    return function.emitOpError()
           << "expects 'known_block_size' of whole warps in one dimension";
  if (failed(FragmentDistributor(function, (*block)[0] / kWarp).run()))
    return failure();
  lowerExtrema(function);
  return success();
}

namespace {
struct DistributeFragments
    : public attn::impl::DistributeFragmentsBase<DistributeFragments> {
  void runOnOperation() override {
    gpu::GPUModuleOp module = getOperation();
    for (auto function :
         llvm::make_early_inc_range(module.getOps<gpu::GPUFuncOp>())) {
      if (!isBlockProgram(function))
        continue;
      declareShared(module);
      if (failed(distributeFunction(function)))
        return signalPassFailure();
    }
  }
};
} // namespace
