// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Places shared variables in the memory of a block:
//
//   llvm.mlir.global external @tile() {addr_space = 3, alignment = 1024} : !llvm.array<0 x i8>
//   %p = llvm.mlir.addressof @tile : !llvm.ptr<3>
//   %n = llvm.ptrtoint %p : !llvm.ptr<3> to i32
//
// becomes
//
//   %p = llvm.call @attn_cuda_shared(%offset) : (i32) -> !llvm.ptr
//   %n = llvm.call @attn_cuda_shared_number(%p) : (!llvm.ptr) -> i64   // and a cast

#include "SharedLayout.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::attn;

/// Alignment of a shared variable that asks for none, and of the dynamic one: what
/// tensor copies with the widest swizzle need.
constexpr uint64_t kDefaultAlignment = 16;
constexpr uint64_t kDynamicAlignment = 1024;

static bool isShared(Type type) {
  auto pointer = dyn_cast<LLVM::LLVMPointerType>(type);
  return pointer &&
         (pointer.getAddressSpace() ==
              static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared) ||
          pointer.getAddressSpace() ==
              static_cast<unsigned>(NVVM::NVVMMemorySpace::SharedCluster));
}

/// Replace casts between shared addresses and integers.
static void convertCasts(Operation *module, HostCallBuilder &b) {
  SmallVector<Operation *> casts;
  module->walk([&](Operation *op) {
    if (auto to = dyn_cast<LLVM::PtrToIntOp>(op);
        to && isShared(to.getArg().getType()))
      casts.push_back(op);
    if (auto from = dyn_cast<LLVM::IntToPtrOp>(op);
        from && isShared(from.getType()))
      casts.push_back(op);
  });
  for (Operation *op : casts) {
    b.startAt(op);
    Value operand = op->getOperand(0);
    Type type = op->getResult(0).getType();
    Value result;
    if (isa<LLVM::PtrToIntOp>(op)) {
      result = b.callPure("shared_number", b.i64(), b.address(operand));
      if (type != b.i64())
        result = LLVM::TruncOp::create(b, b.loc(), type, result);
    } else {
      if (operand.getType() != b.i64())
        operand = LLVM::ZExtOp::create(b, b.loc(), b.i64(), operand);
      result = b.callPure("shared_pointer", b.ptr(), operand);
      result = LLVM::AddrSpaceCastOp::create(b, b.loc(), type, result);
    }
    op->getResult(0).replaceAllUsesWith(result);
    op->erase();
  }
}

/// Return the offset of each shared variable.
static FailureOr<llvm::DenseMap<StringAttr, int64_t>>
assignOffsets(Operation *module, SharedLayout &layout) {
  llvm::DenseMap<StringAttr, int64_t> offsets;
  uint64_t end = 0;
  SmallVector<LLVM::GlobalOp> dynamic;
  DataLayout sizes;
  for (auto global : module->getRegion(0).getOps<LLVM::GlobalOp>()) {
    if (global.getAddrSpace() !=
        static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared))
      continue;
    uint64_t bytes = sizes.getTypeSize(global.getGlobalType()).getFixedValue();
    if (bytes == 0) {
      dynamic.push_back(global);
      continue;
    }
    end = llvm::alignTo(end, global.getAlignment().value_or(kDefaultAlignment));
    offsets[global.getSymNameAttr()] = static_cast<int64_t>(end);
    end += bytes;
  }
  layout.staticBytes = static_cast<int64_t>(end);
  for (LLVM::GlobalOp global : dynamic) {
    if (global.getLinkage() != LLVM::Linkage::External)
      return global.emitOpError(
          "expects a shared variable of no size to be external");
    // All of them are one and the same memory.
    layout.dynamicOffset =
        static_cast<int64_t>(llvm::alignTo(end, kDynamicAlignment));
    offsets[global.getSymNameAttr()] = layout.dynamicOffset;
  }
  return offsets;
}

FailureOr<SharedLayout> attn::placeShared(Operation *module,
                                          HostCallBuilder &b) {
  SharedLayout layout;
  auto offsets = assignOffsets(module, layout);
  if (failed(offsets))
    return failure();
  convertCasts(module, b);
  SmallVector<LLVM::AddressOfOp> addresses;
  module->walk([&](LLVM::AddressOfOp op) { addresses.push_back(op); });
  for (LLVM::AddressOfOp op : addresses) {
    auto offset = offsets->find(op.getGlobalNameAttr().getAttr());
    if (offset == offsets->end())
      continue;
    b.startAt(op);
    Value pointer = b.callPure("shared", b.ptr(), b.constant(offset->second));
    Value cast =
        LLVM::AddrSpaceCastOp::create(b, b.loc(), op.getType(), pointer);
    op.getResult().replaceAllUsesWith(cast);
    op.erase();
  }
  for (auto global : llvm::make_early_inc_range(
           module->getRegion(0).getOps<LLVM::GlobalOp>()))
    if (offsets->contains(global.getSymNameAttr()))
      global.erase();
  return layout;
}
