// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs bodies of element-wise ops.

#include "ElementBody.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::attn;

ElementBody::ElementBody(Machine &machine, Block &block)
    : machine(machine), block(block), isPrepared(prepare()) {}

bool ElementBody::prepare() {
  for (BlockArgument argument : block.getArguments())
    slots[argument] = argument.getArgNumber();
  cells.resize(block.getNumArguments());
  for (Operation &op : block.without_terminator())
    if (!prepareStep(&op))
      return false;
  for (Value operand : block.getTerminator()->getOperands()) {
    std::optional<unsigned> slot = slotOf(operand);
    if (!slot)
      return false;
    resultSlots.push_back(*slot);
  }
  results.resize(resultSlots.size());
  return true;
}

std::optional<unsigned> ElementBody::slotOf(Value value) {
  auto found = slots.find(value);
  if (found != slots.end())
    return found->second;
  // A value from outside is the same in every run.
  if (value.getParentBlock() == &block || isa<ShapedType>(value.getType()))
    return std::nullopt;
  unsigned slot = cells.size();
  cells.push_back(machine.get(value).getScalar());
  slots[value] = slot;
  return slot;
}

bool ElementBody::prepareStep(Operation *op) {
  if (op->getNumResults() != 1 || isa<ShapedType>(op->getResult(0).getType()))
    return false;
  Step step;
  step.op = op;
  OperandRange scalars = op->getOperands();
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    FailureOr<RuntimeValue> value = machine.getConstant(constant.getValue());
    if (failed(value))
      return false;
    slots[constant] = cells.size();
    cells.push_back(value->getScalar());
    return true;
  }
  if (auto index = dyn_cast<linalg::IndexOp>(op)) {
    step.kind = StepKind::Index;
    step.dim = index.getDim();
  } else if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    if (extract.getTensor().getParentBlock() == &block)
      return false;
    step.kind = StepKind::Extract;
    step.tensor = machine.get(extract.getTensor());
    scalars = extract.getIndices();
  } else if (const ScalarOp *scalar = machine.getScalarOp(op)) {
    step.kind = StepKind::Scalar;
    step.scalar = *scalar;
  } else {
    return false;
  }
  for (Value operand : scalars) {
    std::optional<unsigned> slot = slotOf(operand);
    if (!slot)
      return false;
    step.operands.push_back(*slot);
  }
  step.result = cells.size();
  slots[op->getResult(0)] = step.result;
  cells.push_back(integerCell(0));
  steps.push_back(std::move(step));
  return true;
}

LogicalResult ElementBody::runExtract(const Step &step) {
  const TensorValue &tensor = step.tensor.getTensor();
  SmallVector<int64_t, 4> index;
  for (auto [dim, slot] : llvm::enumerate(step.operands)) {
    int64_t i = cells[slot].integer;
    if (i < 0 || i >= tensor.shape[dim])
      return step.op->emitOpError("reads index ")
             << i << " of dimension " << dim << ", which has "
             << tensor.shape[dim] << " elements";
    index.push_back(i);
  }
  cells[step.result] = tensor.cells[tensor.offsetOf(index)];
  return success();
}

FailureOr<ArrayRef<Cell>> ElementBody::run(ArrayRef<Cell> arguments,
                                           ArrayRef<int64_t> indices) {
  if (!isPrepared)
    return runSlowly(arguments, indices);
  // A body need not take what the op only writes.
  std::copy_n(arguments.begin(), block.getNumArguments(), cells.begin());
  const char *fault = nullptr;
  for (const Step &step : steps) {
    switch (step.kind) {
    case StepKind::Scalar: {
      Cell operands[kMaxScalarOperands];
      for (unsigned i = 0, e = step.operands.size(); i < e; ++i)
        operands[i] = cells[step.operands[i]];
      cells[step.result] = step.scalar.run(operands, fault);
      if (fault)
        return step.op->emitOpError(fault);
      break;
    }
    case StepKind::Index:
      cells[step.result].integer = indices[step.dim];
      break;
    case StepKind::Extract:
      if (failed(runExtract(step)))
        return failure();
      break;
    }
  }
  for (auto [result, slot] : llvm::zip_equal(results, resultSlots))
    result = cells[slot];
  return ArrayRef<Cell>(results);
}

FailureOr<ArrayRef<Cell>> ElementBody::runSlowly(ArrayRef<Cell> arguments,
                                                 ArrayRef<int64_t> indices) {
  ArrayRef<Cell> taken = arguments.take_front(block.getNumArguments());
  SmallVector<RuntimeValue> values(taken.begin(), taken.end());
  machine.loopIndices.push_back(indices);
  LogicalResult ran = machine.runBlock(block, std::move(values));
  machine.loopIndices.pop_back();
  if (failed(ran))
    return failure();
  results.clear();
  for (Value operand : block.getTerminator()->getOperands())
    results.push_back(machine.get(operand).getScalar());
  return ArrayRef<Cell>(results);
}
