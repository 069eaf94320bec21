// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cells and tensors of the interpreter.

#include "attn/Interpreter/Values.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::attn;

std::optional<FloatFormat> mlir::attn::getFloatFormat(Type type) {
  if (type.isF16())
    return FloatFormat::F16;
  if (type.isBF16())
    return FloatFormat::BF16;
  if (type.isF32())
    return FloatFormat::F32;
  if (type.isF64())
    return FloatFormat::F64;
  if (isa<Float8E4M3FNType>(type))
    return FloatFormat::F8E4M3FN;
  if (isa<Float8E5M2Type>(type))
    return FloatFormat::F8E5M2;
  return std::nullopt;
}

std::optional<unsigned> mlir::attn::getIntegerWidth(Type type) {
  if (type.isIndex())
    return 64;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || integer.getWidth() == 0 || integer.getWidth() > 64)
    return std::nullopt;
  return integer.getWidth();
}

int64_t mlir::attn::wrapInteger(int64_t value, unsigned width) {
  return width == 1 ? value & 1 : llvm::SignExtend64(value, width);
}

SmallVector<int64_t, 4> mlir::attn::rowMajorStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t, 4> strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0; stride *= shape[i])
    strides[i] = stride;
  return strides;
}

bool mlir::attn::advanceIndex(MutableArrayRef<int64_t> index,
                              ArrayRef<int64_t> shape) {
  for (size_t i = shape.size(); i-- > 0;) {
    if (++index[i] < shape[i])
      return true;
    index[i] = 0;
  }
  return false;
}

TensorValue::TensorValue(Type elementType, ArrayRef<int64_t> shape, Cell fill)
    : elementType(elementType), shape(shape.begin(), shape.end()),
      cells(ShapedType::getNumElements(shape), fill) {}

int64_t TensorValue::offsetOf(ArrayRef<int64_t> index) const {
  int64_t offset = 0;
  for (size_t i = 0, e = index.size(); i < e; ++i)
    offset = offset * shape[i] + index[i];
  return offset;
}
