// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What simplifies an attn.sdpa. Nothing here changes a result or loses an error at run time:
//
//   %t = linalg.transpose ins(%q : tensor<1x?x8x64xf32>) outs(%e : ...) permutation = [0, 2, 1, 3]
//   %m = arith.constant dense<[[true, false], [true, true]]> : tensor<2x2xi1>
//   %o = attn.sdpa %t, %k, %v mask(%m : tensor<2x2xi1>) : ...
//
// becomes
//
//   %o = attn.sdpa %q, %k, %v causal = top_left layout = <query = bshd, ...> : ...

#include "SdpaCanonicalize.h"

#include "attn/IR/AttentionShape.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::attn;

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

/// Return the other order of heads and sequence.
static Layout flip(Layout layout) {
  return layout == Layout::bhsd ? Layout::bshd : Layout::bhsd;
}

/// Return whether `op` swaps heads and sequence and nothing else.
static bool swapsHeadsAndSequence(linalg::TransposeOp op) {
  return op && op.hasPureTensorSemantics() &&
         op.getPermutation() == ArrayRef<int64_t>{0, 2, 1, 3};
}

/// Give `op` these layouts, which are absent where all are `bhsd`.
static void setLayouts(SdpaOp op, Layout query, Layout key, Layout value,
                       Layout output) {
  bool plain = llvm::all_of(ArrayRef<Layout>{query, key, value, output},
                            [](Layout l) { return l == Layout::bhsd; });
  if (plain)
    op.removeLayoutAttr();
  else
    op.setLayoutAttr(
        LayoutsAttr::get(op.getContext(), query, key, value, output));
}

namespace {
/// Reads a transposed query, key or value where it comes from.
struct FoldInputTranspose : OpRewritePattern<SdpaOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SdpaOp op,
                                PatternRewriter &rewriter) const override {
    OpOperand *operands[] = {&op.getQueryMutable(), &op.getKeyMutable(),
                             &op.getValueMutable()};
    Layout layouts[] = {op.getQueryLayout(), op.getKeyLayout(),
                        op.getValueLayout()};
    bool found = false;
    SmallVector<Value> sources;
    for (auto [operand, layout] : llvm::zip_equal(operands, layouts)) {
      auto transpose = operand->get().getDefiningOp<linalg::TransposeOp>();
      bool folds = swapsHeadsAndSequence(transpose);
      sources.push_back(folds ? transpose.getInput() : operand->get());
      layout = folds ? flip(layout) : layout;
      found |= folds;
    }
    if (!found)
      return rewriter.notifyMatchFailure(op, "no operand is a transpose");
    rewriter.modifyOpInPlace(op, [&] {
      for (auto [operand, source] : llvm::zip_equal(operands, sources))
        operand->set(source);
      setLayouts(op, layouts[0], layouts[1], layouts[2], op.getOutputLayout());
    });
    return success();
  }
};

/// Writes the output in the order in which its only user wants it.
struct FoldOutputTranspose : OpRewritePattern<SdpaOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SdpaOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getOutput().hasOneUse())
      return rewriter.notifyMatchFailure(op, "output has not one user");
    OpOperand &use = *op.getOutput().use_begin();
    auto transpose = dyn_cast<linalg::TransposeOp>(use.getOwner());
    // The output may also be what the transpose writes to.
    if (!swapsHeadsAndSequence(transpose) ||
        transpose.getInput() != op.getOutput())
      return rewriter.notifyMatchFailure(op, "output is not transposed");
    Value transposed = transpose->getResult(0);
    rewriter.modifyOpInPlace(op, [&] {
      op.getOutput().setType(cast<RankedTensorType>(transposed.getType()));
      setLayouts(op, op.getQueryLayout(), op.getKeyLayout(),
                 op.getValueLayout(), flip(op.getOutputLayout()));
    });
    rewriter.replaceOp(transpose, op.getOutput());
    return success();
  }
};

/// Says `bhsd` for all tensors by saying nothing.
struct DropPlainLayout : OpRewritePattern<SdpaOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SdpaOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getLayoutAttr() != LayoutsAttr::get(op.getContext(), Layout::bhsd,
                                               Layout::bhsd, Layout::bhsd,
                                               Layout::bhsd))
      return rewriter.notifyMatchFailure(op, "has a layout that matters");
    rewriter.modifyOpInPlace(op, [&] { op.removeLayoutAttr(); });
    return success();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Constant masks and biases
//===----------------------------------------------------------------------===//

/// Return whether `type` broadcasts to the scores of `op` as far as types tell.
/// An extent that has to be compared when the program runs keeps its operand:
/// without it, a mismatch would go unnoticed.
static bool broadcastsForSure(SdpaOp op, RankedTensorType type) {
  AttentionShape shape = AttentionShape::get(op);
  int64_t full[] = {shape.batch, shape.heads, shape.rows, shape.keys};
  for (auto [size, wanted] : llvm::zip_equal(
           type.getShape(), ArrayRef<int64_t>(full).take_back(type.getRank())))
    if (size != 1 && (ShapedType::isDynamic(size) || size != wanted))
      return false;
  return true;
}

/// Return the elements of a constant operand whose shape is certain to fit.
static DenseElementsAttr getConstant(SdpaOp op, Value operand) {
  DenseElementsAttr elements;
  if (!operand || !matchPattern(operand, m_Constant(&elements)) ||
      !broadcastsForSure(op, cast<RankedTensorType>(operand.getType())))
    return {};
  return elements;
}

/// Return whether all elements are as `wanted` says; one is looked at where all
/// are the same.
template <typename T, typename Predicate>
static bool allElements(DenseElementsAttr elements, Predicate wanted) {
  if (elements.isSplat() && !elements.empty())
    return wanted(elements.getSplatValue<T>());
  return llvm::all_of(elements.getValues<T>(), wanted);
}

/// Return whether a mask says `j <= i + offset` of every row `i` and key `j`,
/// the same for all batch entries and heads.
static bool isTriangle(DenseElementsAttr mask, int64_t rows, int64_t keys,
                       int64_t offset) {
  int64_t index = 0;
  for (const APInt &element : mask.getValues<APInt>()) {
    int64_t row = index / keys % rows, key = index % keys;
    if (element.isZero() == (key <= row + offset))
      return false;
    ++index;
  }
  return true;
}

namespace {
/// Drops a mask that lets everything pass.
struct DropTrueMask : OpRewritePattern<SdpaOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SdpaOp op,
                                PatternRewriter &rewriter) const override {
    DenseElementsAttr mask = getConstant(op, op.getMask());
    if (!mask ||
        !allElements<APInt>(mask, [](const APInt &e) { return !e.isZero(); }))
      return rewriter.notifyMatchFailure(op, "mask may exclude a key");
    rewriter.modifyOpInPlace(op, [&] { op.getMaskMutable().clear(); });
    return success();
  }
};

/// Drops a bias of zeros. Adding 0 changes no score: infinities and NaN stay
/// what they are, and the sign of a zero score is not visible.
struct DropZeroBias : OpRewritePattern<SdpaOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SdpaOp op,
                                PatternRewriter &rewriter) const override {
    DenseElementsAttr bias = getConstant(op, op.getBias());
    if (!bias || !allElements<APFloat>(
                     bias, [](const APFloat &e) { return e.isZero(); }))
      return rewriter.notifyMatchFailure(op, "bias may change a score");
    rewriter.modifyOpInPlace(op, [&] { op.getBiasMutable().clear(); });
    return success();
  }
};

/// Turns a constant triangular mask into `causal`, which costs no reads and
/// skips whole blocks.
///
/// The mask says `j <= i` or `j <= i + N - M`; `causal` says `j <= p`. They are
/// the same where `p` becomes just that:
/// * `top_left` gives `p = i` when there is no query_offset. Without `causal`
///   `p` was `i` too, so a window keeps its place, and kv_lengths cut the same
///   keys as before.
/// * `bottom_right` gives `p = i + n - M`. This is `i + N - M` only without
///   kv_lengths; and it moves the window, which was placed by `p = i`.
struct MaskToCausal : OpRewritePattern<SdpaOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SdpaOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getCausal() != Causal::None || op.getQueryOffset())
      return rewriter.notifyMatchFailure(op, "positions are set already");
    DenseElementsAttr mask = getConstant(op, op.getMask());
    if (!mask || mask.getType().getRank() < 2)
      return rewriter.notifyMatchFailure(op, "mask is not a constant matrix");
    AttentionShape shape = AttentionShape::get(op);
    if (mask.getType().getShape().take_back(2) !=
        ArrayRef<int64_t>{shape.rows, shape.keys})
      return rewriter.notifyMatchFailure(op, "mask is not rows by keys");
    Causal causal = Causal::None;
    if (isTriangle(mask, shape.rows, shape.keys, /*offset=*/0))
      causal = Causal::TopLeft;
    else if (!op.getKvLengths() && !op.getWindow() &&
             isTriangle(mask, shape.rows, shape.keys, shape.keys - shape.rows))
      causal = Causal::BottomRight;
    if (causal == Causal::None)
      return rewriter.notifyMatchFailure(op, "mask is not a triangle");
    rewriter.modifyOpInPlace(op, [&] {
      op.getMaskMutable().clear();
      op.setCausal(causal);
    });
    return success();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Causal and window
//===----------------------------------------------------------------------===//

/// Return whether the left side of the window can exclude no key: `j < p -
/// left` needs a position above `left`.
static bool leftCannotCut(SdpaOp op, int64_t left) {
  if (op.getQueryOffset())
    return false;
  AttentionShape shape = AttentionShape::get(op);
  // With bottom_right the last row stands at n - 1, which is at most N - 1.
  int64_t positions =
      op.getCausal() == Causal::BottomRight ? shape.keys : shape.rows;
  return ShapedType::isStatic(positions) && left >= positions - 1;
}

/// Return whether the right side of the window can exclude no key that is left:
/// `j > p + right`.
static bool rightCannotCut(SdpaOp op, int64_t right) {
  // What is right of the diagonal is excluded by the diagonal, wherever it is.
  if (op.getCausal() != Causal::None)
    return true;
  if (op.getQueryOffset())
    return false;
  int64_t keys = AttentionShape::get(op).keys;
  return ShapedType::isStatic(keys) && right >= keys - 1;
}

namespace {
/// Says `top_left` where `bottom_right` is the same: as many rows as keys, and
/// no lengths that would move the corner.
struct AlignSquareCausal : OpRewritePattern<SdpaOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SdpaOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getCausal() != Causal::BottomRight || op.getKvLengths())
      return rewriter.notifyMatchFailure(op, "corner depends on lengths");
    AttentionShape shape = AttentionShape::get(op);
    if (ShapedType::isDynamic(shape.rows) || shape.rows != shape.keys)
      return rewriter.notifyMatchFailure(op, "rows and keys may differ");
    rewriter.modifyOpInPlace(op, [&] { op.setCausal(Causal::TopLeft); });
    return success();
  }
};

/// Drops sides of the window that exclude no key.
struct DropIdleWindow : OpRewritePattern<SdpaOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SdpaOp op,
                                PatternRewriter &rewriter) const override {
    WindowAttr window = op.getWindowAttr();
    if (!window)
      return rewriter.notifyMatchFailure(op, "has no window");
    std::optional<int64_t> left = window.getLeft(), right = window.getRight();
    if (left && leftCannotCut(op, *left))
      left.reset();
    if (right && rightCannotCut(op, *right))
      right.reset();
    if ((left || right) && left == window.getLeft() &&
        right == window.getRight())
      return rewriter.notifyMatchFailure(op, "both sides may cut");
    rewriter.modifyOpInPlace(op, [&] {
      if (left || right)
        op.setWindowAttr(WindowAttr::get(op.getContext(), left, right));
      else
        op.removeWindowAttr();
    });
    return success();
  }
};
} // namespace

void SdpaOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                         MLIRContext *context) {
  patterns
      .add<AlignSquareCausal, DropIdleWindow, DropPlainLayout, DropTrueMask,
           DropZeroBias, FoldInputTranspose, FoldOutputTranspose, MaskToCausal>(
          context);
  addMaskModPatterns(patterns);
}
