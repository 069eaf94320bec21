// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes vectors of what lies together. A caller may give a tensor any strides, so at the boundary the innermost stride is
// not known, and a vector read would be one load an element:
//
//   scf.for ... { vector.transfer_read %k[...] : memref<?x64xf32, strided<[?, ?], offset: ?>>, vector<16xf32> }
//
// becomes
//
//   scf.if (%stride == 1) {
//     scf.for ... { vector.transfer_read %unit[...] : memref<?x64xf32, strided<[?, 1], offset: ?>>, vector<16xf32> }
//   } else {
//     as it was
//   }
//
// round the whole nest that packs or reads a block, so that the test costs nothing.

#include "attn/Codegen/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::attn {
#define GEN_PASS_DEF_SPECIALIZESTRIDES
#include "attn/Codegen/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// Return whether the innermost stride of `type` is not in the type.
static bool hasUnknownInnermostStride(MemRefType type) {
  int64_t offset;
  SmallVector<int64_t> strides;
  if (type.getRank() == 0 || failed(type.getStridesAndOffset(strides, offset)))
    return false;
  return ShapedType::isDynamic(strides.back());
}

/// Return the argument that `memref` is a part of, if its innermost stride is the
/// argument's; else null.
static BlockArgument argumentOf(Value memref) {
  while (Operation *op = memref.getDefiningOp()) {
    auto subview = dyn_cast<memref::SubViewOp>(op);
    if (!subview)
      return {};
    // The last dimension must be kept, with a step of 1.
    int64_t last = subview.getSourceType().getRank() - 1;
    if (subview.getDroppedDims().test(last) ||
        subview.getStaticStrides().back() != 1)
      return {};
    memref = subview.getSource();
  }
  auto argument = cast<BlockArgument>(memref);
  return isa<func::FuncOp>(argument.getOwner()->getParentOp())
             ? argument
             : BlockArgument();
}

/// Return the outermost loop round `op` that holds one nest and nothing beside it
/// that loops.
static scf::ForOp nestRoot(Operation *op) {
  scf::ForOp root;
  for (Operation *at = op; (at = at->getParentOp());) {
    auto loop = dyn_cast<scf::ForOp>(at);
    if (!loop)
      break;
    int64_t loops = llvm::count_if(*loop.getBody(), [](Operation &inner) {
      return isa<scf::ForOp>(inner);
    });
    if (root && loops > 1)
      break;
    root = loop;
  }
  return root;
}

/// Return `memref` with an innermost stride of 1 in its type.
static Value withUnitStride(OpBuilder &b, Value memref) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfterValue(memref);
  Location loc = memref.getLoc();
  auto type = cast<MemRefType>(memref.getType());
  auto parts = memref::ExtractStridedMetadataOp::create(b, loc, memref);
  SmallVector<OpFoldResult> strides(parts.getStrides()),
      sizes(parts.getSizes());
  for (auto [size, known] : llvm::zip(sizes, type.getShape()))
    if (ShapedType::isStatic(known))
      size = b.getIndexAttr(known);
  strides.back() = b.getIndexAttr(1);
  SmallVector<int64_t> known(type.getRank(), ShapedType::kDynamic);
  known.back() = 1;
  auto unit = MemRefType::get(
      type.getShape(), type.getElementType(),
      StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, known),
      type.getMemorySpace());
  return memref::ReinterpretCastOp::create(b, loc, unit, parts.getBaseBuffer(),
                                           OpFoldResult(parts.getOffset()),
                                           sizes, strides);
}

/// Put `root` under a test of the innermost strides of `arguments`, and read by
/// vectors where they are 1.
static void specialize(OpBuilder &b, scf::ForOp root,
                       ArrayRef<BlockArgument> arguments) {
  Location loc = root.getLoc();
  b.setInsertionPoint(root);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value together;
  for (BlockArgument argument : arguments) {
    auto parts = memref::ExtractStridedMetadataOp::create(b, loc, argument);
    Value isUnit = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                         parts.getStrides().back(), one);
    together = together
                   ? arith::AndIOp::create(b, loc, together, isUnit).getResult()
                   : isUnit;
  }
  auto choice = scf::IfOp::create(b, loc, root.getResultTypes(), together,
                                  /*withElseRegion=*/true);
  root->replaceAllUsesWith(choice);
  b.setInsertionPointToStart(choice.thenBlock());
  auto fast = cast<scf::ForOp>(b.clone(*root));
  if (root.getNumResults() != 0) {
    scf::YieldOp::create(b, loc, fast.getResults());
    b.setInsertionPointToEnd(choice.elseBlock());
    scf::YieldOp::create(b, loc, root.getResults());
  }
  root->moveBefore(choice.elseBlock(), choice.elseBlock()->begin());
  DenseMap<Value, Value> units;
  fast.walk([&](vector::TransferReadOp read) {
    Value source = read.getBase();
    auto type = dyn_cast<MemRefType>(source.getType());
    if (!type || !hasUnknownInnermostStride(type) || !argumentOf(source))
      return;
    Value &unit = units[source];
    if (!unit)
      unit = withUnitStride(b, source);
    read.getBaseMutable().assign(unit);
  });
}

namespace {
struct SpecializeStrides
    : public attn::impl::SpecializeStridesBase<SpecializeStrides> {
  void runOnOperation() override {
    llvm::MapVector<Operation *, SmallVector<BlockArgument>> roots;
    getOperation()->walk([&](vector::TransferReadOp read) {
      auto type = dyn_cast<MemRefType>(read.getBase().getType());
      if (!type || !hasUnknownInnermostStride(type))
        return;
      BlockArgument argument = argumentOf(read.getBase());
      scf::ForOp root = nestRoot(read);
      if (!argument || !root)
        return;
      SmallVector<BlockArgument> &arguments = roots[root];
      if (!llvm::is_contained(arguments, argument))
        arguments.push_back(argument);
    });
    OpBuilder builder(&getContext());
    for (auto &[root, arguments] : roots)
      specialize(builder, cast<scf::ForOp>(root), arguments);
  }
};
} // namespace
