// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Puts what a function allocates into memory that its caller brings:
//
//   func.func @f(%q: memref<?x64xf32>, ...) {
//     %m = memref.dim %q, %c0
//     %a = memref.alloc(%m) : memref<?x64xf32>
//
// becomes
//
//   func.func @f(%q: memref<?x64xf32>, ..., %workspace: memref<?xi8>) {
//     %a = memref.view %workspace[%c256][%m] : memref<?xi8> to memref<?x64xf32>
//   func.func private @f.workspace(%q: memref<?x64xf32>, ...) -> index     how many bytes it is
//
// The first bytes are the status, which kernels write and the caller may read. What is never needed at once has the
// same bytes.

#include "DeviceValues.h"
#include "WorkspaceSlots.h"

#include "attn/Codegen/CudaPasses.h"
#include "attn/Codegen/Signature.h"
#include "attn/Codegen/Workspace.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::attn {
#define GEN_PASS_DEF_PLACEWORKSPACE
#include "attn/Codegen/CudaPasses.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// Where an allocation may begin: what every load and copy of a kernel can use.
static constexpr int64_t kAlignment = 256;

namespace {
/// Places the allocations of one function.
class WorkspacePlacer {
public:
  explicit WorkspacePlacer(func::FuncOp function)
      : function(function), loc(function.getLoc()), b(function.getContext()) {}

  LogicalResult run();

private:
  /// Return the bytes of the status, if there is one.
  Value addStatus() {
    bool any = SymbolTable::lookupNearestSymbolFrom(
        function, b.getStringAttr(dataCheckFunctionName(function.getName())));
    return arith::ConstantIndexOp::create(b, loc, any ? kAlignment : 0);
  }
  Value findLimit(Value size);
  FailureOr<Value> boundOnHost(Value size, IRMapping &mapping);
  FailureOr<Value> countBytes(memref::AllocOp alloc, IRMapping &mapping);
  FailureOr<Value> addSlot(Value total, const WorkspaceSlot &slot,
                           IRMapping &mapping);
  LogicalResult measure();
  LogicalResult place();

  func::FuncOp function;
  Location loc;
  OpBuilder b;
  DeviceValues device;
  SmallVector<WorkspaceSlot> slots;
};
} // namespace

/// Return an extent that `size`, a number of the device, cannot exceed: where it is
/// the size of a part of a tensor, that tensor's.
static Value findBound(Value size) {
  for (OpOperand &use : size.getUses()) {
    auto view = dyn_cast<memref::SubViewOp>(use.getOwner());
    if (!view)
      continue;
    for (auto [dim, part] : llvm::enumerate(view.getMixedSizes())) {
      if (dyn_cast<Value>(part) != size)
        continue;
      OpBuilder b(view);
      return memref::DimOp::create(b, view.getLoc(), view.getSource(), dim);
    }
  }
  return nullptr;
}

/// Return a number that `size`, which is not known when the function is called,
/// cannot exceed; null where none is found.
Value WorkspacePlacer::findLimit(Value size) {
  // A loop's number stays below its end.
  if (auto argument = dyn_cast<BlockArgument>(size)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (loop && loop.getInductionVar() == size)
      return loop.getUpperBound();
  }
  if (auto min = size.getDefiningOp<arith::MinSIOp>();
      min && !device.isOnDevice(min.getRhs()))
    return min.getRhs();
  if (auto min = size.getDefiningOp<affine::AffineMinOp>())
    for (Value operand : min.getOperands())
      if (!device.isOnDevice(operand) &&
          llvm::any_of(min.getMap().getResults(), [&](AffineExpr e) {
            auto symbol = dyn_cast<AffineSymbolExpr>(e);
            return symbol &&
                   min.getSymbolOperands()[symbol.getPosition()] == operand;
          }))
        return operand;
  return findBound(size);
}

/// Clone the computation of `size`, or of a bound of it where it is not known when
/// the function is called, to where the builder stands.
FailureOr<Value> WorkspacePlacer::boundOnHost(Value size, IRMapping &mapping) {
  constexpr int64_t kMostSteps = 8;
  for (int64_t step = 0; size && step < kMostSteps; ++step) {
    if (!device.isOnDevice(size)) {
      FailureOr<Value> clone =
          cloneComputation(b, size, mapping, [](Value) { return false; });
      if (succeeded(clone))
        return clone;
    }
    size = findLimit(size);
  }
  return failure();
}

/// Return the bytes of `alloc`.
FailureOr<Value> WorkspacePlacer::countBytes(memref::AllocOp alloc,
                                             IRMapping &mapping) {
  Value bytes =
      arith::ConstantIndexOp::create(b, loc, countKnownBytes(alloc.getType()));
  for (Value size : alloc.getDynamicSizes()) {
    FailureOr<Value> extent = boundOnHost(size, mapping);
    if (failed(extent)) {
      alloc.emitError("expects an allocation whose size is known when '")
          << function.getName()
          << "' is called, or bounded by that of an argument";
      return failure();
    }
    bytes = arith::MulIOp::create(b, loc, bytes, *extent);
  }
  return bytes;
}

/// Return `total` and the bytes of the largest of `slot`, rounded up.
FailureOr<Value> WorkspacePlacer::addSlot(Value total,
                                          const WorkspaceSlot &slot,
                                          IRMapping &mapping) {
  Value largest;
  for (size_t i = 0; i < slot.size(); ++i) {
    if (llvm::any_of(ArrayRef(slot).take_front(i), [&](memref::AllocOp other) {
          return haveSameSize(slot[i], other);
        }))
      continue;
    FailureOr<Value> bytes = countBytes(slot[i], mapping);
    if (failed(bytes))
      return failure();
    largest =
        largest ? arith::MaxUIOp::create(b, loc, largest, *bytes) : *bytes;
  }
  Value unit = arith::ConstantIndexOp::create(b, loc, kAlignment);
  Value units = arith::CeilDivUIOp::create(b, loc, largest, unit);
  return arith::AddIOp::create(b, loc, total,
                               arith::MulIOp::create(b, loc, units, unit))
      .getResult();
}

/// Add the function that says how large the workspace is.
LogicalResult WorkspacePlacer::measure() {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfter(function);
  auto type = b.getFunctionType(function.getArgumentTypes(), b.getIndexType());
  auto size = func::FuncOp::create(
      b, loc, workspaceFunctionName(function.getName()), type);
  size.setPrivate();
  b.setInsertionPointToStart(size.addEntryBlock());
  IRMapping mapping;
  mapping.map(function.getArguments(), size.getArguments());
  Value total = addStatus();
  for (const WorkspaceSlot &slot : slots) {
    FailureOr<Value> next = addSlot(total, slot, mapping);
    if (failed(next))
      return failure();
    total = *next;
  }
  func::ReturnOp::create(b, loc, total);
  return success();
}

/// Replace the allocations by views of a new argument.
LogicalResult WorkspacePlacer::place() {
  Block &entry = function.getBody().front();
  auto bytes = MemRefType::get({ShapedType::kDynamic}, b.getI8Type());
  Value workspace = entry.addArgument(bytes, loc);
  b.setInsertionPointToStart(&entry);
  IRMapping mapping;
  mapping.map(function.getArguments(), function.getArguments());
  Value total = addStatus();
  for (const WorkspaceSlot &slot : slots) {
    FailureOr<Value> next = addSlot(total, slot, mapping);
    if (failed(next))
      return failure();
    for (memref::AllocOp alloc : slot) {
      OpBuilder at(alloc);
      auto view =
          memref::ViewOp::create(at, alloc.getLoc(), alloc.getType(), workspace,
                                 total, alloc.getDynamicSizes());
      alloc.replaceAllUsesWith(view.getResult());
      alloc.erase();
    }
    total = *next;
  }
  function.setType(
      b.getFunctionType(entry.getArgumentTypes(), function.getResultTypes()));
  return success();
}

LogicalResult WorkspacePlacer::run() {
  function.walk([&](memref::DeallocOp free) { free.erase(); });
  SmallVector<memref::AllocOp> allocs;
  function.walk([&](memref::AllocOp alloc) { allocs.push_back(alloc); });
  slots = findSlots(function, allocs);
  if (failed(measure()))
    return failure();
  return place();
}

namespace {
struct PlaceWorkspace : attn::impl::PlaceWorkspaceBase<PlaceWorkspace> {
  void runOnOperation() override {
    for (auto function : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      if (function->hasAttr(kSignatureAttrName) &&
          failed(WorkspacePlacer(function).run()))
        return signalPassFailure();
  }
};
} // namespace
