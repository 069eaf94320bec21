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
#include "llvm/ADT/StringSwitch.h"
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

/// Return the bytes of a value of `type`.
static uint64_t getBytes(Type type) {
  return DataLayout().getTypeSize(type).getFixedValue();
}

/// Announce an access of a value of `type`.
static void announceType(Value pointer, Type type,
                         std::optional<uint64_t> alignment, int32_t flags,
                         HostCallBuilder &b) {
  uint64_t bytes = getBytes(type);
  // An integer of 64 bits needs 8 on a GPU, not the 4 that hold without a layout.
  uint64_t natural = isa<IntegerType>(type)
                         ? llvm::PowerOf2Ceil(bytes)
                         : DataLayout().getTypeABIAlignment(type);
  uint64_t needed = alignment.value_or(natural);
  announce(pointer, b.constant(b.i64(), static_cast<int64_t>(bytes)), needed,
           flags, b);
}

/// Return the flags of an access with `ordering`. A volatile one is as strong as a
/// relaxed atomic one.
static int32_t getOrderFlags(LLVM::AtomicOrdering ordering,
                             bool isVolatile = false) {
  switch (ordering) {
  case LLVM::AtomicOrdering::not_atomic:
    return isVolatile ? kAccessAtomic : 0;
  case LLVM::AtomicOrdering::unordered:
  case LLVM::AtomicOrdering::monotonic:
    return kAccessAtomic;
  case LLVM::AtomicOrdering::acquire:
    return kAccessAtomic | kAccessAcquire;
  case LLVM::AtomicOrdering::release:
    return kAccessAtomic | kAccessRelease;
  case LLVM::AtomicOrdering::acq_rel:
  case LLVM::AtomicOrdering::seq_cst:
    return kAccessAtomic | kAccessAcquire | kAccessRelease;
  }
  llvm_unreachable("every ordering is handled");
}

/// Announce an access of those lanes of a vector that `mask` names: `place(lane,
/// isOn)` is where a lane lies.
static void
announceLanes(Value mask, VectorType type, uint64_t alignment, int32_t flags,
              HostCallBuilder &b,
              llvm::function_ref<Value(int64_t lane, Value isOn)> place) {
  auto bytes = static_cast<int64_t>(getBytes(type.getElementType()));
  uint64_t needed =
      std::min(alignment, llvm::PowerOf2Ceil(static_cast<uint64_t>(bytes)));
  Value some = b.constant(b.i64(), bytes);
  Value none = b.constant(b.i64(), 0);
  for (int64_t lane = 0; lane < type.getNumElements(); ++lane) {
    Value isOn = LLVM::ExtractElementOp::create(b, b.loc(), mask,
                                                b.constant(b.i64(), lane));
    Value size = LLVM::SelectOp::create(b, b.loc(), isOn, some, none);
    announce(place(lane, isOn), size, needed, flags, b);
  }
}

/// Return the place of element `index` of `type` behind `pointer`.
static Value getElementPlace(Value pointer, Type type, Value index,
                             HostCallBuilder &b) {
  return LLVM::GEPOp::create(b, b.loc(), pointer.getType(), type, pointer,
                             ArrayRef<LLVM::GEPArg>{index});
}

/// Announce an access of lanes that lie one behind the other.
static void announceMasked(Value pointer, Value mask, Type type,
                           uint64_t alignment, int32_t flags,
                           HostCallBuilder &b) {
  auto vector = cast<VectorType>(type);
  announceLanes(mask, vector, alignment, flags, b, [&](int64_t lane, Value) {
    return getElementPlace(pointer, vector.getElementType(),
                           b.constant(b.i64(), lane), b);
  });
}

/// Announce an access of lanes whose places are a vector.
static void announceScattered(Value pointers, Value mask, Type type,
                              uint64_t alignment, int32_t flags,
                              HostCallBuilder &b) {
  announceLanes(mask, cast<VectorType>(type), alignment, flags, b,
                [&](int64_t lane, Value) -> Value {
                  return LLVM::ExtractElementOp::create(
                      b, b.loc(), pointers, b.constant(b.i64(), lane));
                });
}

/// Announce an access of lanes of which only those that are on take room.
static void announceCompressed(Value pointer, Value mask, Type type,
                               int32_t flags, HostCallBuilder &b) {
  auto vector = cast<VectorType>(type);
  Value next = b.constant(b.i64(), 0);
  announceLanes(
      mask, vector, /*alignment=*/1, flags, b, [&](int64_t, Value isOn) {
        Value place =
            getElementPlace(pointer, vector.getElementType(), next, b);
        Value step = LLVM::ZExtOp::create(b, b.loc(), b.i64(), isOn);
        next = LLVM::AddOp::create(b, b.loc(), next, step);
        return place;
      });
}

/// Announce an access of a run of bytes.
static void announceRun(Value pointer, Value bytes, int32_t flags,
                        HostCallBuilder &b) {
  if (bytes.getType() != b.i64())
    bytes = LLVM::ZExtOp::create(b, b.loc(), b.i64(), bytes);
  announce(pointer, bytes, 1, flags, b);
}

static bool trackScalars(Operation *op, HostCallBuilder &b) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<LLVM::LoadOp>([&](auto o) {
        announceType(
            o.getAddr(), o.getType(), o.getAlignment(),
            kAccessRead | getOrderFlags(o.getOrdering(), o.getVolatile_()), b);
        return true;
      })
      .Case<LLVM::StoreOp>([&](auto o) {
        announceType(
            o.getAddr(), o.getValue().getType(), o.getAlignment(),
            kAccessWrite | getOrderFlags(o.getOrdering(), o.getVolatile_()), b);
        return true;
      })
      .Case<LLVM::AtomicRMWOp>([&](auto o) {
        announceType(
            o.getPtr(), o.getVal().getType(), std::nullopt,
            kAccessWrite | kAccessUpdate | getOrderFlags(o.getOrdering()), b);
        return true;
      })
      .Case<LLVM::AtomicCmpXchgOp>([&](auto o) {
        announceType(o.getPtr(), o.getVal().getType(), std::nullopt,
                     kAccessWrite | kAccessUpdate |
                         getOrderFlags(o.getSuccessOrdering()),
                     b);
        return true;
      })
      .Case<LLVM::FenceOp, NVVM::MembarOp, NVVM::FenceScClusterOp>([&](auto) {
        b.call("fence_memory", nullptr, {});
        return true;
      })
      .Default(false);
}

static bool trackRuns(Operation *op, HostCallBuilder &b) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<LLVM::MemcpyOp, LLVM::MemcpyInlineOp, LLVM::MemmoveOp>([&](auto o) {
        Value bytes;
        if constexpr (std::is_same_v<decltype(o), LLVM::MemcpyInlineOp>)
          bytes = b.constant(b.i64(),
                             static_cast<int64_t>(o.getLen().getZExtValue()));
        else
          bytes = o.getLen();
        announceRun(o.getSrc(), bytes, kAccessRead, b);
        announceRun(o.getDst(), bytes, kAccessWrite, b);
        return true;
      })
      .Case<LLVM::MemsetOp>([&](auto o) {
        announceRun(o.getDst(), o.getLen(), kAccessWrite, b);
        return true;
      })
      .Case<LLVM::MemsetInlineOp>([&](auto o) {
        Value bytes = b.constant(
            b.i64(), static_cast<int64_t>(o.getLen().getZExtValue()));
        announceRun(o.getDst(), bytes, kAccessWrite, b);
        return true;
      })
      .Default(false);
}

static bool trackVectors(Operation *op, HostCallBuilder &b) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<LLVM::MaskedLoadOp>([&](auto o) {
        announceMasked(o.getData(), o.getMask(), o.getType(), o.getAlignment(),
                       kAccessRead, b);
        return true;
      })
      .Case<LLVM::MaskedStoreOp>([&](auto o) {
        announceMasked(o.getData(), o.getMask(), o.getValue().getType(),
                       o.getAlignment(), kAccessWrite, b);
        return true;
      })
      .Case<LLVM::masked_gather>([&](auto o) {
        announceScattered(o.getPtrs(), o.getMask(), o.getType(),
                          o.getAlignment(), kAccessRead, b);
        return true;
      })
      .Case<LLVM::masked_scatter>([&](auto o) {
        announceScattered(o.getPtrs(), o.getMask(), o.getValue().getType(),
                          o.getAlignment(), kAccessWrite, b);
        return true;
      })
      .Case<LLVM::masked_expandload>([&](auto o) {
        announceCompressed(o.getPtr(), o.getMask(), o.getType(), kAccessRead,
                           b);
        return true;
      })
      .Case<LLVM::masked_compressstore>([&](auto o) {
        announceCompressed(o.getPtr(), o.getMask(), o.getValue().getType(),
                           kAccessWrite, b);
        return true;
      })
      .Default(false);
}

/// Return whether `type` is a pointer or a vector of them.
static bool isPointer(Type type) {
  return isa<LLVM::LLVMPointerType>(getElementTypeOrSelf(type));
}

/// Return whether the intrinsic `name` does nothing with the memory behind its
/// pointers.
static bool isHarmless(StringRef name) {
  return llvm::StringSwitch<bool>(name)
      .Cases({"lifetime.start", "lifetime.end", "prefetch", "assume",
              "invariant.start", "invariant.end", "stackrestore", "ptrmask",
              "launder.invariant.group", "strip.invariant.group", "expect",
              "is.constant", "annotation", "ptr.annotation", "var.annotation"},
             true)
      .StartsWith("dbg.", true)
      .Default(false);
}

LogicalResult attn::trackAccess(Operation *op, HostCallBuilder &b) {
  b.startAt(op);
  if (trackScalars(op, b) || trackRuns(op, b) || trackVectors(op, b))
    return success();
  StringRef name = op->getName().getStringRef();
  bool isIntrinsic =
      name.consume_front("llvm.intr.") || isa<LLVM::CallIntrinsicOp>(op);
  if (!isIntrinsic || isHarmless(name) ||
      llvm::none_of(op->getOperandTypes(), isPointer))
    return success();
  return op->emitOpError("accesses memory in a way that the tracker of the "
                         "emulator does not know");
}
