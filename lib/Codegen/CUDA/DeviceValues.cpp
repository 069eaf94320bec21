// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Follows values back to where they come from.

#include "DeviceValues.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::attn;

/// Return true if `op` has an effect on memory that `wanted` says.
template <typename EffectT>
static bool hasEffectOnMemory(Operation *op) {
  // Views only name memory, though some say that they allocate.
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  return effects && effects.hasEffect<EffectT>();
}

bool attn::touchesMemory(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        return hasEffectOnMemory<MemoryEffects::Read>(inner) ||
                       hasEffectOnMemory<MemoryEffects::Write>(inner)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

bool attn::writesMemory(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        return hasEffectOnMemory<MemoryEffects::Write>(inner)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

bool DeviceValues::isOnDevice(Value value) {
  auto found = known.find(value);
  if (found != known.end())
    return found->second;
  bool result = compute(value);
  known[value] = result;
  return result;
}

/// Return the numbers among `values`: memory that comes out of a branch or a loop is one
/// of several, all known.
static SmallVector<Value> getNumbers(ValueRange values) {
  return llvm::to_vector(llvm::make_filter_range(
      values, [](Value v) { return !isa<BaseMemRefType>(v.getType()); }));
}

bool DeviceValues::isControlledByDevice(Operation *op) {
  auto isAnyOnDevice = [&](ValueRange values) {
    return llvm::any_of(values, [&](Value v) { return isOnDevice(v); });
  };
  if (isAnyOnDevice(op->getOperands()))
    return true;
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return op->getNumResults() > 0 &&
           (isAnyOnDevice(getNumbers(branch.thenYield().getResults())) ||
            isAnyOnDevice(getNumbers(branch.elseYield().getResults())));
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    // The first step begins with what the host knows; so do all, if each hands on what
    // it can know then.
    DeviceValues step;
    for (Value argument : loop.getBody()->getArguments())
      step.known[argument] = false;
    return llvm::any_of(getNumbers(loop.getYieldedValues()),
                        [&](Value v) { return step.isOnDevice(v); });
  }
  // What is read from memory may come out.
  return (!getNumbers(op->getResults()).empty() && touchesMemory(op)) ||
         isa<scf::WhileOp>(op);
}

bool DeviceValues::compute(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop =
        dyn_cast<LoopLikeOpInterface>(argument.getOwner()->getParentOp());
    return loop && isControlledByDevice(loop);
  }
  Operation *op = value.getDefiningOp();
  if (isa<memref::LoadOp, memref::GetGlobalOp>(op))
    return true;
  if (op->getNumRegions() > 0)
    return isControlledByDevice(op);
  return llvm::any_of(op->getOperands(),
                      [&](Value v) { return isOnDevice(v); });
}

FailureOr<Value> attn::cloneComputation(OpBuilder &builder, Value value,
                                        IRMapping &mapping,
                                        function_ref<bool(Value)> isGiven) {
  if (Value there = mapping.lookupOrNull(value))
    return there;
  if (isGiven(value))
    return value;
  Operation *op = value.getDefiningOp();
  if (!op || writesMemory(op))
    return failure();
  llvm::SetVector<Value> needed(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), needed);
  for (Value operand : needed) {
    FailureOr<Value> clone =
        cloneComputation(builder, operand, mapping, isGiven);
    if (failed(clone))
      return failure();
    mapping.map(operand, *clone);
  }
  builder.clone(*op, mapping);
  return mapping.lookup(value);
}
