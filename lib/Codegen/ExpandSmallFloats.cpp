// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions of floats of a byte as integer arithmetic:
//
//   %y = arith.extf %x : vector<16xf8E5M2> to vector<16xf32>
//
// becomes
//
//   %bits = arith.shli (arith.extui %x : i8 to i16), 8       an f8E5M2 is the upper half of an f16
//   %y = arith.extf (arith.bitcast %bits : i16 to f16) : f16 to f32
//
// An f8E4M3FN is an f16 whose exponent is 8 less, but for the NaN. Every code becomes its very number. To f8, an f32 is
// rounded to nearest, ties to even: a normal number by an addition to its bits, a smaller one by the addition of a power
// of two. What is too large becomes NaN in f8E4M3FN, infinity in f8E5M2.

#include "attn/Codegen/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::attn {
#define GEN_PASS_DEF_EXPANDSMALLFLOATS
#include "attn/Codegen/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

static bool isSmall(Type type) {
  return isa<Float8E4M3FNType, Float8E5M2Type>(getElementTypeOrSelf(type));
}

/// Return `like`, a scalar or a vector, with elements of type `element`.
static Type withElement(Type like, Type element) {
  if (auto vector = dyn_cast<VectorType>(like))
    return vector.clone(element);
  return element;
}

static Value constant(ImplicitLocOpBuilder &b, Type type, int64_t number) {
  TypedAttr scalar = b.getIntegerAttr(getElementTypeOrSelf(type), number);
  if (auto vector = dyn_cast<VectorType>(type))
    return arith::ConstantOp::create(b, DenseElementsAttr::get(vector, scalar));
  return arith::ConstantOp::create(b, scalar);
}

/// Return the f16, or 256 times the f16, that the small float `x` is.
static Value toHalf(ImplicitLocOpBuilder &b, Value x) {
  Type type = x.getType(), i16 = withElement(type, b.getI16Type());
  Value code = arith::BitcastOp::create(b, withElement(type, b.getI8Type()), x);
  code = arith::ExtUIOp::create(b, i16, code);
  Value eight = constant(b, i16, 8), bits;
  if (isa<Float8E5M2Type>(getElementTypeOrSelf(type))) {
    bits = arith::ShLIOp::create(b, code, eight);
  } else {
    Value nan = constant(b, i16, 0x7f);
    Value magnitude = arith::AndIOp::create(b, code, nan);
    Value isNaN =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, magnitude, nan);
    bits = arith::ShLIOp::create(b, magnitude, constant(b, i16, 7));
    bits = arith::SelectOp::create(b, isNaN, constant(b, i16, 0x7e00), bits);
    Value sign = arith::AndIOp::create(b, code, constant(b, i16, 0x80));
    bits = arith::OrIOp::create(b, bits, arith::ShLIOp::create(b, sign, eight));
  }
  return arith::BitcastOp::create(b, withElement(type, b.getF16Type()), bits);
}

namespace {
/// A small float as a larger one.
struct ExpandExt : public OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    Value x = op.getIn();
    if (!isSmall(x.getType()))
      return rewriter.notifyMatchFailure(op, "not from a float of a byte");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Type wanted = op.getType();
    Value half = toHalf(b, x);
    if (getElementTypeOrSelf(wanted).isF16() &&
        isa<Float8E5M2Type>(getElementTypeOrSelf(x))) {
      rewriter.replaceOp(op, half);
      return success();
    }
    Type f32 = withElement(wanted, b.getF32Type());
    Value y = arith::ExtFOp::create(b, f32, half);
    if (isa<Float8E4M3FNType>(getElementTypeOrSelf(x))) {
      TypedAttr by = b.getF32FloatAttr(256.0);
      if (auto vector = dyn_cast<VectorType>(f32))
        by = DenseElementsAttr::get(vector, by);
      y = arith::MulFOp::create(b, y, arith::ConstantOp::create(b, by));
    }
    unsigned bits = getElementTypeOrSelf(wanted).getIntOrFloatBitWidth();
    if (bits > 32)
      y = arith::ExtFOp::create(b, wanted, y);
    else if (bits < 32)
      y = arith::TruncFOp::create(b, wanted, y);
    rewriter.replaceOp(op, y);
    return success();
  }
};

/// How a small float is made of the bits of an f32.
struct SmallFormat {
  int64_t fractionBits, bias, beyond, nan;

  int64_t dropped() const { return 23 - fractionBits; }
  /// The bits of the smallest normal number.
  int64_t smallest() const { return (127 + 1 - bias) << 23; }
  /// The bits of the power of two whose last place is the smallest number.
  int64_t magic() const { return (127 + 1 - bias + dropped()) << 23; }
};

/// An f32, or what one holds, as a small float.
struct ExpandTrunc : public OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    Value x = op.getIn();
    Type given = getElementTypeOrSelf(x);
    if (!isSmall(op.getType()) || given.isF64())
      return rewriter.notifyMatchFailure(op,
                                         "not from f32 to a float of a byte");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Type f32 = withElement(x.getType(), b.getF32Type()),
         i32 = withElement(x.getType(), b.getI32Type()),
         i8 = withElement(x.getType(), b.getI8Type());
    if (!given.isF32())
      x = arith::ExtFOp::create(b, f32, x);
    SmallFormat format{3, 7, 0x7f, 0x7f};
    if (isa<Float8E5M2Type>(getElementTypeOrSelf(op.getType())))
      format = {2, 15, 0x7c, 0x7e};
    auto number = [&](int64_t value) { return constant(b, i32, value); };
    Value bits = arith::BitcastOp::create(b, i32, x);
    Value magnitude = arith::AndIOp::create(b, bits, number(0x7fffffff));
    // Normal: half of what is dropped is added, a bit less where that is even.
    Value shift = number(format.dropped());
    Value odd = arith::AndIOp::create(
        b, arith::ShRUIOp::create(b, magnitude, shift), number(1));
    Value up = arith::AddIOp::create(
        b, odd, number((int64_t(1) << (format.dropped() - 1)) - 1));
    Value normal = arith::ShRUIOp::create(
        b, arith::AddIOp::create(b, magnitude, up), shift);
    normal = arith::SubIOp::create(
        b, normal, number((127 - format.bias) << format.fractionBits));
    // Smaller: the sum with the power of two ends at the last place.
    Value magic = number(format.magic());
    Value sum =
        arith::AddFOp::create(b, arith::BitcastOp::create(b, f32, magnitude),
                              arith::BitcastOp::create(b, f32, magic));
    Value small =
        arith::SubIOp::create(b, arith::BitcastOp::create(b, i32, sum), magic);
    Value isSmallest = arith::CmpIOp::create(
        b, arith::CmpIPredicate::ult, magnitude, number(format.smallest()));
    Value code = arith::SelectOp::create(b, isSmallest, small, normal);
    code = arith::MinUIOp::create(b, code, number(format.beyond));
    Value isNaN = arith::CmpIOp::create(b, arith::CmpIPredicate::ugt, magnitude,
                                        number(0x7f800000));
    code = arith::SelectOp::create(b, isNaN, number(format.nan), code);
    Value sign = arith::AndIOp::create(
        b, arith::ShRUIOp::create(b, bits, number(24)), number(0x80));
    code = arith::TruncIOp::create(b, i8, arith::OrIOp::create(b, code, sign));
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), code);
    return success();
  }
};

struct ExpandSmallFloats
    : public attn::impl::ExpandSmallFloatsBase<ExpandSmallFloats> {
  void runOnOperation() override {
    // Most programs have none, which a walk finds sooner than patterns do.
    auto hasSmall = [](Operation *op) {
      return isa<arith::ExtFOp, arith::TruncFOp>(op) &&
                     (isSmall(op->getOperand(0).getType()) ||
                      isSmall(op->getResult(0).getType()))
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    };
    if (!getOperation()->walk(hasSmall).wasInterrupted())
      return;
    RewritePatternSet patterns(&getContext());
    patterns.add<ExpandExt, ExpandTrunc>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
