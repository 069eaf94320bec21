// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Replaces the functions of softmax by short arithmetic on vectors:
//
//   %y = math.exp %x {attn.nonpositive} : vector<16xf32>
//
// becomes
//
//   t = x * log2(e) + (1.5 * 2^23 + 127)      its last bits: the whole part n of x * log2(e), plus 127
//   f = x * log2(e) - n                       in [-1/2, 1/2]
//   y = p(f) * bitcast(t << 23)               2^f * 2^n, and 0 where x < -96 ln 2
//
// p is a polynomial of degree 5 (largest relative error 1.7e-7, measured over 4e8 arguments) for f32, the Taylor series
// of degree 13 (error below 5e-18) for f64. A NaN stays NaN. A maximum becomes a comparison and a select, one
// instruction, which returns its first operand where the second is NaN; the first, an accumulator, never is. tanh in f32
// is upstream's rational approximation.

#include "attn/Codegen/CpuPasses.h"
#include "attn/IR/AttrNames.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::attn {
#define GEN_PASS_DEF_APPROXIMATEMATH
#include "attn/Codegen/CpuPasses.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// 2^f on [-1/2, 1/2], lowest coefficient first; minimax with the first held at
/// 1, so that e^0 is exactly 1.
static constexpr double kExp2Single[] = {1.0,
                                         6.9314697760e-1,
                                         2.4022242085e-1,
                                         5.5507337434e-2,
                                         9.6715126420e-3,
                                         1.3264727162e-3};

/// Powers of two between the least number that is not taken for 0 and the least
/// normal one. The product of a weight that small with a value would be subnormal,
/// and each takes a hundred cycles; next to the largest weight, 1, it is nothing.
static constexpr int64_t kSpareBits = 30;

/// What an exponential needs to know of a float type.
struct ExpFormat {
  SmallVector<double> coefficients;
  int64_t mantissaBits;
  int64_t bias;
};

static ExpFormat formatOf(Type element) {
  if (element.isF32())
    return {SmallVector<double>(std::begin(kExp2Single), std::end(kExp2Single)),
            23, 127};
  ExpFormat format{{}, 52, 1023};
  constexpr double kLn2 = 0.693147180559945309417;
  double term = 1.0;
  for (int k = 0; k <= 13; ++k) {
    format.coefficients.push_back(term);
    term *= kLn2 / (k + 1);
  }
  return format;
}

namespace {
/// e^x for x <= 0.
struct ExpandExp : public OpRewritePattern<math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::ExpOp op,
                                PatternRewriter &b) const override {
    Location loc = op.getLoc();
    Value x = op.getOperand();
    Type type = x.getType(), element = getElementTypeOrSelf(type);
    if (!op->hasAttr(kNonpositiveAttrName))
      return b.notifyMatchFailure(op, "may have a positive argument");
    if (!element.isF32() && !element.isF64())
      return b.notifyMatchFailure(op, "is neither f32 nor f64");
    ExpFormat format = formatOf(element);
    Type integer = b.getIntegerType(element.getIntOrFloatBitWidth());
    Type integers = integer;
    if (auto vector = dyn_cast<VectorType>(type))
      integers = vector.clone(integer);
    auto constant = [&](Type of, Attribute scalar) -> Value {
      if (auto vector = dyn_cast<VectorType>(of))
        scalar = DenseElementsAttr::get(vector, scalar);
      return arith::ConstantOp::create(b, loc, cast<TypedAttr>(scalar));
    };
    auto real = [&](double value) {
      return constant(type, b.getFloatAttr(element, value));
    };
    auto fma = [&](Value a, Value c, Value d) -> Value {
      if (isa<VectorType>(type))
        return vector::FMAOp::create(b, loc, a, c, d);
      return math::FmaOp::create(b, loc, a, c, d);
    };
    constexpr double kLog2E = 1.44269504088896340736;
    constexpr double kLn2 = 0.693147180559945309417;
    double magic = 1.5 * std::ldexp(1.0, format.mantissaBits) + format.bias;
    Value log2e = real(kLog2E);
    Value shifted = fma(x, log2e, real(magic));
    Value minusWhole = arith::SubFOp::create(b, loc, real(magic), shifted);
    Value f = fma(x, log2e, minusWhole);
    Value p = real(format.coefficients.back());
    for (double c : llvm::reverse(ArrayRef(format.coefficients).drop_back()))
      p = fma(p, f, real(c));
    Value bits = arith::BitcastOp::create(b, loc, integers, shifted);
    Value shift =
        constant(integers, b.getIntegerAttr(integer, format.mantissaBits));
    bits = arith::ShLIOp::create(b, loc, bits, shift);
    Value power = arith::BitcastOp::create(b, loc, type, bits);
    Value y = arith::MulFOp::create(b, loc, p, power);
    Value small =
        arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, x,
                              real((kSpareBits + 1 - format.bias) * kLn2));
    b.replaceOpWithNewOp<arith::SelectOp>(op, small, real(0.0), y);
    return success();
  }
};

/// The larger of an accumulator and a value.
struct ExpandMaximum : public OpRewritePattern<arith::MaxNumFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::MaxNumFOp op,
                                PatternRewriter &b) const override {
    if (op.getFastmath() != arith::FastMathFlags::none)
      return b.notifyMatchFailure(op, "has its own rules for NaN");
    Value larger = arith::CmpFOp::create(
        b, op.getLoc(), arith::CmpFPredicate::OGT, op.getRhs(), op.getLhs());
    b.replaceOpWithNewOp<arith::SelectOp>(op, larger, op.getRhs(), op.getLhs());
    return success();
  }
};

struct ApproximateMath
    : public attn::impl::ApproximateMathBase<ApproximateMath> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ExpandExp, ExpandMaximum>(&getContext());
    populatePolynomialApproximateTanhPattern(patterns);
    // Patterns would look at every op of the program.
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (isa<math::ExpOp, math::TanhOp, arith::MaxNumFOp>(op))
        ops.push_back(op);
    });
    if (failed(applyOpPatternsGreedily(ops, std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
