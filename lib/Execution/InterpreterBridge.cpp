// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts tensors to and from the interpreter's values.

#include "attn/Execution/InterpreterBridge.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::attn;

std::optional<ElementKind> mlir::attn::getElementKind(Type type) {
  if (std::optional<FloatFormat> format = getFloatFormat(type))
    return static_cast<ElementKind>(*format);
  if (type.isIndex() || type.isInteger(64))
    return ElementKind::I64;
  if (type.isInteger(32))
    return ElementKind::I32;
  if (type.isInteger(8))
    return ElementKind::I8;
  if (type.isInteger(1))
    return ElementKind::I1;
  return std::nullopt;
}

RuntimeValue mlir::attn::toRuntimeValue(const HostTensor &tensor, Type type) {
  Type elementType = getElementTypeOrSelf(type);
  bool isReal = isa<FloatType>(elementType);
  TensorValue value(elementType, tensor.getShape(), integerCell(0));
  int64_t next = 0;
  tensor.forEach([&](int64_t offset) {
    value.cells[next++] = isReal ? realCell(tensor.load(offset))
                                 : integerCell(tensor.loadInteger(offset));
  });
  if (!isa<ShapedType>(type))
    return value.cells.front();
  return value;
}

llvm::Expected<HostTensor> mlir::attn::toHostTensor(const RuntimeValue &value,
                                                    ElementKind kind,
                                                    bool isReal) {
  ArrayRef<int64_t> shape;
  Cell scalar = value.getScalar();
  ArrayRef<Cell> cells = scalar;
  if (value.isTensor()) {
    shape = value.getTensor().shape;
    cells = value.getTensor().cells;
  }
  llvm::Expected<HostTensor> tensor = HostTensor::create(kind, shape);
  if (!tensor)
    return tensor.takeError();
  for (auto [i, cell] : llvm::enumerate(cells)) {
    if (isReal)
      tensor->store(i, cell.real);
    else
      tensor->storeInteger(i, cell.integer);
  }
  return tensor;
}

llvm::Expected<SmallVector<HostTensor>>
mlir::attn::interpretOnHost(func::FuncOp function, ArrayRef<HostTensor> inputs,
                            Arithmetic arithmetic,
                            AttentionStatistics &statistics) {
  SmallVector<RuntimeValue> arguments;
  for (auto [tensor, type] :
       llvm::zip_equal(inputs, function.getArgumentTypes()))
    arguments.push_back(toRuntimeValue(tensor, type));
  FailureOr<SmallVector<RuntimeValue>> values =
      interpret(function, arguments, arithmetic, &statistics);
  if (failed(values))
    return llvm::createStringError("'" + function.getName() +
                                   "' could not be interpreted");
  SmallVector<HostTensor> results;
  for (auto [value, type] :
       llvm::zip_equal(*values, function.getResultTypes())) {
    Type elementType = getElementTypeOrSelf(type);
    std::optional<ElementKind> kind = getElementKind(elementType);
    if (!kind)
      return llvm::createStringError("'" + function.getName() +
                                     "' gives a result of an unknown type");
    bool isReal = isFloat(*kind);
    if (arithmetic == Arithmetic::Exact)
      kind = isReal ? ElementKind::F64 : ElementKind::I64;
    llvm::Expected<HostTensor> tensor = toHostTensor(value, *kind, isReal);
    if (!tensor)
      return tensor.takeError();
    results.push_back(*tensor);
  }
  return results;
}
