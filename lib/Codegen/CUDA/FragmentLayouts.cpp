// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the layouts of vectors from their uses backwards. The shape of a matrix says its layout; a vector with one
// dimension is what its uses ask for, and is made twice where they ask for both:
//
//   %i = vector.step : vector<64xindex>
//   %r = vector.shape_cast %i : vector<64xindex> to vector<64x1xindex>      needs %i as Row
//   %c = vector.broadcast %i : vector<64xindex> to vector<64x64xindex>      needs %i as Column

#include "FragmentLayouts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Iterators.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::attn;

FragmentLayout attn::layoutOfShape(VectorType type) {
  if (type.getRank() == 1)
    return FragmentLayout::Row;
  if (type.getDimSize(1) == 1)
    return FragmentLayout::Row;
  return type.getDimSize(0) == 1 ? FragmentLayout::Column
                                 : FragmentLayout::Tile;
}

FragmentLayouts::FragmentLayouts(gpu::GPUFuncOp function) {
  // Uses stand behind definitions but for loops, so few rounds are enough.
  do {
    changed = false;
    function.walk<WalkOrder::PostOrder, ReverseIterator>(
        [&](Operation *op) { visit(op); });
  } while (changed);
}

attn_gpu::ReadSharedOp attn::sharedTileOf(Value value) {
  if (auto extend = value.getDefiningOp<arith::ExtFOp>())
    value = extend.getIn();
  return value.getDefiningOp<attn_gpu::ReadSharedOp>();
}

void FragmentLayouts::need(Value value, unsigned layouts) {
  auto type = dyn_cast<VectorType>(value.getType());
  if (!type || type.getRank() == 0)
    return;
  if ((layouts & bit(FragmentLayout::Left)) && !sharedTileOf(value))
    layouts =
        (layouts & ~bit(FragmentLayout::Left)) | bit(FragmentLayout::Tile);
  unsigned &known = needed[value];
  changed |= (known | layouts) != known;
  known |= layouts;
}

void FragmentLayouts::unify(ArrayRef<Value> values) {
  unsigned all = 0;
  for (Value value : values)
    all |= needed.lookup(value);
  for (Value value : values)
    need(value, all);
}

void FragmentLayouts::visitControl(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    auto yielded = loop.getYieldedValues();
    for (auto [i, init] : llvm::enumerate(loop.getInitArgs()))
      unify({init, loop.getRegionIterArg(i), yielded[i], loop.getResult(i)});
    return;
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    for (auto [i, result] : llvm::enumerate(branch.getResults()))
      unify({result, branch.thenYield().getOperand(i),
             branch.elseYield().getOperand(i)});
    return;
  }
  auto loop = cast<scf::WhileOp>(op);
  for (auto [i, init] : llvm::enumerate(loop.getInits()))
    unify(
        {init, loop.getBeforeArguments()[i], loop.getYieldOp().getOperand(i)});
  for (auto [i, result] : llvm::enumerate(loop.getResults()))
    unify({result, loop.getAfterArguments()[i],
           loop.getConditionOp().getArgs()[i]});
}

void FragmentLayouts::visitVectorOp(Operation *op) {
  auto shape = [](Value value) {
    return layoutOfShape(cast<VectorType>(value.getType()));
  };
  llvm::TypeSwitch<Operation *>(op)
      .Case<vector::ContractionOp>([&](auto contract) {
        need(contract.getLhs(), FragmentLayout::Left);
        need(contract.getRhs(), FragmentLayout::Right);
        need(contract.getAcc(), FragmentLayout::Tile);
      })
      .Case<vector::MultiDimReductionOp>([&](auto reduction) {
        need(reduction.getSource(), shape(reduction.getSource()));
        need(reduction.getAcc(), FragmentLayout::Row);
      })
      .Case<vector::ShapeCastOp>([&](auto cast) {
        bool widens = cast.getResultVectorType().getRank() == 2;
        need(cast.getSource(),
             shape(widens ? cast.getResult() : cast.getSource()));
      })
      .Case<vector::BroadcastOp>([&](auto broadcast) {
        auto type = dyn_cast<VectorType>(broadcast.getSourceType());
        if (type && type.getRank() > 0)
          need(broadcast.getSource(), type.getRank() == 1
                                          ? FragmentLayout::Column
                                          : layoutOfShape(type));
      })
      .Case<vector::TransferWriteOp>([&](auto write) {
        if (write.getVectorType().getRank() > 0)
          need(write.getVector(), shape(write.getVector()));
        if (write.getMask())
          need(write.getMask(), shape(write.getVector()));
      })
      .Case<vector::ExtractStridedSliceOp>(
          [&](auto slice) { need(slice.getSource(), FragmentLayout::Tile); })
      .Default([&](Operation *other) {
        for (Value operand : other->getOperands())
          for (Value result : other->getResults())
            need(operand, needed.lookup(result));
      });
}

void FragmentLayouts::visit(Operation *op) {
  if (isa<scf::ForOp, scf::IfOp, scf::WhileOp>(op)) {
    if (op->getNumResults() > 0 || isa<scf::WhileOp>(op))
      visitControl(op);
    return;
  }
  if (!op->hasTrait<OpTrait::IsTerminator>())
    visitVectorOp(op);
}
