// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops of tensor that make tensors, read and write single elements, or ask for
// sizes.

#include "ElementBody.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace mlir;
using namespace mlir::attn;

/// Elements that a tensor may have: 16 GiB of cells.
constexpr int64_t kMaxElements = int64_t(1) << 31;

/// Return the extents of `type`, the dynamic ones taken from `sizes`.
static FailureOr<SmallVector<int64_t>> shapeOf(Machine &machine, Operation *op,
                                               RankedTensorType type,
                                               ValueRange sizes) {
  SmallVector<int64_t> shape(type.getShape());
  size_t next = 0;
  for (int64_t &extent : shape) {
    if (ShapedType::isStatic(extent))
      continue;
    extent = machine.getInteger(sizes[next++]);
    if (extent < 0)
      return op->emitOpError("expects sizes of at least 0, got ") << extent;
  }
  int64_t elements = 1;
  for (int64_t extent : shape)
    if (llvm::MulOverflow(elements, extent, elements) ||
        elements > kMaxElements)
      return op->emitOpError("expects at most ")
             << kMaxElements << " elements in a tensor";
  return shape;
}

/// What nothing has written yet is nothing that a result could come from: NaN,
/// or an integer that no index is.
static Cell unwritten(Type elementType) {
  if (isa<FloatType>(elementType))
    return realCell(std::numeric_limits<double>::quiet_NaN());
  return integerCell(wrapInteger(0x5a5a5a5a5a5a5a5a,
                                 getIntegerWidth(elementType).value_or(64)));
}

static LogicalResult runEmpty(Machine &machine, tensor::EmptyOp op) {
  auto shape = shapeOf(machine, op, op.getType(), op.getDynamicSizes());
  if (failed(shape))
    return failure();
  Type elementType = op.getType().getElementType();
  machine.set(op, TensorValue(elementType, *shape, unwritten(elementType)));
  return success();
}

static LogicalResult runAlloc(Machine &machine,
                              bufferization::AllocTensorOp op) {
  if (Value copied = op.getCopy()) {
    machine.set(op, machine.get(copied));
    return success();
  }
  auto type = cast<RankedTensorType>(op.getType());
  auto shape = shapeOf(machine, op, type, op.getDynamicSizes());
  if (failed(shape))
    return failure();
  Type elementType = type.getElementType();
  machine.set(op, TensorValue(elementType, *shape, unwritten(elementType)));
  return success();
}

static LogicalResult runSplat(Machine &machine, tensor::SplatOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  auto shape = shapeOf(machine, op, type, op.getDynamicSizes());
  if (failed(shape))
    return failure();
  machine.set(op, TensorValue(type.getElementType(), *shape,
                              machine.get(op.getInput()).getScalar()));
  return success();
}

static LogicalResult runFromElements(Machine &machine,
                                     tensor::FromElementsOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  TensorValue result(type.getElementType(), type.getShape(), integerCell(0));
  for (auto [cell, element] : llvm::zip_equal(result.cells, op.getElements()))
    cell = machine.get(element).getScalar();
  machine.set(op, std::move(result));
  return success();
}

static LogicalResult runGenerate(Machine &machine, tensor::GenerateOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  auto shape = shapeOf(machine, op, type, op.getDynamicExtents());
  if (failed(shape))
    return failure();
  TensorValue result(type.getElementType(), *shape, integerCell(0));
  ElementBody body(machine, op.getBody().front());
  SmallVector<int64_t> index(shape->size(), 0);
  for (Cell &cell : result.cells) {
    SmallVector<Cell> arguments = llvm::map_to_vector(index, integerCell);
    FailureOr<ArrayRef<Cell>> element = body.run(arguments, index);
    if (failed(element))
      return failure();
    cell = element->front();
    advanceIndex(index, *shape);
  }
  machine.set(op, std::move(result));
  return success();
}

/// Return where the element at `indices` stands, if there is one.
static FailureOr<int64_t> elementOffset(Machine &machine, Operation *op,
                                        const TensorValue &tensor,
                                        ValueRange indices) {
  SmallVector<int64_t> index;
  for (auto [dim, value] : llvm::enumerate(indices)) {
    int64_t i = machine.getInteger(value);
    if (i < 0 || i >= tensor.shape[dim])
      return op->emitOpError("takes index ")
             << i << " of dimension " << dim << ", which has "
             << tensor.shape[dim] << " elements";
    index.push_back(i);
  }
  return tensor.offsetOf(index);
}

static LogicalResult runExtract(Machine &machine, tensor::ExtractOp op) {
  const TensorValue &tensor = machine.getTensor(op.getTensor());
  FailureOr<int64_t> offset =
      elementOffset(machine, op, tensor, op.getIndices());
  if (failed(offset))
    return failure();
  machine.set(op, tensor.cells[*offset]);
  return success();
}

static LogicalResult runInsert(Machine &machine, tensor::InsertOp op) {
  Cell scalar = machine.get(op.getScalar()).getScalar();
  RuntimeValue target = machine.take(op.getDest(), op);
  FailureOr<int64_t> offset =
      elementOffset(machine, op, target.getTensor(), op.getIndices());
  if (failed(offset))
    return failure();
  target.getMutableTensor().cells[*offset] = scalar;
  machine.set(op, std::move(target));
  return success();
}

static LogicalResult runDim(Machine &machine, tensor::DimOp op) {
  const TensorValue &tensor = machine.getTensor(op.getSource());
  int64_t dim = machine.getInteger(op.getIndex());
  if (dim < 0 || dim >= tensor.getRank())
    return op.emitOpError("asks for dimension ")
           << dim << " of a tensor of rank " << tensor.getRank();
  machine.set(op, integerCell(tensor.shape[dim]));
  return success();
}

static LogicalResult runRank(Machine &machine, tensor::RankOp op) {
  machine.set(op, integerCell(machine.getTensor(op.getTensor()).getRank()));
  return success();
}

static LogicalResult runCast(Machine &machine, tensor::CastOp op) {
  RuntimeValue value = machine.take(op.getSource(), op);
  if (auto type = dyn_cast<RankedTensorType>(op.getType()))
    for (auto [i, extent] : llvm::enumerate(type.getShape()))
      if (ShapedType::isStatic(extent) && extent != value.getTensor().shape[i])
        return op.emitOpError("expects ")
               << extent << " elements at dimension " << i << ", got "
               << value.getTensor().shape[i];
  machine.set(op, std::move(value));
  return success();
}

void mlir::attn::addTensorHandlers(Machine &machine) {
  addHandler<tensor::EmptyOp, runEmpty>(machine);
  addHandler<bufferization::AllocTensorOp, runAlloc>(machine);
  addHandler<tensor::SplatOp, runSplat>(machine);
  addHandler<tensor::FromElementsOp, runFromElements>(machine);
  addHandler<tensor::GenerateOp, runGenerate>(machine);
  addHandler<tensor::ExtractOp, runExtract>(machine);
  addHandler<tensor::InsertOp, runInsert>(machine);
  addHandler<tensor::DimOp, runDim>(machine);
  addHandler<tensor::RankOp, runRank>(machine);
  addHandler<tensor::CastOp, runCast>(machine);
}
