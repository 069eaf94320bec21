// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The regions score_mod and mask_mod:
//
//   attn.sdpa ... mask_mod(%b: index, %h: index, %i: index, %j: index) {
//     %own = tensor.extract %doc[%i] : tensor<?xi32>
//     %other = tensor.extract %doc[%j] : tensor<?xi32>
//     %same = arith.cmpi eq, %own, %other : i32
//     attn.yield %same : i1
//   }
//
// A region is evaluated for keys that something else excludes too, and for what
// only fills a tile. So, in whatever body it becomes part of, an index is moved
// to where there is an element, and no integer is divided that a processor
// cannot divide. Whether a key that counts reads outside of a tensor is found out before (RegionChecks.cpp).

#include "attn/IR/ScoreRegion.h"

#include "attn/IR/AttnOps.h"
#include "attn/IR/AttrNames.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace mlir::attn;

//===----------------------------------------------------------------------===//
// What a region may hold
//===----------------------------------------------------------------------===//

static bool isScalar(Type type) { return type.isIntOrIndexOrFloat(); }

/// Return whether `op` is one of those that a region may hold.
static bool isAllowed(Operation &op, Region &region) {
  if (isa<tensor::ExtractOp, tensor::DimOp>(op)) {
    Value tensor = op.getOperand(0);
    return isa<RankedTensorType>(tensor.getType()) &&
           !region.isAncestor(tensor.getParentRegion());
  }
  bool onScalars = llvm::all_of(op.getOperandTypes(), isScalar) &&
                   llvm::all_of(op.getResultTypes(), isScalar);
  return onScalars && op.getNumResults() == 1 &&
         (isa<arith::ConstantOp>(op) ||
          OpTrait::hasElementwiseMappableTraits(&op));
}

/// Fails unless `region`, called `name`, takes `taken` and yields `yielded`, and
/// all that it holds is allowed.
static LogicalResult verifyRegion(Operation *op, Region *body, StringRef name,
                                  ArrayRef<Type> taken, Type yielded) {
  if (!body || body->empty())
    return success();
  Region &region = *body;
  // sdpa-C21, mha-C22, block_step-C9, block_weights-C8
  auto yield = dyn_cast<YieldOp>(region.back().getTerminator());
  if (!region.hasOneBlock() || !yield)
    return op->emitOpError() << "expects one block that ends in 'attn.yield' "
                                "in '"
                             << name << "'";
  auto types = llvm::to_vector(region.front().getArgumentTypes());
  if (ArrayRef<Type>(types) != taken)
    return op->emitOpError() << "expects '" << name << "' to take (" << taken
                             << "), got (" << ArrayRef<Type>(types) << ")";
  if (yield.getValue().getType() != yielded)
    return op->emitOpError() << "expects '" << name << "' to yield " << yielded
                             << ", got " << yield.getValue().getType();
  // sdpa-C22, mha-C23, block_step-C10, block_weights-C9
  for (Operation &inner : region.front().without_terminator())
    if (!isAllowed(inner, region)) {
      InFlightDiagnostic error =
          op->emitOpError()
          << "expects element-wise operations on scalars, and reads of "
             "tensors from outside, in '"
          << name << "', got '" << inner.getName() << "'";
      error.attachNote(inner.getLoc()) << "it is here";
      return error;
    }
  return success();
}

LogicalResult mlir::attn::verifyScoreRegions(Operation *op, Region *scoreMod,
                                             Region *maskMod, Type scoreType) {
  Type index = IndexType::get(op->getContext());
  SmallVector<Type> taken(5, index);
  taken[0] = scoreType;
  if (failed(verifyRegion(op, scoreMod, "score_mod", taken, scoreType)))
    return failure();
  return verifyRegion(op, maskMod, "mask_mod", ArrayRef(taken).drop_front(),
                      IntegerType::get(op->getContext(), 1));
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

static bool takesScore(Region &body) {
  return !body.empty() && body.getNumArguments() > 0 &&
         isa<FloatType>(body.getArgument(0).getType());
}

Region *mlir::attn::findScoreMod(MutableArrayRef<Region> mods) {
  for (Region &body : mods)
    if (takesScore(body))
      return &body;
  return nullptr;
}

Region *mlir::attn::findMaskMod(MutableArrayRef<Region> mods) {
  for (Region &body : mods)
    if (!takesScore(body))
      return &body;
  return nullptr;
}

ScorePlace mlir::attn::getPlace(Region &region) {
  auto last = region.front().getArguments().take_back(4);
  return {last[0], last[1], last[2], last[3]};
}

void mlir::attn::shiftRegion(Region &region, Value batch, Value head) {
  if (region.empty())
    return;
  ScorePlace place = getPlace(region);
  OpBuilder b = OpBuilder::atBlockBegin(&region.front());
  for (auto [argument, offset] :
       {std::pair(place.batch, batch), std::pair(place.head, head)}) {
    if (matchPattern(offset, m_Zero()) || argument.use_empty())
      continue;
    Value sum = arith::AddIOp::create(b, region.getLoc(), argument, offset);
    argument.replaceAllUsesExcept(sum, sum.getDefiningOp());
  }
}

//===----------------------------------------------------------------------===//
// As part of another body
//===----------------------------------------------------------------------===//

namespace {
/// Copies what a region computes.
class RegionInliner {
public:
  RegionInliner(OpBuilder &b, Region &region, ValueRange arguments,
                Operation *outside, ReadListener listener)
      : b(b), region(region), outside(outside), listener(listener) {
    ScorePlace place = getPlace(region);
    neverNegative.insert_range(
        ArrayRef<Value>{place.batch, place.head, place.key});
    for (auto [from, to] :
         llvm::zip_equal(region.front().getArguments(), arguments)) {
      copies.map(from, to);
      if (to.getParentBlock() == b.getInsertionBlock())
        varying.insert(from);
    }
  }

  Value run() {
    Block &body = region.front();
    for (Operation &op : body.without_terminator())
      copy(op);
    return copies.lookupOrDefault(body.getTerminator()->getOperand(0));
  }

private:
  void copy(Operation &op);
  Value copyExtract(OpBuilder &at, tensor::ExtractOp op);
  Value clampIndex(OpBuilder &at, tensor::ExtractOp op, int64_t dim);
  void avoidFault(OpBuilder &at, Operation *division);
  bool isNeverNegative(Value value) const;
  bool yieldsNeverNegative(Operation &op) const;

  OpBuilder &b;
  Region &region;
  Operation *outside;
  ReadListener listener;
  IRMapping copies;
  /// Values that depend on the arguments, and values that cannot be negative.
  DenseSet<Value> varying, neverNegative;
};
} // namespace

/// Return whether `value`, an argument, a constant or computed so far, cannot be
/// negative.
bool RegionInliner::isNeverNegative(Value value) const {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.isNonNegative();
  return neverNegative.contains(value);
}

static unsigned widthOf(Type type) {
  return type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
}

/// Return whether the result of `op` cannot be negative.
bool RegionInliner::yieldsNeverNegative(Operation &op) const {
  auto known = [&](unsigned i) { return isNeverNegative(op.getOperand(i)); };
  if (isa<arith::MaxSIOp>(op))
    return known(0) || known(1);
  if (isa<arith::MinSIOp, arith::DivSIOp>(op))
    return known(0) && known(1);
  if (isa<arith::RemSIOp, arith::ExtSIOp>(op))
    return known(0);
  // Where bits are cut off any sign may be left.
  if (isa<arith::IndexCastOp>(op))
    return known(0) && widthOf(op.getResult(0).getType()) >=
                           widthOf(op.getOperand(0).getType());
  if (isa<arith::SelectOp>(op))
    return known(1) && known(2);
  return isa<arith::ExtUIOp, tensor::DimOp>(op);
}

void RegionInliner::copy(Operation &op) {
  if (yieldsNeverNegative(op))
    neverNegative.insert(op.getResult(0));
  bool varies = llvm::any_of(op.getOperands(),
                             [&](Value v) { return varying.contains(v); });
  if (varies)
    varying.insert(op.getResult(0));
  OpBuilder before(b.getContext());
  if (outside)
    before.setInsertionPoint(outside);
  OpBuilder &at = outside && !varies ? before : b;
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    copies.map(op.getResult(0), copyExtract(at, extract));
    return;
  }
  Operation *clone = at.clone(op, copies);
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
          arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp>(clone))
    avoidFault(at, clone);
}

/// Divide by 1 what a processor cannot divide, anything by 0 and the lowest number
/// by -1: what a key that is excluded computes may be anything, and of the latter
/// the quotient is the lowest number again.
void RegionInliner::avoidFault(OpBuilder &at, Operation *division) {
  Value dividend = division->getOperand(0), divisor = division->getOperand(1);
  Type type = divisor.getType();
  bool isUnsigned =
      isa<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp>(division);
  APInt constant;
  bool isConstant = matchPattern(divisor, m_ConstantInt(&constant));
  if (isConstant && !constant.isZero() && (isUnsigned || !constant.isAllOnes()))
    return;
  Location loc = division->getLoc();
  OpBuilder::InsertionGuard guard(at);
  at.setInsertionPoint(division);
  auto equals = [&](Value value, const APInt &number) -> Value {
    auto attr = at.getIntegerAttr(type, number);
    return arith::CmpIOp::create(at, loc, arith::CmpIPredicate::eq, value,
                                 arith::ConstantOp::create(at, loc, attr));
  };
  unsigned width = widthOf(type);
  Value fault = equals(divisor, APInt::getZero(width));
  if (!isUnsigned) {
    Value overflow = arith::AndIOp::create(
        at, loc, equals(divisor, APInt::getAllOnes(width)),
        equals(dividend, APInt::getSignedMinValue(width)));
    fault = arith::OrIOp::create(at, loc, fault, overflow);
  }
  Value one = arith::ConstantOp::create(at, loc, at.getOneAttr(type));
  division->setOperand(1,
                       arith::SelectOp::create(at, loc, fault, one, divisor));
}

/// Return index `dim` of `op`, moved to where the tensor has an element.
Value RegionInliner::clampIndex(OpBuilder &at, tensor::ExtractOp op,
                                int64_t dim) {
  Location loc = op.getLoc();
  Value given = op.getIndices()[dim], index = copies.lookupOrDefault(given);
  if (listener)
    listener(op, dim, index);
  OpBuilder sizes(at);
  if (outside)
    sizes.setInsertionPoint(outside);
  Value one = arith::ConstantIndexOp::create(sizes, loc, 1);
  Value size = sizes.createOrFold<tensor::DimOp>(loc, op.getTensor(), dim);
  Value last = sizes.createOrFold<arith::SubIOp>(loc, size, one);
  auto smaller = arith::MinSIOp::create(at, loc, index, last);
  // Keys beyond the end are excluded: a vector need not read the last one there.
  if (outside && dim + 1 == static_cast<int64_t>(op.getIndices().size()))
    smaller->setAttr(kUnusedBeyondAttrName, at.getUnitAttr());
  if (isNeverNegative(given))
    return smaller;
  Value zero = arith::ConstantIndexOp::create(sizes, loc, 0);
  return arith::MaxSIOp::create(at, loc, smaller, zero);
}

Value RegionInliner::copyExtract(OpBuilder &at, tensor::ExtractOp op) {
  auto type = cast<RankedTensorType>(op.getTensor().getType());
  // Whoever reads it makes an error; there is nothing to be read here.
  if (llvm::is_contained(type.getShape(), 0) && !listener)
    return arith::ConstantOp::create(at, op.getLoc(),
                                     at.getZeroAttr(type.getElementType()));
  SmallVector<Value> indices;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    indices.push_back(clampIndex(at, op, dim));
  return tensor::ExtractOp::create(at, op.getLoc(), op.getTensor(), indices);
}

Value mlir::attn::inlineScoreMod(OpBuilder &b, Region &scoreMod, Value score,
                                 const ScorePlace &place, Operation *outside,
                                 ReadListener listener) {
  return RegionInliner(
             b, scoreMod,
             {score, place.batch, place.head, place.position, place.key},
             outside, listener)
      .run();
}

Value mlir::attn::inlineMaskMod(OpBuilder &b, Region &maskMod,
                                const ScorePlace &place, Operation *outside,
                                ReadListener listener) {
  return RegionInliner(b, maskMod,
                       {place.batch, place.head, place.position, place.key},
                       outside, listener)
      .run();
}
