// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops of tensor that move elements: slices, reshapes, concatenation, padding.

#include "ElementBody.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::attn;

Slice Slice::get(const Machine &machine, OffsetSizeAndStrideOpInterface op) {
  return {machine.getIntegers(op.getMixedOffsets()),
          machine.getIntegers(op.getMixedSizes()),
          machine.getIntegers(op.getMixedStrides())};
}

/// Fails unless `slice` lies inside `shape`.
static LogicalResult verifySlice(Operation *op, const Slice &slice,
                                 ArrayRef<int64_t> shape) {
  for (size_t i = 0, e = shape.size(); i < e; ++i) {
    int64_t first = slice.offsets[i], size = slice.sizes[i];
    if (size < 0)
      return op->emitOpError("expects sizes of at least 0, got ")
             << size << " at dimension " << i;
    int64_t last = first + (size - 1) * slice.strides[i];
    if (size > 0 &&
        (std::min(first, last) < 0 || std::max(first, last) >= shape[i]))
      return op->emitOpError("reaches from ")
             << first << " to " << last << " in dimension " << i
             << ", which has " << shape[i] << " elements";
  }
  return success();
}

/// Call `visit` with the place in `shape` of each element of `slice`.
template <typename Visit>
static void forEachInSlice(const Slice &slice, ArrayRef<int64_t> shape,
                           Visit visit) {
  if (llvm::is_contained(slice.sizes, 0))
    return;
  SmallVector<int64_t, 4> strides = rowMajorStrides(shape);
  SmallVector<int64_t> index(shape.size(), 0);
  do {
    int64_t offset = 0;
    for (size_t i = 0, e = shape.size(); i < e; ++i)
      offset += (slice.offsets[i] + index[i] * slice.strides[i]) * strides[i];
    visit(offset);
  } while (advanceIndex(index, slice.sizes));
}

LogicalResult mlir::attn::insertSlice(Operation *op, const TensorValue &source,
                                      const Slice &slice, TensorValue &target) {
  if (failed(verifySlice(op, slice, target.shape)))
    return failure();
  if (ShapedType::getNumElements(slice.sizes) != source.getSize())
    return op->emitOpError("expects ")
           << ShapedType::getNumElements(slice.sizes) << " elements, got "
           << source.getSize();
  int64_t next = 0;
  forEachInSlice(slice, target.shape, [&](int64_t offset) {
    target.cells[offset] = source.cells[next++];
  });
  return success();
}

static LogicalResult runInsertSlice(Machine &machine,
                                    tensor::InsertSliceOp op) {
  Slice slice = Slice::get(machine, op);
  RuntimeValue source = machine.get(op.getSource());
  RuntimeValue target = machine.take(op.getDest(), op);
  if (failed(insertSlice(op, source.getTensor(), slice,
                         target.getMutableTensor())))
    return failure();
  machine.set(op, std::move(target));
  return success();
}

/// Return the sizes of a result of `type` made of `sizes` by dropping some
/// that are 1.
static SmallVector<int64_t> dropUnits(ArrayRef<int64_t> sizes,
                                      const llvm::SmallBitVector &dropped) {
  SmallVector<int64_t> kept;
  for (auto [i, size] : llvm::enumerate(sizes))
    if (!dropped.test(i))
      kept.push_back(size);
  return kept;
}

static LogicalResult runExtractSlice(Machine &machine,
                                     tensor::ExtractSliceOp op) {
  Slice slice = Slice::get(machine, op);
  const TensorValue &source = machine.getTensor(op.getSource());
  if (failed(verifySlice(op, slice, source.shape)))
    return failure();
  TensorValue result(source.elementType,
                     dropUnits(slice.sizes, op.getDroppedDims()),
                     integerCell(0));
  int64_t next = 0;
  forEachInSlice(slice, source.shape, [&](int64_t offset) {
    result.cells[next++] = source.cells[offset];
  });
  machine.set(op, std::move(result));
  return success();
}

/// Set the result of `op` to the elements of `source` in another shape.
static LogicalResult setReshaped(Machine &machine, Operation *op,
                                 RuntimeValue source, ArrayRef<int64_t> shape) {
  TensorValue &tensor = source.getMutableTensor();
  if (ShapedType::getNumElements(shape) != tensor.getSize())
    return op->emitOpError("expects ") << ShapedType::getNumElements(shape)
                                       << " elements, got " << tensor.getSize();
  tensor.shape.assign(shape.begin(), shape.end());
  machine.set(op->getResult(0), std::move(source));
  return success();
}

static LogicalResult runExpand(Machine &machine, tensor::ExpandShapeOp op) {
  SmallVector<int64_t> shape = machine.getIntegers(op.getMixedOutputShape());
  return setReshaped(machine, op, machine.take(op.getSrc(), op), shape);
}

static LogicalResult runCollapse(Machine &machine, tensor::CollapseShapeOp op) {
  RuntimeValue source = machine.take(op.getSrc(), op);
  SmallVector<int64_t> shape;
  for (const auto &group : op.getReassociationIndices()) {
    int64_t size = 1;
    for (int64_t dim : group)
      size *= source.getTensor().shape[dim];
    shape.push_back(size);
  }
  return setReshaped(machine, op, std::move(source), shape);
}

static LogicalResult runReshape(Machine &machine, tensor::ReshapeOp op) {
  SmallVector<int64_t> shape;
  for (Cell extent : machine.getTensor(op.getShape()).cells)
    shape.push_back(extent.integer);
  return setReshaped(machine, op, machine.take(op.getSource(), op), shape);
}

static LogicalResult runConcat(Machine &machine, tensor::ConcatOp op) {
  int64_t dim = op.getDim();
  SmallVector<int64_t, 4> shape;
  for (Value input : op.getInputs()) {
    const TensorValue &tensor = machine.getTensor(input);
    if (shape.empty()) {
      shape = tensor.shape;
      continue;
    }
    for (auto [i, extent] : llvm::enumerate(tensor.shape))
      if (int64_t(i) != dim && extent != shape[i])
        return op.emitOpError("expects inputs to agree on dimension ")
               << i << ", got " << shape[i] << " and " << extent;
    shape[dim] += tensor.shape[dim];
  }
  TensorValue result(op.getResultType().getElementType(), shape,
                     integerCell(0));
  Slice slice{SmallVector<int64_t>(shape.size(), 0),
              {},
              SmallVector<int64_t>(shape.size(), 1)};
  for (Value input : op.getInputs()) {
    const TensorValue &tensor = machine.getTensor(input);
    slice.sizes.assign(tensor.shape.begin(), tensor.shape.end());
    if (failed(insertSlice(op, tensor, slice, result)))
      return failure();
    slice.offsets[dim] += tensor.shape[dim];
  }
  machine.set(op, std::move(result));
  return success();
}

static LogicalResult runPad(Machine &machine, tensor::PadOp op) {
  const TensorValue &source = machine.getTensor(op.getSource());
  SmallVector<int64_t> low = machine.getIntegers(op.getMixedLowPad());
  SmallVector<int64_t> high = machine.getIntegers(op.getMixedHighPad());
  SmallVector<int64_t> shape;
  for (auto [i, extent] : llvm::enumerate(source.shape)) {
    if (low[i] < 0 || high[i] < 0)
      return op.emitOpError("expects padding of at least 0, got ")
             << low[i] << " and " << high[i] << " at dimension " << i;
    shape.push_back(low[i] + extent + high[i]);
  }
  TensorValue result(source.elementType, shape, integerCell(0));
  ElementBody body(machine, op.getRegion().front());
  SmallVector<int64_t> index(shape.size(), 0);
  for (Cell &cell : result.cells) {
    SmallVector<Cell> arguments = llvm::map_to_vector(index, integerCell);
    FailureOr<ArrayRef<Cell>> padding = body.run(arguments, index);
    if (failed(padding))
      return failure();
    cell = padding->front();
    advanceIndex(index, shape);
  }
  Slice inner{low, llvm::to_vector<6>(source.shape),
              SmallVector<int64_t>(shape.size(), 1)};
  if (failed(insertSlice(op, source, inner, result)))
    return failure();
  machine.set(op, std::move(result));
  return success();
}

void mlir::attn::addShapeHandlers(Machine &machine) {
  addHandler<tensor::InsertSliceOp, runInsertSlice>(machine);
  addHandler<tensor::ExtractSliceOp, runExtractSlice>(machine);
  addHandler<tensor::ExpandShapeOp, runExpand>(machine);
  addHandler<tensor::CollapseShapeOp, runCollapse>(machine);
  addHandler<tensor::ReshapeOp, runReshape>(machine);
  addHandler<tensor::ConcatOp, runConcat>(machine);
  addHandler<tensor::PadOp, runPad>(machine);
}
