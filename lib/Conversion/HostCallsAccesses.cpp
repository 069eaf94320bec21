// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Announces accesses to memory to the tracker:
//
//   %x = llvm.load %p {alignment = 8 : i64} : !llvm.ptr<3> -> vector<2xf32>
//
// becomes
//
//   llvm.call @attn_cuda_access(%site, %p, %bytes, %flags) : (i32, !llvm.ptr, i64, i32) -> ()
//   %x = llvm.load ...

#include "HostCallBuilder.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::attn;
using namespace mlir::attn::host_calls;

/// Return whether `pointer` leads to the thread's own stack or to an argument of
/// the kernel that is passed by value: nobody else's, and never out of bounds.
static bool isPrivate(Value pointer) {
  while (Operation *op = pointer.getDefiningOp()) {
    if (isa<LLVM::AllocaOp>(op))
      return true;
    if (!isa<LLVM::GEPOp, LLVM::AddrSpaceCastOp, LLVM::BitcastOp>(op))
      return false;
    pointer = op->getOperand(0);
  }
  auto argument = dyn_cast<BlockArgument>(pointer);
  auto function = argument ? dyn_cast_or_null<LLVM::LLVMFuncOp>(
                                 argument.getOwner()->getParentOp())
                           : LLVM::LLVMFuncOp();
  return function && argument.getOwner()->isEntryBlock() &&
         function.getArgAttr(argument.getArgNumber(),
                             LLVM::LLVMDialect::getByValAttrName());
}

/// Announce an access of `bytes` at `pointer` that needs `alignment`.
static void announce(Value pointer, Value bytes, uint64_t alignment,
                     int32_t flags, HostCallBuilder &b) {
  if (isPrivate(pointer))
    return;
  auto shift =
      static_cast<int32_t>(llvm::Log2_64(std::max<uint64_t>(alignment, 1)));
  b.call("access", nullptr,
         {b.address(pointer), bytes,
          b.constant(flags | (shift << kAccessAlignmentShift))});
}

/// Announce an access of a value of `type`.
static void announceType(Value pointer, Type type,
                         std::optional<uint64_t> alignment, int32_t flags,
                         HostCallBuilder &b) {
  DataLayout layout;
  uint64_t bytes = layout.getTypeSize(type).getFixedValue();
  // An integer of 64 bits needs 8 on a GPU, not the 4 that hold without a layout.
  uint64_t natural = isa<IntegerType>(type) ? llvm::PowerOf2Ceil(bytes)
                                            : layout.getTypeABIAlignment(type);
  uint64_t needed = alignment.value_or(natural);
  announce(pointer, b.constant(b.i64(), static_cast<int64_t>(bytes)), needed,
           flags, b);
}

void attn::trackAccess(Operation *op, HostCallBuilder &b) {
  b.startAt(op);
  llvm::TypeSwitch<Operation *>(op)
      .Case<LLVM::LoadOp>([&](auto o) {
        announceType(o.getAddr(), o.getType(), o.getAlignment(), kAccessRead,
                     b);
      })
      .Case<LLVM::StoreOp>([&](auto o) {
        announceType(o.getAddr(), o.getValue().getType(), o.getAlignment(),
                     kAccessWrite, b);
      })
      .Case<LLVM::AtomicRMWOp>([&](auto o) {
        announceType(o.getPtr(), o.getVal().getType(), std::nullopt,
                     kAccessWrite | kAccessAtomic, b);
      })
      .Case<LLVM::AtomicCmpXchgOp>([&](auto o) {
        announceType(o.getPtr(), o.getVal().getType(), std::nullopt,
                     kAccessWrite | kAccessAtomic, b);
      })
      .template Case<LLVM::MemcpyOp, LLVM::MemmoveOp>([&](auto o) {
        Value bytes = o.getLen();
        if (bytes.getType() != b.i64())
          bytes = LLVM::ZExtOp::create(b, b.loc(), b.i64(), bytes);
        announce(o.getSrc(), bytes, 1, kAccessRead, b);
        announce(o.getDst(), bytes, 1, kAccessWrite, b);
      })
      .Case<LLVM::MemsetOp>([&](auto o) {
        Value bytes = o.getLen();
        if (bytes.getType() != b.i64())
          bytes = LLVM::ZExtOp::create(b, b.loc(), b.i64(), bytes);
        announce(o.getDst(), bytes, 1, kAccessWrite, b);
      });
}
