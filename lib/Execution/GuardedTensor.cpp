// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors in mappings of their own.

#include "attn/Execution/GuardedTensor.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

using namespace mlir::attn;

/// Of such bytes every float is a NaN, an integer is -1 and a boolean is true.
constexpr int kPoison = 0xff;

GuardedTensor &GuardedTensor::operator=(GuardedTensor &&other) {
  std::swap(tensor, other.tensor);
  std::swap(mapping, other.mapping);
  std::swap(mapped, other.mapped);
  std::swap(usable, other.usable);
  std::swap(page, other.page);
  return *this;
}

GuardedTensor::~GuardedTensor() {
  if (mapping)
    munmap(mapping, mapped);
}

llvm::Expected<GuardedTensor>
GuardedTensor::create(ElementKind kind, llvm::ArrayRef<int64_t> shape,
                      llvm::ArrayRef<int64_t> strides, bool atBack,
                      int64_t gap) {
  // Offsets of the first and of the last element in memory.
  int64_t low = 0, high = -1;
  if (!llvm::is_contained(shape, 0)) {
    high = 0;
    for (auto [extent, stride] : llvm::zip_equal(shape, strides))
      (stride < 0 ? low : high) += (extent - 1) * stride;
  }
  int64_t bytes = (high - low + 1) * getByteSize(kind),
          gapBytes = gap * getByteSize(kind);
  GuardedTensor result;
  result.page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  result.usable =
      llvm::alignTo(std::max<int64_t>(bytes + gapBytes, 1), result.page);
  result.mapped = result.usable + 2 * result.page;
  void *memory = mmap(nullptr, result.mapped, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return llvm::createStringError("no memory for a guarded tensor");
  result.mapping = static_cast<char *>(memory);
  char *start = result.mapping + result.page;
  mprotect(start, result.usable, PROT_READ | PROT_WRITE);
  std::memset(start, kPoison, result.usable);
  char *first =
      atBack ? start + result.usable - bytes - gapBytes : start + gapBytes;
  result.tensor =
      HostTensor::view(kind, shape, strides, first - low * getByteSize(kind));
  return result;
}

void GuardedTensor::forbidWrites() {
  mprotect(mapping + page, usable, PROT_READ);
}

bool GuardedTensor::isUntouched() const {
  return llvm::all_of(llvm::ArrayRef(mapping + page, usable), [](char byte) {
    return static_cast<unsigned char>(byte) == kPoison;
  });
}

bool GuardedTensor::isRestUntouched() const {
  std::vector<char> isElement(usable, 0);
  const int64_t size = getByteSize(tensor.getKind());
  char *start = mapping + page;
  tensor.forEach([&](int64_t offset) {
    std::memset(&isElement[tensor.getData() + offset * size - start], 1, size);
  });
  for (auto [byte, mine] : llvm::zip(llvm::ArrayRef(start, usable), isElement))
    if (!mine && static_cast<unsigned char>(byte) != kPoison)
      return false;
  return true;
}

bool GuardedTensor::hasSameBits(const GuardedTensor &other) const {
  return usable == other.usable &&
         std::memcmp(mapping + page, other.mapping + page, usable) == 0;
}
