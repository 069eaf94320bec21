// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Host tensors: allocation, element access, random numbers.

#include "attn/Execution/Tensor.h"

#include "LargePages.h"

#include "attn/Interpreter/FloatFormats.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/ErrorHandling.h"
#include <cmath>
#include <cstdlib>
#include <cstring>

using namespace mlir::attn;
using llvm::ArrayRef;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

/// Bytes that every allocation is a multiple of and aligned to: a cache line.
constexpr size_t kAlignment = 64;

struct KindInfo {
  ElementKind kind;
  StringRef name;
  int64_t bytes;
};

static constexpr KindInfo kKinds[] = {{ElementKind::F16, "f16", 2},
                                      {ElementKind::BF16, "bf16", 2},
                                      {ElementKind::F32, "f32", 4},
                                      {ElementKind::F64, "f64", 8},
                                      {ElementKind::F8E4M3FN, "f8E4M3FN", 1},
                                      {ElementKind::F8E5M2, "f8E5M2", 1},
                                      {ElementKind::I1, "i1", 1},
                                      {ElementKind::I8, "i8", 1},
                                      {ElementKind::I32, "i32", 4},
                                      {ElementKind::I64, "i64", 8}};

StringRef mlir::attn::getName(ElementKind kind) {
  return kKinds[static_cast<int>(kind)].name;
}

int64_t mlir::attn::getByteSize(ElementKind kind) {
  return kKinds[static_cast<int>(kind)].bytes;
}

std::optional<ElementKind> mlir::attn::parseElementKind(StringRef name) {
  for (const KindInfo &info : kKinds)
    if (info.name == name)
      return info.kind;
  return std::nullopt;
}

bool mlir::attn::isFloat(ElementKind kind) {
  return kind <= ElementKind::F8E5M2;
}

static FloatFormat formatOf(ElementKind kind) {
  return static_cast<FloatFormat>(kind);
}
static_assert(static_cast<int>(ElementKind::F8E5M2) ==
              static_cast<int>(FloatFormat::F8E5M2));

/// Return the bytes of a tensor, or none where they do not fit into memory.
static std::optional<int64_t> byteSize(ElementKind kind,
                                       ArrayRef<int64_t> shape) {
  if (llvm::is_contained(shape, 0))
    return 0;
  std::optional<int64_t> bytes = getByteSize(kind);
  for (int64_t extent : shape) {
    bytes = llvm::checkedMul(*bytes, extent);
    if (!bytes)
      return std::nullopt;
  }
  return bytes;
}

static llvm::SmallVector<int64_t, 4>
contiguousStrides(ArrayRef<int64_t> shape) {
  llvm::SmallVector<int64_t, 4> strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    // Saturating is enough: a tensor with an extent of 0 has no elements.
    stride = llvm::checkedMul(stride, shape[i]).value_or(stride);
  }
  return strides;
}

Expected<HostTensor> HostTensor::create(ElementKind kind,
                                        ArrayRef<int64_t> shape) {
  for (int64_t extent : shape)
    if (extent < 0)
      return createStringError("a tensor cannot have an extent of " +
                               llvm::Twine(extent));
  HostTensor tensor = view(kind, shape, contiguousStrides(shape), nullptr);
  std::optional<int64_t> bytes = byteSize(kind, shape);
  char *memory = nullptr;
  if (bytes && *bytes <= INT64_MAX - int64_t(kAlignment))
    memory = static_cast<char *>(
        std::aligned_alloc(kAlignment, (*bytes / kAlignment + 1) * kAlignment));
  if (!memory)
    return createStringError("no memory for a tensor of " +
                             tensor.getTypeName());
  adviseLargePages(memory, *bytes);
  std::memset(memory, 0, *bytes);
  tensor.data = memory;
  tensor.owner = std::shared_ptr<char>(memory, std::free);
  return tensor;
}

HostTensor HostTensor::view(ElementKind kind, ArrayRef<int64_t> shape,
                            ArrayRef<int64_t> strides, void *data) {
  HostTensor tensor;
  tensor.kind = kind;
  tensor.shape.assign(shape.begin(), shape.end());
  tensor.strides.assign(strides.begin(), strides.end());
  tensor.data = static_cast<char *>(data);
  return tensor;
}

int64_t HostTensor::getSize() const {
  int64_t size = 1;
  for (int64_t extent : shape)
    size *= extent;
  return size;
}

bool HostTensor::isContiguous() const {
  if (llvm::is_contained(shape, 0))
    return true;
  int64_t expected = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] != 1 && strides[i] != expected)
      return false;
    expected *= shape[i];
  }
  return true;
}

/// Read a number of type T at `address`, which may lie anywhere.
template <typename T>
static T readAs(const char *address) {
  T value;
  std::memcpy(&value, address, sizeof(T));
  return value;
}

template <typename T>
static void writeAs(char *address, T value) {
  std::memcpy(address, &value, sizeof(T));
}

double HostTensor::load(int64_t offset) const {
  const char *address = data + offset * getByteSize(kind);
  switch (kind) {
  case ElementKind::F16:
  case ElementKind::BF16:
    return decodeFloat(readAs<uint16_t>(address), formatOf(kind));
  case ElementKind::F8E4M3FN:
  case ElementKind::F8E5M2:
    return decodeFloat(readAs<uint8_t>(address), formatOf(kind));
  case ElementKind::F32:
    return readAs<float>(address);
  case ElementKind::F64:
    return readAs<double>(address);
  default:
    return static_cast<double>(loadInteger(offset));
  }
}

int64_t HostTensor::loadInteger(int64_t offset) const {
  const char *address = data + offset * getByteSize(kind);
  switch (kind) {
  case ElementKind::I1:
    return *address != 0;
  case ElementKind::I8:
    return readAs<int8_t>(address);
  case ElementKind::I32:
    return readAs<int32_t>(address);
  case ElementKind::I64:
    return readAs<int64_t>(address);
  default:
    return static_cast<int64_t>(load(offset));
  }
}

void HostTensor::store(int64_t offset, double value) const {
  char *address = data + offset * getByteSize(kind);
  switch (kind) {
  case ElementKind::F16:
  case ElementKind::BF16:
    return writeAs(address,
                   static_cast<uint16_t>(encodeFloat(value, formatOf(kind))));
  case ElementKind::F8E4M3FN:
  case ElementKind::F8E5M2:
    return writeAs(address,
                   static_cast<uint8_t>(encodeFloat(value, formatOf(kind))));
  case ElementKind::F32:
    return writeAs(address, static_cast<float>(value));
  case ElementKind::F64:
    return writeAs(address, value);
  case ElementKind::I1:
    return storeInteger(offset, value != 0);
  default:
    return storeInteger(offset, static_cast<int64_t>(value));
  }
}

void HostTensor::storeInteger(int64_t offset, int64_t value) const {
  char *address = data + offset * getByteSize(kind);
  switch (kind) {
  case ElementKind::I1:
    return writeAs(address, static_cast<int8_t>(value != 0));
  case ElementKind::I8:
    return writeAs(address, static_cast<int8_t>(value));
  case ElementKind::I32:
    return writeAs(address, static_cast<int32_t>(value));
  case ElementKind::I64:
    return writeAs(address, value);
  default:
    return store(offset, static_cast<double>(value));
  }
}

int64_t HostTensor::getOffset(ArrayRef<int64_t> index) const {
  int64_t offset = 0;
  for (size_t i = 0, e = index.size(); i < e; ++i)
    offset += index[i] * strides[i];
  return offset;
}

void HostTensor::forEach(llvm::function_ref<void(int64_t offset)> visit) const {
  if (llvm::is_contained(shape, 0))
    return;
  llvm::SmallVector<int64_t, 4> index(shape.size(), 0);
  int64_t offset = 0;
  while (true) {
    visit(offset);
    int64_t dim = getRank() - 1;
    for (; dim >= 0; --dim) {
      offset += strides[dim];
      if (++index[dim] < shape[dim])
        break;
      offset -= strides[dim] * shape[dim];
      index[dim] = 0;
    }
    if (dim < 0)
      return;
  }
}

Expected<HostTensor> HostTensor::convert(ElementKind newKind) const {
  Expected<HostTensor> result = create(newKind, shape);
  if (!result)
    return result.takeError();
  int64_t next = 0;
  bool integers = !isFloat(kind) && !isFloat(newKind);
  forEach([&](int64_t offset) {
    if (integers)
      result->storeInteger(next++, loadInteger(offset));
    else
      result->store(next++, load(offset));
  });
  return result;
}

HostTensor HostTensor::reinterpret(ElementKind newKind) const {
  HostTensor result = *this;
  result.kind = newKind;
  return result;
}

HostTensor HostTensor::transpose(ArrayRef<int64_t> permutation) const {
  HostTensor result = *this;
  for (size_t i = 0, e = permutation.size(); i < e; ++i) {
    result.shape[i] = shape[permutation[i]];
    result.strides[i] = strides[permutation[i]];
  }
  return result;
}

std::string HostTensor::getTypeName() const {
  std::string name;
  for (int64_t extent : shape)
    name += std::to_string(extent) + "x";
  return name + getName(kind).str();
}

/// The next number of a splitmix64 sequence.
static uint64_t nextRandom(uint64_t &state) {
  uint64_t z = (state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

void mlir::attn::fillRandom(const HostTensor &tensor, uint64_t seed) {
  uint64_t state = seed;
  tensor.forEach([&](int64_t offset) {
    uint64_t bits = nextRandom(state);
    if (isFloat(tensor.getKind()))
      tensor.store(offset, std::ldexp(double(bits >> 11), -52) - 1.0);
    else if (tensor.getKind() == ElementKind::I1)
      tensor.storeInteger(offset, (bits >> 62) != 0);
    else
      tensor.storeInteger(offset, static_cast<int64_t>(bits >> 61));
  });
}

StringRef mlir::attn::nearestName(StringRef name, ArrayRef<StringRef> known) {
  StringRef nearest = known.front();
  for (StringRef candidate : known)
    if (name.edit_distance(candidate) < name.edit_distance(nearest))
      nearest = candidate;
  return nearest;
}

Expected<TensorSpec> TensorSpec::parse(StringRef text) {
  TensorSpec spec;
  auto [type, seedText] = text.split('=');
  if (text.contains('=')) {
    uint64_t seed;
    if (seedText.getAsInteger(10, seed))
      return createStringError("'" + text + "' expects a number after '=', " +
                               "got '" + seedText + "'");
    spec.seed = seed;
  }
  llvm::SmallVector<StringRef> parts;
  type.split(parts, 'x');
  for (StringRef part : ArrayRef(parts).drop_back()) {
    int64_t extent;
    if (part.getAsInteger(10, extent) || extent < 0)
      return createStringError(
          "'" + text + "' expects sizes before its type, got '" + part + "'");
    spec.shape.push_back(extent);
  }
  std::optional<ElementKind> kind = parseElementKind(parts.back());
  if (!kind) {
    llvm::SmallVector<StringRef> names;
    for (const KindInfo &info : kKinds)
      names.push_back(info.name);
    return createStringError("'" + text + "' expects a type out of " +
                             llvm::join(names, ", ") + ", got '" +
                             parts.back() + "'; the nearest is '" +
                             nearestName(parts.back(), names) + "'");
  }
  spec.kind = *kind;
  return spec;
}

Expected<HostTensor> TensorSpec::create(uint64_t defaultSeed) const {
  Expected<HostTensor> tensor = HostTensor::create(kind, shape);
  if (tensor)
    fillRandom(*tensor, seed.value_or(defaultSeed));
  return tensor;
}
