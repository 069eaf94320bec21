// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of small matrices by a warp, and the loads and stores of 8x8 matrices.
//
// Lane 4g + q holds, of a matrix A in registers of e elements, rows g and g + 8 and in register 2h + r the columns
// from 4eh + eq on; of B the column g and the same rows; of C and D rows g and g + 8 and columns 2q and 2q + 1.

#include "Block.h"
#include "Elements.h"
#include "HostFunctions.h"

#include <algorithm>

using namespace mlir::attn;
using namespace mlir::attn::emulator;
using host_calls::Element;
using host_calls::kWarpSize;

namespace {
/// What a lane has of a product: all registers of A, B and C, one behind the other;
/// D comes to where A was.
struct Product {
  uint32_t *words;
  uint32_t m, n, k;
  Element a, b, d;
};

/// What a lane has of a load or store: the address of a row, and its registers.
struct Matrices {
  char *row;
  uint32_t *words;
  uint32_t count;
  bool isTransposed;
};
} // namespace

/// Columns of C and D that a lane holds in each row, and rows between.
constexpr uint32_t kLaneColumns = 2;
constexpr uint32_t kRowGroup = 8;

/// The largest product is 16x8x32.
constexpr uint32_t kMostRows = 16;
constexpr uint32_t kColumns = 8;
constexpr uint32_t kMostDepth = 32;

/// Lay out A by rows and B by rows of k; `decode` turns element `e` of a word into
/// a float.
template <typename DecodeA, typename DecodeB>
static void gather(const WarpCall &call, uint32_t perWord, uint32_t halves,
                   DecodeA decodeA, DecodeB decodeB,
                   float (&a)[kMostRows][kMostDepth],
                   float (&b)[kMostDepth][kColumns]) {
  for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
    const uint32_t *words = call.get<Product>(lane).words;
    uint32_t g = lane / 4, q = lane % 4;
    for (uint32_t h = 0; h < halves; ++h)
      for (uint32_t e = 0; e < perWord; ++e) {
        uint32_t k = 4 * perWord * h + perWord * q + e;
        a[g][k] = decodeA(words[2 * h], e);
        a[g + kRowGroup][k] = decodeA(words[2 * h + 1], e);
        b[k][g] = decodeB(words[2 * halves + h], e);
      }
  }
}

/// Lay out A and B whatever their types are; those of 16 bits are frequent.
static void gather(const WarpCall &call, const Product &shape,
                   float (&a)[kMostRows][kMostDepth],
                   float (&b)[kMostDepth][kColumns]) {
  uint32_t perWord = 32 / getBits(shape.a);
  uint32_t halves = shape.k / (4 * perWord);
  auto decodeF16 = [](uint32_t word, uint32_t e) {
    return f16ToFloat(word >> 16 * e & 0xffff);
  };
  auto decodeBF16 = [](uint32_t word, uint32_t e) {
    return bf16ToFloat(word >> 16 * e & 0xffff);
  };
  if (shape.a == Element::F16)
    return gather(call, 2, halves, decodeF16, decodeF16, a, b);
  if (shape.a == Element::BF16)
    return gather(call, 2, halves, decodeBF16, decodeBF16, a, b);
  gather(
      call, perWord, halves,
      [&](uint32_t word, uint32_t e) { return getElement(shape.a, word, e); },
      [&](uint32_t word, uint32_t e) { return getElement(shape.b, word, e); },
      a, b);
}

/// Multiply in f32, in the order of k.
static void runFloat(const WarpCall &call, const Product &shape) {
  float a[kMostRows][kMostDepth], b[kMostDepth][kColumns];
  gather(call, shape, a, b);
  float d[kMostRows][kColumns];
  uint32_t perWord = 32 / getBits(shape.a);
  uint32_t before = 3 * shape.k / (4 * perWord);
  bool isHalf = shape.d == Element::F16;
  for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
    const uint32_t *c = call.get<Product>(lane).words + before;
    for (uint32_t i = 0; i < 2 * kLaneColumns; ++i) {
      uint32_t row = lane / 4 + kRowGroup * (i / 2);
      d[row][kLaneColumns * (lane % 4) + i % 2] =
          isHalf ? getElement(Element::F16, c[i / 2], i % 2)
                 : bitsToFloat(c[i]);
    }
  }
  for (uint32_t row = 0; row < kMostRows; ++row) {
    float sums[kColumns];
    std::copy_n(d[row], kColumns, sums);
    for (uint32_t k = 0; k < shape.k; ++k)
      for (uint32_t column = 0; column < kColumns; ++column)
        sums[column] += a[row][k] * b[k][column];
    std::copy_n(sums, kColumns, d[row]);
  }
  for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
    uint32_t *to = call.get<Product>(lane).words;
    for (uint32_t r = 0; r < 2; ++r) {
      const float *from =
          &d[lane / 4 + kRowGroup * r][kLaneColumns * (lane % 4)];
      if (isHalf) {
        to[r] =
            static_cast<uint32_t>(encodeFloat(from[0], FloatFormat::F16) |
                                  encodeFloat(from[1], FloatFormat::F16) << 16);
        continue;
      }
      to[2 * r] = floatToBits(from[0]);
      to[2 * r + 1] = floatToBits(from[1]);
    }
  }
}

/// Multiply bytes exactly; sums wrap.
static void runInteger(const WarpCall &call, const Product &shape) {
  float a[kMostRows][kMostDepth], b[kMostDepth][kColumns];
  gather(call, shape, a, b);
  uint32_t before = 3 * shape.k / 16;
  for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
    uint32_t *words = call.get<Product>(lane).words;
    uint32_t sums[2 * kLaneColumns];
    for (uint32_t i = 0; i < 2 * kLaneColumns; ++i) {
      uint32_t row = lane / 4 + kRowGroup * (i / 2);
      uint32_t column = kLaneColumns * (lane % 4) + i % 2;
      int32_t sum = 0;
      for (uint32_t k = 0; k < shape.k; ++k)
        sum += static_cast<int32_t>(a[row][k]) *
               static_cast<int32_t>(b[k][column]);
      sums[i] = words[before + i] + static_cast<uint32_t>(sum);
    }
    std::memcpy(words, sums, sizeof(sums));
  }
}

/// Multiply 8x4 by 4x8 numbers of 64 bits.
static void runDouble(const WarpCall &call) {
  double a[8][4], b[4][8];
  for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
    const uint32_t *words = call.get<Product>(lane).words;
    std::memcpy(&a[lane / 4][lane % 4], words, sizeof(double));
    std::memcpy(&b[lane % 4][lane / 4], words + 2, sizeof(double));
  }
  for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
    uint32_t *words = call.get<Product>(lane).words;
    double d[2];
    std::memcpy(d, words + 4, sizeof(d));
    for (uint32_t i = 0; i < 2; ++i)
      for (uint32_t k = 0; k < 4; ++k)
        d[i] += a[lane / 4][k] * b[k][2 * (lane % 4) + i];
    std::memcpy(words, d, sizeof(d));
  }
}

static void runProduct(Block &, WarpCall &call) {
  // A lane that has ended, which is reported, has nothing to give.
  if (call.mask != ~0u)
    return;
  const Product &shape = call.get<Product>(0);
  if (shape.d == Element::F64)
    runDouble(call);
  else if (shape.d == Element::S32)
    runInteger(call, shape);
  else
    runFloat(call, shape);
}

/// Check the rows of matrix `index` of a load or store, and count their banks.
static void enterRows(Block &block, const WarpCall &call, uint32_t index,
                      bool isWrite) {
  constexpr uint32_t kRowBytes = 16;
  uint32_t offsets[kRowGroup];
  Tracker *tracker = block.getTracker();
  if (!tracker)
    return;
  for (uint32_t row = 0; row < kRowGroup; ++row) {
    uint32_t lane = kRowGroup * index + row;
    uint32_t thread = call.warp * kWarpSize + lane;
    offsets[row] = block.checkShared(call.get<Matrices>(lane).row, kRowBytes,
                                     kRowBytes, call.site, "a row of a matrix");
    tracker->enterFor(thread, offsets[row], kRowBytes, isWrite, call.site);
  }
  block.collectives.countBanks(offsets);
}

static void runLoad(Block &block, WarpCall &call) {
  if (call.mask != ~0u)
    return;
  const Matrices &shape = call.get<Matrices>(0);
  for (uint32_t i = 0; i < shape.count; ++i) {
    enterRows(block, call, i, /*isWrite=*/false);
    uint16_t rows[kRowGroup][kRowGroup];
    for (uint32_t row = 0; row < kRowGroup; ++row)
      std::memcpy(rows[row], call.get<Matrices>(kRowGroup * i + row).row,
                  sizeof(rows[row]));
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      uint32_t g = lane / 4, c = 2 * (lane % 4);
      uint32_t low = shape.isTransposed ? rows[c][g] : rows[g][c];
      uint32_t high = shape.isTransposed ? rows[c + 1][g] : rows[g][c + 1];
      call.get<Matrices>(lane).words[i] = low | high << 16;
    }
  }
}

static void runStore(Block &block, WarpCall &call) {
  if (call.mask != ~0u)
    return;
  const Matrices &shape = call.get<Matrices>(0);
  for (uint32_t i = 0; i < shape.count; ++i) {
    enterRows(block, call, i, /*isWrite=*/true);
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      uint32_t word = call.get<Matrices>(lane).words[i];
      for (uint32_t e = 0; e < 2; ++e) {
        uint32_t row = lane / 4, column = 2 * (lane % 4) + e;
        if (shape.isTransposed)
          std::swap(row, column);
        auto half = static_cast<uint16_t>(word >> 16 * e);
        std::memcpy(call.get<Matrices>(kRowGroup * i + row).row + 2 * column,
                    &half, sizeof(half));
      }
    }
  }
}

static void multiply(Site site, uint32_t *words, uint32_t m, uint32_t n,
                     uint32_t k, Element a, Element b, Element d) {
  Product mine{words, m, n, k, a, b, d};
  // Lanes whose registers are others' do not meet: m and n go with the types.
  uint32_t kind = k | static_cast<uint32_t>(a) << 8 |
                  static_cast<uint32_t>(b) << 16 |
                  static_cast<uint32_t>(d) << 24;
  Block::current().collectives.meet(runProduct, ~0u, kind, /*aligned=*/true,
                                    &mine, site, "a matrix product");
}

static void loadMatrices(Site site, char *row, uint32_t count,
                         uint32_t isTransposed, uint32_t *words) {
  Matrices mine{row, words, count, isTransposed != 0};
  Block::current().collectives.meet(runLoad, ~0u, 2 * count + isTransposed,
                                    /*aligned=*/true, &mine, site,
                                    "a matrix load");
}

static void storeMatrices(Site site, char *row, uint32_t count,
                          uint32_t isTransposed, uint32_t *words) {
  Matrices mine{row, words, count, isTransposed != 0};
  Block::current().collectives.meet(runStore, ~0u, 2 * count + isTransposed,
                                    /*aligned=*/true, &mine, site,
                                    "a matrix store");
}

llvm::ArrayRef<HostFunction> emulator::getMatrixFunctions() {
  static const HostFunction functions[] = {
      {"attn_cuda_mma", multiply},
      {"attn_cuda_ldmatrix", loadMatrices},
      {"attn_cuda_stmatrix", storeMatrices}};
  return functions;
}
