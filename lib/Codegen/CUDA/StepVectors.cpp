// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One attn.block_step of a block of threads as vectors of a whole tile:
//
//   S = q . k                                        vector.contract
//   S = scf.if (some key is excluded) { select }     a branch that all threads take, or none
//   scf.if (some score is above its row's reference) {
//     the reference grows, sum and acc are multiplied by 2^(old - new)
//   }
//   P = 2^(c * S - t)                                math.fma, math.exp2
//   sum += P, in lanes;  acc += P . v                vector.contract
//
// Of more channels than shared memory has room for, q . k is a loop over parts of them:
//
//   S = scf.for %d = 0 to 576 step 64 iter_args(zeros) { q[.., %d ..] . k[.., %d ..] + the sums }
//
// c is scale * log2(e) where the reference is a product, and log2(e) after a subtraction in natural units where scores
// are more than that. A reference that does not grow leaves sum and acc bit for bit.

#include "InsideReads.h"
#include "KernelAttrs.h"
#include "StepVectorizer.h"
#include "TileReads.h"

#include "attn/Analysis/CudaCostModel.h"
#include "attn/IR/ScoreRegion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;
using namespace mlir::attn;

/// Return sums + left . right, of which the second is [n, k], or [k, n] where
/// products are added up over keys.
Value StepVectorizer::product(Value left, Value right, Value sums,
                              bool byKeys) {
  AffineExpr m, n, k;
  bindDims(b.getContext(), m, n, k);
  SmallVector<AffineExpr> second =
      byKeys ? SmallVector<AffineExpr>{k, n} : SmallVector<AffineExpr>{n, k};
  using vector::IteratorType;
  return vector::ContractionOp::create(
      b, left, right, sums,
      ArrayRef<ArrayRef<AffineExpr>>{{m, k}, second, {m, n}},
      ArrayRef<IteratorType>{IteratorType::parallel, IteratorType::parallel,
                             IteratorType::reduction});
}

/// Return the products of the rows and the keys, where there are many channels as the
/// sum of those of some at a time.
Value StepVectorizer::scores() {
  Value zero = constant(0.0);
  auto type = cast<VectorType>(query.getType());
  int64_t channels = type.getDimSize(1),
          part = getPartChannels(type.getElementTypeBitWidth());
  if (channels <= kMostWholeChannels || !canReadParts(query) ||
      !canReadParts(key))
    return product(query, key, zero, /*byKeys=*/false);
  auto loop = scf::ForOp::create(b, index(0), index(channels), index(part),
                                 ValueRange{zero});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value first = loop.getInductionVar();
  Value sums =
      product(readPart(b, query, first, part), readPart(b, key, first, part),
              loop.getRegionIterArg(0), /*byKeys=*/false);
  scf::YieldOp::create(b, sums);
  return loop.getResult(0);
}

/// Return whether all rows are known to be of one head.
bool StepVectorizer::isOneHead() {
  std::optional<int64_t> perHead = getConstantIntValue(op.getRowsPerHead());
  return perHead && *perHead >= rows;
}

/// Return for each row its number in its head.
TileValue StepVectorizer::rowInHead(Type type) {
  TileValue number = tile.number(Spread::Rows, type);
  auto vectorType = cast<VectorType>(number.value.getType());
  auto spreadScalar = [&](Value scalar) -> Value {
    if (!type.isIndex())
      scalar = arith::IndexCastOp::create(b, type, scalar);
    return vector::BroadcastOp::create(b, vectorType, scalar);
  };
  number.value =
      arith::AddIOp::create(b, number.value, spreadScalar(op.getRow()));
  if (!isOneHead())
    number.value = arith::RemSIOp::create(b, number.value,
                                          spreadScalar(op.getRowsPerHead()));
  return number;
}

/// Return what a region of the step yields for each score.
TileValue StepVectorizer::applyRegion(Region &region, Value scores) {
  // As operations on scalars, in a block that is not kept.
  Block body;
  Location loc = op.getLoc();
  Type indexType = b.getIndexType();
  Value score = body.addArgument(b.getF32Type(), loc);
  Value position = body.addArgument(indexType, loc);
  Value number = body.addArgument(indexType, loc);
  OpBuilder inside(b.getContext());
  inside.setInsertionPointToEnd(&body);
  Value head = op.getHead();
  SmallVector<TileValue> arguments = {{scores, Spread::Full},
                                      rowInHead(indexType),
                                      tile.number(Spread::Columns, indexType)};
  if (!isOneHead()) {
    head = body.addArgument(indexType, loc);
    TileValue row = tile.number(Spread::Rows, indexType);
    Value perHead = vector::BroadcastOp::create(b, row.value.getType(),
                                                op.getRowsPerHead());
    Value first =
        vector::BroadcastOp::create(b, row.value.getType(), op.getRow());
    row.value = arith::AddIOp::create(b, row.value, first);
    row.value = arith::DivSIOp::create(b, row.value, perHead);
    first = vector::BroadcastOp::create(b, row.value.getType(), op.getHead());
    row.value = arith::AddIOp::create(b, row.value, first);
    arguments.push_back(row);
  }
  auto shifted = [&](TileValue &value, Value by) {
    Value all = vector::BroadcastOp::create(b, value.value.getType(), by);
    value.value = arith::AddIOp::create(b, value.value, all);
  };
  shifted(arguments[1], op.getPosition());
  shifted(arguments[2], op.getFirstKey());
  ScorePlace place{op.getBatch(), head, position, number};
  bool isScore = &region == op.getScoreMod();
  Value result = isScore ? inlineScoreMod(inside, region, score, place, anchor)
                         : inlineMaskMod(inside, region, place, anchor);
  YieldOp::create(inside, loc, result);
  TileValue spread = tile.applyBody(body, arguments);
  body.dropAllReferences();
  return spread;
}

/// Return of which dimension of a bias or a mask [heads, rows, keys] rows are: several
/// heads have one row each.
int64_t StepVectorizer::rowDim() { return isOneHead() ? 1 : 0; }

/// Return what the tile reads of a bias or a mask [heads, rows, keys], each 1 or full.
TileSlice StepVectorizer::sliceOf(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  bool byRow = type.getDimSize(rowDim()) != 1, byKey = type.getDimSize(2) != 1;
  SmallVector<OpFoldResult> offsets(3, b.getIndexAttr(0)),
      ones(3, b.getIndexAttr(1)), sizes = ones;
  SmallVector<int64_t> shape;
  TileSlice slice;
  auto keep = [&](int64_t dim, int64_t extent, Value first) {
    sizes[dim] = tensor::getMixedSize(b, b.getLoc(), tensor, dim);
    shape.push_back(type.getDimSize(dim));
    slice.shape.push_back(extent);
    slice.at.push_back(first);
  };
  if (byRow)
    keep(rowDim(), rows, op.getRow());
  if (byKey)
    keep(2, keys, op.getFirstKey());
  if (slice.at.empty())
    return {tensor, SmallVector<Value>(3, index(0)), {}, Spread::Uniform};
  slice.tensor = tensor::ExtractSliceOp::create(
      b, RankedTensorType::get(shape, type.getElementType()), tensor, offsets,
      sizes, ones);
  slice.spread = byRow && byKey ? Spread::Full
                 : byRow        ? Spread::Rows
                                : Spread::Columns;
  return slice;
}

/// Return for each score the element of a bias or a mask. `isInside`: it has no end
/// within the tile where it has many keys.
TileValue StepVectorizer::read(const TileSlice &slice, bool isInside) {
  if (slice.shape.empty())
    return {tensor::ExtractOp::create(b, slice.tensor, slice.at),
            Spread::Uniform};
  Type element = getElementTypeOrSelf(slice.tensor);
  Value read = readTile(b, VectorType::get(slice.shape, element), slice.tensor,
                        slice.at);
  if (isInside && slice.spread != Spread::Rows)
    read.getDefiningOp<vector::TransferReadOp>().setInBoundsAttr(
        b.getBoolArrayAttr(SmallVector<bool>(slice.at.size(), true)));
  return {read, slice.spread};
}

/// Return whether a bias or a mask has an element for each score of the tile; null
/// where it has by its type, or has one for all keys.
Value StepVectorizer::isInside(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (type.getDimSize(2) == 1)
    return {};
  Value inside;
  auto check = [&](int64_t dim, Value first, int64_t count) {
    int64_t extent = type.getDimSize(dim);
    if (extent == 1 || (matchPattern(first, m_Zero()) && extent >= count))
      return;
    Value fits = b.createOrFold<arith::CmpIOp>(
        arith::CmpIPredicate::sle, add(first, index(count)),
        b.createOrFold<tensor::DimOp>(tensor, dim));
    inside = inside ? b.createOrFold<arith::AndIOp>(inside, fits) : fits;
  };
  check(rowDim(), op.getRow(), rows);
  check(2, op.getFirstKey(), keys);
  return inside;
}

/// Return `scores` held below the cap.
Value StepVectorizer::capped(Value scores) {
  double cap = op.getSoftcap()->convertToDouble();
  // A quotient takes several times as long as a product.
  bool hasInverse = std::isnormal(static_cast<float>(1 / cap));
  Value s =
      hasInverse
          ? arith::MulFOp::create(b, scores, constant(1 / cap)).getResult()
          : arith::DivFOp::create(b, scores, constant(cap));
  s = math::TanhOp::create(b, s);
  return arith::MulFOp::create(b, s, constant(cap));
}

/// Return the scores after scale, score_mod, cap, bias and mask. Where the
/// reference is a product the scale comes later.
Value StepVectorizer::changed(Value scores) {
  Value s = scores, kept;
  isScaled = op.getProducts() || scale == 1.0;
  if (!isScaled && (op.getScoreMod() || op.getSoftcap() || !op.getBias())) {
    s = arith::MulFOp::create(b, s, constant(scale));
    isScaled = true;
  }
  if (Region *scoreMod = op.getScoreMod()) {
    s = tile.full(applyRegion(*scoreMod, s));
    // A cap would make a number of -inf, and a bias of NaN makes NaN of it.
    if (op.getSoftcap() || op.getBias())
      kept = arith::CmpFOp::create(b, arith::CmpFPredicate::UNE, s, lowest());
  }
  if (op.getSoftcap())
    s = capped(s);
  return readOperands(s, kept);
}

/// Return `s`, of which only those `kept` count, after bias and mask: one after the
/// other, so that what is read of one does not wait for what is read of the other.
Value StepVectorizer::readOperands(Value s, Value kept) {
  if (op.getBias())
    s = readOperand(s, kept, op.getBias(), /*isBias=*/true);
  if (op.getMask())
    s = readOperand(s, kept, op.getMask(), /*isBias=*/false);
  return kept ? arith::SelectOp::create(b, kept, s, lowest()).getResult() : s;
}

/// Return `s` after `tensor`, a bias or a mask. Where a tile reaches over its end, each
/// thread asks for each element. (Keys that are looked at again come one by one.)
Value StepVectorizer::readOperand(Value s, Value &kept, Value tensor,
                                  bool isBias) {
  TileSlice slice = sliceOf(tensor);
  auto apply = [&](bool isInside) {
    return isBias ? biased(s, kept, slice, isInside)
                  : masked(s, slice, isInside);
  };
  Value inside = isAgain ? Value() : isInside(tensor);
  if (!inside)
    return apply(/*isInside=*/!isAgain);
  auto choice =
      scf::IfOp::create(b, s.getType(), inside, /*withElseRegion=*/true);
  choice->setAttr(kInsideAttrName, b.getUnitAttr());
  choice->setAttr(kRareAttrName, b.getUnitAttr());
  OpBuilder::InsertionGuard guard(b);
  for (bool isThen : {true, false}) {
    b.setInsertionPointToStart(isThen ? choice.thenBlock()
                                      : choice.elseBlock());
    scf::YieldOp::create(b, apply(isThen));
  }
  return choice.getResult(0);
}

/// Return `s`, scaled if it is not yet, plus the bias.
Value StepVectorizer::biased(Value s, Value &kept, const TileSlice &bias,
                             bool isInside) {
  TileValue term = read(bias, isInside);
  Type type = getElementTypeOrSelf(term.value);
  if (!type.isF32()) {
    Type wide = b.getF32Type();
    if (auto vectorType = dyn_cast<VectorType>(term.value.getType()))
      wide = vectorType.clone(wide);
    term.value = arith::ExtFOp::create(b, wide, term.value);
  }
  Value all = tile.full(term);
  // Of NaN, a bias of -inf makes NaN: then keys are looked at again.
  if (isAgain) {
    Value some =
        arith::CmpFOp::create(b, arith::CmpFPredicate::UNE, all, lowest());
    kept = kept ? arith::AndIOp::create(b, kept, some).getResult() : some;
  }
  return isScaled ? arith::AddFOp::create(b, s, all).getResult()
                  : math::FmaOp::create(b, s, constant(scale), all).getResult();
}

/// Return `s`, but -inf where the mask says so.
Value StepVectorizer::masked(Value s, const TileSlice &mask, bool isInside) {
  TileValue given = read(mask, isInside);
  Type type = given.value.getType();
  if (!getElementTypeOrSelf(type).isInteger(1)) {
    Value zero = arith::ConstantOp::create(b, b.getZeroAttr(type));
    given.value =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ne, given.value, zero);
  }
  return arith::SelectOp::create(b, tile.full(given), s, lowest());
}

/// Return what is added to c * S in an exponent: -c * reference + exponent.
Value StepVectorizer::negatedExponent(Value reference) {
  auto type = cast<VectorType>(reference.getType());
  return math::FmaOp::create(b, reference,
                             splat(b, type, -scale * llvm::numbers::log2e),
                             splat(b, type, exponent));
}

/// Return whether one of the `conditions` holds. Each warp has an answer of its
/// own: what depends on it does nothing for the rows of others.
Value StepVectorizer::anyOf(Value conditions) {
  Value no = arith::ConstantOp::create(b, b.getBoolAttr(false));
  auto any = vector::MultiDimReductionOp::create(
      b, conditions, no, ArrayRef<bool>{true, true}, vector::CombiningKind::OR);
  any->setAttr(kWarpUniformAttrName, b.getUnitAttr());
  return any;
}

/// Return the state relative to a reference that no score exceeds.
StateVectors StepVectorizer::rescaled(Value scores, const StateVectors &state) {
  // A thread has the same few columns of every piece.
  int64_t width = op.getScheduleAttr().getColumns();
  SmallVector<Value> pieces = splitColumns(b, scores, width);
  Value highest = pieces.front();
  for (Value piece : ArrayRef(pieces).drop_front())
    highest = arith::MaxNumFOp::create(b, highest, piece);
  Value grown = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, highest,
                                      spreadRows(b, state.reference, width));
  auto choice =
      scf::IfOp::create(b,
                        TypeRange{state.reference.getType(),
                                  state.sum.getType(), state.acc.getType()},
                        anyOf(grown), /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  Value reference = vector::MultiDimReductionOp::create(
      b, highest, state.reference, ArrayRef<bool>{false, true},
      vector::CombiningKind::MAXNUMF);
  Value alpha =
      op.getProducts()
          ? exp2(b, arith::SubFOp::create(b, negatedExponent(reference),
                                          negatedExponent(state.reference)))
          : expOfDifference(b, state.reference, reference);
  auto times = [&](Value sums) -> Value {
    auto type = cast<VectorType>(sums.getType());
    Value factor =
        type.getRank() == 1 ? alpha : spreadRows(b, alpha, type.getDimSize(1));
    return arith::MulFOp::create(b, sums, factor);
  };
  scf::YieldOp::create(
      b, ValueRange{reference, times(state.sum), times(state.acc)});
  b.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(b, ValueRange{state.reference, state.sum, state.acc});
  return {choice.getResult(0), choice.getResult(1), choice.getResult(2)};
}

/// Return the weights of `scores` relative to `reference`.
Value StepVectorizer::weights(Value scores, Value reference) {
  Value x;
  if (op.getProducts()) {
    Value shift = spreadRows(b, negatedExponent(reference), keys);
    x = math::FmaOp::create(b, scores, constant(scale * llvm::numbers::log2e),
                            shift);
  } else {
    Value natural =
        arith::SubFOp::create(b, scores, spreadRows(b, reference, keys));
    x = math::FmaOp::create(b, natural, constant(llvm::numbers::log2e),
                            constant(exponent));
  }
  return exp2(b, x);
}

StateVectors StepVectorizer::run(const StateVectors &before) {
  Value scores = excluded(changed(this->scores()));
  StateVectors state = rescaled(scores, before);
  Value p = weights(scores, state.reference);
  auto sumType = cast<VectorType>(state.sum.getType());
  if (sumType.getRank() == 1) {
    state.sum = vector::MultiDimReductionOp::create(b, p, state.sum,
                                                    ArrayRef<bool>{false, true},
                                                    vector::CombiningKind::ADD);
  } else {
    SmallVector<Value> pieces = splitColumns(b, p, sumType.getDimSize(1));
    Value sum = pieces.front();
    for (Value piece : ArrayRef(pieces).drop_front())
      sum = arith::AddFOp::create(b, sum, piece);
    state.sum = arith::AddFOp::create(b, state.sum, sum);
  }
  auto valueType = cast<VectorType>(value.getType());
  if (!valueType.getElementType().isF32())
    p = arith::TruncFOp::create(
        b, cast<VectorType>(p.getType()).clone(valueType.getElementType()), p);
  state.acc = addValues(p, state.acc);
  return state;
}

/// Return `conditions`, of each score, where they are of a row that is there.
Value StepVectorizer::onlyOfRows(Value conditions) {
  auto read = query.getDefiningOp<vector::TransferReadOp>();
  auto source =
      read ? dyn_cast<ShapedType>(read.getBase().getType()) : ShapedType();
  if (!source || source.getRank() != 2 || source.getDimSize(0) == rows)
    return conditions;
  Value first = read.getIndices().front(), zero = index(0);
  Value end = isa<MemRefType>(source)
                  ? memref::DimOp::create(b, read.getBase(), zero).getResult()
                  : tensor::DimOp::create(b, read.getBase(), zero).getResult();
  TileValue row = tile.number(Spread::Rows, b.getIndexType());
  auto spreadScalar = [&](Value scalar) -> Value {
    return vector::BroadcastOp::create(b, row.value.getType(), scalar);
  };
  row.value = arith::AddIOp::create(b, row.value, spreadScalar(first));
  row.value = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, row.value,
                                    spreadScalar(end));
  return arith::AndIOp::create(b, conditions, tile.full(row));
}

/// Return acc + p . v. Where a value of weight 0 must not be looked at, nothing is
/// added unless a row of the warp has a weight: a step is then on one key. A weight
/// of NaN, as rows of padding have it of an infinite key, shows by its sum; what else
/// such rows have does not count.
Value StepVectorizer::addValues(Value p, Value acc) {
  if (!op.getSkipZeros() || matchPattern(op.getSkipZeros(), m_Zero()))
    return product(p, value, acc, /*byKeys=*/true);
  auto type = cast<VectorType>(p.getType());
  Value weighed = arith::CmpFOp::create(b, arith::CmpFPredicate::ONE, p,
                                        splat(b, type, 0.0));
  Value some = anyOf(onlyOfRows(weighed));
  auto choice =
      scf::IfOp::create(b, acc.getType(), some, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(b, product(p, value, acc, /*byKeys=*/true));
  b.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(b, acc);
  return choice.getResult(0);
}

StateVectors attn::vectorizeStep(ImplicitLocOpBuilder &b, BlockStepOp op,
                                 Value query, Value key, Value value,
                                 const StateVectors &state) {
  return StepVectorizer(b, op, query, key, value).run(state);
}
