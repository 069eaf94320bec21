// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A score_mod or mask_mod as a list of steps on numbers, for the reference: it shares no code with the interpreter.

#ifndef ATTN_EXECUTION_REGIONFUNCTION_H
#define ATTN_EXECUTION_REGIONFUNCTION_H

#include "attn/Execution/Tensor.h"

#include "llvm/ADT/SmallVector.h"

#include <optional>
#include <vector>

namespace mlir::attn {

/// What a step does with one to three numbers.
enum class RegionStep {
  Constant,
  Load,
  Add,
  Subtract,
  Multiply,
  Divide,
  FloorDivide,
  Remainder,
  Minimum,
  Maximum,
  And,
  Or,
  ExclusiveOr,
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  Select,
  ToInteger,
  ToFloat,
  Unsigned,
  Absolute,
  AddFloat,
  SubtractFloat,
  MultiplyFloat,
  DivideFloat,
  NegateFloat,
  MaximumFloat,
  MinimumFloat,
  Tanh,
  Exponential,
  SelectFloat,
  LoadFloat,
  ConstantFloat
};

/// A function of a score and its place.
class RegionFunction {
public:
  /// Add a step on the numbers in `operands`, whose result has `width` bits if it
  /// is an integer; return where that is. The first five numbers are the score,
  /// the entry of the batch, the head, the position and the key.
  unsigned add(RegionStep step, llvm::ArrayRef<unsigned> operands,
               unsigned width);
  /// The same with a constant, or with a tensor to read.
  unsigned addInteger(int64_t value);
  unsigned addFloat(double value);
  unsigned addLoad(HostTensor tensor, bool isFloat,
                   llvm::ArrayRef<unsigned> indices);
  void setResult(unsigned number) { result = number; }

  /// Return the score that is made of `score`, in arithmetic of type T; a read
  /// outside of a tensor gives the nearest element.
  template <typename T>
  T evaluateScore(T score, int64_t b, int64_t h, int64_t i, int64_t j) const {
    return run(score, b, h, i, j).real;
  }
  /// Return whether the key is kept.
  bool evaluateMask(int64_t b, int64_t h, int64_t i, int64_t j) const {
    return run(0.0, b, h, i, j).integer & 1;
  }

private:
  template <typename T>
  struct Number {
    int64_t integer = 0;
    T real = 0;
  };
  struct Step {
    RegionStep kind;
    unsigned width = 64;
    llvm::SmallVector<unsigned, 3> operands;
    int64_t integer = 0;
    double real = 0;
    std::optional<HostTensor> tensor;
  };

  template <typename T>
  Number<T> run(T score, int64_t b, int64_t h, int64_t i, int64_t j) const;
  template <typename T>
  static Number<T> load(const Step &step, llvm::ArrayRef<Number<T>> numbers);
  template <typename T>
  static Number<T> apply(const Step &step, llvm::ArrayRef<Number<T>> numbers);

  std::vector<Step> steps;
  unsigned result = 0;
};

} // namespace mlir::attn

#endif // ATTN_EXECUTION_REGIONFUNCTION_H
