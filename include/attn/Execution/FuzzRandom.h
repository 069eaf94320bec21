// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random numbers that are the same on every machine.

#ifndef ATTN_EXECUTION_FUZZRANDOM_H
#define ATTN_EXECUTION_FUZZRANDOM_H

#include "llvm/ADT/ArrayRef.h"

#include <cmath>
#include <cstdint>
#include <initializer_list>

namespace mlir::attn {

/// A splitmix64 sequence.
class FuzzRandom {
public:
  explicit FuzzRandom(uint64_t seed) : state(seed) {}

  uint64_t next() {
    uint64_t z = (state += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  /// Return a number from 0 to `end` - 1.
  int64_t below(int64_t end) {
    return static_cast<int64_t>(next() % static_cast<uint64_t>(end));
  }

  /// Return a number from -1 to 1.
  double uniform() {
    return std::ldexp(static_cast<double>(next() >> 11), -52) - 1.0;
  }

  /// Return true once in `times`.
  bool onceIn(int64_t times) { return below(times) == 0; }

  template <typename T>
  T pick(std::initializer_list<T> list) {
    return list.begin()[below(static_cast<int64_t>(list.size()))];
  }
  template <typename T>
  T pick(llvm::ArrayRef<T> list) {
    return list[below(static_cast<int64_t>(list.size()))];
  }

private:
  uint64_t state;
};

} // namespace mlir::attn

#endif // ATTN_EXECUTION_FUZZRANDOM_H
