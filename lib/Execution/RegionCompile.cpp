// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a region to the steps that the reference runs.

#include "RegionCompile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::attn;

namespace {
class RegionCompiler {
public:
  RegionCompiler(Region &region, ArrayRef<HostTensor> arguments)
      : region(region), arguments(arguments) {}

  std::shared_ptr<const RegionFunction> compile();

private:
  std::optional<unsigned> find(Value value);
  std::optional<HostTensor> argumentOf(Value value);
  std::optional<unsigned> compile(Operation &op);

  Region &region;
  ArrayRef<HostTensor> arguments;
  RegionFunction function;
  DenseMap<Value, unsigned> numbers;
};
} // namespace

/// Return the step that compares as `predicate` says, unless without signs.
static std::optional<RegionStep> getComparison(arith::CmpIPredicate predicate) {
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return RegionStep::Equal;
  case arith::CmpIPredicate::ne:
    return RegionStep::NotEqual;
  case arith::CmpIPredicate::slt:
    return RegionStep::Less;
  case arith::CmpIPredicate::sle:
    return RegionStep::LessEqual;
  case arith::CmpIPredicate::sgt:
    return RegionStep::Greater;
  case arith::CmpIPredicate::sge:
    return RegionStep::GreaterEqual;
  default:
    return std::nullopt;
  }
}

/// Return the step for `op`, if there is one.
static std::optional<RegionStep> getStep(Operation &op) {
  using Step = std::optional<RegionStep>;
  auto always = [](RegionStep step) {
    return [step](auto) -> Step { return step; };
  };
  return llvm::TypeSwitch<Operation *, Step>(&op)
      .Case<arith::AddIOp>(always(RegionStep::Add))
      .Case<arith::SubIOp>(always(RegionStep::Subtract))
      .Case<arith::MulIOp>(always(RegionStep::Multiply))
      .Case<arith::DivSIOp>(always(RegionStep::Divide))
      .Case<arith::FloorDivSIOp>(always(RegionStep::FloorDivide))
      .Case<arith::RemSIOp>(always(RegionStep::Remainder))
      .Case<arith::MinSIOp>(always(RegionStep::Minimum))
      .Case<arith::MaxSIOp>(always(RegionStep::Maximum))
      .Case<arith::AndIOp>(always(RegionStep::And))
      .Case<arith::OrIOp>(always(RegionStep::Or))
      .Case<arith::XOrIOp>(always(RegionStep::ExclusiveOr))
      .Case<math::AbsIOp>(always(RegionStep::Absolute))
      .Case<arith::SIToFPOp>(always(RegionStep::ToFloat))
      .Case<arith::AddFOp>(always(RegionStep::AddFloat))
      .Case<arith::SubFOp>(always(RegionStep::SubtractFloat))
      .Case<arith::MulFOp>(always(RegionStep::MultiplyFloat))
      .Case<arith::DivFOp>(always(RegionStep::DivideFloat))
      .Case<arith::NegFOp>(always(RegionStep::NegateFloat))
      .Case<arith::MaximumFOp>(always(RegionStep::MaximumFloat))
      .Case<arith::MinimumFOp>(always(RegionStep::MinimumFloat))
      .Case<math::TanhOp>(always(RegionStep::Tanh))
      .Case<math::ExpOp>(always(RegionStep::Exponential))
      .Case<arith::SelectOp>(always(RegionStep::Select))
      .Case([](arith::CmpIOp compare) -> Step {
        if (compare.getLhs().getType().isInteger(1))
          return std::nullopt;
        return getComparison(compare.getPredicate());
      })
      .Case<arith::IndexCastOp, arith::ExtSIOp>([](auto cast) -> Step {
        if (cast.getIn().getType().isInteger(1))
          return std::nullopt;
        return RegionStep::ToInteger;
      })
      .Case([](arith::ExtUIOp cast) -> Step {
        if (!cast.getIn().getType().isInteger(1))
          return std::nullopt;
        return RegionStep::Unsigned;
      })
      .Default([](Operation *) -> Step { return std::nullopt; });
}

/// Return the argument of the function that `value` is.
std::optional<HostTensor> RegionCompiler::argumentOf(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || region.isAncestor(argument.getParentRegion()))
    return std::nullopt;
  if (arguments.empty())
    return HostTensor();
  return arguments[argument.getArgNumber()];
}

std::optional<unsigned> RegionCompiler::find(Value value) {
  auto known = numbers.find(value);
  if (known != numbers.end())
    return known->second;
  std::optional<HostTensor> scalar = argumentOf(value);
  if (!scalar)
    return std::nullopt;
  unsigned number =
      function.addLoad(*scalar, isa<FloatType>(value.getType()), {});
  numbers[value] = number;
  return number;
}

std::optional<unsigned> RegionCompiler::compile(Operation &op) {
  Type type = op.getResult(0).getType();
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (auto real = dyn_cast<FloatAttr>(constant.getValue()))
      return function.addFloat(real.getValueAsDouble());
    APInt integer = cast<IntegerAttr>(constant.getValue()).getValue();
    return function.addInteger(type.isInteger(1) ? integer.getZExtValue()
                                                 : integer.getSExtValue());
  }
  SmallVector<unsigned> operands;
  auto extract = dyn_cast<tensor::ExtractOp>(op);
  for (Value operand :
       extract ? OperandRange(extract.getIndices()) : op.getOperands()) {
    std::optional<unsigned> number = find(operand);
    if (!number)
      return std::nullopt;
    operands.push_back(*number);
  }
  if (extract) {
    std::optional<HostTensor> tensor = argumentOf(extract.getTensor());
    if (!tensor)
      return std::nullopt;
    return function.addLoad(*tensor, isa<FloatType>(type), operands);
  }
  // Floats of other types would have to be rounded.
  for (Type used : op.getOperandTypes())
    if (isa<FloatType>(used) && used != type && !type.isInteger(1))
      return std::nullopt;
  std::optional<RegionStep> step = getStep(op);
  if (!step)
    return std::nullopt;
  unsigned width = type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 64;
  return function.add(*step, operands, isa<FloatType>(type) ? 64 : width);
}

std::shared_ptr<const RegionFunction> RegionCompiler::compile() {
  auto own = region.front().getArguments();
  for (BlockArgument argument : own)
    numbers[argument] = argument.getArgNumber() + 5 - own.size();
  for (Operation &op : region.front().without_terminator()) {
    std::optional<unsigned> number = compile(op);
    if (!number)
      return nullptr;
    numbers[op.getResult(0)] = *number;
  }
  std::optional<unsigned> result =
      find(region.front().getTerminator()->getOperand(0));
  if (!result)
    return nullptr;
  function.setResult(*result);
  return std::make_shared<const RegionFunction>(std::move(function));
}

std::shared_ptr<const RegionFunction>
mlir::attn::compileRegion(Region &region, ArrayRef<HostTensor> arguments) {
  return RegionCompiler(region, arguments).compile();
}
