// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Asks for what is packed next while the strips of a block are worked on:
//
//   scf.forall (%b, %h) in (8, 12) {
//     %k = memref.subview %arg1[%b, %h, 0, 0] [1, 1, 197, 64] ...
//     pack %k
//     scf.for %strip = 0 to 25 { ... } {attn.ahead = 256}
//
// becomes
//
//   scf.forall (%b, %h) in (8, 12) {
//     %k = memref.subview %arg1[%b, %h, 0, 0] [1, 1, 197, 64] ...
//     %next = memref.subview %arg1[%b1, %h1, 0, 0] [1, 1, 197, 64] ...
//     pack %k
//     scf.for %strip = 0 to 25 {
//       scf.for %panel = 0 to 6 {
//         scf.for %some = 0 to 64 step 16 iter_args(accumulators) {
//           scf.for %row = rows of %strip, %panel and %some { memref.prefetch %next[0, 0, %row, ...] }
//           scf.for %k = %some to %some + 16 { ... }
//         ...
//
// Packing alone waits for memory, and the arithmetic does not use it. Next is the next block of keys, or, in the last
// one, the task that follows, which this thread is likely to get. The first and the last product of a strip ask for a few
// lines every few steps: a core has few places for lines on their way, and many at once would keep others waiting. Where
// a step in two would have to ask for a line, each does: see PrefetchLines.cpp. Where each strip reads rows of its own,
// those of the next are asked for, beyond a tile's end, too.

#include "IndexBuilder.h"
#include "PrefetchLines.h"
#include "TaskNumbers.h"

#include "attn/Codegen/CpuPasses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::attn {
#define GEN_PASS_DEF_PREFETCHBLOCKS
#include "attn/Codegen/CpuPasses.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// Lines that a core can have on their way, and steps of a product that take as long.
static constexpr int64_t kPlaces = 12;
static constexpr int64_t kSteps = 32;

/// Rows that a panel of a product asks for where it need not split its steps.
static constexpr int64_t kPanelRows = 2;

/// The most bytes in a row that is asked for. Longer ones the processor sees coming: on
/// AVX-512, to ask for rows of 1 KiB took 3 % of the time, for rows of 4 KiB 7 %.
static constexpr int64_t kMostRowBytes = 512;

namespace {
/// A product in a strip: a loop with accumulators in registers, in one over panels.
struct Product {
  scf::ForOp panels, steps;
};

/// Prefetches in one loop over strips.
class BlockPrefetcher : IndexBuilder {
public:
  BlockPrefetcher(OpBuilder &builder, scf::ForOp strips, int64_t most)
      : IndexBuilder(builder, strips.getLoc()), strips(strips), most(most) {
    b.setInsertionPoint(strips);
  }

  void run();

private:
  bool variesWith(Value value, const IRMapping &next);
  Value cloned(Value value, IRMapping &next);
  SmallVector<Value> tilesAt(Block *body, Operation *end, IRMapping &next);
  IRMapping nextTask(scf::ForallOp task);
  SmallVector<Product> findProducts();
  int64_t countRuns(ArrayRef<Value> tiles);
  bool asksInSteps(int64_t lines, int64_t runs);
  void splitSteps(Product &product);
  Value numberIn(scf::ForOp loop);
  Value stepOf(scf::ForOp loop);
  Value countOf(scf::ForOp loop);
  bool isTriangle();
  void askForShares(ArrayRef<Value> tiles, Value isNow);
  void askForShare(ArrayRef<Value> tiles, OpFoldResult size, Value isNow);
  void askIn(const Product *product, ArrayRef<Value> tiles, Value from,
             Value count, int64_t locality);
  void askInSteps(const Product &product, ArrayRef<Value> tiles, Value from,
                  Value count, int64_t locality);
  void ask(ArrayRef<Value> tiles, Value from, Value to, int64_t locality);
  void askForNextStrip();

  scf::ForOp strips;
  int64_t most;
  /// The products that ask: the first, or every few steps the first and the last.
  SmallVector<Product> products;
  bool isSplit = false;
};
} // namespace

/// Return whether `value` is computed from something that is another one next.
bool BlockPrefetcher::variesWith(Value value, const IRMapping &next) {
  if (next.contains(value))
    return true;
  Operation *op = value.getDefiningOp();
  return op && isPure(op) &&
         llvm::any_of(op->getOperands(),
                      [&](Value operand) { return variesWith(operand, next); });
}

/// Return what `value` is next.
Value BlockPrefetcher::cloned(Value value, IRMapping &next) {
  if (next.contains(value) || !variesWith(value, next))
    return next.lookupOrDefault(value);
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    cloned(operand, next);
  b.clone(*op, next);
  return next.lookup(value);
}

/// Return the tiles of rows of channels, of memory that is not the loop's own,
/// that `body` has before `end`, an op in it, as they are next.
SmallVector<Value> BlockPrefetcher::tilesAt(Block *body, Operation *end,
                                            IRMapping &next) {
  SmallVector<Value> tiles;
  end = body->findAncestorOpInBlock(*end);
  // Clones go into the same block.
  for (auto tile : llvm::to_vector(body->getOps<memref::SubViewOp>())) {
    MemRefType type = tile.getType();
    int64_t channels = type.getRank() < 2 ? 0 : type.getShape().back();
    if (!tile->isBeforeInBlock(end) || ShapedType::isDynamic(channels) ||
        !type.getElementType().isIntOrFloat() ||
        channels * type.getElementTypeBitWidth() / 8 > kMostRowBytes ||
        llvm::count_if(type.getShape(), [](int64_t s) { return s != 1; }) != 2)
      continue;
    if (!body->getParentOp()->isAncestor(
            tile.getSource().getParentRegion()->getParentOp()) &&
        llvm::any_of(tile.getOffsets(),
                     [&](Value at) { return variesWith(at, next); }))
      tiles.push_back(cloned(tile, next));
  }
  return tiles;
}

/// Return what numbers the task that this thread is likely to get next: itself
/// where there is none.
IRMapping BlockPrefetcher::nextTask(scf::ForallOp task) {
  // Once a task, not once a block.
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(task.getBody());
  TaskNumbers tasks(b, task);
  Value number = tasks.numberOf(task.getInductionVars());
  Value later = fold<arith::AddIOp>(number, index(1));
  Value exists = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, later,
                                       tasks.getCount());
  Value chosen = arith::SelectOp::create(b, loc, exists, later, number);
  IRMapping next;
  next.map(task.getInductionVars(), tasks.placeOf(chosen));
  return next;
}

/// Return the first and the last loop of a strip in which accumulators are in
/// registers.
SmallVector<Product> BlockPrefetcher::findProducts() {
  SmallVector<Product> found;
  strips.getBody()->walk([&](scf::ForOp loop) {
    auto isVector = [](Type type) { return isa<VectorType>(type); };
    auto outer = dyn_cast<scf::ForOp>(loop->getParentOp());
    if (llvm::count_if(loop.getResultTypes(), isVector) < 4 || !outer ||
        outer == strips || !outer.isDefinedOutsideOfLoop(loop.getUpperBound()))
      return;
    if (found.size() > 1)
      found.pop_back();
    found.push_back({outer, loop});
  });
  return found;
}

/// Return how many panels the first product has in all strips, if it is known how
/// many strips there are, and that there is one.
int64_t BlockPrefetcher::countRuns(ArrayRef<Value> tiles) {
  std::optional<int64_t> first = getConstantIntValue(strips.getLowerBound()),
                         last = getConstantIntValue(strips.getUpperBound()),
                         step = getConstantIntValue(strips.getStep());
  if (products.empty() || !first || !last || !step || *last <= *first)
    return std::numeric_limits<int32_t>::max();
  int64_t keys = 0;
  for (Value tile : tiles)
    keys = std::max(keys, countRows(tile, most));
  // Panels of two vectors, where their number is not known.
  auto [panels, steps] = products.front();
  auto vector = cast<VectorType>(steps.getResultTypes().front());
  int64_t count =
      getConstantIntValue(panels.getUpperBound())
          .value_or(llvm::divideCeilSigned(keys, 2 * vector.getDimSize(0)));
  return count * llvm::divideCeilSigned(*last - *first, *step);
}

/// Return whether there are so many lines that every second step asks for one.
bool BlockPrefetcher::asksInSteps(int64_t lines, int64_t runs) {
  if (products.empty())
    return false;
  std::optional<int64_t> steps =
      getConstantIntValue(products.front().steps.getUpperBound());
  return steps && lines * 2 > runs * *steps;
}

/// Make of the steps of `product` a loop over some of them at a time.
void BlockPrefetcher::splitSteps(Product &product) {
  scf::ForOp steps = product.steps;
  b.setInsertionPoint(steps);
  Value end = steps.getUpperBound();
  auto some = scf::ForOp::create(b, loc, steps.getLowerBound(), end,
                                 index(kSteps), steps.getInitArgs());
  steps->replaceAllUsesWith(some);
  b.setInsertionPointToStart(some.getBody());
  Value begin = some.getInductionVar();
  Value next = fold<arith::AddIOp>(begin, index(kSteps));
  std::optional<int64_t> known = getConstantIntValue(end);
  if (!known || *known % kSteps != 0)
    next = fold<arith::MinSIOp>(next, end);
  steps->moveBefore(some.getBody(), some.getBody()->end());
  steps.setLowerBound(begin);
  steps.setUpperBound(next);
  steps.getInitArgsMutable().assign(some.getRegionIterArgs());
  b.setInsertionPointToEnd(some.getBody());
  scf::YieldOp::create(b, loc, steps.getResults());
  product.steps = some;
}

/// Return how often `loop` ran before this iteration.
Value BlockPrefetcher::numberIn(scf::ForOp loop) {
  Value done =
      fold<arith::SubIOp>(loop.getInductionVar(), loop.getLowerBound());
  return fold<arith::DivUIOp>(done, loop.getStep());
}

/// Return the step of `loop`, a constant that may be needed before it.
Value BlockPrefetcher::stepOf(scf::ForOp loop) {
  std::optional<int64_t> known = getConstantIntValue(loop.getStep());
  return known ? index(*known) : loop.getStep();
}

/// Return how often `loop` runs in all.
Value BlockPrefetcher::countOf(scf::ForOp loop) {
  Value range = fold<arith::SubIOp>(loop.getUpperBound(), loop.getLowerBound());
  return fold<arith::CeilDivSIOp>(range, stepOf(loop));
}

/// Return whether later strips take longer, as under a diagonal: then their shares
/// grow like they do.
bool BlockPrefetcher::isTriangle() {
  IRMapping later;
  later.map(strips.getInductionVar(), strips.getUpperBound());
  return products.size() == 2 &&
         variesWith(products.front().panels.getUpperBound(), later);
}

/// Ask for the part of each of `tiles` that falls to this strip, if `isNow`.
void BlockPrefetcher::askForShares(ArrayRef<Value> tiles, Value isNow) {
  // Tiles of as many rows share a loop.
  SmallVector<std::pair<OpFoldResult, SmallVector<Value>>> groups;
  for (Value tile : tiles) {
    b.setInsertionPoint(strips);
    OpFoldResult rows = memref::getMixedSize(b, loc, tile, rowDimOf(tile));
    auto *group =
        llvm::find_if(groups, [&](auto &other) { return other.first == rows; });
    if (group == groups.end())
      group = &groups.emplace_back(rows, SmallVector<Value>());
    group->second.push_back(tile);
  }
  for (auto &[rows, some] : groups)
    askForShare(some, rows, isNow);
}

void BlockPrefetcher::askForShare(ArrayRef<Value> tiles, OpFoldResult size,
                                  Value isNow) {
  b.setInsertionPoint(strips);
  Value rows = getValueOrCreateConstantIndexOp(b, loc, size);
  rows = fold<arith::MinSIOp>(rows, index(most));
  // There may be no rows.
  Value number = fold<arith::MaxSIOp>(countOf(strips), index(1));
  auto triangle = [&](Value n) {
    return fold<arith::MulIOp>(n, fold<arith::AddIOp>(n, index(1)));
  };
  bool grows = isTriangle();
  Value share =
      grows ? triangle(number) : fold<arith::CeilDivSIOp>(rows, number);
  auto rowsBefore = [&](Value strip) -> Value {
    if (!grows)
      return fold<arith::MinSIOp>(fold<arith::MulIOp>(strip, share), rows);
    return fold<arith::DivUIOp>(fold<arith::MulIOp>(rows, triangle(strip)),
                                share);
  };
  b.setInsertionPointToStart(strips.getBody());
  Value strip = numberIn(strips);
  Value from = rowsBefore(strip);
  Value to = rowsBefore(fold<arith::AddIOp>(strip, index(1)));
  if (isNow)
    to = arith::SelectOp::create(b, loc, isNow, to, from);
  Value count = fold<arith::SubIOp>(to, from);
  // Into L2: the panels in use have L1.
  if (products.size() < 2)
    return askIn(products.empty() ? nullptr : &products.front(), tiles, from,
                 count, /*locality=*/2);
  // One half in each; all in the last where the first has no panels.
  Value half = fold<arith::DivUIOp>(count, index(2));
  askIn(&products.front(), tiles, from, half, /*locality=*/2);
  b.setInsertionPoint(products.back().panels);
  scf::ForOp first = products.front().panels;
  Value isEmpty =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge,
                            first.getLowerBound(), first.getUpperBound());
  Value done = arith::SelectOp::create(b, loc, isEmpty, index(0), half);
  Value rest = fold<arith::SubIOp>(count, done);
  askIn(&products.back(), tiles, fold<arith::AddIOp>(from, done), rest,
        /*locality=*/2);
}

/// Ask for `count` rows of each of `tiles` from `from` on, a few at a time in
/// `product` if there is one.
void BlockPrefetcher::askIn(const Product *product, ArrayRef<Value> tiles,
                            Value from, Value count, int64_t locality) {
  Value to = fold<arith::AddIOp>(from, count);
  if (product && isSplit)
    return askInSteps(*product, tiles, from, count, locality);
  if (!product)
    return ask(tiles, from, to, locality);
  scf::ForOp panels = product->panels;
  b.setInsertionPointToStart(panels.getBody());
  Value some = index(kPanelRows),
        first = fold<arith::MulIOp>(numberIn(panels), some);
  from = fold<arith::MinSIOp>(fold<arith::AddIOp>(from, first), to);
  Value end = fold<arith::MinSIOp>(fold<arith::AddIOp>(from, some), to);
  // The last one asks for all that is left.
  Value then = fold<arith::AddIOp>(panels.getInductionVar(), stepOf(panels));
  Value isLast = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, then,
                                       panels.getUpperBound());
  ask(tiles, from, arith::SelectOp::create(b, loc, isLast, to, end), locality);
}

/// Ask for these rows evenly over all steps of `product`.
void BlockPrefetcher::askInSteps(const Product &product, ArrayRef<Value> tiles,
                                 Value from, Value count, int64_t locality) {
  // Rows for each time, with some bits of a fraction.
  constexpr int64_t kFraction = 4096;
  auto [panels, steps] = product;
  b.setInsertionPoint(panels);
  Value each = countOf(steps);
  Value times = fold<arith::MulIOp>(countOf(panels), each);
  times = fold<arith::MaxSIOp>(times, index(1));
  Value all = fold<arith::MulIOp>(count, index(kFraction));
  all = fold<arith::AddIOp>(all, fold<arith::SubIOp>(times, index(1)));
  Value part = fold<arith::DivUIOp>(all, times);
  b.setInsertionPointToStart(steps.getBody());
  Value number = fold<arith::AddIOp>(
      fold<arith::MulIOp>(numberIn(panels), each), numberIn(steps));
  auto rowsBefore = [&](Value time) {
    Value parts = fold<arith::MulIOp>(time, part);
    Value rows = fold<arith::DivUIOp>(parts, index(kFraction));
    return fold<arith::AddIOp>(from, fold<arith::MinSIOp>(rows, count));
  };
  Value first = rowsBefore(number);
  ask(tiles, first, rowsBefore(fold<arith::AddIOp>(number, index(1))),
      locality);
}

/// Ask for rows `from` to `to` of each of `tiles`.
void BlockPrefetcher::ask(ArrayRef<Value> tiles, Value from, Value to,
                          int64_t locality) {
  auto loop = scf::ForOp::create(b, loc, from, to, index(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  for (Value tile : tiles) {
    auto type = cast<MemRefType>(tile.getType());
    int64_t rank = type.getRank(), bits = type.getElementTypeBitWidth();
    SmallVector<Value> at(rank, index(0));
    at[rowDimOf(tile)] = loop.getInductionVar();
    for (int64_t channel = 0; channel < type.getDimSize(rank - 1);
         channel += kLineBytes * 8 / bits) {
      at[rank - 1] = index(channel);
      memref::PrefetchOp::create(b, loc, tile, at, /*isWrite=*/false, locality,
                                 /*isDataCache=*/true);
    }
  }
}

/// Ask for the rows that the next strip reads, if each reads its own.
void BlockPrefetcher::askForNextStrip() {
  if (products.empty())
    return;
  Operation *use = products.front().steps;
  Operation *before = strips.getBody()->findAncestorOpInBlock(*use);
  b.setInsertionPoint(before);
  IRMapping next;
  next.map(strips.getInductionVar(),
           fold<arith::AddIOp>(strips.getInductionVar(), strips.getStep()));
  for (Value tile : tilesAt(strips.getBody(), use, next)) {
    b.setInsertionPoint(before);
    Value rows = b.createOrFold<memref::DimOp>(loc, tile, rowDimOf(tile));
    askIn(&products.front(), tile, index(0), rows, /*locality=*/3);
  }
}

void BlockPrefetcher::run() {
  auto task = strips->getParentOfType<scf::ForallOp>();
  if (!task)
    return;
  auto blocks = strips->getParentOfType<scf::ForOp>();
  if (blocks && !task->isAncestor(blocks))
    blocks = nullptr;
  IRMapping next = nextTask(task);
  SmallVector<Value> ofTask = tilesAt(task.getBody(), strips, next), ofBlock;
  Value isLast, isNotLast;
  if (blocks) {
    Value then =
        fold<arith::AddIOp>(blocks.getInductionVar(), blocks.getStep());
    Value end = blocks.getUpperBound();
    auto isThen = [&](arith::CmpIPredicate predicate) -> Value {
      return arith::CmpIOp::create(b, loc, predicate, then, end);
    };
    isLast = isThen(arith::CmpIPredicate::sge);
    isNotLast = isThen(arith::CmpIPredicate::slt);
    IRMapping more;
    more.map(blocks.getInductionVar(), then);
    ofBlock = tilesAt(blocks.getBody(), strips, more);
  }
  products = findProducts();
  SmallVector<Value> all =
      llvm::to_vector(llvm::concat<Value>(ofTask, ofBlock));
  int64_t lines = countLines(all, most), runs = countRuns(all);
  if (asksInSteps(lines, runs)) {
    SmallVector<std::pair<Value, Value>> tiles;
    for (Value tile : ofTask)
      tiles.emplace_back(tile, isLast);
    for (Value tile : ofBlock)
      tiles.emplace_back(tile, isNotLast);
    auto stepsOf = [](const Product &product) { return product.steps; };
    auto loops = llvm::map_to_vector(products, stepsOf);
    return askInLoops(loops, strips, tiles, most);
  }
  isSplit = lines > kPlaces * runs;
  if (!isSplit && products.size() > 1)
    products.pop_back();
  for (Product &product : products)
    if (isSplit)
      splitSteps(product);
  // Between steps this costs more than it saves.
  if (!isSplit)
    askForNextStrip();
  askForShares(ofTask, isLast);
  askForShares(ofBlock, isNotLast);
}

namespace {
struct PrefetchBlocks : public attn::impl::PrefetchBlocksBase<PrefetchBlocks> {
  void runOnOperation() override {
    OpBuilder b(&getContext());
    getOperation().walk([&](scf::ForOp loop) {
      if (auto most =
              dyn_cast_or_null<IntegerAttr>(loop->removeAttr("attn.ahead")))
        BlockPrefetcher(b, loop, most.getInt()).run();
    });
  }
};
} // namespace
