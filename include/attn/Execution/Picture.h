// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A picture of coloured points, with small letters, and its PNG file.

#ifndef ATTN_EXECUTION_PICTURE_H
#define ATTN_EXECUTION_PICTURE_H

#include "mlir/Support/LLVM.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mlir::attn {

/// Red, green and blue, 0 to 255.
struct Color {
  uint8_t red, green, blue;
};

class Picture {
public:
  /// Points from one letter to the next, and the height of a letter.
  static constexpr int kLetterWidth = 6, kLetterHeight = 7;

  /// Make a white picture.
  Picture(int width, int height);

  int getWidth() const { return width; }
  int getHeight() const { return height; }

  /// Fill a rectangle; what lies outside of the picture is left out.
  void fill(int x, int y, int width, int height, Color color);

  /// Write `text` with its upper left corner at a point, or, turned by a quarter
  /// to the left, upwards from its lower left corner.
  void write(int x, int y, StringRef text, Color color);
  void writeUp(int x, int y, StringRef text, Color color);

  /// Return the bytes of the picture as a PNG file.
  std::string encodePng() const;

  /// Write that to `path`.
  llvm::Error save(const Twine &path) const;

private:
  void set(int x, int y, Color color);
  void writeLetter(int x, int y, unsigned char letter, bool up, Color color);

  int width, height;
  std::vector<uint8_t> points;
};

/// Return how many letters `text` has when it is written: a letter of several
/// bytes in UTF-8 is one.
int countLetters(StringRef text);

} // namespace mlir::attn

#endif // ATTN_EXECUTION_PICTURE_H
