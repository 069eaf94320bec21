// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Says as attributes what a mask_mod says of the distance between a row and a key:
//
//   mask_mod(%b: index, %h: index, %i: index, %j: index) {
//     %past = arith.cmpi sle, %j, %i : index
//     %distance = arith.subi %i, %j : index
//     %near = arith.cmpi slt, %distance, %c256 : index
//     %both = arith.andi %past, %near : i1
//     attn.yield %both : i1
//   }
//
// becomes `causal = top_left window = <left = 255>`, whose blocks are loop bounds. Positions are absolute in both, so
// that this holds with every offset and alignment. Conditions of another form stay in the region.

#include "SdpaCanonicalize.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::attn;

namespace {
/// position * rows + key * keys + constant.
struct Linear {
  int64_t rows = 0, keys = 0, constant = 0;
};

/// How far right and left of the position a key may lie.
struct Band {
  std::optional<int64_t> left, right;
};
} // namespace

/// Constants beyond this are left alone: sums of a few stay in 64 bits.
static constexpr int64_t kFarthest = int64_t(1) << 60;

/// Return `value` in terms of the position and the key, if it is a sum of them.
static std::optional<Linear> getLinear(Value value, const ScorePlace &place) {
  if (value == place.position)
    return Linear{1, 0, 0};
  if (value == place.key)
    return Linear{0, 1, 0};
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant))) {
    if (constant.getBitWidth() > 64 || constant.abs().ugt(kFarthest))
      return std::nullopt;
    return Linear{0, 0, constant.getSExtValue()};
  }
  Operation *op = value.getDefiningOp();
  if (auto cast = dyn_cast_or_null<arith::IndexCastOp>(op))
    // A number of 32 bits may be another one.
    if (cast.getType().isIndex() || cast.getType().isInteger(64))
      return getLinear(cast.getIn(), place);
  if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op))
    return std::nullopt;
  std::optional<Linear> x = getLinear(op->getOperand(0), place),
                        y = getLinear(op->getOperand(1), place);
  if (!x || !y)
    return std::nullopt;
  int64_t sign = isa<arith::SubIOp>(op) ? -1 : 1;
  return Linear{x->rows + sign * y->rows, x->keys + sign * y->keys,
                x->constant + sign * y->constant};
}

/// Return the band that `condition` says a key lies in, if it says just that.
static std::optional<Band> getBand(Value condition, const ScorePlace &place) {
  using Predicate = arith::CmpIPredicate;
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare)
    return std::nullopt;
  std::optional<Linear> x = getLinear(compare.getLhs(), place),
                        y = getLinear(compare.getRhs(), place);
  if (!x || !y)
    return std::nullopt;
  int64_t keys = x->keys - y->keys, rows = x->rows - y->rows;
  // key - position + shift against 0, or the other way round.
  if (keys * rows != -1)
    return std::nullopt;
  int64_t shift = (x->constant - y->constant) * keys;
  Predicate predicate = compare.getPredicate();
  bool less = predicate == Predicate::slt || predicate == Predicate::sle;
  bool greater = predicate == Predicate::sgt || predicate == Predicate::sge;
  bool strict = predicate == Predicate::slt || predicate == Predicate::sgt;
  if (!less && !greater)
    return std::nullopt;
  if (keys < 0)
    std::swap(less, greater);
  Band band;
  int64_t &side = (less ? band.right : band.left).emplace();
  side = (less ? -shift : shift) - strict;
  // A window holds the position itself.
  if (side < 0)
    return std::nullopt;
  return band;
}

/// Collect the conditions of which `condition` is the conjunction.
static void collectConditions(Value condition,
                              SmallVectorImpl<Value> &conditions) {
  if (auto both = condition.getDefiningOp<arith::AndIOp>()) {
    collectConditions(both.getLhs(), conditions);
    collectConditions(both.getRhs(), conditions);
    return;
  }
  conditions.push_back(condition);
}

/// Narrow causal and window of `op` to `band`.
static void narrow(SdpaOp op, const Band &band) {
  WindowAttr window = op.getWindowAttr();
  std::optional<int64_t> left, right;
  if (window) {
    left = window.getLeft();
    right = window.getRight();
  }
  if (band.left)
    left = std::min(*band.left, left.value_or(*band.left));
  if (band.right == 0 && op.getCausal() == Causal::None)
    op.setCausal(Causal::TopLeft);
  else if (band.right && op.getCausal() == Causal::None)
    right = std::min(*band.right, right.value_or(*band.right));
  if (left || right)
    op.setWindowAttr(WindowAttr::get(op.getContext(), left, right));
}

namespace {
struct MaskModToBand : OpRewritePattern<SdpaOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SdpaOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getMaskMod().empty())
      return rewriter.notifyMatchFailure(op, "has no mask_mod");
    Block &body = op.getMaskMod().front();
    ScorePlace place = getPlace(op.getMaskMod());
    Operation *yield = body.getTerminator();
    SmallVector<Value> conditions, kept;
    collectConditions(yield->getOperand(0), conditions);
    SmallVector<Band> bands;
    for (Value condition : conditions) {
      if (matchPattern(condition, m_One()))
        continue;
      if (std::optional<Band> band = getBand(condition, place))
        bands.push_back(*band);
      else
        kept.push_back(condition);
    }
    if (kept.size() == conditions.size())
      return rewriter.notifyMatchFailure(op, "mask_mod holds no band");
    rewriter.modifyOpInPlace(op, [&] {
      for (const Band &band : bands)
        narrow(op, band);
    });
    if (kept.empty()) {
      rewriter.eraseBlock(&body);
      return success();
    }
    rewriter.setInsertionPoint(yield);
    Value all = kept.front();
    for (Value condition : ArrayRef(kept).drop_front())
      all = arith::AndIOp::create(rewriter, op.getLoc(), all, condition);
    rewriter.modifyOpInPlace(yield, [&] { yield->setOperand(0, all); });
    return success();
  }
};
} // namespace

void mlir::attn::addMaskModPatterns(RewritePatternSet &patterns) {
  patterns.add<MaskModToBand>(patterns.getContext());
}
