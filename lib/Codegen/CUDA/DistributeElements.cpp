// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules for ops that stay within a thread, or within the four lanes of a row:
//
//   %y = arith.mulf %x, %f : vector<64x64xf32>          a product for each number of the fragment
//   %i = vector.step : vector<64xindex>                 the thread's own rows or columns
//   %c = vector.broadcast %b : vector<64xf32> to vector<64x64xf32>           no code
//   %m = vector.multi_reduction <maxnumf>, %x, %a [1]   in the thread, then over lanes 1 and 2 apart
//
// Two neighbouring numbers that become f16 or bf16 are converted by one instruction, and stay together.

#include "ElementFunctions.h"
#include "FragmentDistributor.h"
#include "KernelAttrs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::attn;

LogicalResult
attn::forEachLayout(FragmentDistributor &d, Value value,
                    function_ref<LogicalResult(FragmentLayout)> rule) {
  for (FragmentLayout layout : kCarriedLayouts)
    if (d.needs(value, layout) && failed(rule(layout)))
      return failure();
  return success();
}

/// Numbers of a thread in a vector of the block.
static FailureOr<int64_t> sizeOf(FragmentDistributor &d, Operation *op,
                                 VectorType type, FragmentLayout layout) {
  int64_t columns = type.getDimSize(type.getRank() - 1);
  if (layout == FragmentLayout::Column) {
    if (columns % d.unit() != 0)
      return op->emitOpError() << "expects a multiple of " << d.unit()
                               << " columns, got " << columns;
    return columns / d.unit() * d.side;
  }
  FailureOr<RowSplit> split = d.split(op, type.getDimSize(0));
  if (failed(split))
    return failure();
  if (layout == FragmentLayout::Row)
    return split->tiles * 2;
  if (columns % d.unit() != 0)
    return op->emitOpError() << "expects a multiple of " << d.unit()
                             << " columns, got " << columns;
  return split->tiles * (columns / d.unit()) * 2 * d.side;
}

LogicalResult attn::distributeConstant(FragmentDistributor &d, Operation *op) {
  Value result = op->getResult(0);
  auto type = cast<VectorType>(result.getType());
  DenseElementsAttr value;
  if (!matchPattern(result, m_Constant(&value)) || !value.isSplat())
    return op->emitOpError()
           << "expects the same number everywhere in a vector of a block";
  return forEachLayout(d, result, [&](FragmentLayout layout) -> LogicalResult {
    FailureOr<int64_t> size = sizeOf(d, op, type, layout);
    if (failed(size))
      return failure();
    Value scalar = arith::ConstantOp::create(
        d.b, d.loc, cast<TypedAttr>(value.getSplatValue<Attribute>()));
    d.set(result, layout, Fragment(*size, scalar));
    return success();
  });
}

/// Convert two neighbours at once.
static void truncatePairs(FragmentDistributor &d, const Fragment &wide,
                          Type element, Fragment &out) {
  for (size_t i = 0; i < wide.size(); i += 2) {
    auto pair = VectorType::get(2, wide[i].getType());
    Value both = vector::FromElementsOp::create(
        d.b, d.loc, pair, ValueRange{wide[i], wide[i + 1]});
    both = arith::TruncFOp::create(d.b, d.loc, pair.clone(element), both);
    for (int64_t j = 0; j < 2; ++j)
      out.push_back(vector::ExtractOp::create(d.b, d.loc, both, j));
  }
}

/// Whether `value` in `layout` is the number of its column everywhere.
static bool isColumnNumber(Value value, FragmentLayout layout) {
  if (layout == FragmentLayout::Tile) {
    auto spread = value.getDefiningOp<vector::BroadcastOp>();
    auto row = spread ? dyn_cast<VectorType>(spread.getSourceType()) : nullptr;
    if (!row || row.getRank() != 1)
      return false;
    value = spread.getSource();
  } else if (layout != FragmentLayout::Column) {
    return false;
  }
  if (auto cast = value.getDefiningOp<arith::IndexCastOp>())
    value = cast.getIn();
  return value.getDefiningOp<vector::StepOp>() != nullptr;
}

/// Compare the numbers of columns with what they are limited by, less the part of
/// them that is the lane's own: the rest is a constant that takes no register.
static void compareColumns(FragmentDistributor &d, arith::CmpIOp op,
                           FragmentLayout layout) {
  const Fragment &limits = d.fragment(op.getRhs(), layout);
  int64_t columnTiles =
      cast<VectorType>(op.getType()).getShape().back() / d.unit();
  DenseMap<Value, Value> rests;
  Fragment out;
  for (auto [i, limit] : llvm::enumerate(limits)) {
    Value &rest = rests[limit];
    if (!rest)
      rest = arith::SubIOp::create(d.b, d.loc, limit, d.firstColumn,
                                   arith::IntegerOverflowFlags::nsw);
    int64_t tile = layout == FragmentLayout::Tile
                       ? i / (2 * d.side) % columnTiles
                       : i / d.side;
    out.push_back(arith::CmpIOp::create(d.b, d.loc, op.getPredicate(),
                                        d.integer(tile * d.unit() + i % d.side),
                                        rest));
  }
  d.set(op, layout, std::move(out));
}

/// Whether `op` compares numbers of columns, of 32 bits, with limits from which the
/// lane's own part can be taken.
static bool isColumnCompare(FragmentDistributor &d, Operation *op,
                            FragmentLayout layout) {
  auto compare = dyn_cast<arith::CmpIOp>(op);
  return compare && getElementTypeOrSelf(compare.getLhs()).isInteger(32) &&
         compare.getPredicate() < arith::CmpIPredicate::ult &&
         isColumnNumber(compare.getLhs(), layout) &&
         d.fitsInWord(compare.getRhs(), -3 * d.side);
}

/// Return what `op` makes of one number of each operand.
static Value buildElement(OpBuilder &b, Operation *op, ValueRange operands,
                          Type type) {
  if (operands.size() == 1)
    if (Value value = buildElementFunction(b, op, operands.front()))
      return value;
  // (It would become a call of libdevice.)
  if (isa<math::FmaOp>(op))
    return LLVM::FMAOp::create(b, op->getLoc(), type, operands);
  return b
      .create(op->getLoc(), op->getName().getIdentifier(), operands, type,
              op->getAttrs())
      ->getResult(0);
}

LogicalResult attn::distributeElementwise(FragmentDistributor &d,
                                          Operation *op) {
  Value result = op->getResult(0);
  auto type = cast<VectorType>(result.getType());
  Type element = type.getElementType();
  return forEachLayout(d, result, [&](FragmentLayout layout) -> LogicalResult {
    FailureOr<int64_t> size = sizeOf(d, op, type, layout);
    if (failed(size))
      return failure();
    if (isColumnCompare(d, op, layout)) {
      compareColumns(d, cast<arith::CmpIOp>(op), layout);
      return success();
    }
    Fragment out;
    auto truncate = dyn_cast<arith::TruncFOp>(op);
    if (truncate && layout == FragmentLayout::Tile &&
        element.getIntOrFloatBitWidth() == 16 &&
        getElementTypeOrSelf(truncate.getIn().getType()).isF32()) {
      truncatePairs(d, d.fragment(truncate.getIn(), layout), element, out);
      d.set(result, layout, std::move(out));
      return success();
    }
    for (int64_t i = 0; i < *size; ++i) {
      SmallVector<Value> operands;
      for (Value operand : op->getOperands()) {
        auto vector = dyn_cast<VectorType>(operand.getType());
        operands.push_back(vector && vector.getRank() > 0
                               ? d.fragment(operand, layout)[i]
                               : d.scalar(operand));
      }
      out.push_back(buildElement(d.b, op, operands, element));
    }
    d.set(result, layout, std::move(out));
    return success();
  });
}

LogicalResult attn::distributeStep(FragmentDistributor &d, vector::StepOp op) {
  auto type = op.getType();
  return forEachLayout(d, op, [&](FragmentLayout layout) -> LogicalResult {
    FailureOr<int64_t> size = sizeOf(d, op, type, layout);
    if (failed(size))
      return failure();
    Fragment out;
    if (layout == FragmentLayout::Row) {
      RowSplit split = *d.split(op, type.getDimSize(0));
      for (int64_t i = 0; i < *size; ++i)
        out.push_back(d.rowIndex(split, i / 2, i % 2));
    } else {
      for (int64_t i = 0; i < *size; ++i)
        out.push_back(d.columnIndex(i / d.side, i % d.side));
    }
    d.set(op, layout, std::move(out));
    return success();
  });
}

/// Repeat `from`, a Row or a Column, so that it fills a tile.
static Fragment fillTile(const Fragment &from, bool isRow, int64_t size,
                         int64_t columnTiles, int64_t side) {
  Fragment out;
  for (int64_t i = 0; i < size; ++i) {
    int64_t c = i % side, r = i / side % 2, tile = i / (2 * side);
    out.push_back(isRow ? from[tile / columnTiles * 2 + r]
                        : from[tile % columnTiles * side + c]);
  }
  return out;
}

LogicalResult attn::distributeBroadcast(FragmentDistributor &d,
                                        vector::BroadcastOp op) {
  VectorType type = op.getResultVectorType();
  auto source = dyn_cast<VectorType>(op.getSourceType());
  bool isScalar = !source || source.getRank() == 0;
  return forEachLayout(d, op, [&](FragmentLayout layout) -> LogicalResult {
    FailureOr<int64_t> size = sizeOf(d, op, type, layout);
    if (failed(size))
      return failure();
    if (isScalar) {
      Value value = d.scalar(op.getSource());
      if (source)
        value =
            vector::ExtractOp::create(d.b, d.loc, value, ArrayRef<int64_t>{});
      d.set(op, layout, Fragment(*size, value));
      return success();
    }
    FragmentLayout from =
        source.getRank() == 1 ? FragmentLayout::Column : layoutOfShape(source);
    const Fragment &given = d.fragment(op.getSource(), from);
    if (from == layout) {
      d.set(op, layout, Fragment(given));
      return success();
    }
    if (layout != FragmentLayout::Tile)
      return op.emitOpError() << "has no rule for " << source << " to " << type;
    d.set(op, layout,
          fillTile(given, from == FragmentLayout::Row, *size,
                   type.getDimSize(1) / d.unit(), d.side));
    return success();
  });
}

LogicalResult attn::distributeShapeCast(FragmentDistributor &d,
                                        vector::ShapeCastOp op) {
  VectorType from = op.getSourceVectorType(), to = op.getResultVectorType();
  VectorType wider = from.getRank() == 2 ? from : to;
  if (from.getRank() + to.getRank() != 3 ||
      layoutOfShape(wider) == FragmentLayout::Tile)
    return op.emitOpError() << "has no rule for " << from << " to " << to;
  FragmentLayout layout = layoutOfShape(wider);
  d.set(op, layout, Fragment(d.fragment(op.getSource(), layout)));
  return success();
}

LogicalResult attn::distributeSlice(FragmentDistributor &d,
                                    vector::ExtractStridedSliceOp op) {
  VectorType from = op.getSourceVectorType();
  auto to = cast<VectorType>(op.getType());
  auto number = [](ArrayAttr values, size_t i) -> int64_t {
    return i < values.size() ? cast<IntegerAttr>(values[i]).getInt() : 0;
  };
  int64_t start = number(op.getOffsets(), 1);
  if (from.getRank() != 2 || to.getDimSize(0) != from.getDimSize(0) ||
      start % d.unit() != 0 || to.getDimSize(1) % d.unit() != 0)
    return op.emitOpError() << "expects all rows and multiples of " << d.unit()
                            << " columns, got columns " << start << " to "
                            << start + to.getDimSize(1);
  const Fragment &given = d.fragment(op.getSource(), FragmentLayout::Tile);
  int64_t fromTiles = from.getDimSize(1) / d.unit(),
          toTiles = to.getDimSize(1) / d.unit();
  Fragment out;
  for (size_t i = 0; i < given.size(); ++i) {
    int64_t tile = i / (2 * d.side) % fromTiles - start / d.unit();
    if (tile >= 0 && tile < toTiles)
      out.push_back(given[i]);
  }
  d.set(op, FragmentLayout::Tile, std::move(out));
  return success();
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

static Value combine(FragmentDistributor &d, vector::CombiningKind kind,
                     Value x, Value y) {
  return vector::makeArithReduction(d.b, d.loc, kind, x, y);
}

/// Reduce each row of a tile.
static void reduceRows(FragmentDistributor &d, vector::MultiDimReductionOp op) {
  const Fragment &given = d.fragment(op.getSource(), FragmentLayout::Tile);
  const Fragment &acc = d.fragment(op.getAcc(), FragmentLayout::Row);
  int64_t columnTiles = op.getSourceVectorType().getDimSize(1) / d.unit();
  Fragment out;
  for (size_t row = 0; row < acc.size(); ++row) {
    Value all;
    for (int64_t i = 0; i < columnTiles * d.side; ++i) {
      int64_t tile = row / 2 * columnTiles + i / d.side;
      Value next = given[(tile * 2 + row % 2) * d.side + i % d.side];
      all = all ? combine(d, op.getKind(), all, next) : next;
    }
    for (int64_t lanes : {1, 2})
      all = combine(d, op.getKind(), all, d.shuffleXor(all, lanes));
    out.push_back(combine(d, op.getKind(), acc[row], all));
  }
  d.set(op.getResult(), FragmentLayout::Row, std::move(out));
}

/// Reduce all of a vector of i1 to one number that all threads know, or all of
/// a warp where the op says that this is enough.
static LogicalResult reduceAll(FragmentDistributor &d,
                               vector::MultiDimReductionOp op) {
  vector::CombiningKind kind = op.getKind();
  bool isOr = kind == vector::CombiningKind::OR;
  if (!op.getResult().getType().isInteger(1) ||
      (!isOr && kind != vector::CombiningKind::AND))
    return op.emitOpError() << "expects i1 and the kind 'or' or 'and' where a "
                               "whole vector of the block is reduced";
  const Fragment &given = d.fragment(op.getSource());
  Value all = d.scalar(op.getAcc());
  for (Value next : given)
    all = combine(d, kind, all, next);
  if (op->hasAttr(kWarpUniformAttrName)) {
    auto vote = NVVM::VoteSyncKindAttr::get(d.b.getContext(),
                                            isOr ? NVVM::VoteSyncKind::any
                                                 : NVVM::VoteSyncKind::all);
    all = NVVM::VoteSyncOp::create(d.b, d.loc, d.b.getI1Type(), d.integer(-1),
                                   all, vote);
  } else {
    auto reduction = NVVM::BarrierReductionAttr::get(
        d.b.getContext(),
        isOr ? NVVM::BarrierReduction::OR : NVVM::BarrierReduction::AND);
    Type i32 = d.b.getI32Type();
    Value wide = arith::ExtUIOp::create(d.b, d.loc, i32, all);
    Value any = NVVM::BarrierOp::create(d.b, d.loc, i32, Value(), Value(),
                                        reduction, wide)
                    .getResult(0);
    all = arith::CmpIOp::create(d.b, d.loc, arith::CmpIPredicate::ne, any,
                                d.integer(0));
  }
  d.mapScalar(op.getResult(), all);
  return success();
}

LogicalResult attn::distributeReduction(FragmentDistributor &d,
                                        vector::MultiDimReductionOp op) {
  VectorType source = op.getSourceVectorType();
  if (!isa<VectorType>(op.getResult().getType()))
    return reduceAll(d, op);
  if (source.getRank() != 2 || !op.isReducedDim(1) || op.isReducedDim(0) ||
      layoutOfShape(source) != FragmentLayout::Tile)
    return op.emitOpError() << "expects to reduce the columns of a matrix, or "
                               "all of a vector";
  reduceRows(d, op);
  return success();
}
