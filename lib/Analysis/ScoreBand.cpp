// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts the cells of a band of scores. For `causal = bottom_right` and a window of 1023 keys to the left that is
//
//   sum over i < M of max(0, min(N, p + 1) - max(0, p - 1023)), p = i + N - M

#include "attn/Analysis/ScoreBand.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::attn;

/// Sums of positions and sides stay in 64 bits below this.
static constexpr int64_t kFarthest = int64_t(1) << 61;

template <typename OpT>
static ScoreBand getBand(OpT op) {
  ScoreBand band;
  band.causal = op.getCausal() != Causal::None;
  if (std::optional<WindowAttr> window = op.getWindow()) {
    band.left = window->getLeft();
    band.right = window->getRight();
  }
  if (op.getCausal() == Causal::BottomRight)
    band.offset = ScoreBand::Offset::LastKey;
  if (Value offset = op.getQueryOffset()) {
    band.offset = ScoreBand::Offset::Operand;
    if (APInt number; matchPattern(offset, m_ConstantInt(&number)))
      band.constant = number.getSExtValue();
  }
  return band;
}

ScoreBand ScoreBand::get(SdpaOp op) { return getBand(op); }
ScoreBand ScoreBand::get(MhaOp op) { return getBand(op); }

std::string ScoreBand::positionText() const {
  switch (offset) {
  case Offset::None:
    return "i";
  case Offset::LastKey:
    return "i + N - M";
  case Offset::Operand:
    return "i + " + (constant ? std::to_string(*constant) : "O");
  }
  llvm_unreachable("all offsets have a text");
}

std::string ScoreBand::cellsText() const {
  if (isWhole())
    return "M N";
  std::string end = "N", begin = "0", p = "p";
  auto plus = [&](int64_t number) {
    return number == 0 ? p : p + " + " + std::to_string(number);
  };
  int64_t after = right.value_or(kFarthest) + 1;
  if (causal)
    after = 1;
  if (causal || right)
    end = "min(N, " + plus(after) + ")";
  if (left)
    begin = "max(0, p - " + std::to_string(*left) + ")";
  std::string width = begin == "0" ? end : end + " - " + begin;
  return "sum over i < M of max(0, " + width + "), p = " + positionText();
}

std::string ScoreBand::keysText() const {
  return isWhole() ? "N" : "the keys that some row sees";
}

std::optional<int64_t> ScoreBand::getOffset(const Sizes &sizes) const {
  switch (offset) {
  case Offset::None:
    return 0;
  case Offset::LastKey:
    return sizes.lookup("N") - sizes.lookup("M");
  case Offset::Operand:
    if (constant)
      return std::clamp(*constant, -kFarthest, kFarthest);
    if (sizes.contains("O"))
      return std::clamp(sizes.lookup("O"), -kFarthest, kFarthest);
    return std::nullopt;
  }
  llvm_unreachable("all offsets are known");
}

/// Return the first key and the end of the keys that a row at `position` sees.
std::pair<int64_t, int64_t> ScoreBand::keysOfRow(int64_t position,
                                                 int64_t keys) const {
  int64_t begin = 0, end = keys;
  if (causal)
    end = std::min(end, position + 1);
  if (right)
    end = std::min(end, position + std::min(*right, kFarthest) + 1);
  if (left)
    begin = std::max(begin, position - std::min(*left, kFarthest));
  return {begin, std::max(begin, end)};
}

std::optional<int64_t> ScoreBand::countCells(const Sizes &sizes) const {
  if (!sizes.contains("M") || !sizes.contains("N"))
    return std::nullopt;
  int64_t rows = sizes.lookup("M"), keys = sizes.lookup("N"), cells = 0;
  if (isWhole())
    return rows * keys;
  std::optional<int64_t> first = getOffset(sizes);
  if (!first)
    return std::nullopt;
  for (int64_t i = 0; i < rows; ++i) {
    auto [begin, end] = keysOfRow(*first + i, keys);
    cells += end - begin;
  }
  return cells;
}

std::optional<int64_t> ScoreBand::countKeys(const Sizes &sizes) const {
  if (!sizes.contains("M") || !sizes.contains("N"))
    return std::nullopt;
  int64_t rows = sizes.lookup("M"), keys = sizes.lookup("N");
  if (isWhole())
    return keys;
  std::optional<int64_t> first = getOffset(sizes);
  if (!first)
    return std::nullopt;
  // From row to row both ends move by one at most: there is no gap.
  int64_t lowest = keys, highest = 0;
  for (int64_t i = 0; i < rows; ++i) {
    auto [begin, end] = keysOfRow(*first + i, keys);
    if (begin == end)
      continue;
    lowest = std::min(lowest, begin);
    highest = std::max(highest, end);
  }
  return std::max<int64_t>(highest - lowest, 0);
}
