// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs blocks op by op: a handler where there is one, else a scalar op, applied
// to each element where the operands are tensors.

#include "Machine.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::attn;

/// How deep functions may call each other: a recursion without end is an error
/// and not a crash.
constexpr int64_t kMaxCallDepth = 200;

Machine::Machine(Arithmetic arithmetic, AttentionStatistics &statistics)
    : arithmetic(arithmetic), statistics(statistics) {
  addControlHandlers(*this);
  addTensorHandlers(*this);
  addShapeHandlers(*this);
  addLinalgHandlers(*this);
  addAttentionHandlers(*this);
  addLayerHandlers(*this);
  addCacheHandlers(*this);
  addLinearAttentionHandlers(*this);
  addStateHandlers(*this);
}

const RuntimeValue &Machine::get(Value value) const {
  auto found = values.find(value);
  assert(found != values.end() && "SSA dominance");
  return found->second;
}

void Machine::set(Value value, RuntimeValue runtime) {
  values[value] = std::move(runtime);
}

RuntimeValue Machine::take(Value value, Operation *user) {
  // Its one user stands in the block that defines it, and so runs once for
  // each time that the value is set.
  if (value.hasOneUse() && value.getParentBlock() == user->getBlock())
    return std::move(values[value]);
  return get(value);
}

SmallVector<int64_t> Machine::getIntegers(ArrayRef<OpFoldResult> sizes) const {
  return llvm::map_to_vector(sizes, [&](OpFoldResult size) {
    if (auto attribute = dyn_cast<Attribute>(size))
      return cast<IntegerAttr>(attribute).getInt();
    return getInteger(cast<Value>(size));
  });
}

double Machine::round(double value, Type type) const {
  std::optional<FloatFormat> format = getFloatFormat(type);
  return format ? roundFloat(value, getRounding(*format, arithmetic)) : value;
}

static Cell cellOf(const APFloat &value) {
  APFloat wide = value;
  bool inexact;
  wide.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &inexact);
  return realCell(wide.convertToDouble());
}

static Cell cellOf(const APInt &value) {
  return integerCell(value.getBitWidth() == 1
                         ? static_cast<int64_t>(value.getZExtValue())
                         : value.getSExtValue());
}

/// Return a resource as elements, and any other attribute as it is.
static TypedAttr getElements(TypedAttr attribute) {
  auto resource = dyn_cast<DenseResourceElementsAttr>(attribute);
  AsmResourceBlob *blob =
      resource ? resource.getRawHandle().getBlob() : nullptr;
  bool isSplat;
  if (!blob || !DenseElementsAttr::isValidRawBuffer(resource.getType(),
                                                    blob->getData(), isSplat))
    return attribute;
  return DenseElementsAttr::getFromRawBuffer(resource.getType(),
                                             blob->getData());
}

FailureOr<RuntimeValue> Machine::getConstant(TypedAttr attribute) {
  auto found = constants.find(attribute);
  if (found != constants.end())
    return found->second;
  Type elementType = getElementTypeOrSelf(attribute.getType());
  if (!getFloatFormat(elementType) && !getIntegerWidth(elementType))
    return failure();
  RuntimeValue value;
  if (auto real = dyn_cast<FloatAttr>(attribute)) {
    value = cellOf(real.getValue());
  } else if (auto integer = dyn_cast<IntegerAttr>(attribute)) {
    value = cellOf(integer.getValue());
  } else if (auto elements =
                 dyn_cast<DenseElementsAttr>(getElements(attribute))) {
    TensorValue tensor(elementType, elements.getType().getShape(),
                       integerCell(0));
    int64_t next = 0;
    if (tensor.isFloat())
      for (const APFloat &element : elements.getValues<APFloat>())
        tensor.cells[next++] = cellOf(element);
    else
      for (const APInt &element : elements.getValues<APInt>())
        tensor.cells[next++] = cellOf(element);
    value = std::move(tensor);
  } else {
    return failure();
  }
  constants[attribute] = value;
  return value;
}

const ScalarOp *Machine::getScalarOp(Operation *op) {
  auto [entry, isNew] = scalarOps.try_emplace(op);
  if (isNew)
    entry->second = lookupScalarOp(op, arithmetic);
  return entry->second ? &*entry->second : nullptr;
}

LogicalResult Machine::runElementwise(Operation *op, const ScalarOp &scalar) {
  Cell operands[kMaxScalarOperands];
  const char *fault = nullptr;
  const TensorValue *shaped = nullptr;
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    const RuntimeValue &value = get(operand);
    operands[i] = value.getScalar();
    if (!value.isTensor())
      continue;
    if (shaped && shaped->shape != value.getTensor().shape)
      return op->emitOpError("expects operands of one shape");
    shaped = &value.getTensor();
  }
  if (!shaped) {
    set(op->getResult(0), scalar.run(operands, fault));
    return fault ? op->emitOpError(fault) : success();
  }
  TensorValue result(getElementTypeOrSelf(op->getResult(0)), shaped->shape,
                     integerCell(0));
  for (int64_t at = 0, e = result.getSize(); at < e; ++at) {
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      if (get(operand).isTensor())
        operands[i] = getTensor(operand).cells[at];
    result.cells[at] = scalar.run(operands, fault);
    if (fault)
      return op->emitOpError(fault);
  }
  set(op->getResult(0), std::move(result));
  return success();
}

LogicalResult Machine::run(Operation *op) {
  auto handler = handlers.find(op->getName().getStringRef());
  if (handler != handlers.end())
    return handler->second(*this, op);
  if (isa<linalg::LinalgOp>(op))
    return structuredHandler(*this, op);
  if (const ScalarOp *scalar = getScalarOp(op))
    return runElementwise(op, *scalar);
  return op->emitError("the interpreter does not know '")
         << op->getName() << "' on these types";
}

LogicalResult Machine::runBlock(Block &block,
                                SmallVector<RuntimeValue> arguments) {
  for (auto [argument, value] :
       llvm::zip_equal(block.getArguments(), arguments))
    set(argument, std::move(value));
  for (Operation &op : block.without_terminator())
    if (failed(run(&op)))
      return failure();
  return success();
}

FailureOr<SmallVector<RuntimeValue>>
Machine::runRegion(Region &region, SmallVector<RuntimeValue> arguments) {
  if (!region.hasOneBlock())
    return region.getParentOp()->emitError(
        "the interpreter expects a body of one block");
  Block &block = region.front();
  if (failed(runBlock(block, std::move(arguments))))
    return failure();
  Operation *terminator = block.getTerminator();
  SmallVector<RuntimeValue> results;
  for (Value operand : terminator->getOperands())
    results.push_back(take(operand, terminator));
  return results;
}

FailureOr<SmallVector<RuntimeValue>>
Machine::call(func::FuncOp function, SmallVector<RuntimeValue> arguments) {
  if (function.isExternal())
    return function.emitError("the interpreter cannot run a function without "
                              "a body");
  if (depth == kMaxCallDepth)
    return function.emitError("the interpreter expects at most ")
           << kMaxCallDepth << " calls inside each other";
  ++depth;
  DenseMap<Value, RuntimeValue> callers;
  std::swap(values, callers);
  FailureOr<SmallVector<RuntimeValue>> results =
      runRegion(function.getBody(), std::move(arguments));
  std::swap(values, callers);
  --depth;
  return results;
}

FailureOr<SmallVector<RuntimeValue>>
mlir::attn::interpret(func::FuncOp function, ArrayRef<RuntimeValue> arguments,
                      Arithmetic arithmetic, AttentionStatistics *statistics) {
  AttentionStatistics ignored;
  Machine machine(arithmetic, statistics ? *statistics : ignored);
  return machine.call(function, llvm::to_vector(arguments));
}
