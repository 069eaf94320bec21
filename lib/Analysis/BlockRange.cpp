// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Interval arithmetic on a mask_mod, as code that runs once a block. For rows i0 to i1 and keys j0 to j1
//
//   %d = arith.subi %i, %j : index                 [i0 - j1, i1 - j0]
//   %near = arith.cmpi slt, %d, %c256 : index      always: i1 - j0 < 256; ever: i0 - j1 < 256
//
// Of a captured tensor, the least and the greatest element in a range of indices are looked up. An interval may be
// wider than need be, never narrower: then a block is worked on that could have been left out.

#include "attn/Analysis/BlockRange.h"

#include "attn/IR/AttnOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::attn;

using Predicate = arith::CmpIPredicate;

namespace {
/// Builds the intervals of one region.
class IntervalBuilder {
public:
  IntervalBuilder(OpBuilder &builder, Region &region, Intervals &intervals,
                  int64_t mostLookups)
      : b(region.getLoc(), builder), region(region), intervals(intervals),
        mostLookups(mostLookups) {}

  void run();

  /// Return the interval of `value` if it is known by now.
  std::optional<Interval> find(Value value);
  /// Return what may be anything.
  Interval anything(Type type);

private:
  // Short forms of operations on index and i1, folded.
  Value number(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  Value flag(bool value) { return arith::ConstantIntOp::create(b, value, 1); }
  Value compare(Predicate predicate, Value x, Value y) {
    return b.createOrFold<arith::CmpIOp>(predicate, x, y);
  }
  Value both(Value x, Value y) { return b.createOrFold<arith::AndIOp>(x, y); }
  Value either(Value x, Value y) { return b.createOrFold<arith::OrIOp>(x, y); }
  Value negate(Value x) { return b.createOrFold<arith::XOrIOp>(x, flag(true)); }
  Value choose(Value condition, Value x, Value y) {
    return b.createOrFold<arith::SelectOp>(condition, x, y);
  }
  Value least(Value x, Value y) { return b.createOrFold<arith::MinSIOp>(x, y); }
  Value most(Value x, Value y) { return b.createOrFold<arith::MaxSIOp>(x, y); }
  Value add(Value x, Value y) { return b.createOrFold<arith::AddIOp>(x, y); }
  Value sub(Value x, Value y) { return b.createOrFold<arith::SubIOp>(x, y); }
  Value times(Value x, Value y) { return b.createOrFold<arith::MulIOp>(x, y); }

  /// Return `low` to `high`, or anything where that does not fit into `type`
  /// because its size is not known to be below 2^bits.
  Interval fit(Value low, Value high, unsigned bits, Type type);

  Interval evaluate(Operation &op, ArrayRef<Interval> x);
  Interval sum(Operation &op, Interval x, Interval y);
  Interval product(Operation &op, Interval x, Interval y);
  Interval quotient(Operation &op, Interval x, int64_t divisor);
  Interval rest(Operation &op, Interval x, int64_t divisor);
  Interval condition(arith::CmpIOp op, Interval x, Interval y);
  Interval logic(Operation &op, Interval x, Interval y);
  Interval selection(Operation &op, ArrayRef<Interval> x);
  Interval conversion(Operation &op, Interval x);
  Interval magnitude(Interval x, Type type);
  Interval lookUp(tensor::ExtractOp op, ArrayRef<Interval> x);

  ImplicitLocOpBuilder b;
  Region &region;
  Intervals &intervals;
  int64_t mostLookups;
};
} // namespace

static bool isCondition(Type type) { return type.isInteger(1); }

/// Return the bits of a number of `type`; its sign is one of them.
static unsigned widthOf(Type type) {
  return type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
}

/// Return whether intervals of `type` are kept.
static bool hasInterval(Type type) {
  return type.isIndex() || (isa<IntegerType>(type) && widthOf(type) <= 64);
}

void IntervalBuilder::run() {
  for (Operation &op : region.front().without_terminator()) {
    Value result = op.getResult(0);
    // Constants are found where they are used.
    if (!hasInterval(result.getType()) || intervals.contains(result) ||
        isa<arith::ConstantOp>(op))
      continue;
    SmallVector<Interval> operands;
    bool isKnown = true;
    for (Value operand : op.getOperands()) {
      if (!hasInterval(operand.getType())) {
        operands.emplace_back();
        continue;
      }
      std::optional<Interval> interval = find(operand);
      isKnown = isKnown && interval;
      operands.push_back(interval.value_or(Interval()));
    }
    if (isKnown)
      intervals[result] = evaluate(op, operands);
  }
}

std::optional<Interval> IntervalBuilder::find(Value value) {
  auto found = intervals.find(value);
  if (found != intervals.end())
    return found->second;
  APInt constant;
  bool isConstant = matchPattern(value, m_ConstantInt(&constant));
  if (region.isAncestor(value.getParentRegion()) && !isConstant)
    return std::nullopt;
  Interval interval;
  if (isCondition(value.getType())) {
    if (isConstant)
      value = flag(!constant.isZero());
    interval = {value, value, 1};
  } else if (isConstant) {
    Value exact = number(constant.getSExtValue());
    interval = {exact, exact, constant.abs().getActiveBits()};
  } else {
    // From outside of the region: a number that is the same everywhere.
    Value exact = value;
    if (!value.getType().isIndex())
      exact = arith::IndexCastOp::create(b, b.getIndexType(), value);
    unsigned width = widthOf(value.getType());
    interval = {exact, exact, width == 64 ? width : width - 1};
  }
  intervals[value] = interval;
  return interval;
}

Interval IntervalBuilder::anything(Type type) {
  if (isCondition(type))
    return {flag(false), flag(true), 1};
  unsigned width = widthOf(type);
  return {number(llvm::minIntN(width)), number(llvm::maxIntN(width)), width};
}

Interval IntervalBuilder::fit(Value low, Value high, unsigned bits, Type type) {
  unsigned width = widthOf(type);
  if (bits < width)
    return {low, high, bits};
  Interval all = anything(type);
  // What may have more than 64 bits would have to be looked at itself.
  if (width == 64 || bits >= 64)
    return all;
  Value fits = both(compare(Predicate::sge, low, all.low),
                    compare(Predicate::sle, high, all.high));
  return {choose(fits, low, all.low), choose(fits, high, all.high), width};
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// Return the number that `value` is known to be.
static std::optional<int64_t> getConstant(Value value) {
  APInt constant;
  if (!matchPattern(value, m_ConstantInt(&constant)))
    return std::nullopt;
  return constant.getSExtValue();
}

Interval IntervalBuilder::sum(Operation &op, Interval x, Interval y) {
  unsigned bits = std::max(x.bits, y.bits) + 1;
  Type type = op.getResult(0).getType();
  if (isa<arith::SubIOp>(op))
    y = {sub(number(0), y.high), sub(number(0), y.low), y.bits};
  if (bits < 64)
    return fit(add(x.low, y.low), add(x.high, y.high), bits, type);
  // Look whether the numbers are as large as their type allows.
  Interval all = anything(type);
  Value limit = number(int64_t(1) << 61),
        lowLimit = number(-(int64_t(1) << 61));
  Value fits = flag(true);
  for (Interval part : {x, y})
    fits = both(fits, both(compare(Predicate::sge, part.low, lowLimit),
                           compare(Predicate::sle, part.high, limit)));
  return {choose(fits, add(x.low, y.low), all.low),
          choose(fits, add(x.high, y.high), all.high), 64};
}

Interval IntervalBuilder::product(Operation &op, Interval x, Interval y) {
  unsigned bits = x.bits + y.bits;
  if (bits >= 64)
    return anything(op.getResult(0).getType());
  Value ends[] = {times(x.low, y.low), times(x.low, y.high),
                  times(x.high, y.low), times(x.high, y.high)};
  return fit(least(least(ends[0], ends[1]), least(ends[2], ends[3])),
             most(most(ends[0], ends[1]), most(ends[2], ends[3])), bits,
             op.getResult(0).getType());
}

/// Return x / divisor, which does not fall where x grows.
Interval IntervalBuilder::quotient(Operation &op, Interval x, int64_t divisor) {
  Value by = number(divisor);
  auto divide = [&](Value a) -> Value {
    if (isa<arith::FloorDivSIOp, arith::ShRSIOp>(op))
      return b.createOrFold<arith::FloorDivSIOp>(a, by);
    if (isa<arith::CeilDivSIOp>(op))
      return b.createOrFold<arith::CeilDivSIOp>(a, by);
    return b.createOrFold<arith::DivSIOp>(a, by);
  };
  Interval result = {divide(x.low), divide(x.high), x.bits};
  if (!isa<arith::DivUIOp>(op))
    return result;
  Value isPositive = compare(Predicate::sge, x.low, number(0));
  Interval all = anything(op.getResult(0).getType());
  return {choose(isPositive, result.low, all.low),
          choose(isPositive, result.high, all.high), x.bits};
}

Interval IntervalBuilder::rest(Operation &op, Interval x, int64_t divisor) {
  Value by = number(divisor), zero = number(0);
  Value first = b.createOrFold<arith::FloorDivSIOp>(x.low, by);
  Value last = b.createOrFold<arith::FloorDivSIOp>(x.high, by);
  Value isPositive = compare(Predicate::sge, x.low, zero);
  // Within one period the rest grows with x.
  Value same = both(isPositive, compare(Predicate::eq, first, last));
  auto modulo = [&](Value a) { return b.createOrFold<arith::RemSIOp>(a, by); };
  Value low = isa<arith::RemUIOp>(op)
                  ? zero
                  : choose(isPositive, zero, number(1 - divisor));
  return {choose(same, modulo(x.low), low),
          choose(same, modulo(x.high), number(divisor - 1)),
          llvm::Log2_64_Ceil(divisor) + 1};
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

Interval IntervalBuilder::condition(arith::CmpIOp op, Interval x, Interval y) {
  auto less = [&](Interval a, Interval c, Predicate predicate) -> Interval {
    return {compare(predicate, a.high, c.low),
            compare(predicate, a.low, c.high), 1};
  };
  auto equal = [&]() -> Interval {
    Value single = both(compare(Predicate::eq, x.low, x.high),
                        compare(Predicate::eq, y.low, y.high));
    return {both(single, compare(Predicate::eq, x.low, y.low)),
            both(compare(Predicate::sle, x.low, y.high),
                 compare(Predicate::sle, y.low, x.high)),
            1};
  };
  Predicate predicate = op.getPredicate();
  Interval result;
  switch (predicate) {
  case Predicate::eq:
    return equal();
  case Predicate::ne:
    result = equal();
    return {negate(result.high), negate(result.low), 1};
  case Predicate::slt:
  case Predicate::ult:
    result = less(x, y, Predicate::slt);
    break;
  case Predicate::sle:
  case Predicate::ule:
    result = less(x, y, Predicate::sle);
    break;
  case Predicate::sgt:
  case Predicate::ugt:
    result = less(y, x, Predicate::slt);
    break;
  case Predicate::sge:
  case Predicate::uge:
    result = less(y, x, Predicate::sle);
    break;
  }
  if (predicate < Predicate::ult)
    return result;
  // As unsigned numbers the same, unless one is negative.
  Value positive = both(compare(Predicate::sge, x.low, number(0)),
                        compare(Predicate::sge, y.low, number(0)));
  return {both(positive, result.low), either(negate(positive), result.high), 1};
}

/// Return and, or, exclusive or of two conditions.
Interval IntervalBuilder::logic(Operation &op, Interval x, Interval y) {
  if (isa<arith::AndIOp>(op))
    return {both(x.low, y.low), both(x.high, y.high), 1};
  if (isa<arith::OrIOp>(op))
    return {either(x.low, y.low), either(x.high, y.high), 1};
  Value differ =
      either(both(x.low, negate(y.high)), both(negate(x.high), y.low));
  Value same = either(both(x.low, y.low), both(negate(x.high), negate(y.high)));
  return {differ, negate(same), 1};
}

Interval IntervalBuilder::selection(Operation &op, ArrayRef<Interval> x) {
  Interval hull;
  if (isCondition(op.getResult(0).getType()))
    hull = {both(x[1].low, x[2].low), either(x[1].high, x[2].high), 1};
  else
    hull = {least(x[1].low, x[2].low), most(x[1].high, x[2].high),
            std::max(x[1].bits, x[2].bits)};
  auto pick = [&](Value first, Value second, Value any) {
    return choose(x[0].low, first, choose(x[0].high, any, second));
  };
  return {pick(x[1].low, x[2].low, hull.low),
          pick(x[1].high, x[2].high, hull.high), hull.bits};
}

/// Return a number as one of another type.
Interval IntervalBuilder::conversion(Operation &op, Interval x) {
  Type from = op.getOperand(0).getType(), to = op.getResult(0).getType();
  if (isCondition(to))
    return anything(to);
  if (isCondition(from)) {
    // Of a signed number of one bit, that bit is the sign.
    bool isSigned = isa<arith::ExtSIOp, arith::IndexCastOp>(op);
    Value one = number(isSigned ? -1 : 1), zero = number(0);
    Value always = choose(x.low, one, zero), ever = choose(x.high, one, zero);
    return isSigned ? Interval{ever, always, 1} : Interval{always, ever, 1};
  }
  if (!isa<arith::ExtUIOp, arith::IndexCastUIOp>(op))
    return fit(x.low, x.high, x.bits, to);
  Value positive = compare(Predicate::sge, x.low, number(0));
  Interval all = anything(to);
  Interval same = fit(x.low, x.high, x.bits, to);
  return {choose(positive, same.low, all.low),
          choose(positive, same.high, all.high),
          std::max(same.bits, widthOf(to))};
}

/// Return |x|, which is negative for the least number of `type` alone.
Interval IntervalBuilder::magnitude(Interval x, Type type) {
  Value zero = number(0), down = sub(zero, x.high), up = sub(zero, x.low);
  Value low = most(most(x.low, down), zero), high = most(x.high, up);
  Interval all = anything(type);
  Value isLeast = compare(Predicate::eq, x.low, all.low);
  return {choose(isLeast, all.low, low), choose(isLeast, all.high, high),
          x.bits};
}

/// Return the least and the greatest element that `op` can read.
Interval IntervalBuilder::lookUp(tensor::ExtractOp op, ArrayRef<Interval> x) {
  Type type = op.getType();
  Interval all = anything(type);
  if (isCondition(type))
    return all;
  SmallVector<Value> lower, upper, steps;
  Value one = number(1), zero = number(0), count = one, few = flag(true);
  for (auto [dim, index] : llvm::enumerate(x)) {
    Value last = sub(b.createOrFold<tensor::DimOp>(op.getTensor(), dim), one);
    auto inside = [&](Value at) { return most(least(at, last), zero); };
    lower.push_back(inside(index.low));
    upper.push_back(add(inside(index.high), one));
    steps.push_back(one);
    // Nothing can be read where there is no element.
    few = both(few, compare(Predicate::sge, last, zero));
    Value extent = sub(upper.back(), lower.back());
    few = both(few, compare(Predicate::sle, extent, number(mostLookups)));
    count = times(count, least(extent, number(mostLookups)));
  }
  few = both(few, compare(Predicate::sle, count, number(mostLookups)));
  auto look = [&](OpBuilder &nested, Location loc) {
    scf::LoopNest nest = scf::buildLoopNest(
        nested, loc, lower, upper, steps, ValueRange{all.high, all.low},
        [&](OpBuilder &n, Location l, ValueRange at,
            ValueRange so) -> scf::ValueVector {
          Value element = tensor::ExtractOp::create(n, l, op.getTensor(), at);
          if (!type.isIndex())
            element =
                arith::IndexCastOp::create(n, l, n.getIndexType(), element);
          return {arith::MinSIOp::create(n, l, so[0], element),
                  arith::MaxSIOp::create(n, l, so[1], element)};
        });
    scf::YieldOp::create(nested, loc, nest.results);
  };
  auto found = scf::IfOp::create(
      b, b.getLoc(), few, look, [&](OpBuilder &nested, Location loc) {
        scf::YieldOp::create(nested, loc, ValueRange{all.low, all.high});
      });
  return {found.getResult(0), found.getResult(1),
          type.isIndex() ? 64u : widthOf(type)};
}

/// Return the divisor of `op`, a division or a shift by a constant above 0.
static std::optional<int64_t> getDivisor(Operation &op) {
  std::optional<int64_t> divisor;
  if (op.getNumOperands() == 2)
    divisor = getConstant(op.getOperand(1));
  if (!divisor || *divisor <= 0)
    return std::nullopt;
  if (!isa<arith::ShRSIOp>(op))
    return divisor;
  if (*divisor > 61)
    return std::nullopt;
  return int64_t(1) << *divisor;
}

/// Return whether something is known of the result of `op` where it is of its
/// operands.
static bool isAnalysed(Operation &op) {
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp,
          arith::CeilDivSIOp, arith::RemSIOp, arith::RemUIOp, arith::ShRSIOp>(
          op))
    return getDivisor(op).has_value();
  if (isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op))
    return isCondition(op.getResult(0).getType());
  if (auto extract = dyn_cast<tensor::ExtractOp>(op))
    return hasInterval(extract.getType());
  return isa<arith::ConstantOp, arith::AddIOp, arith::SubIOp, arith::MulIOp,
             arith::MinSIOp, arith::MaxSIOp, arith::CmpIOp, arith::SelectOp,
             arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp,
             arith::ExtUIOp, arith::TruncIOp, math::AbsIOp, tensor::DimOp>(op);
}

Interval IntervalBuilder::evaluate(Operation &op, ArrayRef<Interval> x) {
  Type type = op.getResult(0).getType();
  if (!isAnalysed(op))
    return anything(type);
  return llvm::TypeSwitch<Operation *, Interval>(&op)
      .Case<arith::AddIOp, arith::SubIOp>([&](Operation *) {
        return isCondition(type) ? anything(type) : sum(op, x[0], x[1]);
      })
      .Case([&](arith::MulIOp) {
        return isCondition(type) ? anything(type) : product(op, x[0], x[1]);
      })
      .Case<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp,
            arith::CeilDivSIOp, arith::ShRSIOp>(
          [&](Operation *) { return quotient(op, x[0], *getDivisor(op)); })
      .Case<arith::RemSIOp, arith::RemUIOp>(
          [&](Operation *) { return rest(op, x[0], *getDivisor(op)); })
      .Case([&](arith::MinSIOp) -> Interval {
        return {least(x[0].low, x[1].low), least(x[0].high, x[1].high),
                std::max(x[0].bits, x[1].bits)};
      })
      .Case([&](arith::MaxSIOp) -> Interval {
        return {most(x[0].low, x[1].low), most(x[0].high, x[1].high),
                std::max(x[0].bits, x[1].bits)};
      })
      .Case([&](arith::CmpIOp compared) {
        return isCondition(compared.getLhs().getType())
                   ? anything(type)
                   : condition(compared, x[0], x[1]);
      })
      .Case<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(
          [&](Operation *) { return logic(op, x[0], x[1]); })
      .Case([&](arith::SelectOp) { return selection(op, x); })
      .Case<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp,
            arith::ExtUIOp, arith::TruncIOp>(
          [&](Operation *) { return conversion(op, x[0]); })
      .Case([&](math::AbsIOp) { return magnitude(x[0], type); })
      .Case([&](tensor::DimOp dim) -> Interval {
        if (std::optional<int64_t> at = dim.getConstantIndex()) {
          Value size = b.createOrFold<tensor::DimOp>(dim.getSource(), *at);
          return {size, size, 62};
        }
        return anything(type);
      })
      .Case([&](tensor::ExtractOp extract) {
        return lookUp(extract, x.drop_front());
      })
      .Default([&](Operation *) { return anything(type); });
}

void mlir::attn::addIntervals(OpBuilder &b, Region &region,
                              Intervals &intervals, int64_t mostLookups) {
  IntervalBuilder(b, region, intervals, mostLookups).run();
}

Interval mlir::attn::getVerdict(OpBuilder &b, Region &region,
                                Intervals &intervals) {
  Value yielded = region.front().getTerminator()->getOperand(0);
  IntervalBuilder builder(b, region, intervals, /*mostLookups=*/0);
  return builder.find(yielded).value_or(builder.anything(yielded.getType()));
}

Operation *mlir::attn::findUnanalysed(Region &maskMod) {
  for (Operation &op : maskMod.front().without_terminator())
    if (hasInterval(op.getResult(0).getType()) && !isAnalysed(op))
      return &op;
  return nullptr;
}
