// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shares the turns of searches among threads:
//
//   %any, %value = scf.for %i = %c0 to %n step %c1 iter_args(%a = %false, %v = %c0) { ... } {attn.search}
//
// becomes
//
//   %mine:3 = scf.for %i = %thread to %n step %c512 iter_args(%a = %false, %v = %c0, %place = %most) { ... }
//   thread 0: words[3] = %most
//   barrier
//   if %mine#0: atomic minimum of words[3] and %mine#2
//   barrier
//   %first = words[3];  who has it: words[4] = %mine#1
//   barrier
//   %any = %first != %most;  %value = %any ? words[4] : %c0
//   barrier
//
// so that of several wrong elements the first counts, whoever found it. Loops in loops are one loop over all places where
// their bounds allow it; else the warps share the outer one, and the threads of a warp the inner one.

#include "DistributeChecks.h"
#include "GpuUnits.h"
#include "ThreadKernel.h"

#include "../SearchLoops.h"

#include "attn/Codegen/Workspace.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <limits>
#include <numeric>

using namespace mlir;
using namespace mlir::attn;

/// The place of nothing.
static constexpr int64_t kNowhere = std::numeric_limits<int64_t>::max();

/// Bits of a place that are the inner loop's.
static constexpr int64_t kInnerBits = 32;

namespace {
/// Loops that are one: each holds nothing but the next.
using LoopNest = SmallVector<scf::ForOp>;

/// Shares the turns of one search.
class SearchDistributor {
public:
  SearchDistributor(scf::ForOp loop, int64_t threads, Value words)
      : b(loop.getLoc(), loop), outer(loop), threads(threads), words(words) {
    thread = gpu::ThreadIdOp::create(b, gpu::Dimension::x);
  }

  void run();

private:
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  Value number(int64_t value) {
    return arith::ConstantIntOp::create(b, value, /*width=*/64);
  }
  Value lookup(Value value) { return mapping.lookupOrDefault(value); }
  Value word(int64_t at) {
    return memref::LoadOp::create(b, words, index(kStatusWords + at));
  }
  Value convert(Value value, Type type);
  void storeWord(Value value, int64_t at);
  SmallVector<Value> notePlaces(ValueRange before, ValueRange after,
                                ValueRange known, Value place);
  SmallVector<Value> emit(const LoopNest &nest, Value first, int64_t step,
                          ValueRange state, Value above);
  SmallVector<Value> emitBody(const LoopNest &nest, Value place,
                              ValueRange state);
  SmallVector<Value> join(ValueRange mine, ValueRange start, Value place);

  ImplicitLocOpBuilder b;
  scf::ForOp outer;
  int64_t threads;
  Value words, thread;
  SmallVector<int64_t> sizes;
  IRMapping mapping;
};
} // namespace

static bool isSearch(Operation &op) { return op.hasAttr(kSearchAttrName); }

/// Return the search in the body of `loop` that has its state and gives it on.
static scf::ForOp findInner(scf::ForOp loop) {
  for (auto inner : loop.getBody()->getOps<scf::ForOp>())
    if (isSearch(*inner) &&
        llvm::equal(inner.getInitArgs(), loop.getRegionIterArgs()) &&
        llvm::equal(inner.getResults(), loop.getYieldedValues()))
      return inner;
  return nullptr;
}

/// Return `loop` and those in it that can be one with it.
static LoopNest collect(scf::ForOp loop) {
  LoopNest nest = {loop};
  while (scf::ForOp inner = findInner(nest.back())) {
    bool isAlone = llvm::hasNItems(*nest.back().getBody(), 2);
    if (!isAlone ||
        !llvm::all_of(inner->getOperands().take_front(3), [&](Value bound) {
          return loop.isDefinedOutsideOfLoop(bound);
        }))
      break;
    nest.push_back(inner);
  }
  return nest;
}

/// Return `value` as one of `type`, from or to a word.
Value SearchDistributor::convert(Value value, Type type) {
  if (value.getType() == type)
    return value;
  if (isa<IndexType>(value.getType()) || isa<IndexType>(type))
    return arith::IndexCastOp::create(b, type, value);
  if (type.isInteger(64))
    return arith::ExtSIOp::create(b, type, value);
  return arith::TruncIOp::create(b, type, value);
}

void SearchDistributor::storeWord(Value value, int64_t at) {
  memref::StoreOp::create(b, convert(value, b.getI64Type()), words,
                          index(kStatusWords + at));
}

/// Return for each question where its answer was found first, which is `place` if
/// the turn from `before` to `after` found it.
SmallVector<Value> SearchDistributor::notePlaces(ValueRange before,
                                                 ValueRange after,
                                                 ValueRange known,
                                                 Value place) {
  SmallVector<Value> places;
  int64_t at = 0;
  for (auto [size, own] : llvm::zip_equal(sizes, known)) {
    Value now = arith::SelectOp::create(b, after[at], place, own);
    places.push_back(arith::SelectOp::create(b, before[at], own, now));
    at += size;
  }
  return places;
}

/// Clone the turn `place` of `nest` and return the state and the places after it.
SmallVector<Value> SearchDistributor::emitBody(const LoopNest &nest,
                                               Value place, ValueRange state) {
  scf::ForOp last = nest.back(), inner = findInner(last);
  int64_t count = last.getNumRegionIterArgs();
  mapping.map(last.getRegionIterArgs(), state.take_front(count));
  SmallVector<Value> places(state.drop_front(count));
  for (Operation &op : last.getBody()->without_terminator()) {
    if (&op != inner.getOperation()) {
      b.clone(op, mapping);
      continue;
    }
    Value above = arith::ShLIOp::create(b, place, number(kInnerBits));
    Value lane = arith::RemUIOp::create(b, thread, index(kWarp));
    SmallVector<Value> after = emit(collect(inner), lane, kWarp, state, above);
    mapping.map(inner.getResults(), ValueRange(after).take_front(count));
    places.assign(after.begin() + count, after.end());
  }
  SmallVector<Value> after;
  for (Value value : last.getYieldedValues())
    after.push_back(lookup(value));
  if (!inner)
    places = notePlaces(state.take_front(count), after, places, place);
  after.append(places);
  return after;
}

/// Emit the turns `first`, `first` + `step` ... of `nest`. Return the state and the
/// places of what was found; `above` is what outer loops say of a place.
SmallVector<Value> SearchDistributor::emit(const LoopNest &nest, Value first,
                                           int64_t step, ValueRange state,
                                           Value above) {
  SmallVector<OpFoldResult> extents;
  Value total = index(1);
  for (scf::ForOp loop : nest) {
    Value low = lookup(loop.getLowerBound());
    Value high = arith::MaxSIOp::create(b, lookup(loop.getUpperBound()), low);
    Value turns = arith::CeilDivUIOp::create(
        b, arith::SubIOp::create(b, high, low), lookup(loop.getStep()));
    extents.push_back(turns);
    total = arith::MulIOp::create(b, total, turns);
  }
  auto loop = scf::ForOp::create(b, first, total, index(step), state);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value turn = loop.getInductionVar();
  SmallVector<Value> turns = delinearize(b, b.getLoc(), turn, extents);
  for (auto [own, at] : llvm::zip_equal(LoopNest(nest), turns)) {
    Value offset = arith::MulIOp::create(b, at, lookup(own.getStep()));
    mapping.map(own.getInductionVar(),
                arith::AddIOp::create(b, lookup(own.getLowerBound()), offset)
                    .getResult());
  }
  Value place = arith::AddIOp::create(b, convert(turn, b.getI64Type()), above);
  scf::YieldOp::create(b, emitBody(nest, place, loop.getRegionIterArgs()));
  return loop.getResults();
}

/// Return the answer to one question: that of the threads' answers `mine` of which
/// `place` is the first, or `start` if none has found anything.
SmallVector<Value> SearchDistributor::join(ValueRange mine, ValueRange start,
                                           Value place) {
  auto ifTrue = [&](Value condition, function_ref<void()> build) {
    auto branch = scf::IfOp::create(b, condition);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&branch.getThenRegion().front());
    build();
  };
  auto equals = [&](Value x, Value y) -> Value {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x, y);
  };
  Value nowhere = number(kNowhere);
  ifTrue(equals(thread, index(0)), [&] { storeWord(nowhere, 0); });
  gpu::BarrierOp::create(b);
  ifTrue(mine[0], [&] {
    memref::AtomicRMWOp::create(b, arith::AtomicRMWKind::minu, place, words,
                                index(kStatusWords));
  });
  gpu::BarrierOp::create(b);
  Value first = word(0);
  Value isMine = arith::AndIOp::create(b, mine[0], equals(place, first));
  ifTrue(isMine, [&] {
    for (auto [at, value] : llvm::enumerate(mine.drop_front()))
      storeWord(value, at + 1);
  });
  gpu::BarrierOp::create(b);
  Value any =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ne, first, nowhere);
  SmallVector<Value> answer = {any};
  for (auto [at, value] : llvm::enumerate(start.drop_front()))
    answer.push_back(arith::SelectOp::create(
        b, any, convert(word(at + 1), value.getType()), value));
  gpu::BarrierOp::create(b);
  return answer;
}

void SearchDistributor::run() {
  auto given = outer->getAttrOfType<DenseI64ArrayAttr>(kSearchAttrName);
  sizes.assign(given.asArrayRef().begin(), given.asArrayRef().end());
  int64_t count = outer.getNumResults();
  if (std::accumulate(sizes.begin(), sizes.end(), int64_t(0)) != count ||
      llvm::any_of(sizes, [](int64_t size) {
        return size < 1 || size > kCheckWords - kStatusWords;
      }))
    return; // Every thread makes all turns.
  SmallVector<Value> state(outer.getInitArgs());
  state.append(sizes.size(), number(kNowhere));
  LoopNest nest = collect(outer);
  Value first = thread;
  int64_t step = threads;
  if (findInner(nest.back())) {
    first = arith::DivUIOp::create(b, thread, index(kWarp));
    step = threads / kWarp;
  }
  SmallVector<Value> mine = emit(nest, first, step, state, number(0));
  SmallVector<Value> results;
  int64_t at = 0;
  for (auto [question, size] : llvm::enumerate(sizes)) {
    results.append(join(ValueRange(mine).slice(at, size),
                        ValueRange(state).slice(at, size),
                        mine[count + question]));
    at += size;
  }
  outer.replaceAllUsesWith(results);
  outer.erase();
}

void attn::distributeSearches(gpu::GPUFuncOp kernel, int64_t threads,
                              Value words) {
  SmallVector<scf::ForOp> loops;
  kernel.walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
    if (!isSearch(*loop))
      return WalkResult::advance();
    loops.push_back(loop);
    return WalkResult::skip();
  });
  for (scf::ForOp loop : loops)
    SearchDistributor(loop, threads, words).run();
}
