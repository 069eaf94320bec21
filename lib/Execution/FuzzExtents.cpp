// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Extents that stand on either side of vectors, register tiles and blocks; 0 and 1 come often.

#include "FuzzExtents.h"

#include "FuzzLinear.h"

using namespace mlir::attn;
using llvm::StringRef;
using llvm::Twine;

/// Multiply-adds of one case at most, which the reference does one by one, and
/// elements of one tensor. For programs of blocks of threads there are enough for several
/// blocks of rows and of keys.
struct Limits {
  int64_t work, elements;
};
constexpr Limits kLimits = {600000, 200000}, kBlockLimits = {4000000, 600000};

static int64_t drawLength(FuzzRandom &random) {
  if (random.onceIn(3))
    return random.below(131);
  return random.pick<int64_t>(
      {0,   1,   1,   2,   3,   5,   7,   8,   9,    12,   15,  16,  17,
       31,  32,  33,  48,  63,  64,  65,  77,  96,   97,   127, 128, 129,
       197, 255, 256, 257, 300, 511, 513, 600, 1025, 2049, 4097});
}

static int64_t drawHeadSize(const FuzzCase &fuzz, FuzzRandom &random) {
  // As many as fill tiles of matrix instructions, or not quite, and too many.
  if (fuzz.has("device") && !random.onceIn(4))
    return random.pick<int64_t>({1,   7,   8,   16,  17,  24,  32,  40,
                                 64,  64,  64,  72,  80,  96,  100, 112,
                                 128, 128, 128, 160, 192, 200, 208, 256,
                                 256, 257, 264, 320, 512, 576});
  return random.pick<int64_t>({0,  1,  2,  6,  8,  8,   16,  16,  17,
                               24, 32, 36, 40, 64, 72,  80,  96,  100,
                               7,  5,  3,  12, 20, 112, 128, 160, 192});
}

static void drawHeads(FuzzCase &fuzz, FuzzRandom &random) {
  auto [heads, kvHeads] = random.pick<std::pair<int, int>>({{1, 1},
                                                            {1, 1},
                                                            {2, 1},
                                                            {2, 2},
                                                            {3, 3},
                                                            {4, 2},
                                                            {6, 2},
                                                            {4, 1},
                                                            {8, 2},
                                                            {9, 3},
                                                            {5, 1},
                                                            {0, 0},
                                                            {12, 1},
                                                            {28, 4},
                                                            {16, 1},
                                                            {8, 8}});
  fuzz.set("H", Twine(heads));
  fuzz.set("G", Twine(kvHeads));
}

/// Return whether a block of threads works on `fuzz` with matrix instructions, as far as
/// its operands say: others take far longer.
static bool isForMatrices(const FuzzCase &fuzz) {
  bool isFast = fuzz.get("type").ends_with("16") ||
                fuzz.get("precision").starts_with("tf32");
  return fuzz.has("device") && fuzz.get("op") == "sdpa" && isFast &&
         !fuzz.has("stored") && !fuzz.has("weights") && !fuzz.has("ragged") &&
         fuzz.getInt("S") % 8 == 0;
}

void mlir::attn::limitWork(FuzzCase &fuzz, StringRef keep) {
  auto get = [&](StringRef key) {
    return std::max<int64_t>(fuzz.getInt(key), 1);
  };
  auto isTooMuch = [&] {
    if (fuzz.get("op") == "linear")
      return isTooMuchLinear(fuzz);
    int64_t sizes = get("D") + get("E");
    int64_t rows = get("B") * get("H") * get("M");
    int64_t keys = get("B") * get("G") * get("N");
    const Limits &limits = isForMatrices(fuzz) ? kBlockLimits : kLimits;
    return rows * get("N") * sizes > limits.work ||
           rows * sizes > limits.elements || keys * sizes > limits.elements ||
           rows * get("N") > limits.elements;
  };
  while (isTooMuch()) {
    StringRef largest;
    for (StringRef key : {"B", "M", "N"})
      if (!keep.contains(key) && (largest.empty() || get(key) > get(largest)))
        largest = key;
    // What is static is small enough with the least of the others.
    if (largest.empty() || get(largest) == 1)
      return;
    fuzz.set(largest, Twine(get(largest) * 3 / 4));
  }
}

void mlir::attn::drawExtents(FuzzCase &fuzz, FuzzRandom &random) {
  fuzz.set("B", Twine(random.pick({0, 1, 1, 1, 2, 2, 3, 5})));
  drawHeads(fuzz, random);
  fuzz.set("M", Twine(random.onceIn(4) ? 1 : drawLength(random)));
  fuzz.set("N", Twine(drawLength(random)));
  fuzz.set("D", Twine(drawHeadSize(fuzz, random)));
  fuzz.set("E", random.onceIn(2) ? Twine(fuzz.getInt("D"))
                                 : Twine(drawHeadSize(fuzz, random)));
  // One size of 0 is enough, and then not too often.
  for (StringRef key : {"B", "H", "M", "D", "E"})
    if (fuzz.getInt(key) == 0 && !random.onceIn(4)) {
      fuzz.set(key, key == "D" || key == "E" ? "8" : "2");
      if (key == "H")
        fuzz.set("G", "1");
    }
}
