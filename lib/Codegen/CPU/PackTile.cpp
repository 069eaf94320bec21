// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits the packing of a tile into panels, and the way back, as loops over vectors.
//
//   linalg.pack %k inner_dims_pos = [0] inner_tiles = [32]          [keys, D] -> [panels, D, 32]
//
// reads 16 rows of 16 channels, transposes them in registers and writes 16 vectors. A row beyond the last is read as the
// last and written as 0, so that nothing outside the source is read. A tile whose rows stay rows is copied.
//
// Where an element-by-element linalg.generic with no other user made the source, a query scaled or a key of f16 widened,
// its work is done on the vectors that are read here, and there is no pass over memory for it.

#include "attn/Codegen/RegisterTile.h"

#include "TileEmitter.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::attn;

namespace {
/// Emits loops in which one tensor is written.
class PanelEmitter {
public:
  PanelEmitter(RewriterBase &rewriter, Location loc, Value source, Value dest,
               int64_t lanes)
      : b(rewriter), loc(loc), source(source), dest(dest), lanes(lanes),
        element(cast<RankedTensorType>(dest.getType()).getElementType()) {
    zero = index(0);
    shape = source;
    auto generic = source.getDefiningOp<linalg::GenericOp>();
    if (!generic || !source.hasOneUse())
      return;
    maker.emplace(b, generic, lanes);
    if (!maker->isMap()) {
      maker.reset();
      return;
    }
    shape = generic.getDpsInits()[0];
    isSimple = generic.getNumDpsInputs() == 1 &&
               generic.getMatchingIndexingMap(generic.getDpsInputOperand(0))
                   .isIdentity() &&
               getElementTypeOrSelf(generic.getInputs()[0]) == element;
    if (isSimple)
      this->source = generic.getInputs()[0];
  }

  /// [R, C] -> [panels, C, size].
  Value packRows(int64_t size);
  /// [R, C] -> [channel panels, panels, rows, columns], or with the first two
  /// the other way round.
  Value packBoth(int64_t rows, int64_t columns, bool channelsFirst);
  /// [strips, channel panels, rows, columns] -> [R, C].
  Value unpackBoth(int64_t rows, int64_t columns);
  /// [strips, rows] -> [R].
  Value unpackRows(int64_t rows);

private:
  using Body = function_ref<Value(Value iv, Value dest)>;

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  Value add(Value x, Value y) {
    return b.createOrFold<arith::AddIOp>(loc, x, y);
  }
  /// Return base * factor + offset.
  Value place(Value base, int64_t factor, Value offset) {
    AffineExpr d0, d1;
    bindDims(b.getContext(), d0, d1);
    return affine::AffineApplyOp::create(b, loc,
                                         AffineMap::get(2, 0, d0 * factor + d1),
                                         ValueRange{base, offset});
  }
  Value dim(Value tensor, int64_t at) {
    return b.createOrFold<tensor::DimOp>(loc, tensor, at);
  }
  Value loop(Value from, Value to, int64_t step, Value written, Body body);
  Value zeros(int64_t width) {
    auto type = VectorType::get({width}, element);
    return arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  }
  Value read(ValueRange at, int64_t width, bool inBounds);
  Value write(Value vector, Value tensor, ValueRange at, bool inBounds) {
    return vector::TransferWriteOp::create(b, loc, vector, tensor, at,
                                           {inBounds})
        .getResult();
  }
  SmallVector<Value> transpose(SmallVector<Value> rows, bool byHalves);
  Value readHalves(ValueRange first, ValueRange second, int64_t width);
  Value packSquare(Value panel, Value row, Value channel, int64_t size,
                   int64_t width, int64_t count, Value exists, Value written);
  Value
  packSquares(int64_t each, int64_t width,
              function_ref<Value(Value panel, Value row, Value written)> pack);
  Value existingRows(Value panel, Value row, int64_t size, int64_t width);
  /// Return min(size, rows - panel * size).
  Value rowsIn(Value panel, int64_t size, Value rows);

  RewriterBase &b;
  Location loc;
  Value source, dest;
  /// What makes the source, where that is done as it is read.
  std::optional<TileEmitter> maker;
  /// Whether it makes each element of one in the same place, of the same type: this
  /// is the source then.
  bool isSimple = false;
  /// A tensor with the sizes of the source.
  Value shape;
  int64_t lanes;
  Type element;
  Value zero;
};
} // namespace

Value PanelEmitter::loop(Value from, Value to, int64_t step, Value written,
                         Body body) {
  auto loop =
      scf::ForOp::create(b, loc, from, to, index(step), ValueRange{written});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value result = body(loop.getInductionVar(), loop.getRegionIterArgs()[0]);
  scf::YieldOp::create(b, loc, result);
  return loop.getResult(0);
}

/// Return `width` elements of what is packed from `at` on.
Value PanelEmitter::read(ValueRange at, int64_t width, bool inBounds) {
  if (maker)
    return maker->valuesAt(at, width, inBounds);
  Value padding = arith::ConstantOp::create(b, loc, b.getZeroAttr(element));
  return vector::TransferReadOp::create(b, loc,
                                        VectorType::get({width}, element),
                                        source, at, padding, {inBounds});
}

/// Return the columns of a square: each step exchanges one bit of the row's number
/// with the same bit of the lane's, the first one where `rows` were read by halves.
SmallVector<Value> PanelEmitter::transpose(SmallVector<Value> rows,
                                           bool byHalves) {
  int64_t size = rows.size();
  for (int64_t bit = byHalves ? size / 4 : size / 2; bit > 0; bit /= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t lane = 0; lane < size; ++lane) {
      bool upper = lane & bit;
      low.push_back(upper ? size + lane - bit : lane);
      high.push_back(upper ? size + lane : lane + bit);
    }
    for (int64_t row = 0; row < size; ++row) {
      if (row & bit)
        continue;
      Value first = rows[row], second = rows[row + bit];
      rows[row] = vector::ShuffleOp::create(b, loc, first, second, low);
      rows[row + bit] = vector::ShuffleOp::create(b, loc, first, second, high);
    }
  }
  return rows;
}

/// Return `width` / 2 elements of the source from `first` on, and as many from
/// `second` on: a load that inserts takes nothing from the one unit that shuffles.
Value PanelEmitter::readHalves(ValueRange first, ValueRange second,
                               int64_t width) {
  auto half = VectorType::get({width / 2}, element);
  Value padding = arith::ConstantOp::create(b, loc, b.getZeroAttr(element));
  SmallVector<int64_t> all = llvm::to_vector(llvm::seq<int64_t>(width));
  auto readHalf = [&](ValueRange at) -> Value {
    return vector::TransferReadOp::create(b, loc, half, source, at, padding,
                                          {true});
  };
  Value low = readHalf(first), high = readHalf(second);
  return vector::ShuffleOp::create(b, loc, low, high, all);
}

/// Pack `width` rows from `row` of the panel and `count` channels, at most
/// `width`. Where `exists` is given, it says which of the rows there are.
Value PanelEmitter::packSquare(Value panel, Value row, Value channel,
                               int64_t size, int64_t width, int64_t count,
                               Value exists, Value written) {
  SmallVector<Value> places, rows;
  Value last;
  if (exists)
    last = arith::SubIOp::create(b, loc, dim(shape, 0), index(1));
  for (int64_t i = 0; i < width; ++i) {
    Value at = place(panel, size, add(row, index(i)));
    if (exists)
      at = arith::MinSIOp::create(b, loc, at, last);
    places.push_back(at);
  }
  // What makes the source can do so with columns just as well.
  bool byHalves = count == width && width >= 8 && (!maker || isSimple);
  int64_t half = width / 2;
  for (int64_t i = 0; i < width; ++i) {
    Value from = i < half || !byHalves ? channel : add(channel, index(half));
    rows.push_back(byHalves
                       ? readHalves({places[i % half], from},
                                    {places[i % half + half], from}, width)
                       : read({places[i], channel}, width, count == width));
  }
  SmallVector<Value> columns = transpose(std::move(rows), byHalves);
  if (byHalves && maker)
    for (Value &column : columns)
      column = maker->valuesOf(column);
  for (int64_t i = 0; i < count; ++i) {
    Value column = columns[i];
    if (exists)
      column = arith::SelectOp::create(b, loc, exists, column, zeros(width));
    written = write(column, written, {panel, add(channel, index(i)), row},
                    /*inBounds=*/true);
  }
  return written;
}

/// Return which of the `width` rows from `row` of the panel the source has.
Value PanelEmitter::existingRows(Value panel, Value row, int64_t size,
                                 int64_t width) {
  Value count =
      arith::SubIOp::create(b, loc, dim(shape, 0), place(panel, size, row));
  return vector::CreateMaskOp::create(
      b, loc, VectorType::get({width}, b.getI1Type()), ValueRange{count});
}

Value PanelEmitter::packRows(int64_t size) {
  auto type = cast<RankedTensorType>(source.getType());
  int64_t width = std::min(size, lanes), channels = type.getDimSize(1);
  bool isStatic = ShapedType::isStatic(channels);
  bool isWhole = !type.isDynamicDim(0) && type.getDimSize(0) % size == 0;
  Value count = dim(shape, 1);
  Value rounded =
      isStatic ? index(channels / width * width)
               : Value(affine::AffineApplyOp::create(
                     b, loc,
                     AffineMap::get(
                         1, 0, b.getAffineDimExpr(0).floorDiv(width) * width),
                     ValueRange{count}));
  auto packFrom = [&](Value panel, Value row, Value written) -> Value {
    Value exists = isWhole ? Value() : existingRows(panel, row, size, width);
    auto pack = [&](Value channel, int64_t number, Value inner) {
      return packSquare(panel, row, channel, size, width, number, exists,
                        inner);
    };
    written =
        loop(zero, rounded, width, written, [&](Value channel, Value inner) {
          return pack(channel, width, inner);
        });
    if (isStatic && channels % width == 0)
      return written;
    if (isStatic)
      return pack(rounded, channels % width, written);
    // The last channels of a dynamic number, one at a time.
    return loop(rounded, count, 1, written, [&](Value channel, Value inner) {
      return pack(channel, 1, inner);
    });
  };
  if (isWhole || width == size)
    return loop(zero, dim(dest, 0), 1, dest, [&](Value panel, Value written) {
      return loop(
          zero, index(size), width, written,
          [&](Value row, Value inner) { return packFrom(panel, row, inner); });
    });
  return packSquares(size / width, width, packFrom);
}

/// Return the destination, of `each` squares of rows a panel, after `pack` has packed
/// those that have rows; the others are 0.
Value PanelEmitter::packSquares(
    int64_t each, int64_t width,
    function_ref<Value(Value panel, Value row, Value written)> pack) {
  AffineExpr d0 = b.getAffineDimExpr(0);
  auto apply = [&](AffineExpr expr, Value of) -> Value {
    return affine::makeComposedAffineApply(b, loc, AffineMap::get(1, 0, expr),
                                           {of});
  };
  auto panelOf = [&](Value square) { return apply(d0.floorDiv(each), square); };
  auto rowOf = [&](Value square) { return apply((d0 % each) * width, square); };
  Value count = apply(d0.ceilDiv(width), dim(shape, 0));
  Value written = loop(zero, count, 1, dest, [&](Value square, Value inner) {
    return pack(panelOf(square), rowOf(square), inner);
  });
  Value all = apply(d0 * each, dim(dest, 0));
  return loop(count, all, 1, written, [&](Value square, Value outer) {
    Value panel = panelOf(square), row = rowOf(square);
    return loop(zero, dim(dest, 1), 1, outer, [&](Value channel, Value inner) {
      return write(zeros(width), inner, {panel, channel, row}, true);
    });
  });
}

Value PanelEmitter::rowsIn(Value panel, int64_t size, Value rows) {
  Value left = arith::SubIOp::create(b, loc, rows, place(panel, size, zero));
  return arith::MinSIOp::create(b, loc, left, index(size));
}

Value PanelEmitter::packBoth(int64_t rows, int64_t columns,
                             bool channelsFirst) {
  int64_t width = std::min(columns, lanes);
  int64_t channels = cast<RankedTensorType>(source.getType()).getDimSize(1);
  bool inBounds = ShapedType::isStatic(channels) && channels % columns == 0;
  return loop(zero, dim(dest, 0), 1, dest, [&](Value outer, Value d0) {
    return loop(zero, dim(dest, 1), 1, d0, [&](Value inner, Value d1) {
      Value group = channelsFirst ? outer : inner;
      Value panel = channelsFirst ? inner : outer;
      Value count = rowsIn(panel, rows, dim(shape, 0));
      d1 = loop(zero, count, 1, d1, [&](Value row, Value d2) {
        for (int64_t at = 0; at < columns; at += width) {
          Value from = place(group, columns, index(at));
          Value vector = read({place(panel, rows, row), from}, width, inBounds);
          d2 = write(vector, d2, {outer, inner, row, index(at)}, true);
        }
        return d2;
      });
      return loop(count, index(rows), 1, d1, [&](Value row, Value d2) {
        for (int64_t at = 0; at < columns; at += width)
          d2 = write(zeros(width), d2, {outer, inner, row, index(at)}, true);
        return d2;
      });
    });
  });
}

Value PanelEmitter::unpackBoth(int64_t rows, int64_t columns) {
  int64_t width = std::min(columns, lanes);
  int64_t channels = cast<RankedTensorType>(dest.getType()).getDimSize(1);
  bool inBounds = ShapedType::isStatic(channels) && channels % columns == 0;
  return loop(zero, dim(shape, 0), 1, dest, [&](Value strip, Value d0) {
    Value count = rowsIn(strip, rows, dim(dest, 0));
    return loop(zero, count, 1, d0, [&](Value row, Value d1) {
      return loop(zero, dim(shape, 1), 1, d1, [&](Value group, Value d2) {
        for (int64_t at = 0; at < columns; at += width) {
          Value vector = read({strip, group, row, index(at)}, width, true);
          Value to = place(group, columns, index(at));
          d2 = write(vector, d2, {place(strip, rows, row), to}, inBounds);
        }
        return d2;
      });
    });
  });
}

Value PanelEmitter::unpackRows(int64_t rows) {
  int64_t known = cast<RankedTensorType>(dest.getType()).getDimSize(0);
  bool inBounds = ShapedType::isStatic(known) && known % rows == 0;
  return loop(zero, dim(shape, 0), 1, dest, [&](Value strip, Value inner) {
    Value vector = read({strip, zero}, rows, true);
    return write(vector, inner, {place(strip, rows, zero)}, inBounds);
  });
}

//===----------------------------------------------------------------------===//
// The ops
//===----------------------------------------------------------------------===//

LogicalResult attn::emitPack(RewriterBase &rewriter, linalg::PackOp op,
                             int64_t lanes) {
  SmallVector<int64_t> tiles = op.getStaticTiles();
  auto type = cast<RankedTensorType>(op.getSource().getType());
  if (type.getRank() != 2 || llvm::any_of(tiles, ShapedType::isDynamic))
    return rewriter.notifyMatchFailure(op, "not a tile of rows");
  ArrayRef<int64_t> positions = op.getInnerDimsPos(),
                    order = op.getOuterDimsPerm();
  rewriter.setInsertionPoint(op);
  PanelEmitter emitter(rewriter, op.getLoc(), op.getSource(), op.getDest(),
                       lanes);
  if (positions == ArrayRef<int64_t>{0} && order.empty() &&
      llvm::isPowerOf2_64(tiles[0])) {
    rewriter.replaceOp(op, emitter.packRows(tiles[0]));
    return success();
  }
  bool channelsFirst = order == ArrayRef<int64_t>{1, 0};
  if (positions == ArrayRef<int64_t>{0, 1} &&
      (order.empty() || channelsFirst) &&
      (tiles[1] < lanes || tiles[1] % lanes == 0)) {
    rewriter.replaceOp(op, emitter.packBoth(tiles[0], tiles[1], channelsFirst));
    return success();
  }
  return rewriter.notifyMatchFailure(op, "not packed as a tile is");
}

LogicalResult attn::emitUnpack(RewriterBase &rewriter, linalg::UnPackOp op,
                               int64_t lanes) {
  SmallVector<int64_t> tiles = op.getStaticTiles();
  if (llvm::any_of(tiles, ShapedType::isDynamic) ||
      !op.getOuterDimsPerm().empty())
    return rewriter.notifyMatchFailure(op, "not packed as a tile is");
  ArrayRef<int64_t> positions = op.getInnerDimsPos();
  int64_t rank = cast<RankedTensorType>(op.getDest().getType()).getRank();
  rewriter.setInsertionPoint(op);
  PanelEmitter emitter(rewriter, op.getLoc(), op.getSource(), op.getDest(),
                       lanes);
  if (rank == 1 && positions == ArrayRef<int64_t>{0}) {
    rewriter.replaceOp(op, emitter.unpackRows(tiles[0]));
    return success();
  }
  if (rank == 2 && positions == ArrayRef<int64_t>{0, 1} &&
      (tiles[1] < lanes || tiles[1] % lanes == 0)) {
    rewriter.replaceOp(op, emitter.unpackBoth(tiles[0], tiles[1]));
    return success();
  }
  return rewriter.notifyMatchFailure(op, "not packed as a tile is");
}

LogicalResult attn::emitFill(RewriterBase &rewriter, linalg::FillOp op,
                             int64_t lanes) {
  rewriter.setInsertionPoint(op);
  FailureOr<linalg::GenericOp> generic =
      linalg::generalizeNamedOp(rewriter, op);
  if (failed(generic))
    return failure();
  return emitRegisterTile(rewriter, *generic, lanes);
}
