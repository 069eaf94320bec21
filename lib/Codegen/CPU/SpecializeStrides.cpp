// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes vectors of what lies together. A caller may give a tensor any strides, so at the boundary the innermost stride is
// not known, and a vector read would be one load an element. A block of an argument
//
//   %block = memref.subview %k[...] : ... to memref<?x64xf32, strided<[?, ?], offset: ?>>
//   vector.transfer_read %block[...]
//
// is copied where its stride is not 1, so that there is one way to read it:
//
//   %dense = scf.if (%stride == 1) {
//     scf.yield %block as memref<?x64xf32, strided<[?, 1], offset: ?>>
//   } else {
//     %copy = memref.alloc() : memref<256x64xf32>
//     memref.copy %block, %copy
//     scf.yield %copy
//   }
//   vector.transfer_read %dense[...]
//
// What has no bound, as a row of a mask, is read where it is: the nest of loops that reads it is there twice, under
// the same test.

#include "attn/Codegen/CpuPasses.h"

#include "mlir/Dialect/Affine/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::attn {
#define GEN_PASS_DEF_SPECIALIZESTRIDES
#include "attn/Codegen/CpuPasses.h.inc"
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

/// Return what `memref` is a view of whose innermost stride is the same, if it is
/// known to be; else null.
static Value viewed(Value memref) {
  Operation *op = memref.getDefiningOp();
  if (auto subview = dyn_cast<memref::SubViewOp>(op)) {
    // The last dimension must be kept, with a step of 1.
    int64_t last = subview.getSourceType().getRank() - 1;
    bool isKept = !subview.getDroppedDims().test(last) &&
                  subview.getStaticStrides().back() == 1;
    return isKept ? subview.getSource() : Value();
  }
  // The last of the dimensions that one becomes has its stride.
  if (auto expanded = dyn_cast<memref::ExpandShapeOp>(op))
    return expanded.getSrcType().getRank() > 0 ? expanded.getSrc() : Value();
  if (auto collapsed = dyn_cast<memref::CollapseShapeOp>(op)) {
    SmallVector<ReassociationIndices> groups =
        collapsed.getReassociationIndices();
    bool isKept = !groups.empty() && groups.back().size() == 1;
    return isKept ? collapsed.getSrc() : Value();
  }
  return {};
}

/// Return the argument that `memref` is a part of, if its innermost stride is the
/// argument's; else null.
static BlockArgument argumentOf(Value memref) {
  while (memref && memref.getDefiningOp())
    memref = viewed(memref);
  auto argument = dyn_cast_if_present<BlockArgument>(memref);
  return argument && isa<func::FuncOp>(argument.getOwner()->getParentOp())
             ? argument
             : BlockArgument();
}

/// Return whether `op` is a loop, or has one in a branch.
static bool holdsLoop(Operation &op) {
  return op.walk([](scf::ForOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

/// Return the outermost loop round `op` that holds one nest and nothing beside it
/// that loops.
static scf::ForOp nestRoot(Operation *op) {
  scf::ForOp root;
  for (Operation *at = op; (at = at->getParentOp());) {
    auto loop = dyn_cast<scf::ForOp>(at);
    if (!loop)
      break;
    int64_t loops = llvm::count_if(*loop.getBody(), holdsLoop);
    if (root && loops > 1)
      break;
    root = loop;
  }
  return root;
}

/// Return, at the insertion point, `memref` with an innermost stride of 1 in its
/// type.
static Value withUnitStride(OpBuilder &b, Value memref) {
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

/// Return, at the insertion point, whether the innermost stride of `argument` is
/// 1.
static Value isUnitStride(OpBuilder &b, Location loc, BlockArgument argument) {
  auto parts = memref::ExtractStridedMetadataOp::create(b, loc, argument);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                               parts.getStrides().back(), one);
}

/// The sizes of storage that holds a block: constants, but for what is a size of
/// an argument.
struct BlockSizes {
  SmallVector<int64_t> shape;
  SmallVector<Value> dynamic;
};

/// Return the sizes of storage for `block`, if it has a bound.
static std::optional<BlockSizes> boundedSizes(memref::SubViewOp block) {
  BlockSizes sizes;
  MemRefType type = block.getType();
  SmallVector<OpFoldResult> extents;
  llvm::SmallBitVector dropped = block.getDroppedDims();
  for (auto [i, size] : llvm::enumerate(block.getMixedSizes()))
    if (!dropped.test(i))
      extents.push_back(size);
  for (auto [i, size] : llvm::enumerate(extents)) {
    if (std::optional<int64_t> known = getConstantIntValue(size)) {
      sizes.shape.push_back(*known);
      continue;
    }
    Value value = cast<Value>(size);
    FailureOr<int64_t> bound = ValueBoundsConstraintSet::computeConstantBound(
        presburger::BoundType::UB, value, /*stopCondition=*/nullptr,
        /*closedUB=*/true);
    if (succeeded(bound)) {
      sizes.shape.push_back(std::max<int64_t>(*bound, 0));
      continue;
    }
    // The channels of a row are bounded by nothing but the argument.
    auto dim = value.getDefiningOp<memref::DimOp>();
    if (static_cast<int64_t>(i) + 1 != type.getRank() || !dim ||
        !isa<BlockArgument>(dim.getSource()))
      return std::nullopt;
    sizes.shape.push_back(ShapedType::kDynamic);
    sizes.dynamic.push_back(value);
  }
  return sizes;
}

/// Return `block`, a part of `argument`, or a copy of it, with an innermost stride of
/// 1 in its type.
static scf::IfOp copyUnlessUnit(OpBuilder &b, memref::SubViewOp block,
                                BlockArgument argument,
                                const BlockSizes &sizes) {
  Location loc = block.getLoc();
  Value isUnit = isUnitStride(b, loc, argument);
  MemRefType type = block.getType();
  SmallVector<int64_t> strides(type.getRank(), ShapedType::kDynamic);
  strides.back() = 1;
  auto unit = MemRefType::get(
      type.getShape(), type.getElementType(),
      StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, strides),
      type.getMemorySpace());
  return scf::IfOp::create(
      b, loc, isUnit,
      [&](OpBuilder &nested, Location) {
        scf::YieldOp::create(nested, loc, withUnitStride(nested, block));
      },
      [&](OpBuilder &nested, Location) {
        Value all = memref::AllocOp::create(
            nested, loc, MemRefType::get(sizes.shape, type.getElementType()),
            sizes.dynamic);
        SmallVector<OpFoldResult> extents =
            memref::getMixedSizes(nested, loc, block);
        SmallVector<OpFoldResult> zeros(type.getRank(), b.getIndexAttr(0)),
            ones(type.getRank(), b.getIndexAttr(1));
        Value used =
            memref::SubViewOp::create(nested, loc, all, zeros, extents, ones);
        memref::CopyOp::create(nested, loc, block, used);
        Value cast = memref::CastOp::create(nested, loc, unit, used);
        scf::YieldOp::create(nested, loc, cast);
      });
}

/// Return whether `op` is in a step of a product: a loop that carries vectors.
static bool isInProduct(Operation *op) {
  constexpr int64_t kLeastAccumulators = 4;
  auto loop = dyn_cast<scf::ForOp>(op->getParentOp());
  auto isVector = [](Type type) { return isa<VectorType>(type); };
  return loop &&
         llvm::count_if(loop.getResultTypes(), isVector) >= kLeastAccumulators;
}

/// Return the part of an argument that `memref` is a view of, if it has a bound.
static memref::SubViewOp findBlock(Value memref) {
  memref::SubViewOp block;
  while (memref.getDefiningOp()) {
    block = memref.getDefiningOp<memref::SubViewOp>();
    memref = viewed(memref);
  }
  return block && boundedSizes(block) ? block : memref::SubViewOp();
}

/// Let `reads`, of views of `block`, a part of `argument`, read what lies together.
static void copyForProducts(OpBuilder &b, memref::SubViewOp block,
                            BlockArgument argument,
                            ArrayRef<OpOperand *> reads) {
  b.setInsertionPointAfter(block);
  scf::IfOp choice = copyUnlessUnit(b, block, argument, *boundedSizes(block));
  Value same = memref::CastOp::create(b, block.getLoc(), block.getType(),
                                      choice.getResult(0));
  block.getResult().replaceUsesWithIf(same, [&](OpOperand &use) {
    return !choice->isAncestor(use.getOwner());
  });
  DenseMap<Value, Value> units;
  for (OpOperand *read : reads) {
    Value &unit = units[read->get()];
    if (!unit) {
      b.setInsertionPointAfterValue(read->get());
      unit = withUnitStride(b, read->get());
    }
    read->set(unit);
  }
}

/// Put `root` under a test of the innermost strides of `arguments`, and read by
/// vectors where they are 1.
static void specialize(OpBuilder &b, scf::ForOp root,
                       ArrayRef<BlockArgument> arguments) {
  Location loc = root.getLoc();
  b.setInsertionPoint(root);
  Value together;
  for (BlockArgument argument : arguments) {
    Value isUnit = isUnitStride(b, loc, argument);
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
    if (!unit) {
      b.setInsertionPointAfterValue(source);
      unit = withUnitStride(b, source);
    }
    read.getBaseMutable().assign(unit);
  });
}

namespace {
struct SpecializeStrides
    : public attn::impl::SpecializeStridesBase<SpecializeStrides> {
  void getDependentDialects(DialectRegistry &registry) const override {
    SpecializeStridesBase::getDependentDialects(registry);
    affine::registerValueBoundsOpInterfaceExternalModels(registry);
    arith::registerValueBoundsOpInterfaceExternalModels(registry);
    memref::registerValueBoundsOpInterfaceExternalModels(registry);
    scf::registerValueBoundsOpInterfaceExternalModels(registry);
  }

  void runOnOperation() override {
    llvm::MapVector<Operation *, SmallVector<OpOperand *>> blocks, ofProducts;
    llvm::MapVector<Operation *, SmallVector<BlockArgument>> roots;
    getOperation()->walk([&](Operation *op) {
      auto read = dyn_cast<vector::TransferReadOp>(op);
      auto load = dyn_cast<memref::LoadOp>(op);
      if (!read && !load)
        return;
      OpOperand &base = read ? read.getBaseMutable() : load.getMemrefMutable();
      auto type = dyn_cast<MemRefType>(base.get().getType());
      if (!type || !hasUnknownInnermostStride(type))
        return;
      BlockArgument argument = argumentOf(base.get());
      if (!argument)
        return;
      auto block = base.get().getDefiningOp<memref::SubViewOp>();
      if (read && block && boundedSizes(block)) {
        blocks[block].push_back(&base);
        return;
      }
      if (isInProduct(op))
        if (memref::SubViewOp whole = findBlock(base.get())) {
          ofProducts[whole].push_back(&base);
          return;
        }
      scf::ForOp root = read ? nestRoot(read) : scf::ForOp();
      if (!root)
        return;
      SmallVector<BlockArgument> &arguments = roots[root];
      if (!llvm::is_contained(arguments, argument))
        arguments.push_back(argument);
    });
    OpBuilder builder(&getContext());
    for (auto &[op, reads] : blocks) {
      auto block = cast<memref::SubViewOp>(op);
      builder.setInsertionPointAfter(block);
      scf::IfOp choice = copyUnlessUnit(builder, block, argumentOf(block),
                                        *boundedSizes(block));
      for (OpOperand *read : reads)
        read->set(choice.getResult(0));
    }
    for (auto &[op, reads] : ofProducts) {
      auto block = cast<memref::SubViewOp>(op);
      copyForProducts(builder, block, argumentOf(block), reads);
    }
    for (auto &[root, arguments] : roots)
      specialize(builder, cast<scf::ForOp>(root), arguments);
  }
};
} // namespace
