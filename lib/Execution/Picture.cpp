// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Points, letters and PNG. A PNG file is a signature and chunks, each with its length, its name and a checksum: sizes,
// the rows of points as a zlib stream, the end.

#include "attn/Execution/Picture.h"

#include "Letters.h"

#include "attn/Target/CPU/Link.h"

#include "llvm/Support/CRC.h"
#include "llvm/Support/Compression.h"

using namespace mlir;
using namespace mlir::attn;

Picture::Picture(int width, int height)
    : width(width), height(height), points(size_t(3) * width * height, 255) {}

void Picture::set(int x, int y, Color color) {
  if (x < 0 || y < 0 || x >= width || y >= height)
    return;
  uint8_t *point = &points[3 * (size_t(y) * width + x)];
  point[0] = color.red;
  point[1] = color.green;
  point[2] = color.blue;
}

void Picture::fill(int x, int y, int fillWidth, int fillHeight, Color color) {
  for (int row = y; row < y + fillHeight; ++row)
    for (int column = x; column < x + fillWidth; ++column)
      set(column, row, color);
}

void Picture::writeLetter(int x, int y, unsigned char letter, bool up,
                          Color color) {
  bool known = letter >= kFirstLetter && letter <= kLastLetter;
  const uint8_t *rows = known ? kLetters[letter - kFirstLetter] : kNoLetter;
  if (known && StringRef(kLowLetters).contains(letter))
    (up ? x : y) += kLowRows;
  for (int row = 0; row < kLetterHeight; ++row)
    for (int column = 0; column < 5; ++column)
      if (rows[row] & (0x10 >> column))
        set(up ? x + row : x + column, up ? y - column : y + row, color);
}

/// Call `visit` with each letter of `text`; one of several bytes is 0.
static void forEachLetter(StringRef text,
                          function_ref<void(unsigned char)> visit) {
  for (unsigned char byte : text) {
    if ((byte & 0xC0) == 0x80)
      continue;
    visit(byte < 0x80 ? byte : 0);
  }
}

int attn::countLetters(StringRef text) {
  int count = 0;
  forEachLetter(text, [&](unsigned char) { ++count; });
  return count;
}

void Picture::write(int x, int y, StringRef text, Color color) {
  forEachLetter(text, [&](unsigned char letter) {
    writeLetter(x, y, letter, /*up=*/false, color);
    x += kLetterWidth;
  });
}

void Picture::writeUp(int x, int y, StringRef text, Color color) {
  forEachLetter(text, [&](unsigned char letter) {
    writeLetter(x, y - 1, letter, /*up=*/true, color);
    y -= kLetterWidth;
  });
}

//===----------------------------------------------------------------------===//
// PNG
//===----------------------------------------------------------------------===//

/// Append `number` in four bytes, the highest first.
static void appendNumber(std::string &bytes, uint32_t number) {
  for (int shift = 24; shift >= 0; shift -= 8)
    bytes += static_cast<char>(number >> shift);
}

/// Append a chunk: its length, its name, what is in it, and the checksum of both.
static void appendChunk(std::string &bytes, StringRef name, StringRef content) {
  appendNumber(bytes, content.size());
  std::string checked = (name + content).str();
  bytes += checked;
  appendNumber(bytes, llvm::crc32(llvm::arrayRefFromStringRef(checked)));
}

/// Return `data` as a zlib stream; not compressed where LLVM has no zlib.
static std::string deflate(ArrayRef<uint8_t> data) {
  std::string stream;
  if (llvm::compression::zlib::isAvailable()) {
    SmallVector<uint8_t, 0> packed;
    llvm::compression::zlib::compress(data, packed);
    return std::string(packed.begin(), packed.end());
  }
  stream += "\x78\x01";
  constexpr size_t kMost = 65535;
  uint32_t low = 1, high = 0;
  for (size_t at = 0; at < data.size() || at == 0; at += kMost) {
    ArrayRef<uint8_t> block = data.slice(at, std::min(kMost, data.size() - at));
    bool isLast = at + kMost >= data.size();
    auto size = static_cast<uint16_t>(block.size());
    stream += static_cast<char>(isLast);
    for (unsigned number : {unsigned(size), unsigned(uint16_t(~size))}) {
      stream += static_cast<char>(number & 255);
      stream += static_cast<char>(number >> 8);
    }
    stream.append(block.begin(), block.end());
    for (uint8_t byte : block) {
      low = (low + byte) % 65521;
      high = (high + low) % 65521;
    }
  }
  appendNumber(stream, high << 16 | low);
  return stream;
}

std::string Picture::encodePng() const {
  std::string bytes("\x89PNG\r\n\x1a\n", 8), header;
  appendNumber(header, width);
  appendNumber(header, height);
  // Eight bits a colour, three colours, no interlacing.
  header += std::string("\x08\x02\x00\x00\x00", 5);
  std::vector<uint8_t> rows;
  rows.reserve(points.size() + height);
  for (int y = 0; y < height; ++y) {
    rows.push_back(0); // The row is as it is, no difference from another.
    auto row = points.begin() + size_t(3) * width * y;
    rows.insert(rows.end(), row, row + size_t(3) * width);
  }
  appendChunk(bytes, "IHDR", header);
  appendChunk(bytes, "IDAT", deflate(rows));
  appendChunk(bytes, "IEND", "");
  return bytes;
}

llvm::Error Picture::save(const Twine &path) const {
  return writeOutput(encodePng(), path.str());
}
