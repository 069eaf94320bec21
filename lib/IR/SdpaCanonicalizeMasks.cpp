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

/// The values of a region that are sums of the position, the key and constants.
class LinearForms {
public:
  explicit LinearForms(Region &region);

  std::optional<Linear> find(Value value) const;

private:
  std::optional<Linear> evaluate(Operation &op) const;

  DenseMap<Value, Linear> forms;
};
} // namespace

/// Factors and constants beyond this are left alone: a sum of two stays in 64 bits.
static constexpr int64_t kLargest = int64_t(1) << 60;

/// Return x + sign * y, if its numbers are small enough.
static std::optional<Linear> sum(const Linear &x, const Linear &y,
                                 int64_t sign) {
  Linear result{x.rows + sign * y.rows, x.keys + sign * y.keys,
                x.constant + sign * y.constant};
  for (int64_t number : {result.rows, result.keys, result.constant})
    if (std::abs(number) > kLargest)
      return std::nullopt;
  return result;
}

LinearForms::LinearForms(Region &region) {
  ScorePlace place = getPlace(region);
  forms[place.position] = {1, 0, 0};
  forms[place.key] = {0, 1, 0};
  for (Operation &op : region.front().without_terminator())
    if (std::optional<Linear> form = evaluate(op))
      forms[op.getResult(0)] = *form;
}

/// Return the form of `value`, if it has one.
std::optional<Linear> LinearForms::find(Value value) const {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant))) {
    if (constant.getBitWidth() > 64 || constant.abs().ugt(kLargest))
      return std::nullopt;
    return Linear{0, 0, constant.getSExtValue()};
  }
  auto form = forms.find(value);
  if (form == forms.end())
    return std::nullopt;
  return form->second;
}

/// Return the form of the result of `op`, if it has one.
std::optional<Linear> LinearForms::evaluate(Operation &op) const {
  if (auto cast = dyn_cast<arith::IndexCastOp>(op)) {
    // A number of 32 bits may be another one.
    if (cast.getType().isIndex() || cast.getType().isInteger(64))
      return find(cast.getIn());
    return std::nullopt;
  }
  if (!isa<arith::AddIOp, arith::SubIOp>(op))
    return std::nullopt;
  std::optional<Linear> x = find(op.getOperand(0)), y = find(op.getOperand(1));
  if (!x || !y)
    return std::nullopt;
  return sum(*x, *y, isa<arith::SubIOp>(op) ? -1 : 1);
}

/// Return the band that `condition` says a key lies in, if it says just that.
static std::optional<Band> getBand(Value condition, const LinearForms &forms) {
  using Predicate = arith::CmpIPredicate;
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare)
    return std::nullopt;
  std::optional<Linear> x = forms.find(compare.getLhs()),
                        y = forms.find(compare.getRhs());
  if (!x || !y)
    return std::nullopt;
  // key - position + shift against 0, or the other way round.
  std::optional<Linear> difference = sum(*x, *y, /*sign=*/-1);
  if (!difference || std::abs(difference->keys) != 1 ||
      difference->rows != -difference->keys)
    return std::nullopt;
  int64_t keys = difference->keys, shift = difference->constant * keys;
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

/// Return the conditions of which `condition` is the conjunction, in order and each
/// once.
static SmallVector<Value> getConditions(Value condition) {
  SmallVector<Value> conditions, left = {condition};
  DenseSet<Value> seen;
  while (!left.empty()) {
    Value next = left.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    if (auto both = next.getDefiningOp<arith::AndIOp>())
      left.append({both.getRhs(), both.getLhs()});
    else
      conditions.push_back(next);
  }
  return conditions;
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
    LinearForms forms(op.getMaskMod());
    Operation *yield = body.getTerminator();
    SmallVector<Value> conditions = getConditions(yield->getOperand(0)), kept;
    SmallVector<Band> bands;
    for (Value condition : conditions) {
      if (matchPattern(condition, m_One()))
        continue;
      if (std::optional<Band> band = getBand(condition, forms))
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
