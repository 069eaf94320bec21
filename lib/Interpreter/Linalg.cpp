// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// linalg: every op with a region, named or not, as the loop nest that its maps
// state; and pack, unpack and softmax, which have none.

#include "ElementBody.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <cmath>

using namespace mlir;
using namespace mlir::attn;

namespace {
/// Where an operand's element stands, as a function of the loops.
class Access {
public:
  Access(AffineMap map, const TensorValue *tensor) : map(map), tensor(tensor) {
    if (!tensor)
      return;
    SmallVector<int64_t, 4> strides = rowMajorStrides(tensor->shape);
    SmallVector<int64_t> loops(map.getNumDims(), 0);
    isLinear = llvm::all_of(map.getResults(), isLinearExpression);
    if (!isLinear)
      return;
    base = offsetAt(loops);
    for (int64_t &loop : loops) {
      loop = 1;
      perLoop.push_back(offsetAt(loops) - base);
      loop = 0;
    }
  }

  /// Return the offset of the element; a scalar operand has offset 0.
  int64_t get(ArrayRef<int64_t> loops) const {
    if (!isLinear)
      return offsetAt(loops);
    int64_t offset = base;
    for (size_t i = 0, e = perLoop.size(); i < e; ++i)
      offset += perLoop[i] * loops[i];
    return offset;
  }

  /// Return whether all elements that loops of `extents` reach exist.
  bool isInside(ArrayRef<int64_t> extents) const {
    if (!tensor || !isLinear)
      return true;
    for (auto [dim, expression] : llvm::enumerate(map.getResults())) {
      SmallVector<int64_t> corner(extents.size(), 0);
      int64_t origin = *evaluateAffine(expression, corner, {});
      int64_t lowest = origin, highest = origin;
      for (size_t i = 0, e = extents.size(); i < e; ++i) {
        corner[i] = extents[i] - 1;
        int64_t move = *evaluateAffine(expression, corner, {}) - origin;
        (move < 0 ? lowest : highest) += move;
        corner[i] = 0;
      }
      if (lowest < 0 || highest >= tensor->shape[dim])
        return false;
    }
    return true;
  }

  /// Return whether the element at `loops` exists; only maps that are not
  /// linear have to be asked at each point.
  bool hasElement(ArrayRef<int64_t> loops) const {
    if (!tensor || isLinear)
      return true;
    for (auto [dim, expression] : llvm::enumerate(map.getResults())) {
      std::optional<int64_t> i = evaluateAffine(expression, loops, {});
      if (!i || *i < 0 || *i >= tensor->shape[dim])
        return false;
    }
    return true;
  }

private:
  static bool isLinearExpression(AffineExpr expression) {
    WalkResult result = expression.walk([](AffineExpr e) {
      return e.getKind() == AffineExprKind::Mod ||
                     e.getKind() == AffineExprKind::FloorDiv ||
                     e.getKind() == AffineExprKind::CeilDiv
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    return !result.wasInterrupted();
  }

  int64_t offsetAt(ArrayRef<int64_t> loops) const {
    int64_t offset = 0;
    for (auto [dim, expression] : llvm::enumerate(map.getResults()))
      offset = offset * tensor->shape[dim] +
               evaluateAffine(expression, loops, {}).value_or(0);
    return offset;
  }

  AffineMap map;
  const TensorValue *tensor;
  bool isLinear = true;
  int64_t base = 0;
  SmallVector<int64_t> perLoop;
};
} // namespace

/// Return how often each loop of `op` runs, from the shapes of its operands.
static FailureOr<SmallVector<int64_t>> loopExtents(Machine &machine,
                                                   linalg::LinalgOp op) {
  AffineMap shapesToLoops = op.getShapesToLoopsMap();
  if (!shapesToLoops)
    return op->emitOpError("has loops whose bounds no operand gives");
  SmallVector<int64_t> sizes, extents;
  for (Value operand : op->getOperands())
    if (machine.get(operand).isTensor())
      llvm::append_range(sizes, machine.getTensor(operand).shape);
  for (AffineExpr expression : shapesToLoops.getResults()) {
    std::optional<int64_t> extent = evaluateAffine(expression, sizes, {});
    if (!extent)
      return op->emitOpError("has a loop without a bound");
    extents.push_back(*extent);
  }
  return extents;
}

namespace {
/// One structured op that runs.
struct LoopNest {
  SmallVector<RuntimeValue> values;
  SmallVector<Access> accesses;
  SmallVector<int64_t> extents;
  int64_t numInputs;

  LogicalResult run(Machine &machine, linalg::LinalgOp op);
};
} // namespace

LogicalResult LoopNest::run(Machine &machine, linalg::LinalgOp op) {
  SmallVector<Cell *> cells;
  for (auto [i, value] : llvm::enumerate(values)) {
    if (!accesses[i].isInside(extents))
      return op->emitOpError("reaches outside operand ") << i;
    Cell *data = nullptr;
    if (int64_t(i) >= numInputs)
      data = value.getMutableTensor().cells.data();
    else if (value.isTensor())
      data = const_cast<Cell *>(value.getTensor().cells.data());
    cells.push_back(data);
  }
  ElementBody body(machine, *op.getBlock());
  SmallVector<Cell> arguments(values.size());
  for (auto [argument, value] : llvm::zip_equal(arguments, values))
    argument = value.getScalar();
  SmallVector<int64_t> loops(extents.size(), 0), offsets(values.size(), 0);
  do {
    for (size_t i = 0, e = values.size(); i < e; ++i) {
      if (!cells[i])
        continue;
      if (!accesses[i].hasElement(loops))
        return op->emitOpError("reaches outside operand ") << i;
      offsets[i] = accesses[i].get(loops);
      arguments[i] = cells[i][offsets[i]];
    }
    FailureOr<ArrayRef<Cell>> results = body.run(arguments, loops);
    if (failed(results))
      return failure();
    for (auto [i, result] : llvm::enumerate(*results))
      cells[numInputs + i][offsets[numInputs + i]] = result;
  } while (advanceIndex(loops, extents));
  return success();
}

static LogicalResult runStructured(Machine &machine, Operation *operation) {
  auto op = cast<linalg::LinalgOp>(operation);
  auto extents = loopExtents(machine, op);
  if (failed(extents))
    return failure();
  LoopNest nest;
  nest.extents = *extents;
  nest.numInputs = op.getNumDpsInputs();
  for (OpOperand &operand : op->getOpOperands()) {
    nest.values.push_back(op.isDpsInit(&operand)
                              ? machine.take(operand.get(), op)
                              : machine.get(operand.get()));
  }
  for (auto [value, map] :
       llvm::zip_equal(nest.values, op.getIndexingMapsArray()))
    nest.accesses.emplace_back(map,
                               value.isTensor() ? &value.getTensor() : nullptr);
  if (!llvm::is_contained(nest.extents, 0) && failed(nest.run(machine, op)))
    return failure();
  if (linalg::isaContractionOpInterface(op)) {
    int64_t products = 2;
    for (int64_t extent : nest.extents)
      products *= extent;
    machine.statistics.operations += products;
  }
  for (auto [i, result] : llvm::enumerate(op->getResults()))
    machine.set(result, std::move(nest.values[nest.numInputs + i]));
  return success();
}

namespace {
/// How the dimensions of a packed tensor and of the unpacked one belong
/// together.
struct Packing {
  SmallVector<int64_t> innerDims, outerOrder, tiles;

  template <typename OpT>
  static Packing get(Machine &machine, OpT op, int64_t rank) {
    Packing packing;
    packing.innerDims.assign(op.getInnerDimsPos().begin(),
                             op.getInnerDimsPos().end());
    packing.outerOrder.assign(op.getOuterDimsPerm().begin(),
                              op.getOuterDimsPerm().end());
    if (packing.outerOrder.empty())
      packing.outerOrder = llvm::to_vector(llvm::seq<int64_t>(0, rank));
    packing.tiles = machine.getIntegers(op.getMixedTiles());
    return packing;
  }

  /// Return the index in the unpacked tensor of element `packed`.
  SmallVector<int64_t> unpack(ArrayRef<int64_t> packed) const {
    size_t rank = outerOrder.size();
    SmallVector<int64_t> index(rank);
    for (size_t i = 0; i < rank; ++i)
      index[outerOrder[i]] = packed[i];
    for (auto [i, dim] : llvm::enumerate(innerDims))
      index[dim] = index[dim] * tiles[i] + packed[rank + i];
    return index;
  }
};
} // namespace

static bool isInside(ArrayRef<int64_t> index, ArrayRef<int64_t> shape) {
  return llvm::all_of(llvm::zip_equal(index, shape), [](auto pair) {
    return std::get<0>(pair) >= 0 && std::get<0>(pair) < std::get<1>(pair);
  });
}

static LogicalResult runPack(Machine &machine, linalg::PackOp op) {
  const TensorValue &source = machine.getTensor(op.getSource());
  Packing packing = Packing::get(machine, op, source.getRank());
  TensorValue result = machine.getTensor(op.getDest());
  SmallVector<int64_t> index(result.getRank(), 0);
  for (Cell &cell : result.cells) {
    SmallVector<int64_t> from = packing.unpack(index);
    if (isInside(from, source.shape))
      cell = source.cells[source.offsetOf(from)];
    else if (Value padding = op.getPaddingValue())
      cell = machine.get(padding).getScalar();
    else
      return op.emitOpError("expects a padding value: the tiles do not divide "
                            "the source");
    advanceIndex(index, result.shape);
  }
  machine.set(op->getResult(0), std::move(result));
  return success();
}

static LogicalResult runUnpack(Machine &machine, linalg::UnPackOp op) {
  const TensorValue &source = machine.getTensor(op.getSource());
  TensorValue result = machine.getTensor(op.getDest());
  Packing packing = Packing::get(machine, op, result.getRank());
  SmallVector<int64_t> index(source.getRank(), 0);
  for (Cell cell : source.cells) {
    SmallVector<int64_t> to = packing.unpack(index);
    if (isInside(to, result.shape))
      result.cells[result.offsetOf(to)] = cell;
    advanceIndex(index, source.shape);
  }
  machine.set(op->getResult(0), std::move(result));
  return success();
}

static LogicalResult runSoftmax(Machine &machine, linalg::SoftmaxOp op) {
  TensorValue result = machine.getTensor(op.getInput());
  int64_t dim = op.getDimension(), extent = result.shape[dim];
  int64_t stride = rowMajorStrides(result.shape)[dim];
  for (int64_t first = 0, e = result.getSize(); first < e; ++first) {
    if ((first / stride) % extent != 0)
      continue;
    double largest = -INFINITY, sum = 0;
    for (int64_t i = 0; i < extent; ++i)
      largest = std::fmax(largest, result.cells[first + i * stride].real);
    for (int64_t i = 0; i < extent; ++i) {
      double &cell = result.cells[first + i * stride].real;
      cell = machine.round(std::exp(cell - largest), result.elementType);
      sum = machine.round(sum + cell, result.elementType);
    }
    for (int64_t i = 0; i < extent; ++i) {
      double &cell = result.cells[first + i * stride].real;
      cell = machine.round(cell / sum, result.elementType);
    }
  }
  machine.set(op->getResult(0), std::move(result));
  return success();
}

void mlir::attn::addLinalgHandlers(Machine &machine) {
  addHandler<linalg::PackOp, runPack>(machine);
  addHandler<linalg::UnPackOp, runUnpack>(machine);
  addHandler<linalg::SoftmaxOp, runSoftmax>(machine);
  machine.add("linalg.index", [](Machine &m, Operation *op) {
    m.set(
        op->getResult(0),
        integerCell(m.loopIndices.back()[cast<linalg::IndexOp>(op).getDim()]));
    return success();
  });
  machine.addStructured(runStructured);
}
