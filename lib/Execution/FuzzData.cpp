// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers for the fuzzer. Everything follows from the case, so that a line of
// text brings a mismatch back.

#include "attn/Execution/FuzzData.h"

#include "FuzzAppend.h"
#include "FuzzLinear.h"

#include "llvm/Support/DJB.h"

#include <cmath>
#include <limits>

using namespace mlir::attn;
using llvm::Expected;
using llvm::SmallVector;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Strides
//===----------------------------------------------------------------------===//

/// Return strides of `shape` with its dimensions in the order of memory
/// `order`, the innermost last, and up to `most` elements unused after each.
static SmallVector<int64_t, 4> stridesIn(llvm::ArrayRef<int64_t> shape,
                                         llvm::ArrayRef<size_t> order,
                                         int64_t inner, FuzzRandom &random,
                                         int64_t most) {
  SmallVector<int64_t, 4> strides(shape.size());
  int64_t stride = inner;
  for (size_t dim : llvm::reverse(order)) {
    strides[dim] = stride;
    stride = std::max<int64_t>(stride * shape[dim], 1) + random.below(most + 1);
  }
  return strides;
}

/// Return strides for a tensor of `shape`, ordinary ones for seed 0.
static SmallVector<int64_t, 4> drawStrides(llvm::ArrayRef<int64_t> shape,
                                           uint64_t seed, bool isInput) {
  FuzzRandom random(seed);
  SmallVector<size_t, 4> order;
  for (size_t dim = 0; dim < shape.size(); ++dim)
    order.push_back(dim);
  if (seed == 0 || random.onceIn(3))
    return stridesIn(shape, order, 1, random, 0);
  // Outputs keep their innermost dimension.
  size_t movable = shape.size() - (isInput || shape.empty() ? 0 : 1);
  if (random.onceIn(2) && movable > 1)
    std::swap(order[random.below(movable)], order[random.below(movable)]);
  int64_t inner = isInput && random.onceIn(3) ? 2 : 1;
  auto strides = stridesIn(shape, order, inner, random, random.pick({0, 1, 5}));
  if (!isInput || shape.empty())
    return strides;
  int64_t dim = random.below(shape.size());
  if (random.onceIn(4))
    strides[dim] = 0;
  else if (random.onceIn(6))
    strides[dim] = -strides[dim];
  return strides;
}

Expected<GuardedTensor> mlir::attn::allocate(const FuzzCase &fuzz,
                                             const FuzzValue &value,
                                             unsigned number, bool isInput) {
  auto shape = value.getExtents(fuzz);
  auto seed = static_cast<uint64_t>(fuzz.getInt("strides"));
  // Ends of sequences that share their memory would all be one number.
  if (llvm::StringRef(value.name).starts_with("cu_seqlens"))
    seed = 0;
  if (seed != 0)
    seed = seed * 64 + number + 1;
  return GuardedTensor::create(value.getKind(), shape,
                               drawStrides(shape, seed, isInput),
                               /*atBack=*/fuzz.get("guard") == "back",
                               /*gap=*/fuzz.get("guard") == "odd" ? 1 : 0);
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

static void fillUniform(const HostTensor &tensor, FuzzRandom &random,
                        double amplitude) {
  // Whole numbers: some more of them without a scale would be all that counts.
  if (tensor.getKind() == ElementKind::I8)
    amplitude = 5;
  tensor.forEach([&](int64_t offset) {
    tensor.store(offset, amplitude * random.uniform());
  });
}

static void fillValue(const FuzzCase &fuzz, const HostTensor &tensor,
                      FuzzRandom &random) {
  if (fuzz.get("values") == "ones")
    tensor.forEach([&](int64_t offset) { tensor.store(offset, 1.0); });
  else
    fillUniform(tensor, random, 1.0);
}

/// Fill scales, none of which is 0. Those of values are 1 where the values are.
static void fillScale(const FuzzCase &fuzz, const HostTensor &tensor,
                      FuzzRandom &random, bool ofValue) {
  bool ones = ofValue && fuzz.get("values") == "ones";
  tensor.forEach([&](int64_t offset) {
    tensor.store(offset, ones ? 1.0 : 0.25 + std::fabs(random.uniform()));
  });
}

/// Return the lowest finite number of `kind`.
static double lowestOf(ElementKind kind) {
  switch (kind) {
  case ElementKind::F16:
    return -65504.0;
  case ElementKind::BF16:
    return -0x1.FEp127;
  case ElementKind::F32:
    return -std::numeric_limits<float>::max();
  default:
    return -std::numeric_limits<double>::max();
  }
}

/// Fill a bias: `i` brings in -inf, `l` the lowest finite number, `n` NaN; both
/// of the former also for whole rows.
static void fillBias(const FuzzCase &fuzz, const HostTensor &tensor,
                     FuzzRandom &random) {
  StringRef data = fuzz.get("biasdata");
  double infinity = std::numeric_limits<double>::infinity();
  int64_t width = tensor.getRank() ? tensor.getShape().back() : 1;
  int64_t column = 0;
  char rowKind = 0;
  tensor.forEach([&](int64_t offset) {
    if (column++ % std::max<int64_t>(width, 1) == 0)
      rowKind = !data.empty() && random.onceIn(5)
                    ? data[random.below(data.size())]
                    : 0;
    char kind = rowKind;
    if (!data.empty() && random.onceIn(4))
      kind = data[random.below(data.size())];
    double value = 2 * random.uniform();
    if (kind == 'i')
      value = -infinity;
    else if (kind == 'l')
      value = lowestOf(tensor.getKind());
    else if (kind == 'n' && random.onceIn(10))
      value = std::numeric_limits<double>::quiet_NaN();
    tensor.store(offset, value);
  });
}

/// Fill a mask: three keys out of four, and what `maskdata` says instead.
static void fillMask(const FuzzCase &fuzz, const HostTensor &tensor,
                     FuzzRandom &random) {
  StringRef data = fuzz.get("maskdata");
  int64_t width = std::max<int64_t>(tensor.getShape().back(), 1);
  int64_t column = 0;
  bool emptyRow = false;
  tensor.forEach([&](int64_t offset) {
    if (column % width == 0)
      emptyRow = random.onceIn(6);
    bool attend = !random.onceIn(4) && !emptyRow;
    if (data == "none" || data == "all")
      attend = data == "all";
    else if (data == "sparse")
      attend = random.onceIn(16);
    else if (data == "prefix")
      attend = column % width < width / 2;
    ++column;
    tensor.storeInteger(offset, attend);
  });
}

/// Fill lengths, some of them below 0 or beyond the keys.
static void fillLengths(const HostTensor &tensor, FuzzRandom &random,
                        int64_t keys) {
  tensor.forEach([&](int64_t offset) {
    int64_t length = random.below(keys + 1);
    if (random.onceIn(4))
      length = random.pick<int64_t>(
          {0, 1, keys, keys + 1, -1, -1000, INT32_MAX, INT32_MIN, keys - 1});
    tensor.storeInteger(offset, length);
  });
}

/// Fill offsets, some of them negative or as large as their type has.
static void fillOffsets(const HostTensor &tensor, FuzzRandom &random,
                        int64_t rows, int64_t keys) {
  bool isLong = tensor.getKind() == ElementKind::I64;
  tensor.forEach([&](int64_t offset) {
    int64_t value = random.below(rows + keys + 4) - rows - 2;
    if (random.onceIn(4))
      value =
          isLong ? random.pick<int64_t>(
                       {0, keys - rows, INT64_MAX, INT64_MIN, INT64_MAX - 1})
                 : random.pick<int64_t>({0, keys - rows, INT32_MAX, INT32_MIN});
    tensor.storeInteger(offset, value);
  });
}

static void fillPositions(const FuzzCase &fuzz, const HostTensor &tensor,
                          FuzzRandom &random) {
  int64_t entries = std::max<int64_t>(fuzz.getInt("T"), 1);
  int64_t left = fuzz.get("values") == "outside"
                     ? random.below(std::max<int64_t>(tensor.getSize(), 1))
                     : -1;
  std::optional<int64_t> outside;
  tensor.forEach([&](int64_t offset) {
    if (left-- == 0)
      outside = offset;
    tensor.storeInteger(offset, random.below(entries));
  });
  // Last: with a stride of 0 several positions share their memory.
  if (outside)
    tensor.storeInteger(
        *outside, random.pick<int64_t>({-1, fuzz.getInt("T"), INT32_MIN}));
}

/// Fill numbers of documents of any length, in order in each row.
static void fillDocuments(const HostTensor &tensor, FuzzRandom &random) {
  int64_t width = std::max<int64_t>(tensor.getShape().back(), 1);
  int64_t column = 0, document = 0;
  int64_t length = random.pick<int64_t>({1, 7, 64, 300});
  tensor.forEach([&](int64_t offset) {
    if (column++ % width == 0)
      document = 0;
    document += random.onceIn(length);
    tensor.storeInteger(offset, document);
  });
}

/// Fill a table with numbers of pages, the same one at times for several entries.
static void fillPages(const HostTensor &tensor, FuzzRandom &random,
                      int64_t pool) {
  tensor.forEach([&](int64_t offset) {
    tensor.storeInteger(offset, pool > 0 ? random.below(pool) : 0);
  });
}

/// Fill the ends of sequences that together have `total` rows; some have none.
static void fillEnds(const HostTensor &tensor, FuzzRandom &random,
                     int64_t total) {
  int64_t left = tensor.getSize(), end = 0;
  tensor.forEach([&](int64_t offset) {
    tensor.storeInteger(offset, end);
    --left;
    if (!random.onceIn(4))
      end += random.below(
          std::min<int64_t>(total - end,
                            1 + 2 * total / std::max<int64_t>(left, 1)) +
          1);
    if (left == 1)
      end = total;
  });
}

/// Put NaN and infinities into some rows of `tensor`. The reference says in
/// which results they may show.
static void addSpecials(const HostTensor &tensor, FuzzRandom &random,
                        double infinity) {
  int64_t width = std::max<int64_t>(tensor.getShape().back(), 1);
  int64_t column = 0;
  bool isSpecial = false;
  tensor.forEach([&](int64_t offset) {
    if (column++ % width == 0)
      isSpecial = random.onceIn(8);
    if (isSpecial && random.onceIn(2))
      tensor.store(offset, random.pick({std::nan(""), infinity, -infinity}));
  });
}

static void fill(const FuzzCase &fuzz, const FuzzValue &value,
                 const HostTensor &tensor, FuzzRandom &random) {
  if (fuzz.get("op") == "linear")
    return fillLinear(fuzz, value, tensor, random);
  StringRef name = value.name;
  double amplitude = 1;
  fuzz.get("amplitude").getAsDouble(amplitude);
  int64_t keys = fuzz.getExtent(fuzz.get("op") == "mha" ? 'A' : 'N');
  if (name == "bias")
    fillBias(fuzz, tensor, random);
  else if (name == "mask")
    fillMask(fuzz, tensor, random);
  else if (name == "kv_lengths")
    fillLengths(tensor, random, keys);
  else if (name == "query_offset")
    fillOffsets(tensor, random, fuzz.getInt("M"), keys);
  else if (name == "documents")
    fillDocuments(tensor, random);
  else if (name == "prefix")
    fillLengths(tensor, random, keys);
  else if (name == "edges")
    fillMask(fuzz, tensor, random);
  else if (name == "slopes")
    fillUniform(tensor, random, 0.1);
  else if (name == "page_table")
    fillPages(tensor, random, fuzz.getInt("O"));
  else if (name == "cu_seqlens_q" || name == "cu_seqlens_k")
    fillEnds(tensor, random, fuzz.getInt(name.ends_with("q") ? "M" : "N"));
  else if (name == "positions" && fuzz.get("op") == "append")
    fillAppendPositions(fuzz, tensor, random);
  else if (name == "positions")
    fillPositions(fuzz, tensor, random);
  else if (name == "value" && fuzz.get("op") == "sdpa")
    fillValue(fuzz, tensor, random);
  else if (name == "key_scale" || name == "value_scale" || name == "scale")
    fillScale(fuzz, tensor, random, name == "value_scale");
  else if (name == "sinks")
    fillUniform(tensor, random, random.onceIn(4) ? 300.0 : 2.0);
  else if (name == "query" || name == "key" || name == "rows")
    fillUniform(tensor, random, amplitude);
  else
    fillUniform(tensor, random, 1.0);
  if (fuzz.get("op") == "sdpa" && fuzz.get("special").contains(name.front()) &&
      (name == "query" || name == "key" || name == "value" ||
       (name.ends_with("_scale") &&
        StringRef("NS").contains(value.shape.empty() ? '1'
                                                     : value.shape.back()))) &&
      tensor.getKind() != ElementKind::I8)
    // Of keys with an infinite scale nothing is said.
    addSpecials(tensor, random,
                name == "key_scale" ? std::nan("")
                                    : std::numeric_limits<double>::infinity());
  if (name.starts_with("lse"))
    tensor.forEach([&](int64_t offset) {
      if (random.onceIn(4))
        tensor.store(offset, -std::numeric_limits<double>::infinity());
    });
}

Expected<std::vector<GuardedTensor>>
mlir::attn::makeFuzzInputs(const FuzzCase &fuzz) {
  std::vector<GuardedTensor> inputs;
  for (auto [number, operand] : llvm::enumerate(getFuzzOperands(fuzz))) {
    auto tensor = allocate(fuzz, operand, number, /*isInput=*/true);
    if (!tensor)
      return tensor.takeError();
    // By name, so that an operand that is dropped changes no other.
    FuzzRandom random(fuzz.getInt("seed") * 1000003 +
                      llvm::djbHash(operand.name));
    fill(fuzz, operand, tensor->get(), random);
    tensor->forbidWrites();
    inputs.push_back(std::move(*tensor));
  }
  return inputs;
}

Expected<HostTensor> mlir::attn::withoutLowest(const HostTensor &bias) {
  auto copy = bias.convert(ElementKind::F64);
  if (copy)
    copy->forEach([&](int64_t offset) {
      if (copy->load(offset) < kLowestBias)
        copy->store(offset, -std::numeric_limits<double>::infinity());
    });
  return copy;
}
