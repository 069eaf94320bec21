// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks of the numbers that say where rows and keys lie: a loop over all of them that keeps what is wrong with one.
//
//   %wrong, %page = scf.for %b ... scf.for %p = first page of %b to end of its pages {
//     %entry = tensor.extract %table[%b, %p]
//     ... whether it is a page
//   }

#include "attn/Codegen/RuntimeChecks.h"
#include "attn/IR/AttentionShape.h"
#include "attn/IR/KeyExclusion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::attn;

/// Return element `at` of a tensor of integers as an index.
Value CheckBuilder::readIndex(Value tensor, Value at) {
  Value number = tensor::ExtractOp::create(builder, op->getLoc(), tensor, at);
  if (number.getType().isIndex())
    return number;
  return arith::IndexCastOp::create(builder, op->getLoc(),
                                    builder.getIndexType(), number);
}

Value CheckBuilder::ifGoodSoFar(Value count) {
  Value zero =
      arith::ConstantIntOp::create(builder, op->getLoc(), 0, /*width=*/64);
  Value good = arith::CmpIOp::create(builder, op->getLoc(),
                                     arith::CmpIPredicate::eq, number, zero);
  Value none = arith::ConstantIndexOp::create(builder, op->getLoc(), 0);
  return arith::SelectOp::create(builder, op->getLoc(), good, count, none);
}

void CheckBuilder::sequences(StringRef name, Value ends,
                             const NamedExtent &total) {
  Location loc = op->getLoc();
  using Predicate = arith::CmpIPredicate;
  auto differs = [&](Predicate predicate, Value a, Value b) -> Value {
    return arith::CmpIOp::create(builder, loc, predicate, a, b);
  };
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value count = builder.createOrFold<tensor::DimOp>(loc, ends, 0);
  std::string quoted = ("'" + name + "'").str();
  if (cast<RankedTensorType>(ends.getType()).isDynamicDim(0))
    require(differs(Predicate::slt, count, one), count, one,
            "expects " + quoted + " of at least 1 element, got %lld");
  // The first is what comes before all; so is what there is none of.
  Value used = ifGoodSoFar(count);
  Value falls = arith::ConstantIntOp::create(builder, loc, 0, /*width=*/1);
  auto loop = scf::ForOp::create(builder, loc, zero, used, one,
                                 ValueRange{falls, zero, zero, zero});
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    ValueRange state = loop.getRegionIterArgs();
    Value next = readIndex(ends, loop.getInductionVar());
    Value isFirst = differs(Predicate::eq, loop.getInductionVar(), zero);
    Value before =
        arith::SelectOp::create(builder, loc, isFirst, next, state[3]);
    Value wrong = differs(Predicate::slt, next, before);
    Value any = arith::OrIOp::create(builder, loc, state[0], wrong);
    auto keep = [&](Value value, Value old) -> Value {
      return arith::SelectOp::create(builder, loc, wrong, value, old);
    };
    scf::YieldOp::create(
        builder, loc,
        ValueRange{any, keep(next, state[1]), keep(before, state[2]), next});
  }
  Value extent = readExtent(total), last = loop.getResult(3);
  auto first = scf::ForOp::create(
      builder, loc, zero,
      arith::MinSIOp::create(builder, loc, used, one).getResult(), one,
      ValueRange{zero}, [&](OpBuilder &b, Location, Value at, ValueRange) {
        Value number = tensor::ExtractOp::create(b, loc, ends, at);
        if (!number.getType().isIndex())
          number = arith::IndexCastOp::create(b, loc, b.getIndexType(), number);
        scf::YieldOp::create(b, loc, number);
      });
  require(differs(Predicate::ne, first.getResult(0), zero), first.getResult(0),
          zero, "expects " + quoted + " to begin with 0, got %lld");
  require(loop.getResult(0), loop.getResult(1), loop.getResult(2),
          "expects " + quoted + " never to fall, got %lld after %lld");
  Value isShort = differs(Predicate::ne, last, extent);
  require(isShort, last, extent,
          "expects " + quoted + " to end with the rows of '" + total.name +
              "', got %lld and %lld");
}

OpFoldResult CheckBuilder::longest(Value ends) {
  Location loc = op->getLoc();
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value count = ifGoodSoFar(builder.createOrFold<tensor::DimOp>(loc, ends, 0));
  auto loop =
      scf::ForOp::create(builder, loc, one, count, one, ValueRange{zero});
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value at = loop.getInductionVar();
  Value before = readIndex(ends, arith::SubIOp::create(builder, loc, at, one));
  Value rows = arith::SubIOp::create(builder, loc, readIndex(ends, at), before);
  scf::YieldOp::create(
      builder, loc,
      arith::MaxSIOp::create(builder, loc, rows, loop.getRegionIterArg(0))
          .getResult());
  return loop.getResult(0);
}

void CheckBuilder::pages(SdpaOp sdpa) {
  Location loc = sdpa.getLoc();
  OpBuilder &b = builder;
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  auto max = [&](Value x, Value y) -> Value {
    return arith::MaxSIOp::create(b, loc, x, y);
  };
  auto min = [&](Value x, Value y) -> Value {
    return arith::MinSIOp::create(b, loc, x, y);
  };
  AttentionDims dims = AttentionDims::get(b, sdpa);
  auto value = [&](OpFoldResult extent) {
    return getValueOrCreateConstantIndexOp(b, loc, extent);
  };
  Value table = sdpa.getPageTable(), zero = index(0), one = index(1);
  Value pool = value(tensor::getMixedSize(b, loc, sdpa.getKey(), kBatchDim));
  Value page = value(tensor::getMixedSize(b, loc, sdpa.getKey(),
                                          sequenceDim(sdpa.getKeyLayout())));
  page = max(page, one);
  Value keys = value(dims.keys), batch = ifGoodSoFar(value(dims.batch));
  Value none = arith::ConstantIntOp::create(b, loc, 0, /*width=*/1);
  auto outer =
      scf::ForOp::create(b, loc, zero, batch, one, ValueRange{none, zero});
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(outer.getBody());
    Value entry = outer.getInductionVar();
    Value end = keys, first = zero, rows = value(dims.rows);
    if (sdpa.getKvLengths())
      end = min(max(readIndex(sdpa.getKvLengths(), entry), zero), keys);
    if (Value ends = sdpa.getCuSeqlensQ()) {
      Value next = arith::AddIOp::create(b, loc, entry, one);
      rows = arith::SubIOp::create(b, loc, readIndex(ends, next),
                                   readIndex(ends, entry));
    }
    if (std::optional<WindowAttr> window = sdpa.getWindow()) {
      Value position = zero;
      if (Value offset = sdpa.getQueryOffset())
        position =
            isa<RankedTensorType>(offset.getType()) ? readIndex(offset, entry)
            : offset.getType().isIndex()
                ? offset
                : Value(arith::IndexCastOp::create(b, loc, b.getIndexType(),
                                                   offset));
      else if (sdpa.getCausal() == Causal::BottomRight)
        position = arith::SubIOp::create(b, loc, end, rows);
      position = min(max(position, index(-kFarthest)), index(kFarthest));
      auto shift = [&](Value from, int64_t by) -> Value {
        return arith::AddIOp::create(b, loc, from, index(by));
      };
      if (std::optional<int64_t> left = window->getLeft())
        first = max(first, shift(position, -std::min(*left, kFarthest)));
      if (std::optional<int64_t> right = window->getRight())
        end = min(end, arith::AddIOp::create(
                           b, loc, shift(position, std::min(*right, kFarthest)),
                           rows));
      // Without a row there is no window.
      Value isEmpty =
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, rows, zero);
      end = arith::SelectOp::create(b, loc, isEmpty, zero, end);
    }
    end = max(end, zero);
    first = min(first, keys);
    Value from = arith::DivUIOp::create(b, loc, first, page);
    Value to = arith::CeilDivUIOp::create(b, loc, end, page);
    auto inner = scf::ForOp::create(
        b, loc, from, to, one, outer.getRegionIterArgs(),
        [&](OpBuilder &nested, Location, Value number, ValueRange state) {
          Value given = tensor::ExtractOp::create(nested, loc, table,
                                                  ValueRange{entry, number});
          given = arith::IndexCastOp::create(nested, loc, nested.getIndexType(),
                                             given);
          Value wrong = arith::CmpIOp::create(
              nested, loc, arith::CmpIPredicate::uge, given, pool);
          scf::YieldOp::create(
              nested, loc,
              ValueRange{arith::OrIOp::create(nested, loc, state[0], wrong),
                         arith::SelectOp::create(nested, loc, wrong, given,
                                                 state[1])});
        });
    scf::YieldOp::create(b, loc, inner.getResults());
  }
  require(outer.getResult(0), outer.getResult(1), pool,
          "expects 'page_table' to name pages of 'key', got page %lld of %lld");
}

void CheckBuilder::places(CacheAppendOp append) {
  Location loc = append.getLoc();
  OpBuilder &b = builder;
  Layout layout = append.getRowsLayout();
  Value cache = append.getCache(), table = append.getPageTable(),
        positions = append.getPositions();
  auto sizeOf = [&](Value tensor, int64_t dim) -> Value {
    return b.createOrFold<tensor::DimOp>(loc, tensor, dim);
  };
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value page = sizeOf(cache, sequenceDim(append.getCacheLayout()));
  Value keys = page, pool = sizeOf(cache, kBatchDim);
  if (table)
    keys = arith::MulIOp::create(b, loc, page, sizeOf(table, 1));
  Value unit = arith::MaxSIOp::create(b, loc, page, one);
  Value batch = ifGoodSoFar(sizeOf(append.getRows(), kBatchDim)),
        count = sizeOf(append.getRows(), sequenceDim(layout));
  Value none = arith::ConstantIntOp::create(b, loc, 0, /*width=*/1);
  bool each = cast<RankedTensorType>(positions.getType()).getRank() == 2;
  // A position and a page that are wrong, if any.
  scf::LoopNest nest = scf::buildLoopNest(
      b, loc, {zero, zero}, {batch, count}, {one, one},
      ValueRange{none, zero, none, zero},
      [&](OpBuilder &nested, Location, ValueRange at,
          ValueRange state) -> scf::ValueVector {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPoint(nested.getInsertionBlock(),
                            nested.getInsertionPoint());
        Value position;
        if (each) {
          position = tensor::ExtractOp::create(b, loc, positions, at);
          if (!position.getType().isIndex())
            position =
                arith::IndexCastOp::create(b, loc, b.getIndexType(), position);
        } else {
          // Saturating: any first position may be given.
          position = readIndex(positions, at[0]);
          Value most = arith::ConstantIndexOp::create(b, loc, kFarthest);
          position = arith::MinSIOp::create(b, loc, position, most);
          Value next = arith::AddIOp::create(b, loc, position, at[1]);
          Value below = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                              position, zero);
          position = arith::SelectOp::create(b, loc, below, position, next);
        }
        auto keep = [&](Value wrong, Value value, Value old) -> Value {
          return arith::SelectOp::create(b, loc, wrong, value, old);
        };
        Value outside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::uge,
                                              position, keys);
        scf::ValueVector next(state.begin(), state.end());
        next[0] = arith::OrIOp::create(b, loc, state[0], outside);
        next[1] = keep(outside, position, state[1]);
        if (!table)
          return next;
        // Only where it is in the table can its page be read.
        auto entry = scf::IfOp::create(
            b, loc, outside,
            [&](OpBuilder &inner, Location) {
              scf::YieldOp::create(inner, loc, zero);
            },
            [&](OpBuilder &inner, Location) {
              Value number = arith::DivUIOp::create(inner, loc, position, unit);
              Value given = tensor::ExtractOp::create(
                  inner, loc, table, ValueRange{at[0], number});
              given = arith::IndexCastOp::create(inner, loc,
                                                 inner.getIndexType(), given);
              scf::YieldOp::create(inner, loc, given);
            });
        Value missing = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::uge,
                                              entry.getResult(0), pool);
        Value there = arith::XOrIOp::create(
            b, loc, outside,
            arith::ConstantIntOp::create(b, loc, 1, /*width=*/1));
        missing = arith::AndIOp::create(b, loc, missing, there);
        next[2] = arith::OrIOp::create(b, loc, state[2], missing);
        next[3] = keep(missing, entry.getResult(0), state[3]);
        return next;
      });
  require(
      nest.results[0], nest.results[1], keys,
      "expects 'positions' to lie inside 'cache', got position %lld of %lld");
  if (table)
    require(
        nest.results[2], nest.results[3], pool,
        "expects 'page_table' to name pages of 'cache', got page %lld of %lld");
}
