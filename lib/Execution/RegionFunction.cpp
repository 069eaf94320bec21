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

/// Return whether a comparison of this kind holds, or nothing for another kind.
static std::optional<bool> compare(RegionStep kind, int64_t x, int64_t y) {
  switch (kind) {
  case RegionStep::Equal:
    return x == y;
  case RegionStep::NotEqual:
    return x != y;
  case RegionStep::Less:
    return x < y;
  case RegionStep::LessEqual:
    return x <= y;
  case RegionStep::Greater:
    return x > y;
  case RegionStep::GreaterEqual:
    return x >= y;
  default:
    return std::nullopt;
  }
}

/// Return what a step of this kind makes of integers, which wrap, or nothing for a
/// step on others.
static std::optional<int64_t> applyToIntegers(RegionStep kind, int64_t x,
                                              int64_t y) {
  uint64_t ux = x, uy = y;
  switch (kind) {
  case RegionStep::Add:
    return static_cast<int64_t>(ux + uy);
  case RegionStep::Subtract:
    return static_cast<int64_t>(ux - uy);
  case RegionStep::Multiply:
    return static_cast<int64_t>(ux * uy);
  case RegionStep::Divide:
  case RegionStep::FloorDivide:
  case RegionStep::Remainder:
    return divide(kind, x, y);
  case RegionStep::Minimum:
    return std::min(x, y);
  case RegionStep::Maximum:
    return std::max(x, y);
  case RegionStep::And:
    return x & y;
  case RegionStep::Or:
    return x | y;
  case RegionStep::ExclusiveOr:
    return x ^ y;
  case RegionStep::ToInteger:
    return x;
  case RegionStep::Unsigned: // from a condition
    return x & 1;
  case RegionStep::Absolute:
    return x < 0 ? static_cast<int64_t>(-ux) : x;
  default:
    return compare(kind, x, y);
  }
}

/// Return what a step of this kind makes of floats.
template <typename T>
static T applyToFloats(RegionStep kind, T x, T y) {
  switch (kind) {
  case RegionStep::AddFloat:
    return x + y;
  case RegionStep::SubtractFloat:
    return x - y;
  case RegionStep::MultiplyFloat:
    return x * y;
  case RegionStep::DivideFloat:
    return x / y;
  case RegionStep::NegateFloat:
    return -x;
  case RegionStep::MaximumFloat:
    return x > y || std::isnan(x) ? x : y;
  case RegionStep::MinimumFloat:
    return x < y || std::isnan(x) ? x : y;
  case RegionStep::Tanh:
    return std::tanh(x);
  case RegionStep::Exponential:
    return std::exp(x);
  default:
    llvm_unreachable("all kinds of steps are handled");
  }
}

template <typename T>
RegionFunction::Number<T>
RegionFunction::apply(const Step &step, llvm::ArrayRef<Number<T>> numbers) {
  auto get = [&](unsigned i) {
    return i < step.operands.size() ? numbers[step.operands[i]] : Number<T>();
  };
  Number<T> x = get(0), y = get(1), z = get(2);
  switch (step.kind) {
  case RegionStep::Constant:
    return {step.integer, 0};
  case RegionStep::ConstantFloat:
    return {0, static_cast<T>(step.real)};
  case RegionStep::Load:
  case RegionStep::LoadFloat:
    return load<T>(step, numbers);
  case RegionStep::Select:
  case RegionStep::SelectFloat:
    return x.integer & 1 ? y : z;
  case RegionStep::ToFloat:
    return {0, static_cast<T>(x.integer)};
  default:
    break;
  }
  if (std::optional<int64_t> number =
          applyToIntegers(step.kind, x.integer, y.integer))
    return {*number, 0};
  return {0, applyToFloats(step.kind, x.real, y.real)};
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
