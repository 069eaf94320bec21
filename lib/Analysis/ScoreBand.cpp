// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts the cells of a band of scores. For `causal = bottom_right` and a window of 1023 keys to the left that is
//
//   sum over i < M of max(0, min(N, p + 1) - max(0, p - 1023)), p = i + N - M
//
// which is a sum of three straight lines: it takes no loop over rows.

#include "attn/Analysis/ScoreBand.h"

#include "attn/IR/KeyExclusion.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::attn;

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
  if (std::optional<int64_t> reach = getReach())
    end = "min(N, " + plus(*reach) + ")";
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

/// Return how far behind its position the keys of a row end, if anything but N ends
/// them.
std::optional<int64_t> ScoreBand::getReach() const {
  if (causal)
    return 1;
  if (right)
    return std::min(*right, kFarthest) + 1;
  return std::nullopt;
}

/// Return the positions of the first and the last row that see a key, if `sizes` has
/// what they depend on and is of numbers that anything could have.
std::optional<std::pair<int64_t, int64_t>>
ScoreBand::seeingRows(const Sizes &sizes) const {
  if (!sizes.contains("M") || !sizes.contains("N"))
    return std::nullopt;
  int64_t rows = sizes.lookup("M"), keys = sizes.lookup("N");
  std::optional<int64_t> first = getOffset(sizes);
  if (!first || rows > kFarthest || keys > kFarthest)
    return std::nullopt;
  int64_t last = *first + rows - 1;
  if (std::optional<int64_t> reach = getReach())
    first = std::max(*first, 1 - *reach);
  if (left)
    last = std::min(last, keys - 1 + std::min(*left, kFarthest));
  if (keys == 0)
    last = *first - 1;
  return std::pair(*first, last);
}

/// Return `number` with room for the product of two.
static APInt wide(int64_t number) {
  return APInt(128, static_cast<uint64_t>(number), /*isSigned=*/true);
}

/// Return the sum of the numbers from `low` to `high`.
static APInt sumFrom(int64_t low, int64_t high) {
  if (low > high)
    return wide(0);
  return ((wide(low) + wide(high)) * wide(high - low + 1)).ashr(1);
}

std::optional<int64_t> ScoreBand::countCells(const Sizes &sizes) const {
  if (isWhole())
    return (Formula::size("M") * Formula::size("N")).evaluate(sizes);
  auto rows = seeingRows(sizes);
  if (!rows)
    return std::nullopt;
  auto [first, last] = *rows;
  if (first > last)
    return 0;
  int64_t keys = sizes.lookup("N");
  // Rows up to `bent` do not see the last key.
  int64_t bent = first - 1;
  APInt cells = wide(0);
  if (std::optional<int64_t> reach = getReach()) {
    bent = std::clamp(keys - *reach, first - 1, last);
    cells += sumFrom(first + *reach, bent + *reach);
  }
  cells += wide(last - bent) * wide(keys);
  if (left) {
    int64_t side = std::min(*left, kFarthest);
    cells -= sumFrom(std::max<int64_t>(first - side, 0), last - side);
  }
  if (!cells.isSignedIntN(64))
    return std::nullopt;
  return cells.getSExtValue();
}

std::optional<int64_t> ScoreBand::countKeys(const Sizes &sizes) const {
  if (isWhole())
    return Formula::size("N").evaluate(sizes);
  auto rows = seeingRows(sizes);
  if (!rows)
    return std::nullopt;
  auto [first, last] = *rows;
  if (first > last)
    return 0;
  // From row to row both ends move by one at most: there is no gap.
  int64_t begin = 0, end = sizes.lookup("N");
  if (std::optional<int64_t> reach = getReach())
    end = std::min(end, last + *reach);
  if (left)
    begin = std::max(begin, first - std::min(*left, kFarthest));
  return end - begin;
}
