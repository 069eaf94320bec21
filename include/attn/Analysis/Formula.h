// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers that depend on sizes, as text that a person reads and as a value where the sizes are known:
//
//   2 B H M N D + 2 B H M N E

#ifndef ATTN_ANALYSIS_FORMULA_H
#define ATTN_ANALYSIS_FORMULA_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringMap.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace mlir::attn {

/// Sizes that are known, by name.
using Sizes = llvm::StringMap<int64_t>;

/// A sum of products of an integer and named sizes.
class Formula {
public:
  /// The number 0.
  Formula() = default;
  Formula(int64_t number);

  /// Return the size called `name`.
  static Formula size(StringRef name);

  Formula &operator+=(const Formula &other);
  friend Formula operator+(Formula a, const Formula &b) { return a += b; }
  friend Formula operator*(const Formula &a, const Formula &b);

  bool isZero() const { return terms.empty(); }

  /// Return the sum of products as text; `0` for nothing.
  std::string str() const;

  /// Return the value, if all sizes are known and it fits.
  std::optional<int64_t> evaluate(const Sizes &sizes) const;

private:
  /// Names in the order in which they are written, and the number before them.
  std::map<std::vector<std::string>, int64_t> terms;
};

} // namespace mlir::attn

#endif // ATTN_ANALYSIS_FORMULA_H
