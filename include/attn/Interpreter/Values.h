// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What values of a program are while it is interpreted: 64-bit cells, and
// tensors of them.

#ifndef ATTN_INTERPRETER_VALUES_H
#define ATTN_INTERPRETER_VALUES_H

#include "attn/Interpreter/FloatFormats.h"
#include "mlir/IR/BuiltinTypes.h"
#include <memory>
#include <optional>
#include <vector>

namespace mlir::attn {

/// A scalar: floats of any type as a double, integers sign-extended to 64
/// bits, except booleans, which are 0 and 1.
union Cell {
  double real;
  int64_t integer;
};

inline Cell realCell(double value) {
  Cell cell;
  cell.real = value;
  return cell;
}

inline Cell integerCell(int64_t value) {
  Cell cell;
  cell.integer = value;
  return cell;
}

/// Return the format of the float type `type`, or none if it is another type.
std::optional<FloatFormat> getFloatFormat(Type type);

/// Return how many bits the integer or index type `type` has, or none if it is
/// another type or wider than 64 bits.
std::optional<unsigned> getIntegerWidth(Type type);

/// Return `value` as an integer of `width` bits is kept in a cell.
int64_t wrapInteger(int64_t value, unsigned width);

/// A tensor, row after row.
struct TensorValue {
  Type elementType;
  SmallVector<int64_t, 4> shape;
  std::vector<Cell> cells;

  TensorValue() = default;
  /// Make a tensor of `fill`; extents must be at least 0.
  TensorValue(Type elementType, ArrayRef<int64_t> shape, Cell fill);

  int64_t getRank() const { return static_cast<int64_t>(shape.size()); }
  int64_t getSize() const { return static_cast<int64_t>(cells.size()); }
  bool isFloat() const { return isa<FloatType>(elementType); }

  /// Return where the element at `index` stands in `cells`.
  int64_t offsetOf(ArrayRef<int64_t> index) const;
  double real(ArrayRef<int64_t> index) const {
    return cells[offsetOf(index)].real;
  }
  int64_t integer(ArrayRef<int64_t> index) const {
    return cells[offsetOf(index)].integer;
  }
};

/// Return the distance between neighbours along each dimension of `shape`.
SmallVector<int64_t, 4> rowMajorStrides(ArrayRef<int64_t> shape);

/// Advance `index` within `shape` in row-major order; false after the last.
bool advanceIndex(MutableArrayRef<int64_t> index, ArrayRef<int64_t> shape);

/// A scalar or a tensor. Copies share the tensor until one is written to.
class RuntimeValue {
public:
  RuntimeValue() : scalar(integerCell(0)) {}
  RuntimeValue(Cell scalar) : scalar(scalar) {}
  RuntimeValue(TensorValue tensor)
      : scalar(integerCell(0)),
        tensor(std::make_shared<TensorValue>(std::move(tensor))) {}

  bool isTensor() const { return tensor != nullptr; }
  Cell getScalar() const { return scalar; }
  const TensorValue &getTensor() const { return *tensor; }

  /// Return the tensor for writing, copied first if anyone shares it.
  TensorValue &getMutableTensor() {
    if (tensor.use_count() > 1)
      tensor = std::make_shared<TensorValue>(*tensor);
    return *tensor;
  }

private:
  Cell scalar;
  std::shared_ptr<TensorValue> tensor;
};

} // namespace mlir::attn

#endif // ATTN_INTERPRETER_VALUES_H
