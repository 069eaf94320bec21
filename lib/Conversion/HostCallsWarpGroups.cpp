// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of a warpgroup as host calls. The accumulator goes through a buffer on the thread's stack:
//
//   %d = nvvm.wgmma.mma_async %a, %b, %c, <m = 64, n = 64, k = 16>, ...
//
// becomes
//
//   llvm.store %c, %buffer : !llvm.struct<(f32, ...)>, !llvm.ptr
//   llvm.call @attn_cuda_wgmma(%site, %buffer, %a, %b, %n, %type_a, %type_b, %flags)
//   %d = llvm.load %buffer : !llvm.struct<(f32, ...)>
//
// The sums are there at once. That a program waits before it uses them, and has a fence between that and the next product,
// is seen by the tracker: it has a number more in each accumulator, which product it came from or that it was changed.

#include "HostCallBuilder.h"

#include "attn/IR/AttnGpuOps.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::attn;
using namespace mlir::attn::host_calls;

static std::optional<Element> getElement(NVVM::WGMMATypes type) {
  switch (type) {
  case NVVM::WGMMATypes::f16:
    return Element::F16;
  case NVVM::WGMMATypes::bf16:
    return Element::BF16;
  case NVVM::WGMMATypes::tf32:
    return Element::TF32;
  case NVVM::WGMMATypes::e4m3:
    return Element::E4M3;
  case NVVM::WGMMATypes::e5m2:
    return Element::E5M2;
  default:
    return std::nullopt;
  }
}

/// Store `accumulator`, and give behind it room for the number of the product.
static Value storeAccumulator(Value accumulator, HostCallBuilder &b) {
  uint64_t end = b.fill(accumulator);
  return b.buffer(end + sizeof(int64_t));
}

static LogicalResult convertShared(NVVM::WgmmaMmaAsyncOp op,
                                   HostCallBuilder &b) {
  std::optional<Element> typeA = getElement(op.getTypeA());
  std::optional<Element> typeB = getElement(op.getTypeB());
  if (!typeA || !typeB || op.getTypeD() != NVVM::WGMMATypes::f32)
    return op.emitOpError("of these types has no counterpart on the host");
  // B is said to lie by columns where its rows, of k, are contiguous.
  bool transposeA = op.getLayoutA() == NVVM::MMALayout::col;
  bool transposeB = op.getLayoutB() == NVVM::MMALayout::row;
  int32_t flags =
      (transposeA ? kWgmmaTransposeA : 0) |
      (transposeB ? kWgmmaTransposeB : 0) |
      (op.getScaleA() == NVVM::WGMMAScaleIn::neg ? kWgmmaNegateA : 0) |
      (op.getScaleB() == NVVM::WGMMAScaleIn::neg ? kWgmmaNegateB : 0) |
      (op.getScaleD() == NVVM::WGMMAScaleOut::zero ? kWgmmaZero : 0);
  Value sums = storeAccumulator(op.getInouts(), b);
  b.call("wgmma", nullptr,
         {sums, op.getDescriptorA(), op.getDescriptorB(),
          b.constant(op.getShape().getN()), b.kind(*typeA), b.kind(*typeB),
          b.constant(flags)});
  op.getResult().replaceAllUsesWith(b.load(op.getType()));
  op.erase();
  return success();
}

static LogicalResult convertRegistersA(attn_gpu::WgmmaOp op,
                                       HostCallBuilder &b) {
  auto type = cast<LLVM::LLVMStructType>(op.getType());
  auto numbers =
      llvm::count_if(type.getBody(), [](Type t) { return t.isF32(); });
  Value sums = storeAccumulator(op.getAccumulator(), b);
  // Behind the accumulator: the descriptors, then the registers of A.
  uint64_t start =
      DataLayout().getTypeSize(type).getFixedValue() + sizeof(int64_t);
  uint64_t end = b.fill(op.getB(), start);
  b.fill(op.getA(), end);
  Element element = op.getElementType().isF16() ? Element::F16 : Element::BF16;
  b.call("wgmma_registers", nullptr,
         {sums, b.constant(static_cast<int64_t>(start)),
          b.constant(op.getB().size()), b.constant(2 * numbers),
          b.kind(element),
          b.constant(op.getTransposeB() ? kWgmmaTransposeB : 0)});
  op.getResult().replaceAllUsesWith(b.load(op.getType()));
  op.erase();
  return success();
}

HostConversion attn::convertWarpGroupOps(Operation *op, HostCallBuilder &b) {
  if (auto shared = dyn_cast<NVVM::WgmmaMmaAsyncOp>(op))
    return convertShared(shared, b);
  if (auto registers = dyn_cast<attn_gpu::WgmmaOp>(op))
    return convertRegistersA(registers, b);
  if (isa<NVVM::WgmmaFenceAlignedOp>(op))
    b.call("wgmma_fence", nullptr, {});
  else if (isa<NVVM::WgmmaGroupSyncAlignedOp>(op))
    b.call("wgmma_commit", nullptr, {});
  else if (auto wait = dyn_cast<NVVM::WgmmaWaitGroupSyncOp>(op))
    b.call("wgmma_wait", nullptr, b.constant(wait.getGroup()));
  else
    return std::nullopt;
  op->erase();
  return success();
}

/// Return the types of all accumulators under `module`.
static llvm::SetVector<Type> findAccumulators(Operation *module) {
  llvm::SetVector<Type> types;
  module->walk([&](Operation *op) {
    if (isa<NVVM::WgmmaMmaAsyncOp, attn_gpu::WgmmaOp>(op))
      types.insert(op->getResult(0).getType());
  });
  return types;
}

/// Return the place of the tracker's number in an accumulator of `type`.
static int64_t getNumberPlace(Type type) {
  auto body = cast<LLVM::LLVMStructType>(type).getBody();
  return static_cast<int64_t>(body.size()) - 1;
}

/// Announce that a number of an accumulator is about to be used.
static void trackUse(LLVM::ExtractValueOp op, HostCallBuilder &b) {
  b.startAt(op);
  Value number =
      LLVM::ExtractValueOp::create(b, b.loc(), op.getContainer(),
                                   getNumberPlace(op.getContainer().getType()));
  b.call("use_accumulator", nullptr, number);
}

/// Give the accumulator that `op` changes, as the last one of several in a row, a
/// number that says so.
static void trackChange(LLVM::InsertValueOp op, HostCallBuilder &b) {
  Value first = op.getContainer();
  while (auto before = first.getDefiningOp<LLVM::InsertValueOp>())
    first = before.getContainer();
  int64_t place = getNumberPlace(op.getType());
  b.startAt(op);
  b.setInsertionPointAfter(op);
  Value number = LLVM::ExtractValueOp::create(b, b.loc(), first, place);
  number = b.call("change_accumulator", b.i64(), number);
  auto changed =
      LLVM::InsertValueOp::create(b, b.loc(), op.getResult(), number, place);
  op.getResult().replaceAllUsesExcept(changed, changed);
}

/// Return whether the result of `op` is changed further, and no more than that.
static bool isChangedFurther(LLVM::InsertValueOp op) {
  return llvm::all_of(op->getUses(), [](OpOperand &use) {
    auto next = dyn_cast<LLVM::InsertValueOp>(use.getOwner());
    return next && next.getContainer() == use.get();
  });
}

void attn::trackAccumulators(Operation *module, HostCallBuilder &b) {
  llvm::SetVector<Type> types = findAccumulators(module);
  if (types.empty())
    return;
  AttrTypeReplacer replacer;
  replacer.addReplacement(
      [&](LLVM::LLVMStructType type) -> std::optional<Type> {
        if (!types.contains(type))
          return std::nullopt;
        SmallVector<Type> body = llvm::to_vector(type.getBody());
        body.push_back(b.i64());
        return LLVM::LLVMStructType::getLiteral(b.getContext(), body);
      });
  SmallVector<LLVM::ExtractValueOp> uses;
  SmallVector<LLVM::InsertValueOp> changes;
  SmallVector<Operation *> undefined;
  module->walk([&](Operation *op) {
    if (auto extract = dyn_cast<LLVM::ExtractValueOp>(op))
      if (types.contains(extract.getContainer().getType()))
        uses.push_back(extract);
    if (auto insert = dyn_cast<LLVM::InsertValueOp>(op))
      if (types.contains(insert.getType()) && !isChangedFurther(insert))
        changes.push_back(insert);
    if (isa<LLVM::UndefOp, LLVM::PoisonOp>(op) &&
        types.contains(op->getResult(0).getType()))
      undefined.push_back(op);
  });
  for (Operation *op : undefined) {
    // Product 0 is none.
    b.startAt(op);
    Value zero = LLVM::ZeroOp::create(b, b.loc(), op->getResult(0).getType());
    op->getResult(0).replaceAllUsesWith(zero);
    op->erase();
  }
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
  // Changes in reverse order: each goes back to the accumulator before it.
  for (LLVM::InsertValueOp op : llvm::reverse(changes)) {
    b.startFunction(op->getParentOfType<LLVM::LLVMFuncOp>());
    trackChange(op, b);
  }
  for (LLVM::ExtractValueOp op : uses) {
    b.startFunction(op->getParentOfType<LLVM::LLVMFuncOp>());
    trackUse(op, b);
  }
}
