// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits one linalg.generic on a tile as loops over vectors. A contraction
//
//   linalg.generic (panel, row, key, k): q[k, row], k[panel, k, key] -> s[panel, row, key]
//
// on tiles of 8 rows and 32 keys, 16 lanes, becomes
//
//   scf.for %panel iter_args(%s) {
//     %acc:16 = scf.for %k iter_args(16 vectors) {      // 8 rows x 2 vectors stay in registers
//       2 transfer_read of k, 8 tensor.extract of q, 16 vector.fma
//     }
//     16 transfer_write into %s
//   }
//
// The dimension along vectors is the last one of the first output, or, where that is a reduction over a row, the last
// one of the input. Static parallel dimensions inside it are unrolled as far as registers go. An output that no
// reduction indexes is kept in registers over the loops of the reductions; any other is read and written where it is.

#include "attn/Codegen/RegisterTile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::attn;

namespace {
/// The most vectors that one step of a contraction accumulates, and of any other
/// op: a body of many operations is not repeated often.
constexpr int64_t kMostAccumulators = 28;
constexpr int64_t kMostVectors = 4;

/// A value in the body: a scalar, a vector, or the vector base, base + 1, ...
struct Lane {
  enum Kind { Scalar, Vector, Iota } kind;
  Value value;
};

class TileEmitter {
public:
  TileEmitter(RewriterBase &rewriter, linalg::GenericOp op, int64_t lanes)
      : b(rewriter), op(op), loc(op.getLoc()), lanes(lanes) {}

  /// Decide the shape of a step; fails where the op does not fit.
  LogicalResult plan();
  void emit();

private:
  using Offsets = SmallVector<int64_t>;

  bool chooseVectorDim();
  bool readsAlongVectors();
  void chooseUnrolling();
  bool isReduction(unsigned dim) {
    return op.getIteratorTypesArray()[dim] == utils::IteratorType::reduction;
  }
  int64_t unit(unsigned dim) const { return dim == vectorDim ? width : 1; }

  Value extentOf(unsigned dim);
  SmallVector<Value> emitParallel(unsigned at, SmallVector<Value> outputs);
  SmallVector<Value> emitStep(SmallVector<Value> outputs);
  SmallVector<Value> emitReduction(unsigned at, SmallVector<Value> state);
  SmallVector<Value> emitBody(SmallVector<Value> state);
  SmallVector<Value>
  emitLoop(unsigned dim, SmallVector<Value> state,
           function_ref<SmallVector<Value>(SmallVector<Value>)> inner);

  Offsets project(AffineMap map, const Offsets &point) const;
  SmallVector<Value> indices(AffineMap map, const Offsets &point);
  Lane load(Value tensor, AffineMap map, const Offsets &point);
  Value store(Value tensor, AffineMap map, const Offsets &point, Lane lane);
  Value readVector(Value tensor, ValueRange at, bool inBounds);
  Lane evaluate(Operation &inner, const Offsets &point,
                DenseMap<Value, Lane> &lanesOf);
  Lane evaluateExtract(tensor::ExtractOp extract,
                       DenseMap<Value, Lane> &lanesOf);
  Lane fused(Operation &inner, DenseMap<Value, Lane> &lanesOf);
  Lane lookup(Value value, DenseMap<Value, Lane> &lanesOf);
  Value toVector(Lane lane);
  Value identity(unsigned output);
  Value constantIndex(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }

  /// Where the accumulator of `output` at `point` stands in the state.
  unsigned slot(unsigned output, const Offsets &point);
  AffineMap outputMap(unsigned i) {
    return op.getMatchingIndexingMap(op.getDpsInitOperand(i));
  }

  RewriterBase &b;
  linalg::GenericOp op;
  Location loc;
  int64_t lanes;

  unsigned vectorDim = 0;
  int64_t width = 1;
  bool masked = false;
  /// Elements of each dimension that one step handles.
  SmallVector<int64_t> step;
  SmallVector<unsigned> parallels, reductions;
  SmallVector<Offsets> points;
  /// For each output: kept in registers; reduced along the vector; started from
  /// a constant instead of its tensor.
  SmallVector<bool> carried;
  SmallVector<Value> start;
  SmallVector<SmallVector<Offsets>> slots;
  SmallVector<Value> ivs;
  bool horizontal = false;
  Value zeroIndex;
};
} // namespace

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

/// Return the position in the iteration space of the last result of `map`.
static std::optional<unsigned> lastDim(AffineMap map) {
  if (map.getNumResults() == 0)
    return std::nullopt;
  auto dim = dyn_cast<AffineDimExpr>(map.getResults().back());
  return dim ? std::optional<unsigned>(dim.getPosition()) : std::nullopt;
}

bool TileEmitter::chooseVectorDim() {
  SmallVector<unsigned> reduced;
  op.getReductionDims(reduced);
  std::optional<unsigned> dim = lastDim(outputMap(0));
  // A reduction along rows that lie contiguous in the only input.
  if (op.getNumDpsInputs() == 1 && reduced.size() == 1) {
    std::optional<unsigned> last =
        lastDim(op.getMatchingIndexingMap(op.getDpsInputOperand(0)));
    if (last == reduced[0]) {
      dim = last;
      horizontal = true;
    }
  }
  if (!dim)
    return false;
  vectorDim = *dim;
  int64_t size = op.getStaticLoopRanges()[vectorDim];
  masked = ShapedType::isDynamic(size) || (size > lanes && size % lanes != 0);
  width = masked ? lanes : std::min(size, lanes);
  return width > 0 && !(horizontal && masked);
}

/// Return whether every operand that varies along the vector does so in its last
/// dimension only.
bool TileEmitter::readsAlongVectors() {
  for (AffineMap map : op.getIndexingMapsArray()) {
    for (auto [i, expr] : llvm::enumerate(map.getResults())) {
      if (!isa<AffineDimExpr>(expr))
        return false;
      bool isVector = cast<AffineDimExpr>(expr).getPosition() == vectorDim;
      if (isVector && i + 1 != map.getNumResults())
        return false;
    }
  }
  for (unsigned i = 0, e = op.getNumDpsInits(); i < e; ++i) {
    bool varies = outputMap(i).isFunctionOfDim(vectorDim);
    if (varies == horizontal)
      return false;
  }
  return true;
}

void TileEmitter::chooseUnrolling() {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  step.assign(ranges.size(), 1);
  int64_t most = reductions.empty() ||
                         !llvm::all_of(carried, [](bool c) { return c; }) ||
                         horizontal
                     ? kMostVectors
                     : kMostAccumulators;
  int64_t vectors = masked ? 1 : ranges[vectorDim] / width;
  if (vectors > most)
    vectors = 1;
  step[vectorDim] = vectors * width;
  if (most != kMostAccumulators)
    return;
  for (unsigned dim : llvm::reverse(parallels)) {
    if (dim == vectorDim || ShapedType::isDynamic(ranges[dim]) ||
        ranges[dim] == 0 || vectors * ranges[dim] > most)
      continue;
    step[dim] = ranges[dim];
    vectors *= ranges[dim];
    if (ranges[dim] > 1)
      break;
  }
}

LogicalResult TileEmitter::plan() {
  if (!op.hasPureTensorSemantics() || op.getNumDpsInits() == 0 ||
      !chooseVectorDim() || !readsAlongVectors())
    return failure();
  for (Operation &inner : op.getBody()->without_terminator())
    if (!OpTrait::hasElementwiseMappableTraits(&inner) &&
        !isa<linalg::IndexOp, arith::ConstantOp, tensor::ExtractOp>(inner))
      return failure();
  for (unsigned dim = 0, e = op.getNumLoops(); dim < e; ++dim)
    (isReduction(dim) ? reductions : parallels).push_back(dim);
  for (unsigned i = 0, e = op.getNumDpsInits(); i < e; ++i) {
    AffineMap map = outputMap(i);
    carried.push_back(!reductions.empty() &&
                      llvm::none_of(reductions, [&](unsigned dim) {
                        return map.isFunctionOfDim(dim);
                      }));
  }
  if (horizontal && !identity(0))
    return failure();
  chooseUnrolling();
  // The points of one step, innermost dimension fastest.
  points.push_back(Offsets(step.size(), 0));
  for (unsigned dim = 0; dim < step.size(); ++dim) {
    SmallVector<Offsets> more;
    for (const Offsets &point : points)
      for (int64_t at = 0; at < step[dim]; at += unit(dim)) {
        more.push_back(point);
        more.back()[dim] = at;
      }
    points = more;
  }
  slots.resize(carried.size());
  for (unsigned i = 0; i < carried.size(); ++i)
    for (const Offsets &point : points) {
      Offsets at = project(outputMap(i), point);
      if (!llvm::is_contained(slots[i], at))
        slots[i].push_back(at);
    }
  return success();
}

/// Return the neutral element of the reduction along a vector, or null if it is
/// not one that is known.
Value TileEmitter::identity(unsigned output) {
  Operation *combiner =
      op.getBody()->getTerminator()->getOperand(output).getDefiningOp();
  if (op.getNumDpsInits() != 1 || !combiner ||
      !llvm::is_contained(combiner->getOperands(),
                          op.getBody()->getArguments().back()))
    return {};
  auto type = dyn_cast<FloatType>(combiner->getResult(0).getType());
  if (!type)
    return {};
  OpBuilder::InsertionGuard guard(b);
  if (isa<arith::AddFOp>(combiner))
    return arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  if (isa<arith::MaxNumFOp>(combiner))
    return arith::ConstantOp::create(
        b, loc,
        b.getFloatAttr(type, APFloat::getInf(type.getFloatSemantics(), true)));
  return {};
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

void TileEmitter::emit() {
  b.setInsertionPoint(op);
  zeroIndex = constantIndex(0);
  ivs.assign(op.getNumLoops(), zeroIndex);
  SmallVector<Value> outputs(op.getDpsInits());
  start.assign(outputs.size(), Value());
  for (auto [i, output] : llvm::enumerate(outputs)) {
    auto fill = output.getDefiningOp<linalg::FillOp>();
    if (!fill || !carried[i])
      continue;
    start[i] = fill.getInputs()[0];
    output = fill.getOutputs()[0];
  }
  b.replaceOp(op, emitParallel(0, outputs));
}

/// Return the extent of `dim`, read where an operand shows it.
Value TileEmitter::extentOf(unsigned dim) {
  int64_t range = op.getStaticLoopRanges()[dim];
  if (ShapedType::isStatic(range))
    return constantIndex(range);
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (std::optional<unsigned> at =
            map.getResultPosition(b.getAffineDimExpr(dim)))
      return b.createOrFold<tensor::DimOp>(loc, operand.get(), *at);
  }
  llvm_unreachable("some operand has every dimension");
}

/// Emit the loop over `dim` round `inner`, with `state` going through it.
SmallVector<Value> TileEmitter::emitLoop(
    unsigned dim, SmallVector<Value> state,
    function_ref<SmallVector<Value>(SmallVector<Value>)> inner) {
  int64_t range = op.getStaticLoopRanges()[dim];
  if (range == step[dim])
    return inner(state);
  Value upper = extentOf(dim);
  auto loop = scf::ForOp::create(b, loc, zeroIndex, upper,
                                 constantIndex(step[dim]), state);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value outer = std::exchange(ivs[dim], loop.getInductionVar());
  SmallVector<Value> results =
      inner(SmallVector<Value>(loop.getRegionIterArgs()));
  ivs[dim] = outer;
  if (loop.getBody()->empty() ||
      !loop.getBody()->back().hasTrait<OpTrait::IsTerminator>())
    scf::YieldOp::create(b, loc, results);
  return SmallVector<Value>(loop.getResults());
}

SmallVector<Value> TileEmitter::emitParallel(unsigned at,
                                             SmallVector<Value> outputs) {
  if (at == parallels.size())
    return emitStep(std::move(outputs));
  return emitLoop(parallels[at], std::move(outputs),
                  [&](SmallVector<Value> inner) {
                    return emitParallel(at + 1, std::move(inner));
                  });
}

/// Emit one step of the parallel loops: accumulators in, reductions, out.
SmallVector<Value> TileEmitter::emitStep(SmallVector<Value> outputs) {
  // The state of the reductions: every output that is not carried, then the
  // accumulators of those that are.
  SmallVector<Value> state;
  for (unsigned i = 0; i < outputs.size(); ++i)
    if (!carried[i])
      state.push_back(outputs[i]);
  for (unsigned i = 0; i < outputs.size(); ++i) {
    if (!carried[i])
      continue;
    for (const Offsets &point : slots[i]) {
      Value first;
      if (horizontal)
        first = toVector({Lane::Scalar, identity(i)});
      else if (start[i])
        first = toVector({Lane::Scalar, start[i]});
      else
        first = toVector(load(outputs[i], outputMap(i), point));
      state.push_back(first);
    }
  }
  SmallVector<Value> after = emitReduction(0, state);
  unsigned next = 0;
  for (unsigned i = 0; i < outputs.size(); ++i)
    if (!carried[i])
      outputs[i] = after[next++];
  for (unsigned i = 0; i < outputs.size(); ++i) {
    if (!carried[i])
      continue;
    for (const Offsets &point : slots[i]) {
      Lane lane{Lane::Vector, after[next++]};
      if (horizontal) {
        bool add = isa<arith::AddFOp>(
            op.getBody()->getTerminator()->getOperand(i).getDefiningOp());
        // The lanes of a maximum are never NaN: it is taken by comparison.
        arith::FastMathFlags flags =
            add ? arith::FastMathFlags::reassoc : arith::FastMathFlags::nnan;
        lane.kind = Lane::Scalar;
        lane.value = vector::ReductionOp::create(
            b, loc,
            add ? vector::CombiningKind::ADD : vector::CombiningKind::MAXNUMF,
            lane.value, flags);
        Value before =
            start[i] ? start[i] : load(outputs[i], outputMap(i), point).value;
        lane.value =
            add ? arith::AddFOp::create(b, loc, before, lane.value).getResult()
                : arith::MaxNumFOp::create(b, loc, before, lane.value)
                      .getResult();
      }
      outputs[i] = store(outputs[i], outputMap(i), point, lane);
    }
  }
  return outputs;
}

SmallVector<Value> TileEmitter::emitReduction(unsigned at,
                                              SmallVector<Value> state) {
  if (at == reductions.size())
    return emitBody(std::move(state));
  return emitLoop(reductions[at], std::move(state),
                  [&](SmallVector<Value> inner) {
                    return emitReduction(at + 1, std::move(inner));
                  });
}

unsigned TileEmitter::slot(unsigned output, const Offsets &point) {
  unsigned at = llvm::count(carried, false);
  for (unsigned i = 0; i < output; ++i)
    if (carried[i])
      at += slots[i].size();
  return at + (llvm::find(slots[output], project(outputMap(output), point)) -
               slots[output].begin());
}

/// Emit the body at every point of a step.
SmallVector<Value> TileEmitter::emitBody(SmallVector<Value> state) {
  SmallVector<std::pair<std::pair<unsigned, Offsets>, Lane>> loaded;
  auto once = [&](unsigned number, Value tensor, AffineMap map,
                  const Offsets &point) -> Lane {
    auto key = std::make_pair(number, project(map, point));
    for (auto &[known, lane] : loaded)
      if (known == key)
        return lane;
    Lane lane = load(tensor, map, key.second);
    loaded.push_back({key, lane});
    return lane;
  };
  for (const Offsets &point : points) {
    DenseMap<Value, Lane> lanesOf;
    Block *body = op.getBody();
    for (OpOperand *input : op.getDpsInputOperands()) {
      BlockArgument argument = op.getMatchingBlockArgument(input);
      if (!argument.use_empty())
        lanesOf[argument] = once(input->getOperandNumber(), input->get(),
                                 op.getMatchingIndexingMap(input), point);
    }
    unsigned stored = 0;
    for (unsigned i = 0, e = op.getNumDpsInits(); i < e; ++i) {
      BlockArgument argument =
          op.getMatchingBlockArgument(op.getDpsInitOperand(i));
      if (carried[i])
        lanesOf[argument] = {Lane::Vector, state[slot(i, point)]};
      else if (!argument.use_empty())
        lanesOf[argument] =
            load(state[stored], outputMap(i), project(outputMap(i), point));
      stored += !carried[i];
    }
    for (Operation &inner : body->without_terminator())
      lanesOf[inner.getResult(0)] = evaluate(inner, point, lanesOf);
    stored = 0;
    for (unsigned i = 0, e = op.getNumDpsInits(); i < e; ++i) {
      Lane lane = lookup(body->getTerminator()->getOperand(i), lanesOf);
      if (carried[i])
        state[slot(i, point)] = toVector(lane);
      else
        state[stored] = store(state[stored], outputMap(i),
                              project(outputMap(i), point), lane);
      stored += !carried[i];
    }
  }
  return state;
}

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
  for (const Lane &lane : at)
    vectors.push_back(lane.kind == Lane::Scalar ? lane.value : toVector(lane));
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
  // base + i stays such a vector under an addition of a scalar and a cast.
  bool shifted = isa<arith::AddIOp>(inner) && count(Lane::Iota) == 1 &&
                 count(Lane::Scalar) == 1;
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

LogicalResult attn::emitRegisterTile(RewriterBase &rewriter,
                                     linalg::GenericOp op, int64_t lanes) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  TileEmitter emitter(rewriter, op, lanes);
  if (failed(emitter.plan()))
    return failure();
  emitter.emit();
  return success();
}
