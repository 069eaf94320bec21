// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The body of a linalg.generic at one point of a step: what its operands are there, a scalar, a vector or consecutive
// numbers, and each of its operations on them.

#include "TileEmitter.h"

#include "attn/IR/AttrNames.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::attn;

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

TileEmitter::Offsets TileEmitter::project(AffineMap map,
                                          const Offsets &point) const {
  Offsets at;
  for (AffineExpr expr : map.getResults())
    at.push_back(point[cast<AffineDimExpr>(expr).getPosition()]);
  return at;
}

/// Return where `map` reads at the projected offsets `point`.
SmallVector<Value> TileEmitter::indices(AffineMap map, const Offsets &point) {
  SmallVector<Value> at;
  for (auto [i, expr] : llvm::enumerate(map.getResults())) {
    unsigned dim = cast<AffineDimExpr>(expr).getPosition();
    Value index = ivs[dim];
    if (point[i] != 0)
      index =
          b.createOrFold<arith::AddIOp>(loc, index, constantIndex(point[i]));
    at.push_back(index);
  }
  return at;
}

Value TileEmitter::readVector(Value tensor, ValueRange at, bool inBounds) {
  Type element = cast<RankedTensorType>(tensor.getType()).getElementType();
  Value padding = arith::ConstantOp::create(b, loc, b.getZeroAttr(element));
  return vector::TransferReadOp::create(b, loc,
                                        VectorType::get({width}, element),
                                        tensor, at, padding, {inBounds});
}

Lane TileEmitter::load(Value tensor, AffineMap map, const Offsets &point) {
  if (!isa<RankedTensorType>(tensor.getType()))
    return {Lane::Scalar, tensor};
  SmallVector<Value> at = indices(map, point);
  if (map.isFunctionOfDim(vectorDim))
    return {Lane::Vector, readVector(tensor, at, !masked)};
  return {Lane::Scalar, tensor::ExtractOp::create(b, loc, tensor, at)};
}

Value TileEmitter::store(Value tensor, AffineMap map, const Offsets &point,
                         Lane lane) {
  SmallVector<Value> at = indices(map, point);
  if (!map.isFunctionOfDim(vectorDim))
    return tensor::InsertOp::create(b, loc, lane.value, tensor, at);
  return vector::TransferWriteOp::create(b, loc, toVector(lane), tensor, at,
                                         {!masked})
      .getResult();
}

//===----------------------------------------------------------------------===//
// The body
//===----------------------------------------------------------------------===//

Lane TileEmitter::lookup(Value value, DenseMap<Value, Lane> &lanesOf) {
  auto found = lanesOf.find(value);
  return found == lanesOf.end() ? Lane{Lane::Scalar, value} : found->second;
}

Value TileEmitter::toVector(Lane lane) {
  if (lane.kind == Lane::Vector)
    return lane.value;
  auto type = VectorType::get({width}, lane.value.getType());
  Value splat = vector::BroadcastOp::create(b, loc, type, lane.value);
  if (lane.kind == Lane::Scalar)
    return splat;
  SmallVector<Attribute> numbers;
  for (int64_t i = 0; i < width; ++i)
    numbers.push_back(b.getIntegerAttr(lane.value.getType(), i));
  Value iota =
      arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, numbers));
  return arith::AddIOp::create(b, loc, splat, iota);
}

/// Return x * y + z in one rounding where `inner` adds a product to an
/// accumulator.
Lane TileEmitter::fused(Operation &inner, DenseMap<Value, Lane> &lanesOf) {
  auto add = dyn_cast<arith::AddFOp>(inner);
  if (!add || reductions.empty() || horizontal)
    return {Lane::Scalar, Value()};
  for (unsigned i : {1u, 0u}) {
    auto product = add->getOperand(i).getDefiningOp<arith::MulFOp>();
    if (!product || product->getBlock() != inner.getBlock() ||
        !product->hasOneUse())
      continue;
    Lane x = lookup(product.getLhs(), lanesOf);
    Lane y = lookup(product.getRhs(), lanesOf);
    Lane z = lookup(add->getOperand(1 - i), lanesOf);
    return {Lane::Vector, vector::FMAOp::create(b, loc, toVector(x),
                                                toVector(y), toVector(z))};
  }
  return {Lane::Scalar, Value()};
}

/// Return what a tensor that the body reads holds: a scalar, consecutive
/// elements, or one element a lane.
Lane TileEmitter::evaluateExtract(tensor::ExtractOp extract,
                                  DenseMap<Value, Lane> &lanesOf) {
  SmallVector<Lane> at;
  for (Value index : extract.getIndices())
    at.push_back(lookup(index, lanesOf));
  SmallVector<Value> scalars;
  for (const Lane &lane : at)
    scalars.push_back(lane.value);
  bool uniform =
      llvm::all_of(at, [](const Lane &l) { return l.kind == Lane::Scalar; });
  if (uniform)
    return {Lane::Scalar,
            tensor::ExtractOp::create(b, loc, extract.getTensor(), scalars)};
  bool contiguous =
      at.back().kind == Lane::Iota &&
      llvm::all_of(ArrayRef<Lane>(at).drop_back(),
                   [](const Lane &l) { return l.kind == Lane::Scalar; });
  if (contiguous)
    return {Lane::Vector, readVector(extract.getTensor(), scalars,
                                     /*inBounds=*/false)};
  SmallVector<Value> vectors, elements;
  for (auto [dim, lane] : llvm::enumerate(at)) {
    vectors.push_back(lane.kind == Lane::Scalar ? lane.value : toVector(lane));
    if (lane.kind != Lane::Iota)
      continue;
    // It may run beyond the end, where one vector would not be read.
    Value size = b.createOrFold<tensor::DimOp>(loc, extract.getTensor(), dim);
    Value last = b.createOrFold<arith::SubIOp>(loc, size, constantIndex(1));
    vectors.back() = arith::MinSIOp::create(b, loc, vectors.back(),
                                            toVector({Lane::Scalar, last}));
  }
  for (int64_t i = 0; i < width; ++i) {
    SmallVector<Value> indices;
    for (Value index : vectors)
      indices.push_back(
          isa<VectorType>(index.getType())
              ? vector::ExtractOp::create(b, loc, index, i).getResult()
              : index);
    elements.push_back(
        tensor::ExtractOp::create(b, loc, extract.getTensor(), indices));
  }
  auto type = VectorType::get({width}, extract.getType());
  return {Lane::Vector, vector::FromElementsOp::create(b, loc, type, elements)};
}

Lane TileEmitter::evaluate(Operation &inner, const Offsets &point,
                           DenseMap<Value, Lane> &lanesOf) {
  if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
    unsigned dim = index.getDim();
    Value value =
        b.createOrFold<arith::AddIOp>(loc, ivs[dim], constantIndex(point[dim]));
    return {dim == vectorDim ? Lane::Iota : Lane::Scalar, value};
  }
  if (auto extract = dyn_cast<tensor::ExtractOp>(inner))
    return evaluateExtract(extract, lanesOf);
  if (Lane lane = fused(inner, lanesOf); lane.value)
    return lane;
  SmallVector<Lane> operands;
  for (Value operand : inner.getOperands())
    operands.push_back(lookup(operand, lanesOf));
  auto count = [&](Lane::Kind kind) {
    return llvm::count_if(operands,
                          [&](const Lane &l) { return l.kind == kind; });
  };
  // Consecutive numbers stay so where what they index is read up to its end.
  if (isa<arith::MinSIOp>(inner) && inner.hasAttr(kUnusedBeyondAttrName) &&
      operands[0].kind == Lane::Iota && operands[1].kind == Lane::Scalar)
    return operands[0];
  // base + i stays such a vector under an addition or a subtraction of a scalar,
  // and a cast.
  bool shifted = isa<arith::AddIOp, arith::SubIOp>(inner) &&
                 count(Lane::Iota) == 1 && count(Lane::Scalar) == 1 &&
                 (isa<arith::AddIOp>(inner) || operands[0].kind == Lane::Iota);
  bool cast = isa<arith::IndexCastOp>(inner) && count(Lane::Iota) == 1;
  bool scalar = count(Lane::Scalar) == static_cast<int64_t>(operands.size());
  if (scalar || shifted || cast) {
    IRMapping scalars;
    for (auto [operand, lane] : llvm::zip(inner.getOperands(), operands))
      scalars.map(operand, lane.value);
    Operation *copy = b.clone(inner, scalars);
    return {scalar ? Lane::Scalar : Lane::Iota, copy->getResult(0)};
  }
  OperationState state(loc, inner.getName());
  for (const Lane &lane : operands)
    state.operands.push_back(toVector(lane));
  state.types.push_back(VectorType::get({width}, inner.getResult(0).getType()));
  state.attributes = inner.getAttrs();
  return {Lane::Vector, b.create(state)->getResult(0)};
}

//===----------------------------------------------------------------------===//
// Values on demand
//===----------------------------------------------------------------------===//

bool TileEmitter::isMap() {
  if (!op.hasPureTensorSemantics() || op.getNumDpsInits() != 1 ||
      op.getNumParallelLoops() != op.getNumLoops() || op.getNumLoops() == 0 ||
      !outputMap(0).isIdentity() ||
      !op.getMatchingBlockArgument(op.getDpsInitOperand(0)).use_empty())
    return false;
  vectorDim = op.getNumLoops() - 1;
  return readsAlongVectors() &&
         llvm::all_of(op.getBody()->without_terminator(), [](Operation &inner) {
           return OpTrait::hasElementwiseMappableTraits(&inner);
         });
}

Value TileEmitter::valuesAt(ValueRange at, int64_t size, bool inBounds) {
  width = size;
  masked = !inBounds;
  ivs.assign(at.begin(), at.end());
  Offsets here(op.getNumLoops(), 0);
  DenseMap<Value, Lane> lanesOf;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    lanesOf[op.getMatchingBlockArgument(input)] =
        load(input->get(), map, project(map, here));
  }
  return resultOf(lanesOf);
}

Value TileEmitter::valuesOf(Value elements) {
  width = cast<VectorType>(elements.getType()).getDimSize(0);
  DenseMap<Value, Lane> lanesOf;
  lanesOf[op.getBody()->getArgument(0)] = {Lane::Vector, elements};
  return resultOf(lanesOf);
}

/// Return what the body, which only maps elements, makes of its arguments.
Value TileEmitter::resultOf(DenseMap<Value, Lane> &lanesOf) {
  Offsets here(op.getNumLoops(), 0);
  for (Operation &inner : op.getBody()->without_terminator())
    lanesOf[inner.getResult(0)] = evaluate(inner, here, lanesOf);
  return toVector(
      lookup(op.getBody()->getTerminator()->getOperand(0), lanesOf));
}
