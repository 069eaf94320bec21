// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of scalar ops. Floats are computed in f64 and then rounded to their
// type, which for + - * / and the square root gives what arithmetic in f32, f16
// and bf16 gives.

#include "Scalars.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace mlir::attn;

/// Return `value` as an unsigned number of `width` bits.
static uint64_t asUnsigned(int64_t value, unsigned width) {
  return static_cast<uint64_t>(value) & llvm::maskTrailingOnes<uint64_t>(width);
}

/// Return `value` as a signed number: a true boolean is -1.
static int64_t asSigned(int64_t value, unsigned width) {
  return width == 1 ? -value : value;
}

#define REAL(expression)                                                       \
  [](const ScalarOp &op, const Cell *a, const char *&fault) {                  \
    return realCell(expression);                                               \
  }
#define INTEGER(expression)                                                    \
  [](const ScalarOp &op, const Cell *a, const char *&fault) {                  \
    return integerCell(static_cast<int64_t>(expression));                      \
  }
#define X a[0].real
#define Y a[1].real
#define Z a[2].real
#define I static_cast<uint64_t>(a[0].integer)
#define J static_cast<uint64_t>(a[1].integer)
#define SI asSigned(a[0].integer, op.operandWidth)
#define SJ asSigned(a[1].integer, op.operandWidth)
#define UI asUnsigned(a[0].integer, op.operandWidth)
#define UJ asUnsigned(a[1].integer, op.operandWidth)

/// Return `divisor`, or 1 and a fault where it is 0.
template <typename T>
static T checkDivisor(T divisor, const char *&fault) {
  if (divisor == 0)
    fault = "divides by 0";
  return divisor == 0 ? T(1) : divisor;
}

/// Quotients of signed numbers; the one that overflows wraps.
static int64_t divideSigned(int64_t a, int64_t b) {
  return b == -1 ? static_cast<int64_t>(-static_cast<uint64_t>(a)) : a / b;
}
static int64_t remainderSigned(int64_t a, int64_t b) {
  return b == -1 ? 0 : a % b;
}
static int64_t divideFloor(int64_t a, int64_t b) {
  bool inexact = remainderSigned(a, b) != 0;
  return divideSigned(a, b) - (inexact && (a < 0) != (b < 0));
}
static int64_t divideCeil(int64_t a, int64_t b) {
  bool inexact = remainderSigned(a, b) != 0;
  return divideSigned(a, b) + (inexact && (a < 0) == (b < 0));
}

/// Return the distance of a shift, or 0 and a fault if it leaves the type.
static unsigned checkShift(uint64_t distance, unsigned width,
                           const char *&fault) {
  if (distance >= width)
    fault = "shifts by the width of its type or more";
  return distance >= width ? 0 : static_cast<unsigned>(distance);
}

static double maximum(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return std::nan("");
  if (a == b)
    return std::signbit(a) ? b : a;
  return a > b ? a : b;
}
static double minimum(double a, double b) { return -maximum(-a, -b); }

/// Return `value` as an integer of `width` bits; where it does not fit, which
/// leaves the result open, the nearest.
static int64_t toSigned(double value, unsigned width) {
  double limit = std::ldexp(1.0, static_cast<int>(width) - 1);
  if (std::isnan(value))
    return 0;
  if (value >= limit)
    return llvm::maxIntN(width);
  return value <= -limit ? llvm::minIntN(width) : static_cast<int64_t>(value);
}
static uint64_t toUnsigned(double value, unsigned width) {
  if (!(value > 0))
    return 0;
  if (value >= std::ldexp(1.0, static_cast<int>(width)))
    return llvm::maskTrailingOnes<uint64_t>(width);
  return static_cast<uint64_t>(value);
}

static bool compareIntegers(const ScalarOp &op, const Cell *a) {
  switch (static_cast<arith::CmpIPredicate>(op.predicate)) {
  case arith::CmpIPredicate::eq:
    return I == J;
  case arith::CmpIPredicate::ne:
    return I != J;
  case arith::CmpIPredicate::slt:
    return SI < SJ;
  case arith::CmpIPredicate::sle:
    return SI <= SJ;
  case arith::CmpIPredicate::sgt:
    return SI > SJ;
  case arith::CmpIPredicate::sge:
    return SI >= SJ;
  case arith::CmpIPredicate::ult:
    return UI < UJ;
  case arith::CmpIPredicate::ule:
    return UI <= UJ;
  case arith::CmpIPredicate::ugt:
    return UI > UJ;
  case arith::CmpIPredicate::uge:
    return UI >= UJ;
  }
  return false;
}

/// The predicates of cmpf are sets of four outcomes: equal 1, greater 2, less 4,
/// unordered 8. Of those with the last the one alone is not the first, but comes
/// after the others.
static bool compareReals(const ScalarOp &op, const Cell *a) {
  constexpr auto kLone = static_cast<int64_t>(arith::CmpFPredicate::UNO);
  int64_t outcomes = op.predicate;
  if (outcomes == kLone)
    outcomes = 8;
  else if (outcomes >= 8 && outcomes < kLone)
    ++outcomes;
  int64_t outcome = X == Y ? 1 : X > Y ? 2 : X < Y ? 4 : 8;
  return (outcomes & outcome) != 0;
}

namespace {
struct ScalarEntry {
  StringRef name;
  ScalarOp::Function function;
};
} // namespace

static const ScalarEntry kIntegerOps[] = {
    {"arith.addi", INTEGER(I + J)},
    {"arith.subi", INTEGER(I - J)},
    {"arith.muli", INTEGER(I * J)},
    {"arith.divsi", INTEGER(divideSigned(SI, checkDivisor(SJ, fault)))},
    {"arith.divui", INTEGER(UI / checkDivisor(UJ, fault))},
    {"arith.remsi", INTEGER(remainderSigned(SI, checkDivisor(SJ, fault)))},
    {"arith.remui", INTEGER(UI % checkDivisor(UJ, fault))},
    {"arith.floordivsi", INTEGER(divideFloor(SI, checkDivisor(SJ, fault)))},
    {"arith.ceildivsi", INTEGER(divideCeil(SI, checkDivisor(SJ, fault)))},
    {"arith.ceildivui",
     INTEGER(UI == 0 ? 0 : (UI - 1) / checkDivisor(UJ, fault) + 1)},
    {"arith.andi", INTEGER(I & J)},
    {"arith.ori", INTEGER(I | J)},
    {"arith.xori", INTEGER(I ^ J)},
    {"arith.shli", INTEGER(I << checkShift(UJ, op.operandWidth, fault))},
    {"arith.shrsi", INTEGER(SI >> checkShift(UJ, op.operandWidth, fault))},
    {"arith.shrui", INTEGER(UI >> checkShift(UJ, op.operandWidth, fault))},
    {"arith.maxsi", INTEGER(std::max(SI, SJ))},
    {"arith.minsi", INTEGER(std::min(SI, SJ))},
    {"arith.maxui", INTEGER(std::max(UI, UJ))},
    {"arith.minui", INTEGER(std::min(UI, UJ))},
    {"arith.cmpi", INTEGER(compareIntegers(op, a))},
    {"arith.extsi", INTEGER(SI)},
    {"arith.extui", INTEGER(UI)},
    {"arith.trunci", INTEGER(I)},
    {"arith.index_cast", INTEGER(SI)},
    {"arith.index_castui", INTEGER(UI)},
    {"math.absi", INTEGER(SI < 0 ? -I : I)},
};

static const ScalarEntry kMixedOps[] = {
    {"arith.cmpf", INTEGER(compareReals(op, a))},
    {"arith.sitofp", REAL(static_cast<double>(SI))},
    {"arith.uitofp", REAL(static_cast<double>(UI))},
    {"arith.fptosi", INTEGER(toSigned(X, op.resultWidth))},
    {"arith.fptoui", INTEGER(toUnsigned(X, op.resultWidth))},
    {"math.isnan", INTEGER(std::isnan(X))},
    {"math.isinf", INTEGER(std::isinf(X))},
    {"math.isfinite", INTEGER(std::isfinite(X))},
    {"math.fpowi", REAL(std::pow(X, static_cast<double>(a[1].integer)))},
};

static const ScalarEntry kRealOps[] = {
    {"arith.addf", REAL(X + Y)},
    {"arith.subf", REAL(X - Y)},
    {"arith.mulf", REAL(X * Y)},
    {"arith.divf", REAL(X / Y)},
    {"arith.remf", REAL(std::fmod(X, Y))},
    {"arith.negf", REAL(-X)},
    {"arith.maximumf", REAL(maximum(X, Y))},
    {"arith.minimumf", REAL(minimum(X, Y))},
    {"arith.maxnumf", REAL(std::fmax(X, Y))},
    {"arith.minnumf", REAL(std::fmin(X, Y))},
    {"arith.extf", REAL(X)},
    {"arith.truncf", REAL(X)},
    {"math.absf", REAL(std::fabs(X))},
    {"math.acos", REAL(std::acos(X))},
    {"math.asin", REAL(std::asin(X))},
    {"math.atan", REAL(std::atan(X))},
    {"math.atan2", REAL(std::atan2(X, Y))},
    {"math.cbrt", REAL(std::cbrt(X))},
    {"math.ceil", REAL(std::ceil(X))},
    {"math.copysign", REAL(std::copysign(X, Y))},
    {"math.cos", REAL(std::cos(X))},
    {"math.cosh", REAL(std::cosh(X))},
    {"math.erf", REAL(std::erf(X))},
    {"math.erfc", REAL(std::erfc(X))},
    {"math.exp", REAL(std::exp(X))},
    {"math.exp2", REAL(std::exp2(X))},
    {"math.expm1", REAL(std::expm1(X))},
    {"math.floor", REAL(std::floor(X))},
    {"math.fma", REAL(std::fma(X, Y, Z))},
    {"math.log", REAL(std::log(X))},
    {"math.log10", REAL(std::log10(X))},
    {"math.log1p", REAL(std::log1p(X))},
    {"math.log2", REAL(std::log2(X))},
    {"math.powf", REAL(std::pow(X, Y))},
    {"math.round", REAL(std::round(X))},
    {"math.roundeven", REAL(std::nearbyint(X))},
    {"math.rsqrt", REAL(1 / std::sqrt(X))},
    {"math.sin", REAL(std::sin(X))},
    {"math.sinh", REAL(std::sinh(X))},
    {"math.sqrt", REAL(std::sqrt(X))},
    {"math.tan", REAL(std::tan(X))},
    {"math.tanh", REAL(std::tanh(X))},
    {"math.trunc", REAL(std::trunc(X))},
};

#undef X
#undef Y
#undef Z
#undef I
#undef J
#undef SI
#undef SJ
#undef UI
#undef UJ
#undef REAL
#undef INTEGER

static Cell select(const ScalarOp &, const Cell *a, const char *&) {
  return a[0].integer ? a[1] : a[2];
}

/// The same bits as another type of the same width.
static Cell bitcastRealToInteger(const ScalarOp &op, const Cell *a,
                                 const char *&) {
  return integerCell(
      static_cast<int64_t>(encodeFloat(a[0].real, op.operandFormat)));
}
static Cell bitcastIntegerToReal(const ScalarOp &op, const Cell *a,
                                 const char *&) {
  return realCell(
      decodeFloat(static_cast<uint64_t>(a[0].integer), op.resultFormat));
}
static Cell bitcastReals(const ScalarOp &op, const Cell *a, const char *&) {
  return realCell(
      decodeFloat(encodeFloat(a[0].real, op.operandFormat), op.resultFormat));
}

static ScalarOp::Function lookupFunction(Operation *op, bool realOperand,
                                         bool realResult) {
  StringRef name = op->getName().getStringRef();
  for (ArrayRef<ScalarEntry> table :
       {ArrayRef(kIntegerOps), ArrayRef(kMixedOps), ArrayRef(kRealOps)})
    for (const ScalarEntry &entry : table)
      if (entry.name == name)
        return entry.function;
  if (isa<arith::SelectOp>(op))
    return select;
  if (!isa<arith::BitcastOp>(op))
    return nullptr;
  if (realOperand)
    return realResult ? bitcastReals : bitcastRealToInteger;
  return realResult ? bitcastIntegerToReal
                    : [](const ScalarOp &, const Cell *a, const char *&) {
                        return a[0];
                      };
}

std::optional<ScalarOp> mlir::attn::lookupScalarOp(Operation *op,
                                                   Arithmetic arithmetic) {
  if (op->getNumOperands() == 0 || op->getNumOperands() > kMaxScalarOperands ||
      op->getNumResults() != 1)
    return std::nullopt;
  Type operand = getElementTypeOrSelf(op->getOperand(0));
  Type result = getElementTypeOrSelf(op->getResult(0));
  std::optional<FloatFormat> operandFormat = getFloatFormat(operand);
  std::optional<FloatFormat> resultFormat = getFloatFormat(result);
  std::optional<unsigned> operandWidth = getIntegerWidth(operand);
  std::optional<unsigned> resultWidth = getIntegerWidth(result);
  if ((!operandFormat && !operandWidth) || (!resultFormat && !resultWidth))
    return std::nullopt;
  ScalarOp scalar;
  scalar.function =
      lookupFunction(op, operandFormat.has_value(), resultFormat.has_value());
  if (!scalar.function)
    return std::nullopt;
  scalar.hasRealResult = resultFormat.has_value();
  scalar.operandWidth = operandWidth.value_or(64);
  scalar.resultWidth = resultWidth.value_or(64);
  scalar.operandFormat = operandFormat.value_or(FloatFormat::F64);
  scalar.resultFormat = resultFormat.value_or(FloatFormat::F64);
  scalar.rounding = getRounding(scalar.resultFormat, arithmetic);
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    scalar.predicate = static_cast<int64_t>(compare.getPredicate());
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    scalar.predicate = static_cast<int64_t>(compare.getPredicate());
  return scalar;
}
