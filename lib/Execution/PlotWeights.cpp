// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Draws weights as heat maps: a row of cells for each row of the query, a column for each key, darker for more weight.
//
//        |  k e y s  |
//   rows |  # . . .  |  scale
//        |  . # . .  |
//
// More cells than a screen has points are drawn as the largest of several.

#include "attn/Execution/PlotWeights.h"

#include "attn/Target/CPU/Link.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace mlir;
using namespace mlir::attn;

/// Cells of a side at most, points of a side about, and of a cell at most.
static constexpr int64_t kMostCells = 1024, kSide = 560, kMostCell = 24;

/// Points of a cell for a label to have room beside the next; numbers need not
/// follow each other so closely.
static constexpr int64_t kLabelledCell = 9, kNumberedCell = 20;

/// Letters of a label at most.
static constexpr int kMostLetters = 14;

static constexpr Color kInk = {40, 40, 40}, kFrame = {160, 160, 160},
                       kNaN = {210, 40, 40};

/// Return the colour of `share`, 0 to 1.
static Color colorOf(double share) {
  static constexpr double kStops[][3] = {{255, 255, 255},
                                         {212, 230, 246},
                                         {118, 178, 224},
                                         {34, 104, 178},
                                         {10, 36, 90}};
  double at = std::clamp(share, 0.0, 1.0) * 4;
  int from = std::min(static_cast<int>(at), 3);
  double part = at - from;
  auto mix = [&](int channel) {
    double low = kStops[from][channel], high = kStops[from + 1][channel];
    return static_cast<uint8_t>(std::lround(low + part * (high - low)));
  };
  return {mix(0), mix(1), mix(2)};
}

/// Return `text` short enough for the margin.
static std::string shortened(StringRef text) {
  if (countLetters(text) <= kMostLetters)
    return text.str();
  // A letter of several bytes goes as a whole.
  while (countLetters(text) >= kMostLetters)
    text = text.drop_back();
  return text.str() + "~";
}

namespace {
/// Draws one head.
class HeatMap {
public:
  HeatMap(const HostTensor &weights, int64_t entry, int64_t head,
          ArrayRef<std::string> labels);

  Picture draw();

private:
  double at(int64_t row, int64_t key) const;
  std::string label(bool isRow, int64_t number) const;
  int64_t margin(bool isRow) const;
  int64_t labelStep() const;
  void drawCells(Picture &picture);
  void drawAxes(Picture &picture);
  void drawScale(Picture &picture);

  const HostTensor &weights;
  int64_t entry, head, rows, keys;
  ArrayRef<std::string> rowLabels, keyLabels;
  /// Weights in a cell, along a side, and points of a cell.
  int64_t pooled, cell;
  int64_t left, top, width, height;
  double largest = 0;
};
} // namespace

HeatMap::HeatMap(const HostTensor &weights, int64_t entry, int64_t head,
                 ArrayRef<std::string> labels)
    : weights(weights), entry(entry), head(head), rows(weights.getDim(2)),
      keys(weights.getDim(3)) {
  auto count = static_cast<int64_t>(labels.size());
  if (count == rows + keys) {
    rowLabels = labels.take_front(rows);
    keyLabels = labels.drop_front(rows);
  } else {
    if (count == rows)
      rowLabels = labels;
    if (count == keys)
      keyLabels = labels;
  }
  int64_t side = std::max<int64_t>({rows, keys, 1});
  pooled = llvm::divideCeil(side, kMostCells);
  int64_t cells = llvm::divideCeil(side, pooled);
  cell = std::clamp<int64_t>(kSide / cells, 1, kMostCell);
  if (!rowLabels.empty() || !keyLabels.empty())
    cell = std::max<int64_t>(cell, cells <= 160 ? kLabelledCell : 1);
  width = llvm::divideCeil(keys, pooled) * cell;
  height = llvm::divideCeil(rows, pooled) * cell;
  left = margin(/*isRow=*/true) + 18;
  top = margin(/*isRow=*/false) + 34;
}

/// Return the weight of a row on a key.
double HeatMap::at(int64_t row, int64_t key) const {
  return weights.load(weights.getOffset({entry, head, row, key}));
}

std::string HeatMap::label(bool isRow, int64_t number) const {
  ArrayRef<std::string> labels = isRow ? rowLabels : keyLabels;
  return labels.empty() ? std::to_string(number) : shortened(labels[number]);
}

/// Return the points that labels take beside the cells.
int64_t HeatMap::margin(bool isRow) const {
  int64_t letters = 1;
  for (int64_t number = 0, e = isRow ? rows : keys; number < e; ++number)
    letters = std::max<int64_t>(letters, countLetters(label(isRow, number)));
  return letters * Picture::kLetterWidth + 6;
}

/// Return how many weights lie between two that have a label.
int64_t HeatMap::labelStep() const {
  bool numbers = rowLabels.empty() && keyLabels.empty();
  int64_t step = 1, apart = numbers ? kNumberedCell : kLabelledCell;
  for (int64_t unit = 1; step * cell < apart * pooled; unit *= 10)
    for (int64_t digit : {1, 2, 5})
      if (step = digit * unit; step * cell >= apart * pooled)
        break;
  return step;
}

void HeatMap::drawCells(Picture &picture) {
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t key = 0; key < keys; ++key)
      if (double weight = at(row, key); std::isfinite(weight))
        largest = std::max(largest, weight);
  for (int64_t row = 0; row < rows; row += pooled)
    for (int64_t key = 0; key < keys; key += pooled) {
      double most = 0;
      for (int64_t i = row; i < std::min(row + pooled, rows); ++i)
        for (int64_t j = key; j < std::min(key + pooled, keys); ++j)
          most = std::isnan(most) || std::isnan(at(i, j))
                     ? NAN
                     : std::max(most, at(i, j));
      Color color =
          std::isnan(most) ? kNaN : colorOf(largest > 0 ? most / largest : 0);
      picture.fill(left + key / pooled * cell, top + row / pooled * cell, cell,
                   cell, color);
    }
}

void HeatMap::drawAxes(Picture &picture) {
  picture.write(left, 4,
                "head " + std::to_string(head) + " of " +
                    std::to_string(weights.getDim(1)) + ", entry " +
                    std::to_string(entry),
                kInk);
  picture.write(left + std::max<int64_t>(width / 2 - 12, 0), 18, "keys", kInk);
  picture.writeUp(4, top + height / 2 + 12, "rows", kInk);
  picture.fill(left - 1, top - 1, width + 2, 1, kFrame);
  picture.fill(left - 1, top + height, width + 2, 1, kFrame);
  picture.fill(left - 1, top - 1, 1, height + 2, kFrame);
  picture.fill(left + width, top - 1, 1, height + 2, kFrame);
  int64_t step = labelStep(), centre = (cell - Picture::kLetterHeight) / 2;
  for (int64_t row = 0; row < rows; row += step) {
    std::string text = label(/*isRow=*/true, row);
    picture.write(left - 4 - countLetters(text) * Picture::kLetterWidth,
                  top + row / pooled * cell + centre, text, kInk);
  }
  for (int64_t key = 0; key < keys; key += step)
    picture.writeUp(left + key / pooled * cell + centre, top - 4,
                    label(/*isRow=*/false, key), kInk);
}

/// Draw what colours mean, from 0 to the largest weight.
void HeatMap::drawScale(Picture &picture) {
  int64_t x = left + width + 14, length = std::max<int64_t>(height, 48);
  for (int64_t y = 0; y < length; ++y)
    picture.fill(x, top + y, 10, 1,
                 colorOf(1.0 - double(y) / double(length - 1)));
  auto mark = [&](int64_t y, double value) {
    std::string text;
    llvm::raw_string_ostream(text) << llvm::format("%.3g", value);
    picture.fill(x + 10, y, 3, 1, kInk);
    picture.write(x + 16, std::max<int64_t>(y - 3, 0), text, kInk);
  };
  mark(top, largest);
  mark(top + length / 2, largest / 2);
  mark(top + length - 1, 0);
}

Picture HeatMap::draw() {
  int64_t tall = std::max<int64_t>(height, 48);
  Picture picture(static_cast<int>(left + width + 76),
                  static_cast<int>(top + tall + 10));
  drawCells(picture);
  drawAxes(picture);
  drawScale(picture);
  return picture;
}

Picture attn::drawWeights(const HostTensor &weights, int64_t entry,
                          int64_t head, ArrayRef<std::string> labels) {
  return HeatMap(weights, entry, head, labels).draw();
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

llvm::Error attn::plotWeights(StringRef folder, ArrayRef<HostTensor> weights,
                              ArrayRef<std::string> labels) {
  if (std::error_code error = llvm::sys::fs::create_directories(folder))
    return llvm::createStringError("'" + folder + "': " + error.message());
  std::string page =
      "<!doctype html>\n<meta charset=\"utf-8\">\n<title>Weights</title>\n"
      "<style>body { font-family: sans-serif } figure { display: "
      "inline-block; margin: 4px } img { max-width: 420px }</style>\n";
  for (auto [number, tensor] : llvm::enumerate(weights)) {
    page += "<h2>Attention " + std::to_string(number) + "</h2>\n";
    for (int64_t entry = 0; entry < tensor.getDim(0); ++entry)
      for (int64_t head = 0; head < tensor.getDim(1); ++head) {
        std::string name = "attention-" + std::to_string(number) + "-entry-" +
                           std::to_string(entry) + "-head-" +
                           std::to_string(head) + ".png";
        SmallString<128> path(folder);
        llvm::sys::path::append(path, name);
        if (llvm::Error error =
                drawWeights(tensor, entry, head, labels).save(path))
          return error;
        page += "<figure><a href=\"" + name + "\"><img src=\"" + name +
                "\" alt=\"entry " + std::to_string(entry) + ", head " +
                std::to_string(head) + "\"></a></figure>\n";
      }
  }
  SmallString<128> path(folder);
  llvm::sys::path::append(path, "index.html");
  return writeOutput(page, path);
}

llvm::Expected<std::vector<std::string>> attn::readLabels(StringRef path) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!file)
    return llvm::createStringError("'" + path +
                                   "': " + file.getError().message());
  SmallVector<StringRef> lines;
  (*file)->getBuffer().rtrim('\n').split(lines, '\n');
  return std::vector<std::string>(lines.begin(), lines.end());
}
