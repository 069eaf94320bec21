// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which pairs of a row and a key causal and window leave to one head, counted and as a formula.

#ifndef ATTN_ANALYSIS_SCOREBAND_H
#define ATTN_ANALYSIS_SCOREBAND_H

#include "attn/Analysis/Formula.h"
#include "attn/IR/AttnOps.h"

namespace mlir::attn {

/// The cells of one head's scores that are computed: in row `i` of `M`, whose
/// position is `i` and an offset, the keys from `p - left` to `p + right`.
struct ScoreBand {
  /// What is added to a row's number: nothing, `N - M`, or an operand, whose size
  /// is called `O` where it is no constant.
  enum class Offset { None, LastKey, Operand };

  bool causal = false;
  std::optional<int64_t> left, right;
  Offset offset = Offset::None;
  /// The operand, where it is a constant.
  std::optional<int64_t> constant;

  static ScoreBand get(SdpaOp op);
  static ScoreBand get(MhaOp op);

  /// Return whether every row sees all keys.
  bool isWhole() const { return !causal && !left && !right; }

  /// Return the number of cells, and of keys that some row sees, in terms of `M`
  /// and `N`.
  std::string cellsText() const;
  std::string keysText() const;

  /// Return both numbers, if `sizes` has what they depend on and they fit.
  std::optional<int64_t> countCells(const Sizes &sizes) const;
  std::optional<int64_t> countKeys(const Sizes &sizes) const;

private:
  std::string positionText() const;
  std::optional<int64_t> getOffset(const Sizes &sizes) const;
  std::optional<int64_t> getReach() const;
  std::optional<std::pair<int64_t, int64_t>>
  seeingRows(const Sizes &sizes) const;
};

} // namespace mlir::attn

#endif // ATTN_ANALYSIS_SCOREBAND_H
