// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an attention op needs: operations and bytes, as formulas in its dimensions.

#ifndef ATTN_ANALYSIS_ATTENTIONCOST_H
#define ATTN_ANALYSIS_ATTENTIONCOST_H

#include "attn/Analysis/ScoreBand.h"

namespace mlir::attn {

/// What one part of an op needs. Sizes have the names of the op's description;
/// `S` is the number of cells of one head's scores that are computed, `K` the
/// number of keys that some row sees.
struct CostPart {
  std::string name;
  /// Multiplications and additions of products, and exponentials.
  Formula operations, exponentials;
  /// Bytes of operands, each once, and of results.
  Formula read, written;
};

/// What one op needs.
struct AttentionCost {
  Operation *op = nullptr;
  /// Its dimensions, in order; ShapedType::kDynamic where types do not say.
  std::vector<std::pair<std::string, int64_t>> extents;
  /// The names of the dimensions of each operand.
  std::vector<std::vector<std::string>> operands;
  std::vector<CostPart> parts;
  /// The cells of its scores; absent where it has none.
  std::optional<ScoreBand> band;
  /// Bytes that all scores would take, were they a tensor.
  Formula scores;
  /// How time and memory grow.
  std::string time, space;
  /// What is not in these numbers.
  std::vector<std::string> notes;

  /// Return the cost of `op`, if it is an attention.
  static std::optional<AttentionCost> get(Operation *op);

  /// Return the sum of all parts.
  CostPart total() const;

  /// Return what types and `given` say about sizes, with what follows from it.
  Sizes getSizes(const Sizes &given) const;

  /// Return the same as if every row saw all keys.
  static Sizes withoutBand(Sizes sizes);
};

} // namespace mlir::attn

#endif // ATTN_ANALYSIS_ATTENTIONCOST_H
