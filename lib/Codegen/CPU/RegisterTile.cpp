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

#include "TileEmitter.h"

#include "attn/IR/LinalgBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::attn;

/// The most vectors that one step of a contraction accumulates, and of any other
/// op: a body of many operations is not repeated often, nor one that seldom runs.
static constexpr int64_t kMostAccumulators = 28;
static constexpr int64_t kMostVectors = 4;

/// Accumulators below which a contraction waits for its own sums, and its steps of
/// which no loop is made then: past the end of a loop, which it does not foresee, a
/// processor does not begin the next contraction meanwhile.
static constexpr int64_t kFewAccumulators = 4;
static constexpr int64_t kFewSteps = 16;

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

/// Return whether the elements of `tensor` have just been stored one by one. A vector
/// of them would wait until all are in the cache.
static bool isStoredOneByOne(Value tensor) {
  while (auto loop = tensor.getDefiningOp<scf::ForOp>())
    tensor = loop.getYieldedValues()[cast<OpResult>(tensor).getResultNumber()];
  return tensor.getDefiningOp<tensor::InsertOp>() != nullptr;
}

/// Return whether `op` does little with numbers of which some have just been stored
/// one by one.
static bool isOfFewNumbers(linalg::GenericOp op) {
  constexpr size_t kFewOperations = 6;
  return op.getNumReductionLoops() == 0 &&
         op.getBody()->getOperations().size() <= kFewOperations &&
         llvm::any_of(op.getInputs(), isStoredOneByOne);
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
  if (!masked && size < lanes && !llvm::isPowerOf2_64(size) &&
      isOfFewNumbers(op))
    width = 1;
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
  contracts = !reductions.empty() &&
              llvm::all_of(carried, [](bool c) { return c; }) && !horizontal &&
              !op->hasAttr(kRareAttrName) &&
              op.getBody()->getOperations().size() <= 5;
  int64_t most = contracts ? kMostAccumulators : kMostVectors;
  int64_t vectors = masked ? 1 : ranges[vectorDim] / width;
  if (vectors > most)
    vectors = 1;
  step[vectorDim] = vectors * width;
  if (!contracts)
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
  OpBuilder::InsertionGuard guard(b);
  if (isa<arith::OrIOp>(combiner))
    return arith::ConstantOp::create(
        b, loc, b.getZeroAttr(combiner->getResult(0).getType()));
  auto type = dyn_cast<FloatType>(combiner->getResult(0).getType());
  if (!type)
    return {};
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

/// Return whether `dim` has too few steps for a loop.
bool TileEmitter::isShort(unsigned dim) {
  int64_t range = op.getStaticLoopRanges()[dim];
  return contracts && isReduction(dim) && ShapedType::isStatic(range) &&
         points.size() < kFewAccumulators && range <= kFewSteps * step[dim];
}

/// Emit the loop over `dim` round `inner`, with `state` going through it.
SmallVector<Value> TileEmitter::emitLoop(
    unsigned dim, SmallVector<Value> state,
    function_ref<SmallVector<Value>(SmallVector<Value>)> inner) {
  int64_t range = op.getStaticLoopRanges()[dim];
  if (range == step[dim])
    return inner(state);
  if (isShort(dim)) {
    Value outer = ivs[dim];
    for (int64_t at = 0; at < range; at += step[dim]) {
      ivs[dim] = constantIndex(at);
      state = inner(state);
    }
    ivs[dim] = outer;
    return state;
  }
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

/// Return `before` combined with all lanes of `vector`, as the body does it.
Value TileEmitter::reduceVector(unsigned output, Value vector, Value before) {
  Operation *combiner =
      op.getBody()->getTerminator()->getOperand(output).getDefiningOp();
  auto reduce = [&](vector::CombiningKind kind, arith::FastMathFlags flags) {
    return vector::ReductionOp::create(b, loc, kind, vector, flags).getResult();
  };
  if (isa<arith::OrIOp>(combiner))
    return arith::OrIOp::create(
        b, loc, before,
        reduce(vector::CombiningKind::OR, arith::FastMathFlags::none));
  if (isa<arith::AddFOp>(combiner))
    return arith::AddFOp::create(
        b, loc, before,
        reduce(vector::CombiningKind::ADD, arith::FastMathFlags::reassoc));
  // The lanes of a maximum are never NaN: it is taken by comparison.
  return arith::MaxNumFOp::create(
      b, loc, before,
      reduce(vector::CombiningKind::MAXNUMF, arith::FastMathFlags::nnan));
}

/// Load before the loops of the reductions what is the same in all of them: what
/// these write may lie in the same memory, for all that LLVM knows.
void TileEmitter::loadInvariants() {
  invariants.clear();
  if (reductions.empty())
    return;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    if (op.getMatchingBlockArgument(input).use_empty() ||
        llvm::any_of(reductions,
                     [&](unsigned dim) { return map.isFunctionOfDim(dim); }))
      continue;
    for (const Offsets &point : points)
      loadOnce(invariants, *input, point);
  }
}

/// Return what `input` has at `point`, which `loaded` may have already.
Lane TileEmitter::loadOnce(Loaded &loaded, OpOperand &input,
                           const Offsets &point) {
  AffineMap map = op.getMatchingIndexingMap(&input);
  auto key = std::make_pair(input.getOperandNumber(), project(map, point));
  for (Loaded *list : {&invariants, &loaded})
    for (auto &[known, lane] : *list)
      if (known == key)
        return lane;
  Lane lane = load(input.get(), map, key.second);
  loaded.push_back({key, lane});
  return lane;
}

/// Emit one step of the parallel loops: accumulators in, reductions, out.
SmallVector<Value> TileEmitter::emitStep(SmallVector<Value> outputs) {
  loadInvariants();
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
        Value before =
            start[i] ? start[i] : load(outputs[i], outputMap(i), point).value;
        lane = {Lane::Scalar, reduceVector(i, lane.value, before)};
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
  Loaded loaded;
  for (const Offsets &point : points) {
    DenseMap<Value, Lane> lanesOf;
    Block *body = op.getBody();
    for (OpOperand *input : op.getDpsInputOperands()) {
      BlockArgument argument = op.getMatchingBlockArgument(input);
      if (!argument.use_empty())
        lanesOf[argument] = loadOnce(loaded, *input, point);
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
