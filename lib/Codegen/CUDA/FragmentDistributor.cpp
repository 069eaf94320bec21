// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds the body of a thread beside the body of its block: what is scalar is cloned, loops and branches carry the
// numbers of fragments one by one,
//
//   %r = scf.for ... iter_args(%acc = %zero) -> (vector<64x64xf32>)
//
// becomes, with four warps,
//
//   %r:32 = scf.for ... iter_args(%acc0 = %c0, %acc1 = %c0, ...) -> (f32, f32, ...)
//
// and every other op on vectors has a rule of its own.

#include "FragmentDistributor.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::attn;

/// Rows of the accumulator of one matrix instruction.
constexpr int64_t kTileRows = 16;

FragmentDistributor::FragmentDistributor(gpu::GPUFuncOp function, int64_t warps)
    : b(function.getContext()), loc(function.getLoc()), warps(warps),
      side(KernelSchedule::get(function).side),
      tf32Parts(KernelSchedule::get(function).tf32Parts), function(function),
      layouts(function), ranges(function), entry(function.getContext()),
      positions(function.getContext()) {}

//===----------------------------------------------------------------------===//
// The map
//===----------------------------------------------------------------------===//

const Fragment &FragmentDistributor::fragment(Value value,
                                              FragmentLayout layout) {
  return fragments[{value.getAsOpaquePointer(), static_cast<unsigned>(layout)}];
}

const Fragment &FragmentDistributor::fragment(Value value) {
  return fragment(value, layoutOfShape(cast<VectorType>(value.getType())));
}

void FragmentDistributor::set(Value value, FragmentLayout layout,
                              Fragment fragment) {
  fragments[{value.getAsOpaquePointer(), static_cast<unsigned>(layout)}] =
      std::move(fragment);
}

FailureOr<RowSplit> FragmentDistributor::split(Operation *op, int64_t rows) {
  if (rows % (kTileRows * warps) == 0)
    return RowSplit{rows / (kTileRows * warps), warps};
  int64_t tiles = rows / kTileRows;
  if (rows % kTileRows == 0 && warps % tiles == 0)
    return RowSplit{1, tiles};
  return op->emitOpError() << "expects 16 rows for each of " << warps
                           << " warps, or a multiple, got " << rows << " rows";
}

int64_t FragmentDistributor::fragmentSize(Value value, FragmentLayout layout) {
  auto type = cast<VectorType>(value.getType());
  int64_t rows = type.getDimSize(0);
  int64_t columns = type.getDimSize(type.getRank() - 1);
  int64_t tiles = std::max<int64_t>(1, rows / (kTileRows * warps));
  switch (layout) {
  case FragmentLayout::Tile:
    return tiles * (columns / unit()) * 2 * side;
  case FragmentLayout::Row:
    return tiles * 2;
  case FragmentLayout::Column:
    return columns / unit() * side;
  default:
    return 0;
  }
}

void FragmentDistributor::flatten(Value value, SmallVectorImpl<Value> &out) {
  auto type = dyn_cast<VectorType>(value.getType());
  if (!type || type.getRank() == 0) {
    out.push_back(scalar(value));
    return;
  }
  for (FragmentLayout layout : kCarriedLayouts)
    if (needs(value, layout))
      llvm::append_range(out, fragment(value, layout));
}

void FragmentDistributor::flatten(ValueRange values,
                                  SmallVectorImpl<Value> &out) {
  for (Value value : values)
    flatten(value, out);
}

void FragmentDistributor::unflatten(ValueRange values, ValueRange flat) {
  for (Value value : values) {
    auto type = dyn_cast<VectorType>(value.getType());
    if (!type || type.getRank() == 0) {
      scalars.map(value, flat.front());
      flat = flat.drop_front();
      continue;
    }
    for (FragmentLayout layout : kCarriedLayouts) {
      if (!needs(value, layout))
        continue;
      int64_t size = fragmentSize(value, layout);
      set(value, layout, llvm::to_vector(flat.take_front(size)));
      flat = flat.drop_front(size);
    }
  }
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

void FragmentDistributor::makeNumbers() {
  Type i32 = b.getI32Type();
  auto binary = [&](auto tag, Value value, int64_t number) -> Value {
    return decltype(tag)::create(entry, loc, value, integer(number));
  };
  thread = NVVM::ThreadIdXOp::create(entry, loc, i32);
  lane = binary(arith::AndIOp(), thread, 31);
  warp = binary(arith::ShRUIOp(), thread, 5);
  makePositions(lane);
}

void FragmentDistributor::makePositions(Value from) {
  auto binary = [&](auto tag, Value value, int64_t number) -> Value {
    return decltype(tag)::create(positions, loc, value, integer(number));
  };
  group = binary(arith::ShRUIOp(), from, 2);
  firstColumn = binary(arith::ShLIOp(), binary(arith::AndIOp(), from, 3),
                       llvm::Log2_64(side));
}

Value FragmentDistributor::integer(int64_t value) {
  Value &known = integers[value];
  if (!known)
    known = arith::ConstantIntOp::create(entry, loc, value, 32);
  return known;
}

Value FragmentDistributor::index(int64_t value) {
  Value &known = indices[value];
  if (!known)
    known = arith::ConstantIndexOp::create(entry, loc, value);
  return known;
}

Value FragmentDistributor::toWord(Value index) {
  return arith::IndexCastOp::create(b, loc, b.getI32Type(), index);
}

Value FragmentDistributor::addInteger(Value value, int64_t constant) {
  if (constant == 0)
    return value;
  return arith::AddIOp::create(b, loc, value, integer(constant),
                               arith::IntegerOverflowFlags::nsw);
}

Value FragmentDistributor::firstRow(RowSplit split) {
  Value &known = firstRows[{split.tiles, split.warps}];
  if (known)
    return known;
  Value mine = warp;
  if (split.warps < warps)
    mine = arith::RemUIOp::create(entry, loc, warp, integer(split.warps));
  return known = arith::MulIOp::create(entry, loc, mine,
                                       integer(split.tiles * kTileRows));
}

Value FragmentDistributor::rowIndex(RowSplit split, int64_t tile, int64_t r) {
  Value &base = rowIndices[{split.tiles, split.warps, 0}];
  if (!base) {
    Value row = arith::AddIOp::create(positions, loc, firstRow(split), group);
    base = arith::IndexCastUIOp::create(positions, loc, b.getIndexType(), row);
  }
  Value &known = rowIndices[{split.tiles, split.warps, tile * 16 + r * 8}];
  if (!known)
    known =
        arith::AddIOp::create(positions, loc, base, index(tile * 16 + r * 8),
                              arith::IntegerOverflowFlags::nsw);
  return known;
}

Value FragmentDistributor::columnIndex(int64_t tile, int64_t c) {
  Value &base = columnIndices[0];
  if (!base)
    base = arith::IndexCastUIOp::create(positions, loc, b.getIndexType(),
                                        firstColumn);
  Value &known = columnIndices[tile * unit() + c];
  if (!known)
    known =
        arith::AddIOp::create(positions, loc, base, index(tile * unit() + c),
                              arith::IntegerOverflowFlags::nsw);
  return known;
}

//===----------------------------------------------------------------------===//
// Control
//===----------------------------------------------------------------------===//

Value FragmentDistributor::countUp(Value first, Value step) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(openLoop.getBody());
  auto place =
      UnrealizedConversionCastOp::create(b, loc, first.getType(), first);
  counters.push_back({place, first, step});
  return place.getResult(0);
}

/// Let `loop`, whose body is there, carry the counters that it was asked for.
scf::ForOp FragmentDistributor::closeLoop(scf::ForOp loop) {
  if (counters.empty())
    return loop;
  SmallVector<Value> firsts;
  for (const Counter &counter : counters)
    firsts.push_back(counter.first);
  IRRewriter rewriter(b);
  rewriter.setInsertionPoint(loop);
  auto carrying = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
      rewriter, firsts, /*replaceInitOperandUsesInLoop=*/false,
      [&](OpBuilder &inside, Location, ArrayRef<BlockArgument> carried) {
        SmallVector<Value> next;
        for (auto [counter, now] : llvm::zip_equal(counters, carried)) {
          counter.place->getResult(0).replaceAllUsesWith(now);
          counter.place->erase();
          next.push_back(arith::AddIOp::create(inside, loc, now, counter.step));
        }
        return next;
      }));
  counters.clear();
  b.setInsertionPointAfter(carrying);
  return carrying;
}

/// Whether all that `op` counts are indices from 0 on that have 32 bits.
static bool isNarrowLoop(const IndexRanges &ranges, scf::ForOp op) {
  std::optional<int64_t> step = getConstantIntValue(op.getStep());
  return op.getInductionVar().getType().isIndex() && step && *step > 0 &&
         llvm::isInt<32>(*step) && isConstantIntValue(op.getLowerBound(), 0) &&
         ranges.fitInWord(op.getUpperBound(), *step);
}

/// Keep `loop`, of which `op` has become, from being unrolled where that copies tiles
/// within another loop: a few parts of channels, of which each is long enough.
static void keepParts(scf::ForOp op, scf::ForOp loop) {
  if (!op->getParentOfType<scf::ForOp>() ||
      op.getBody()->getOps<attn_gpu::CopyToSharedOp>().empty())
    return;
  MLIRContext *context = op.getContext();
  auto unroll = LLVM::LoopUnrollAttr::get(
      context, /*disable=*/BoolAttr::get(context, true), {}, {}, {}, {}, {},
      {});
  loop->setAttr(LLVM::LoopAnnotationAttr::name,
                LLVM::LoopAnnotationAttr::get(context, {}, {}, {}, unroll, {},
                                              {}, {}, {}, {}, {}, {}, {}, {},
                                              {}, {}));
}

LogicalResult FragmentDistributor::distributeFor(scf::ForOp op) {
  SmallVector<Value> inits;
  flatten(op.getInitArgs(), inits);
  Value lower = scalar(op.getLowerBound()), upper = scalar(op.getUpperBound()),
        step = scalar(op.getStep());
  bool isNarrow = isNarrowLoop(ranges, op);
  if (isNarrow)
    for (Value *bound : {&lower, &upper, &step})
      *bound = toWord(*bound);
  auto loop = scf::ForOp::create(b, op.getLoc(), lower, upper, step, inits);
  loop->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  unflatten(op.getRegionIterArgs(), loop.getRegionIterArgs());
  scf::ForOp outerLoop = std::exchange(openLoop, loop);
  SmallVector<Counter> outerCounters = std::exchange(counters, {});
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value number = loop.getInductionVar();
    if (isNarrow)
      number = arith::IndexCastUIOp::create(b, loc, b.getIndexType(), number);
    scalars.map(op.getInductionVar(), number);
    // Nor does anything wait for a later block of such a loop.
    Block &body = *op.getBody();
    if (failed(isRare ? distributeRare(body) : distribute(body)))
      return failure();
    SmallVector<Value> yielded;
    flatten(op.getYieldedValues(), yielded);
    // A loop that carries nothing has its terminator already.
    if (inits.empty())
      loop.getBody()->getTerminator()->erase();
    b.setInsertionPointToEnd(loop.getBody());
    scf::YieldOp::create(b, op.getLoc(), yielded);
  }
  loop = closeLoop(loop);
  keepParts(op, loop);
  openLoop = outerLoop;
  counters = std::move(outerCounters);
  unflatten(op.getResults(), loop.getResults().take_front(inits.size()));
  return success();
}

LogicalResult FragmentDistributor::distributeWhile(scf::WhileOp op) {
  SmallVector<Value> inits;
  flatten(op.getInits(), inits);
  SmallVector<Type> results;
  for (Value result : op.getResults()) {
    auto type = dyn_cast<VectorType>(result.getType());
    if (!type || type.getRank() == 0) {
      results.push_back(result.getType());
      continue;
    }
    for (FragmentLayout layout : kCarriedLayouts)
      if (needs(result, layout))
        results.append(fragmentSize(result, layout), type.getElementType());
  }
  auto loop = scf::WhileOp::create(b, op.getLoc(), results, inits);
  loop->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  auto start = [&](Region &region, TypeRange types) {
    Block *block = b.createBlock(&region);
    for (Type type : types)
      block->addArgument(type, op.getLoc());
    return block;
  };
  {
    OpBuilder::InsertionGuard guard(b);
    Block *before =
        start(loop.getBefore(), TypeRange(ValueRange(inits).getTypes()));
    unflatten(op.getBeforeArguments(), before->getArguments());
    if (failed(distribute(*op.getBeforeBody())))
      return failure();
    SmallVector<Value> passed;
    flatten(op.getConditionOp().getArgs(), passed);
    scf::ConditionOp::create(
        b, op.getLoc(), scalar(op.getConditionOp().getCondition()), passed);
    Block *after = start(loop.getAfter(), results);
    unflatten(op.getAfterArguments(), after->getArguments());
    if (failed(distribute(*op.getAfterBody())))
      return failure();
    SmallVector<Value> yielded;
    flatten(op.getYieldOp().getOperands(), yielded);
    scf::YieldOp::create(b, op.getLoc(), yielded);
  }
  unflatten(op.getResults(), loop.getResults());
  return success();
}

//===----------------------------------------------------------------------===//
// All ops
//===----------------------------------------------------------------------===//

/// Whether `type` is a vector of the block. A vector of rank 0 is a scalar.
static bool isBlockVector(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector && vector.getRank() > 0;
}

/// Compare indices that are known to have 32 bits as such.
LogicalResult FragmentDistributor::distributeCompare(arith::CmpIOp op) {
  if (!op.getLhs().getType().isIndex() || !ranges.fitInWord(op.getLhs()) ||
      !ranges.fitInWord(op.getRhs()))
    return distributeScalarOp(op);
  Value left = toWord(scalar(op.getLhs())), right = toWord(scalar(op.getRhs()));
  scalars.map(op.getResult(),
              arith::CmpIOp::create(b, loc, op.getPredicate(), left, right)
                  .getResult());
  return success();
}

LogicalResult FragmentDistributor::distributeScalarOp(Operation *op) {
  WalkResult inside = op->walk([](Operation *nested) {
    bool vectors = llvm::any_of(nested->getOperandTypes(), isBlockVector) ||
                   llvm::any_of(nested->getResultTypes(), isBlockVector);
    return vectors ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (inside.wasInterrupted())
    return op->emitOpError()
           << "has no rule that splits its vectors over the threads of a block";
  b.clone(*op, scalars);
  return success();
}

LogicalResult FragmentDistributor::distribute(Operation *op) {
  loc = op->getLoc();
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<scf::ForOp>([&](auto o) { return distributeFor(o); })
      .Case<scf::IfOp>([&](auto o) { return distributeIf(o); })
      .Case<scf::WhileOp>([&](auto o) { return distributeWhile(o); })
      .Case<arith::CmpIOp>([&](auto o) {
        return isBlockVector(o.getType()) ? distributeElementwise(*this, o)
                                          : distributeCompare(o);
      })
      .Case<vector::StepOp>([&](auto o) { return distributeStep(*this, o); })
      .Case<vector::BroadcastOp>(
          [&](auto o) { return distributeBroadcast(*this, o); })
      .Case<vector::ShapeCastOp>(
          [&](auto o) { return distributeShapeCast(*this, o); })
      .Case<vector::ExtractStridedSliceOp>(
          [&](auto o) { return distributeSlice(*this, o); })
      .Case<vector::MultiDimReductionOp>(
          [&](auto o) { return distributeReduction(*this, o); })
      .Case<vector::TransferReadOp>(
          [&](auto o) { return distributeRead(*this, o); })
      .Case<vector::TransferWriteOp>(
          [&](auto o) { return distributeWrite(*this, o); })
      .Case<vector::GatherOp>(
          [&](auto o) { return distributeGather(*this, o); })
      .Case<vector::ContractionOp>(
          [&](auto o) { return distributeContract(*this, o); })
      .Case<attn_gpu::ReadSharedOp>(
          [&](auto o) { return distributeReadShared(*this, o); })
      .Case<attn_gpu::CopyToSharedOp>(
          [&](auto o) { return distributeCopy(*this, o); })
      .Default([&](Operation *o) -> LogicalResult {
        if (o->getNumResults() != 1 ||
            !isBlockVector(o->getResult(0).getType()))
          return distributeScalarOp(o);
        if (o->hasTrait<OpTrait::ConstantLike>())
          return distributeConstant(*this, o);
        if (OpTrait::hasElementwiseMappableTraits(o))
          return distributeElementwise(*this, o);
        return distributeScalarOp(o);
      });
}

LogicalResult FragmentDistributor::distribute(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(distribute(&op)))
      return failure();
  return success();
}

LogicalResult FragmentDistributor::run() {
  Region &old = function.getBody();
  if (!old.hasOneBlock())
    return function.emitOpError() << "expects one block, got several";
  // The new block stands behind the old one until all is done.
  Block *from = &old.front(), *to = new Block();
  old.push_back(to);
  for (BlockArgument argument : from->getArguments())
    scalars.map(argument,
                to->addArgument(argument.getType(), argument.getLoc()));
  b.setInsertionPointToStart(to);
  Operation *anchor = arith::ConstantIntOp::create(b, loc, 0, 32);
  entry.setInsertionPoint(anchor);
  positions.setInsertionPoint(anchor);
  b.setInsertionPointToEnd(to);
  makeNumbers();
  LogicalResult done = distribute(*from);
  if (succeeded(done)) {
    b.clone(*from->getTerminator(), scalars);
    std::swap(from, to);
  }
  anchor->erase();
  to->dropAllReferences();
  to->erase();
  return done;
}
