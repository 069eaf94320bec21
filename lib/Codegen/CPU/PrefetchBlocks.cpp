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
//         scf.for %row = rows of %strip and %panel { memref.prefetch %next[0, 0, %row, ...] }
//         ...
//
// Packing alone waits for memory, and the arithmetic does not use it. Next is the next block of keys, or, in the last
// one, the task that this thread is likely to get: as many tasks on as there are threads. Each panel of a product asks
// for a few lines: many at once would keep the panels themselves waiting. Where each strip reads
// rows of its own, those of the next strip are asked for in the same way. So are rows that a smaller tile does not have:
// that is no access, and nothing comes of it.

#include "OpenMPCalls.h"

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

/// Bytes that come together from memory.
static constexpr int64_t kLineBytes = 64;

/// Rows that one panel of a product asks for.
static constexpr int64_t kPanelRows = 2;

/// The most bytes in a row that is asked for. Longer ones the processor sees coming:
/// on AVX-512, to ask for rows of 1 KiB of keys took 3 % of the time, for rows of 4
/// KiB of a bias 7 %.
static constexpr int64_t kMostRowBytes = 512;

namespace {
/// Prefetches in one loop over strips.
class BlockPrefetcher {
public:
  BlockPrefetcher(scf::ForOp strips, int64_t most)
      : strips(strips), b(strips), loc(strips.getLoc()), most(most) {}

  void run();

private:
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  template <typename Op>
  Value fold(Value x, Value y) {
    return b.createOrFold<Op>(loc, x, y);
  }
  bool variesWith(Value value, const IRMapping &next);
  Value cloned(Value value, IRMapping &next);
  SmallVector<Value> tilesAt(Block *body, Operation *end, IRMapping &next);
  IRMapping nextTask(scf::ForallOp task);
  scf::ForOp panelLoop();
  Value numberIn(scf::ForOp loop);
  void askForShares(ArrayRef<Value> tiles, Value isNow);
  void askForShare(ArrayRef<Value> tiles, OpFoldResult size, Value isNow);
  void ask(ArrayRef<Value> tiles, Value from, Value to, int64_t locality);
  void askForNextStrip();

  scf::ForOp strips;
  OpBuilder b;
  Location loc;
  int64_t most;
  /// The loop over the panels of a strip.
  scf::ForOp panels;
  /// Where the next prefetches stand in it.
  OpBuilder::InsertPoint place;
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
  SmallVector<Value> lower = getValueOrCreateConstantIndexOp(
                         b, loc, task.getMixedLowerBound()),
                     upper = getValueOrCreateConstantIndexOp(
                         b, loc, task.getMixedUpperBound()),
                     step = getValueOrCreateConstantIndexOp(
                         b, loc, task.getMixedStep()),
                     counts;
  Value number = index(0), total = index(1);
  for (auto [iv, from, to, by] :
       llvm::zip(task.getInductionVars(), lower, upper, step)) {
    Value range = fold<arith::SubIOp>(to, from);
    Value size = fold<arith::CeilDivSIOp>(range, by);
    Value done = fold<arith::SubIOp>(iv, from);
    done = fold<arith::DivUIOp>(done, by);
    number = fold<arith::AddIOp>(fold<arith::MulIOp>(number, size), done);
    total = fold<arith::MulIOp>(total, size);
    counts.push_back(size);
  }
  Value later =
      fold<arith::AddIOp>(number, callOpenMP(b, loc, "omp_get_num_threads"));
  Value exists =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, later, total);
  Value left = arith::SelectOp::create(b, loc, exists, later, number);
  IRMapping next;
  for (int64_t dim = counts.size() - 1; dim >= 0; --dim) {
    Value at = fold<arith::RemUIOp>(left, counts[dim]);
    left = fold<arith::DivUIOp>(left, counts[dim]);
    at = fold<arith::AddIOp>(fold<arith::MulIOp>(at, step[dim]), lower[dim]);
    next.map(task.getInductionVar(dim), at);
  }
  return next;
}

/// Return the first loop of a strip in which accumulators are in registers.
scf::ForOp BlockPrefetcher::panelLoop() {
  scf::ForOp found;
  strips.getBody()->walk([&](scf::ForOp loop) {
    auto isVector = [](Type type) { return isa<VectorType>(type); };
    auto outer = dyn_cast<scf::ForOp>(loop->getParentOp());
    if (llvm::count_if(loop.getResultTypes(), isVector) < 4 || !outer ||
        outer == strips)
      return WalkResult::advance();
    found = outer;
    return WalkResult::interrupt();
  });
  return found;
}

/// Return how often `loop` ran before this iteration.
Value BlockPrefetcher::numberIn(scf::ForOp loop) {
  Value done =
      fold<arith::SubIOp>(loop.getInductionVar(), loop.getLowerBound());
  return fold<arith::DivUIOp>(done, loop.getStep());
}

/// Return the dimension of the rows of `tile`.
static int64_t rowDimOf(Value tile) {
  ArrayRef<int64_t> shape = cast<MemRefType>(tile.getType()).getShape();
  int64_t rowDim = 0;
  for (auto [dim, size] : llvm::enumerate(shape.drop_back()))
    if (size != 1)
      rowDim = dim;
  return rowDim;
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
  Value range =
      fold<arith::SubIOp>(strips.getUpperBound(), strips.getLowerBound());
  Value count = fold<arith::CeilDivSIOp>(range, strips.getStep());
  // A sequence of several in one tensor may have no rows.
  count = fold<arith::MaxSIOp>(count, index(1));
  Value share = fold<arith::CeilDivSIOp>(rows, count);
  b.restoreInsertionPoint(place);
  Value from = fold<arith::MulIOp>(numberIn(strips), share);
  from = fold<arith::MinSIOp>(from, rows);
  Value to = fold<arith::MinSIOp>(fold<arith::AddIOp>(from, share), rows);
  if (isNow)
    to = arith::SelectOp::create(b, loc, isNow, to, from);
  // Into L2: the panels in use have L1.
  ask(tiles, from, to, /*locality=*/2);
}

/// Ask for what of rows `from` to `to` of each of `tiles` falls to this panel.
void BlockPrefetcher::ask(ArrayRef<Value> tiles, Value from, Value to,
                          int64_t locality) {
  if (panels) {
    Value some = index(kPanelRows);
    Value first = fold<arith::MulIOp>(numberIn(panels), some);
    from = fold<arith::MinSIOp>(fold<arith::AddIOp>(from, first), to);
    Value end = fold<arith::MinSIOp>(fold<arith::AddIOp>(from, some), to);
    // The last one asks for all that is left.
    Value then =
        fold<arith::AddIOp>(panels.getInductionVar(), panels.getStep());
    Value isLast = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge,
                                         then, panels.getUpperBound());
    to = arith::SelectOp::create(b, loc, isLast, to, end);
  }
  auto loop = scf::ForOp::create(b, loc, from, to, index(1));
  place = b.saveInsertionPoint();
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
  Operation *use = place.getBlock()->getParentOp();
  if (use == strips)
    return;
  Operation *before = strips.getBody()->findAncestorOpInBlock(*use);
  b.setInsertionPoint(before);
  IRMapping next;
  next.map(strips.getInductionVar(),
           fold<arith::AddIOp>(strips.getInductionVar(), strips.getStep()));
  for (Value tile : tilesAt(strips.getBody(), use, next)) {
    b.setInsertionPoint(before);
    Value rows = b.createOrFold<memref::DimOp>(loc, tile, rowDimOf(tile));
    b.restoreInsertionPoint(place);
    ask(tile, index(0), rows, /*locality=*/3);
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
  panels = panelLoop();
  Block *body = panels ? panels.getBody() : strips.getBody();
  place = OpBuilder::InsertPoint(body, body->begin());
  askForNextStrip();
  askForShares(ofTask, isLast);
  askForShares(ofBlock, isNotLast);
}

namespace {
struct PrefetchBlocks : public attn::impl::PrefetchBlocksBase<PrefetchBlocks> {
  void runOnOperation() override {
    getOperation().walk([](scf::ForOp loop) {
      if (auto most =
              dyn_cast_or_null<IntegerAttr>(loop->removeAttr("attn.ahead")))
        BlockPrefetcher(loop, most.getInt()).run();
    });
  }
};
} // namespace
