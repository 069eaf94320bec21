// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of f32 in a few instructions, where calls would take hundreds and move what a thread holds to memory. With
// 2^y for attn_gpu.exp2, which is within 2^-22.5 of itself, and 0 where that is less than 2^-126:
//
//   exp2, where it may be approximate     2^x
//   exp     2^h (1 + l log 2), where h + l = x log2(e), h the nearest f32;         within 3 units in the last place
//   tanh    x + x z P(z), z = x^2, for |x| < 0.55;                                 within 2
//           (1 - t) / (1 + t), t = 2^(-2 |x| log2(e)), with the sign of x, else    within 5
//
// A result of exp that is less than 2^-126 is 0. P is the polynomial of four terms that is nearest to tanh for its size.

#include "ElementFunctions.h"

#include "attn/IR/AttnGpuOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::attn;

static constexpr float kLog2 = 0x1.62e430p-1f;
static constexpr float kLog2e = 0x1.715476p+0f, kLog2eRest = 0x1.4ae0c0p-26f;

/// Where the polynomial of tanh ends, and its factors of z^0 to z^3.
static constexpr float kFewTurns = 0.55f;
static constexpr float kTanhFactors[] = {-0x1.555452p-2f, 0x1.10cef6p-3f,
                                         -0x1.af7cbep-5f, 0x1.0d500ap-6f};

namespace {
/// Builds arithmetic on single numbers of f32.
struct ElementBuilder {
  OpBuilder &b;
  Location loc;

  Value number(float x) {
    return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(x));
  }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, loc, x, y); }
  Value mul(Value x, float y) { return mul(x, number(y)); }
  Value fma(Value x, Value y, Value z) {
    return LLVM::FMAOp::create(b, loc, x, y, z);
  }
  Value exp2(Value x) {
    return attn_gpu::Exp2Op::create(b, loc, x.getType(), x);
  }
  Value reciprocal(Value x) {
    return LLVM::CallIntrinsicOp::create(
               b, loc, x.getType(),
               b.getStringAttr("llvm.nvvm.rcp.approx.ftz.f"), ValueRange{x})
        .getResult(0);
  }
  /// Return the bits of `x` that `mask` has.
  Value bitsOf(Value x, uint32_t mask) {
    Value bits = arith::BitcastOp::create(b, loc, b.getI32Type(), x);
    Value kept = arith::ConstantIntOp::create(b, loc, b.getI32Type(),
                                              static_cast<int32_t>(mask));
    return arith::AndIOp::create(b, loc, bits, kept);
  }
  Value asFloat(Value bits) {
    return arith::BitcastOp::create(b, loc, b.getF32Type(), bits);
  }
  Value size(Value x) { return asFloat(bitsOf(x, 0x7fffffff)); }
  Value selectBelow(Value x, float limit, Value below, Value other) {
    Value is = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, x,
                                     number(limit));
    return arith::SelectOp::create(b, loc, is, below, other);
  }

  Value exp(Value x) {
    Value most = mul(x, kLog2e);
    Value rest = fma(x, number(kLog2e), arith::NegFOp::create(b, loc, most));
    rest = fma(x, number(kLog2eRest), rest);
    Value power = exp2(most);
    Value sum = fma(power, mul(rest, kLog2), power);
    // Beyond, a power is 0, infinite or NaN, and what is left of x may be anything.
    return selectBelow(size(most), 128, sum, power);
  }

  Value tanh(Value x) {
    Value a = size(x), z = mul(a, a), one = number(1);
    Value sum = number(kTanhFactors[3]);
    for (int i = 2; i >= 0; --i)
      sum = fma(sum, z, number(kTanhFactors[i]));
    Value few = fma(mul(a, z), sum, a);
    Value t = exp2(mul(a, -2 * kLog2e));
    Value many = mul(arith::SubFOp::create(b, loc, one, t),
                     reciprocal(arith::AddFOp::create(b, loc, one, t)));
    Value result = selectBelow(a, kFewTurns, few, many);
    Value sign = bitsOf(x, 0x80000000);
    Value bits = arith::BitcastOp::create(b, loc, b.getI32Type(), result);
    return asFloat(arith::OrIOp::create(b, loc, bits, sign));
  }
};
} // namespace

Value attn::buildElementFunction(OpBuilder &b, Operation *op, Value x) {
  if (!x.getType().isF32())
    return {};
  ElementBuilder builder{b, op->getLoc()};
  if (isa<math::ExpOp>(op))
    return builder.exp(x);
  if (isa<math::TanhOp>(op))
    return builder.tanh(x);
  auto exp2 = dyn_cast<math::Exp2Op>(op);
  bool isApproximate =
      exp2 &&
      arith::bitEnumContainsAll(exp2.getFastmath(), arith::FastMathFlags::afn);
  return isApproximate ? builder.exp2(x) : Value();
}
