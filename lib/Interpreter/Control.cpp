// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constants, calls, branches, loops, and the index arithmetic of affine.

#include "Machine.h"

#include "attn/IR/AttnOps.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::attn;

static void setResults(Machine &machine, Operation *op,
                       ArrayRef<RuntimeValue> values) {
  for (auto [result, value] : llvm::zip_equal(op->getResults(), values))
    machine.set(result, value);
}

static SmallVector<RuntimeValue> takeAll(Machine &machine, ValueRange values,
                                         Operation *user) {
  SmallVector<RuntimeValue> taken;
  for (Value value : values)
    taken.push_back(machine.take(value, user));
  return taken;
}

static LogicalResult runConstant(Machine &machine, arith::ConstantOp op) {
  FailureOr<RuntimeValue> value = machine.getConstant(op.getValue());
  if (failed(value))
    return op.emitOpError("expects floats or integers of at most 64 bits, got ")
           << op.getType();
  machine.set(op, *value);
  return success();
}

static LogicalResult runCall(Machine &machine, func::CallOp op) {
  auto function = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      op, op.getCalleeAttr());
  if (!function)
    return op.emitOpError("calls '") << op.getCallee() << "', which is unknown";
  auto results = machine.call(function, takeAll(machine, op.getOperands(), op));
  if (failed(results))
    return failure();
  setResults(machine, op, *results);
  return success();
}

/// attn.call: the callee's tensors are its results.
static LogicalResult runTask(Machine &machine, CallOp op) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      op, op.getCalleeAttr());
  if (!callee)
    return op.emitOpError() << "expects a function as 'callee'";
  SmallVector<RuntimeValue> arguments;
  for (Value operand : op->getOperands())
    arguments.push_back(machine.get(operand));
  auto results = machine.call(callee, std::move(arguments));
  if (failed(results))
    return failure();
  setResults(machine, op, *results);
  return success();
}

/// attn.threads: the interpreter is one.
static LogicalResult runThreads(Machine &machine, ThreadsOp op) {
  machine.set(op.getCount(), integerCell(1));
  return success();
}

static LogicalResult runIf(Machine &machine, scf::IfOp op) {
  bool taken = machine.getInteger(op.getCondition()) != 0;
  Region &region = taken ? op.getThenRegion() : op.getElseRegion();
  if (region.empty())
    return success();
  auto results = machine.runRegion(region, {});
  if (failed(results))
    return failure();
  setResults(machine, op, *results);
  return success();
}

static LogicalResult runSwitch(Machine &machine, scf::IndexSwitchOp op) {
  int64_t selector = machine.getInteger(op.getArg());
  Region *region = &op.getDefaultRegion();
  for (auto [value, body] : llvm::zip_equal(op.getCases(), op.getCaseRegions()))
    if (value == selector)
      region = &body;
  auto results = machine.runRegion(*region, {});
  if (failed(results))
    return failure();
  setResults(machine, op, *results);
  return success();
}

static LogicalResult runExecuteRegion(Machine &machine,
                                      scf::ExecuteRegionOp op) {
  auto results = machine.runRegion(op.getRegion(), {});
  if (failed(results))
    return failure();
  setResults(machine, op, *results);
  return success();
}

static LogicalResult runFor(Machine &machine, scf::ForOp op) {
  int64_t lower = machine.getInteger(op.getLowerBound());
  int64_t upper = machine.getInteger(op.getUpperBound());
  int64_t step = machine.getInteger(op.getStep());
  if (step <= 0)
    return op.emitOpError("expects a step above 0, got ") << step;
  SmallVector<RuntimeValue> carried = takeAll(machine, op.getInitArgs(), op);
  for (int64_t i = lower; i < upper;) {
    SmallVector<RuntimeValue> arguments = {integerCell(i)};
    arguments.append(std::make_move_iterator(carried.begin()),
                     std::make_move_iterator(carried.end()));
    // The body then is the only owner of what is carried.
    carried.clear();
    auto results = machine.runRegion(op.getRegion(), std::move(arguments));
    if (failed(results))
      return failure();
    carried = std::move(*results);
    if (llvm::AddOverflow(i, step, i))
      break;
  }
  setResults(machine, op, carried);
  return success();
}

static LogicalResult runWhile(Machine &machine, scf::WhileOp op) {
  SmallVector<RuntimeValue> carried = takeAll(machine, op.getInits(), op);
  while (true) {
    auto before = machine.runRegion(op.getBefore(), std::move(carried));
    if (failed(before))
      return failure();
    ArrayRef<RuntimeValue> passed = ArrayRef(*before).drop_front();
    if (before->front().getScalar().integer == 0) {
      setResults(machine, op, passed);
      return success();
    }
    auto after = machine.runRegion(op.getAfter(), llvm::to_vector(passed));
    if (failed(after))
      return failure();
    carried = std::move(*after);
  }
}

/// The tasks of a forall run one after the other. Each sees the shared tensors
/// as they were at entry; what it inserts goes into the results at its end.
static LogicalResult runForall(Machine &machine, scf::ForallOp op) {
  SmallVector<int64_t> lower = machine.getIntegers(op.getMixedLowerBound());
  SmallVector<int64_t> upper = machine.getIntegers(op.getMixedUpperBound());
  SmallVector<int64_t> step = machine.getIntegers(op.getMixedStep());
  SmallVector<int64_t> trips, index(lower.size(), 0);
  for (size_t i = 0; i < lower.size(); ++i) {
    if (step[i] <= 0)
      return op.emitOpError("expects steps above 0, got ") << step[i];
    trips.push_back(upper[i] <= lower[i]
                        ? 0
                        : llvm::divideCeil(upper[i] - lower[i], step[i]));
  }
  SmallVector<RuntimeValue> shared = takeAll(machine, op.getOutputs(), op);
  SmallVector<RuntimeValue> results = shared;
  bool runs = !llvm::is_contained(trips, 0);
  while (runs) {
    SmallVector<RuntimeValue> arguments;
    for (size_t i = 0; i < lower.size(); ++i)
      arguments.push_back(integerCell(lower[i] + index[i] * step[i]));
    arguments.append(shared.begin(), shared.end());
    if (failed(machine.runBlock(*op.getBody(), std::move(arguments))))
      return failure();
    for (Operation &yield : op.getTerminator().getYieldingOps()) {
      auto insert = dyn_cast<tensor::ParallelInsertSliceOp>(&yield);
      if (!insert)
        return yield.emitError("the interpreter does not know '")
               << yield.getName() << "'";
      int64_t number =
          cast<BlockArgument>(insert.getDest()).getArgNumber() - lower.size();
      if (failed(insertSlice(insert, machine.getTensor(insert.getSource()),
                             Slice::get(machine, insert),
                             results[number].getMutableTensor())))
        return failure();
    }
    runs = advanceIndex(index, trips);
  }
  setResults(machine, op, results);
  return success();
}

std::optional<int64_t> mlir::attn::evaluateAffine(AffineExpr expression,
                                                  ArrayRef<int64_t> dims,
                                                  ArrayRef<int64_t> symbols) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expression))
    return constant.getValue();
  if (auto dim = dyn_cast<AffineDimExpr>(expression))
    return dims[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expression))
    return symbols[symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expression);
  std::optional<int64_t> left = evaluateAffine(binary.getLHS(), dims, symbols);
  std::optional<int64_t> right = evaluateAffine(binary.getRHS(), dims, symbols);
  if (!left || !right)
    return std::nullopt;
  if (binary.getKind() == AffineExprKind::Add)
    return *left + *right;
  if (binary.getKind() == AffineExprKind::Mul)
    return *left * *right;
  if (*right < 1)
    return std::nullopt;
  if (binary.getKind() == AffineExprKind::FloorDiv)
    return llvm::divideFloorSigned(*left, *right);
  if (binary.getKind() == AffineExprKind::CeilDiv)
    return llvm::divideCeilSigned(*left, *right);
  return *left - *right * llvm::divideFloorSigned(*left, *right);
}

/// Evaluate all results of `map`, whose operands are those of `op`.
static FailureOr<SmallVector<int64_t>>
evaluateMap(Machine &machine, Operation *op, AffineMap map) {
  SmallVector<int64_t> operands;
  for (Value operand : op->getOperands())
    operands.push_back(machine.getInteger(operand));
  ArrayRef<int64_t> all = operands;
  SmallVector<int64_t> results;
  for (AffineExpr expression : map.getResults()) {
    std::optional<int64_t> value =
        evaluateAffine(expression, all.take_front(map.getNumDims()),
                       all.drop_front(map.getNumDims()));
    if (!value)
      return op->emitOpError("divides by a number below 1");
    results.push_back(*value);
  }
  return results;
}

static LogicalResult runApply(Machine &machine, affine::AffineApplyOp op) {
  auto values = evaluateMap(machine, op, op.getAffineMap());
  if (failed(values))
    return failure();
  machine.set(op, integerCell(values->front()));
  return success();
}

static LogicalResult runMin(Machine &machine, affine::AffineMinOp op) {
  auto values = evaluateMap(machine, op, op.getAffineMap());
  if (failed(values))
    return failure();
  machine.set(op, integerCell(*llvm::min_element(*values)));
  return success();
}

static LogicalResult runMax(Machine &machine, affine::AffineMaxOp op) {
  auto values = evaluateMap(machine, op, op.getAffineMap());
  if (failed(values))
    return failure();
  machine.set(op, integerCell(*llvm::max_element(*values)));
  return success();
}

void mlir::attn::addControlHandlers(Machine &machine) {
  addHandler<arith::ConstantOp, runConstant>(machine);
  addHandler<func::CallOp, runCall>(machine);
  addHandler<CallOp, runTask>(machine);
  addHandler<ThreadsOp, runThreads>(machine);
  addHandler<scf::IfOp, runIf>(machine);
  addHandler<scf::IndexSwitchOp, runSwitch>(machine);
  addHandler<scf::ExecuteRegionOp, runExecuteRegion>(machine);
  addHandler<scf::ForOp, runFor>(machine);
  addHandler<scf::WhileOp, runWhile>(machine);
  addHandler<scf::ForallOp, runForall>(machine);
  addHandler<affine::AffineApplyOp, runApply>(machine);
  addHandler<affine::AffineMinOp, runMin>(machine);
  addHandler<affine::AffineMaxOp, runMax>(machine);
}
