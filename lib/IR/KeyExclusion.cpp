// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which keys a row leaves out because of where they are. Offsets and windows may be any 64-bit number, so every sum
// first moves one operand to where the sum cannot overflow: min(offset, greatest - row) + row.

#include "attn/IR/KeyExclusion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::attn;

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kGreatest = std::numeric_limits<int64_t>::max();

static Value getConstant(ImplicitLocOpBuilder &b, int64_t value) {
  return arith::ConstantIntOp::create(b, value, 64);
}

Value mlir::attn::buildPosition(ImplicitLocOpBuilder &b, Value row,
                                Value offset) {
  Value room = arith::SubIOp::create(b, getConstant(b, kGreatest), row);
  offset = arith::MinSIOp::create(b, offset, room);
  return arith::AddIOp::create(b, row, offset);
}

Value mlir::attn::buildOutside(ImplicitLocOpBuilder &b, Value key,
                               Value position, bool causal,
                               std::optional<WindowAttr> window) {
  using Predicate = arith::CmpIPredicate;
  Value outside;
  auto exclude = [&](Predicate predicate, Value bound) {
    outside =
        orElse(b, outside, arith::CmpIOp::create(b, predicate, key, bound));
  };
  if (causal)
    exclude(Predicate::sgt, position);
  if (!window)
    return outside;
  if (std::optional<int64_t> left = window->getLeft()) {
    Value first =
        arith::MaxSIOp::create(b, position, getConstant(b, kLeast + *left));
    exclude(Predicate::slt,
            arith::SubIOp::create(b, first, getConstant(b, *left)));
  }
  if (std::optional<int64_t> right = window->getRight()) {
    Value last =
        arith::MinSIOp::create(b, position, getConstant(b, kGreatest - *right));
    exclude(Predicate::sgt,
            arith::AddIOp::create(b, last, getConstant(b, *right)));
  }
  return outside;
}

Value mlir::attn::orElse(ImplicitLocOpBuilder &b, Value condition,
                         Value other) {
  if (!condition)
    return other;
  return arith::OrIOp::create(b, condition, other);
}
