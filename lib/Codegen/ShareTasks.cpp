// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes one function of parallel loops that are equal, as those of a model's layers are:
//
//   %a = scf.forall ... shared_outs(%o = %x) { ... %q ... }
//   %b = scf.forall ... shared_outs(%o = %y) { ... %a ... }
//
// becomes
//
//   func.func private @attn.task(%0, %o) { %r = scf.forall ... shared_outs(%p = %o) { ... %0 ... }  return %r }
//   %a = attn.call @attn.task(%q) outs(%x)
//   %b = attn.call @attn.task(%a) outs(%y)
//
// Constants, tensors without content and sizes that follow from them go into the function; so it is compiled as the loops
// were, once.

#include "attn/Codegen/Passes.h"
#include "attn/Codegen/Signature.h"
#include "attn/IR/AttnOps.h"
#include "attn/IR/AttrNames.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::attn {
#define GEN_PASS_DEF_SHARETASKS
#include "attn/Codegen/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

//===----------------------------------------------------------------------===//
// What a task uses
//===----------------------------------------------------------------------===//

namespace {
/// What a loop uses of the function around it.
struct TaskUses {
  /// Values that become arguments.
  SetVector<Value> inputs;
  /// Ops that are copied into the function, in an order in which they may stand.
  SetVector<Operation *> copied;

  static TaskUses get(scf::ForallOp task);

private:
  void add(Value value, const SetVector<Value> &used);
};
} // namespace

/// Return whether the op that gives `value` is better copied than its value passed
/// on. `used` are the values that a task uses itself.
static bool isCopied(Value value, const SetVector<Value> &used) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumResults() != 1)
    return false;
  if (isa<arith::ConstantOp>(op))
    return !isa<ShapedType>(value.getType());
  if (auto dim = dyn_cast<tensor::DimOp>(op))
    return used.contains(dim.getSource());
  return isa<tensor::EmptyOp, ThreadsOp, affine::AffineApplyOp,
             affine::AffineMinOp, affine::AffineMaxOp>(op);
}

void TaskUses::add(Value value, const SetVector<Value> &used) {
  if (!isCopied(value, used)) {
    inputs.insert(value);
    return;
  }
  Operation *op = value.getDefiningOp();
  if (copied.contains(op))
    return;
  for (Value operand : op->getOperands())
    add(operand, used);
  copied.insert(op);
}

TaskUses TaskUses::get(scf::ForallOp task) {
  SetVector<Value> used;
  auto use = [&](Value value) {
    if (!task->isAncestor(value.getParentRegion()->getParentOp()))
      used.insert(value);
  };
  unsigned outputs = task.getOutputs().size();
  for (Value operand : task->getOperands().drop_back(outputs))
    used.insert(operand);
  task.getRegion().walk(
      [&](Operation *op) { llvm::for_each(op->getOperands(), use); });
  TaskUses uses;
  for (Value value : used)
    uses.add(value, used);
  return uses;
}

//===----------------------------------------------------------------------===//
// Whether two tasks are equal
//===----------------------------------------------------------------------===//

namespace {
/// Compares two ops; values of the first that stand for values of the second are
/// remembered.
class TaskMatcher {
public:
  TaskMatcher(const TaskUses &uses, scf::ForallOp other)
      : uses(uses), other(other) {}

  bool match(Operation *a, Operation *b);
  Value lookup(Value value) const { return known.lookup(value); }

private:
  bool matchValue(Value a, Value b);
  bool matchRegion(Region &a, Region &b);

  const TaskUses &uses;
  /// The task that is compared with the one that has the uses.
  scf::ForallOp other;
  DenseMap<Value, Value> known;
};
} // namespace

bool TaskMatcher::matchValue(Value a, Value b) {
  if (Value before = known.lookup(a))
    return before == b;
  if (a.getType() != b.getType() ||
      other->isAncestor(b.getParentRegion()->getParentOp()))
    return false;
  if (Operation *op = a.getDefiningOp(); op && uses.copied.contains(op)) {
    Operation *same = b.getDefiningOp();
    return same && match(op, same);
  }
  known[a] = b;
  return true;
}

bool TaskMatcher::matchRegion(Region &a, Region &b) {
  if (a.empty() || b.empty())
    return a.empty() && b.empty();
  if (!a.hasOneBlock() || !b.hasOneBlock())
    return false;
  Block &first = a.front(), &second = b.front();
  if (first.getArgumentTypes() != second.getArgumentTypes() ||
      first.getOperations().size() != second.getOperations().size())
    return false;
  for (auto [x, y] : llvm::zip(first.getArguments(), second.getArguments()))
    known[x] = y;
  return llvm::all_of(llvm::zip(first, second), [&](auto pair) {
    return match(&std::get<0>(pair), &std::get<1>(pair));
  });
}

bool TaskMatcher::match(Operation *a, Operation *b) {
  if (a->getName() != b->getName() ||
      a->getAttrDictionary() != b->getAttrDictionary() ||
      a->getResultTypes() != b->getResultTypes() ||
      a->getNumOperands() != b->getNumOperands() ||
      a->getNumRegions() != b->getNumRegions())
    return false;
  for (auto [x, y] : llvm::zip(a->getOperands(), b->getOperands()))
    if (!matchValue(x, y))
      return false;
  for (auto [x, y] : llvm::zip(a->getRegions(), b->getRegions()))
    if (!matchRegion(x, y))
      return false;
  for (auto [x, y] : llvm::zip(a->getResults(), b->getResults()))
    known[x] = y;
  return true;
}

//===----------------------------------------------------------------------===//
// Groups of equal tasks
//===----------------------------------------------------------------------===//

namespace {
/// Equal tasks, and what each passes to the function that they become.
struct TaskGroup {
  TaskUses uses;
  SmallVector<scf::ForallOp> tasks;
  SmallVector<SmallVector<Value>> inputs;

  explicit TaskGroup(scf::ForallOp task)
      : uses(TaskUses::get(task)), tasks({task}),
        inputs({uses.inputs.takeVector()}) {
    uses.inputs.insert(inputs[0].begin(), inputs[0].end());
  }

  bool join(scf::ForallOp task);
  func::FuncOp createFunction(SymbolTable &symbols);
  void createCalls(func::FuncOp function, SmallVectorImpl<CallOp> &calls);
};
} // namespace

/// Add `task` if it is equal to the others.
bool TaskGroup::join(scf::ForallOp task) {
  TaskMatcher matcher(uses, task);
  if (!matcher.match(tasks.front(), task))
    return false;
  SmallVector<Value> own;
  for (Value input : inputs.front())
    own.push_back(matcher.lookup(input));
  tasks.push_back(task);
  inputs.push_back(std::move(own));
  return true;
}

/// Return whether the memory of `value` has an innermost stride of 1: unless it is
/// a part of an argument that may have any.
static bool isDense(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
      int64_t last = slice.getSourceType().getRank() - 1;
      if (slice.getDroppedDims().test(last) ||
          slice.getStaticStrides().back() != 1)
        return false;
      value = slice.getSource();
    } else if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp,
                   tensor::CastOp>(op)) {
      value = op->getOperand(0);
    } else {
      return true;
    }
  }
  auto argument = cast<BlockArgument>(value);
  auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
  return function &&
         function.getArgAttr(argument.getArgNumber(), kDenseAttrName);
}

/// Create the function: its arguments are the inputs, then the outputs.
func::FuncOp TaskGroup::createFunction(SymbolTable &symbols) {
  scf::ForallOp task = tasks.front();
  SmallVector<Value> arguments(inputs.front());
  llvm::append_range(arguments, task.getOutputs());
  OpBuilder b(task.getContext());
  Location loc = task.getLoc();
  auto function =
      func::FuncOp::create(loc, "attn.task",
                           b.getFunctionType(ValueRange(arguments).getTypes(),
                                             task.getResultTypes()));
  function.setPrivate();
  function->setAttr(kTaskAttrName, b.getUnitAttr());
  symbols.insert(function);
  b.setInsertionPointToStart(function.addEntryBlock());
  IRMapping map;
  for (auto [number, input] : llvm::enumerate(inputs.front())) {
    map.map(input, function.getArgument(number));
    if (isa<RankedTensorType>(input.getType()) &&
        llvm::all_of(inputs, [number = number](ArrayRef<Value> own) {
          return isDense(own[number]);
        }))
      function.setArgAttr(number, kDenseAttrName, b.getUnitAttr());
  }
  for (Operation *op : uses.copied)
    b.clone(*op, map);
  auto copy = cast<scf::ForallOp>(b.clone(*task, map));
  SmallVector<Value> outputs(
      function.getArguments().take_back(task.getOutputs().size()));
  copy.getOutputsMutable().assign(outputs);
  func::ReturnOp::create(b, loc, copy.getResults());
  return function;
}

/// Create a call before each task.
void TaskGroup::createCalls(func::FuncOp function,
                            SmallVectorImpl<CallOp> &calls) {
  for (auto [task, own] : llvm::zip(tasks, inputs)) {
    OpBuilder b(task);
    calls.push_back(CallOp::create(b, task.getLoc(), task.getResultTypes(),
                                   function.getSymName(), own,
                                   task.getOutputs()));
  }
}

namespace {
struct ShareTasks : attn::impl::ShareTasksBase<ShareTasks> {
  void runOnOperation() override {
    SmallVector<TaskGroup> groups;
    getOperation().walk<WalkOrder::PreOrder>([&](scf::ForallOp task) {
      auto function = task->getParentOfType<func::FuncOp>();
      if (!function || !task->hasAttr(kScheduleAttrName) ||
          !(function.isPublic() || function->hasAttr(kOutputsAttrName)))
        return WalkResult::skip();
      if (!llvm::any_of(groups,
                        [&](TaskGroup &group) { return group.join(task); }))
        groups.emplace_back(task);
      // A loop in a loop is part of that.
      return WalkResult::skip();
    });
    SymbolTable symbols(getOperation());
    // Tasks use what others give: all calls are there before a task goes.
    SmallVector<CallOp> calls;
    SmallVector<scf::ForallOp> tasks;
    for (TaskGroup &group : groups) {
      if (group.tasks.size() == 1)
        continue;
      group.createCalls(group.createFunction(symbols), calls);
      llvm::append_range(tasks, group.tasks);
    }
    for (auto [task, call] : llvm::zip(tasks, calls))
      task->replaceAllUsesWith(call);
    for (scf::ForallOp task : llvm::reverse(tasks))
      task->erase();
  }
};
} // namespace
