// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Allocation functions that count. They are called as libc's are, with nothing that could carry a state, so the two
// counters are the only variables of the library that every caller shares.

#include "ScratchMeter.h"

#include <atomic>
#include <cstdlib>
#include <malloc.h>

using namespace mlir::attn;

static std::atomic<int64_t> held{0};
static std::atomic<int64_t> peak{0};

/// Count `memory`, which may be null, and return it.
static void *count(void *memory) {
  if (!memory)
    return nullptr;
  int64_t now = held += static_cast<int64_t>(malloc_usable_size(memory));
  int64_t before = peak;
  while (now > before && !peak.compare_exchange_weak(before, now)) {
  }
  return memory;
}

static void discount(void *memory) {
  if (memory)
    held -= static_cast<int64_t>(malloc_usable_size(memory));
}

static void *meteredMalloc(size_t size) { return count(std::malloc(size)); }

static void *meteredCalloc(size_t number, size_t size) {
  return count(std::calloc(number, size));
}

static void *meteredAlignedAlloc(size_t alignment, size_t size) {
  return count(std::aligned_alloc(alignment, size));
}

static void meteredFree(void *memory) {
  discount(memory);
  std::free(memory);
}

llvm::ArrayRef<MeteredFunction> mlir::attn::getMeteredFunctions() {
  static const MeteredFunction functions[] = {
      {"malloc", reinterpret_cast<void *>(&meteredMalloc)},
      {"calloc", reinterpret_cast<void *>(&meteredCalloc)},
      {"aligned_alloc", reinterpret_cast<void *>(&meteredAlignedAlloc)},
      {"free", reinterpret_cast<void *>(&meteredFree)}};
  return functions;
}

void mlir::attn::resetScratchPeak() { peak = held.load(); }

int64_t mlir::attn::getScratchPeak() { return peak - held; }
