// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the steps of a region.

#include "attn/Execution/RegionFunction.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir::attn;

/// The score and its place come before the results of steps.
static constexpr unsigned kArguments = 5;

unsigned RegionFunction::add(RegionStep kind, llvm::ArrayRef<unsigned> operands,
                             unsigned width) {
  Step step;
  step.kind = kind;
  step.width = width;
  step.operands.assign(operands.begin(), operands.end());
  steps.push_back(std::move(step));
  return kArguments + steps.size() - 1;
}

unsigned RegionFunction::addInteger(int64_t value) {
  unsigned number = add(RegionStep::Constant, {}, 64);
  steps.back().integer = value;
  return number;
}

unsigned RegionFunction::addFloat(double value) {
  unsigned number = add(RegionStep::ConstantFloat, {}, 64);
  steps.back().real = value;
  return number;
}

unsigned RegionFunction::addLoad(HostTensor tensor, bool isFloat,
                                 llvm::ArrayRef<unsigned> indices) {
  unsigned number =
      add(isFloat ? RegionStep::LoadFloat : RegionStep::Load, indices, 64);
  steps.back().tensor = std::move(tensor);
  return number;
}

template <typename T>
RegionFunction::Number<T>
RegionFunction::load(const Step &step, llvm::ArrayRef<Number<T>> numbers) {
  const HostTensor &tensor = *step.tensor;
  if (tensor.getSize() == 0)
    return {};
  int64_t offset = 0;
  for (auto [dim, operand] : llvm::enumerate(step.operands)) {
    int64_t last = tensor.getDim(dim) - 1;
    offset += std::clamp<int64_t>(numbers[operand].integer, 0, last) *
              tensor.getStrides()[dim];
  }
  if (step.kind == RegionStep::LoadFloat)
    return {0, static_cast<T>(tensor.load(offset))};
  return {tensor.loadInteger(offset), 0};
}

/// Return the remainder or the quotient; 0 is a divisor of nothing that counts.
static int64_t divide(RegionStep kind, int64_t x, int64_t y) {
  if (y == 0)
    y = 1;
  if (kind == RegionStep::Remainder)
    return y == -1 ? 0 : x % y;
  if (y == -1)
    return static_cast<int64_t>(-static_cast<uint64_t>(x));
  if (kind == RegionStep::FloorDivide)
    return x / y - ((x % y != 0) && ((x < 0) != (y < 0)));
  return x / y;
}

template <typename T>
RegionFunction::Number<T>
RegionFunction::apply(const Step &step, llvm::ArrayRef<Number<T>> numbers) {
  auto get = [&](unsigned i) {
    return i < step.operands.size() ? numbers[step.operands[i]] : Number<T>();
  };
  Number<T> x = get(0), y = get(1), z = get(2);
  uint64_t ux = x.integer, uy = y.integer;
  switch (step.kind) {
  case RegionStep::Constant:
    return {step.integer, 0};
  case RegionStep::ConstantFloat:
    return {0, static_cast<T>(step.real)};
  case RegionStep::Load:
  case RegionStep::LoadFloat:
    return load<T>(step, numbers);
  case RegionStep::Add:
    return {static_cast<int64_t>(ux + uy), 0};
  case RegionStep::Subtract:
    return {static_cast<int64_t>(ux - uy), 0};
  case RegionStep::Multiply:
    return {static_cast<int64_t>(ux * uy), 0};
  case RegionStep::Divide:
  case RegionStep::FloorDivide:
  case RegionStep::Remainder:
    return {divide(step.kind, x.integer, y.integer), 0};
  case RegionStep::Minimum:
    return {std::min(x.integer, y.integer), 0};
  case RegionStep::Maximum:
    return {std::max(x.integer, y.integer), 0};
  case RegionStep::And:
    return {x.integer & y.integer, 0};
  case RegionStep::Or:
    return {x.integer | y.integer, 0};
  case RegionStep::ExclusiveOr:
    return {x.integer ^ y.integer, 0};
  case RegionStep::Equal:
    return {x.integer == y.integer, 0};
  case RegionStep::NotEqual:
    return {x.integer != y.integer, 0};
  case RegionStep::Less:
    return {x.integer < y.integer, 0};
  case RegionStep::LessEqual:
    return {x.integer <= y.integer, 0};
  case RegionStep::Greater:
    return {x.integer > y.integer, 0};
  case RegionStep::GreaterEqual:
    return {x.integer >= y.integer, 0};
  case RegionStep::Select:
  case RegionStep::SelectFloat:
    return x.integer & 1 ? y : z;
  case RegionStep::ToInteger:
    return {x.integer, 0};
  case RegionStep::ToFloat:
    return {0, static_cast<T>(x.integer)};
  case RegionStep::Unsigned: // from a condition
    return {x.integer & 1, 0};
  case RegionStep::Absolute:
    return {x.integer < 0 ? static_cast<int64_t>(-ux) : x.integer, 0};
  case RegionStep::AddFloat:
    return {0, x.real + y.real};
  case RegionStep::SubtractFloat:
    return {0, x.real - y.real};
  case RegionStep::MultiplyFloat:
    return {0, x.real * y.real};
  case RegionStep::DivideFloat:
    return {0, x.real / y.real};
  case RegionStep::NegateFloat:
    return {0, -x.real};
  case RegionStep::MaximumFloat:
    return {0, x.real > y.real || std::isnan(x.real) ? x.real : y.real};
  case RegionStep::MinimumFloat:
    return {0, x.real < y.real || std::isnan(x.real) ? x.real : y.real};
  case RegionStep::Tanh:
    return {0, std::tanh(x.real)};
  case RegionStep::Exponential:
    return {0, std::exp(x.real)};
  }
  llvm_unreachable("all kinds of steps are handled");
}

template <typename T>
RegionFunction::Number<T> RegionFunction::run(T score, int64_t b, int64_t h,
                                              int64_t i, int64_t j) const {
  llvm::SmallVector<Number<T>, 48> numbers(kArguments + steps.size());
  numbers[0].real = score;
  numbers[1].integer = b;
  numbers[2].integer = h;
  numbers[3].integer = i;
  numbers[4].integer = j;
  for (auto [at, step] : llvm::enumerate(steps)) {
    Number<T> number = apply<T>(step, numbers);
    // Narrow integers wrap.
    if (step.width < 64 && step.width > 1)
      number.integer = llvm::SignExtend64(number.integer, step.width);
    numbers[kArguments + at] = number;
  }
  return numbers[result];
}

namespace mlir::attn {
template RegionFunction::Number<float>
RegionFunction::run(float, int64_t, int64_t, int64_t, int64_t) const;
template RegionFunction::Number<double>
RegionFunction::run(double, int64_t, int64_t, int64_t, int64_t) const;
template RegionFunction::Number<long double>
RegionFunction::run(long double, int64_t, int64_t, int64_t, int64_t) const;
} // namespace mlir::attn
