// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention by its definition, in straight loops over host tensors. Nothing
// here comes from the dialect, a lowering or the interpreter: this is what they
// are all compared with.

#ifndef ATTN_EXECUTION_REFERENCE_H
#define ATTN_EXECUTION_REFERENCE_H

#include "attn/Execution/RegionFunction.h"
#include "attn/Execution/Tensor.h"

#include <memory>

namespace mlir::attn {

/// Where the diagonal lies: nowhere, from the first row and key, or to the
/// last row and key.
enum class Diagonal { None, TopLeft, BottomRight };

/// Order of the dimensions of a rank-4 tensor: heads before the sequence, or
/// the sequence before the heads.
enum class AxisOrder { HeadsFirst, SequenceFirst };

/// What every attention has, by softmax or linear.
struct HeadsProblem {
  const HostTensor *query = nullptr, *key = nullptr, *value = nullptr;
  /// None is 1 / sqrt(D).
  std::optional<double> scale;
  AxisOrder queryOrder = AxisOrder::HeadsFirst,
            keyOrder = AxisOrder::HeadsFirst,
            valueOrder = AxisOrder::HeadsFirst,
            outputOrder = AxisOrder::HeadsFirst;
};

/// One attention: operands (null = absent) and settings (none = absent).
struct AttentionProblem : HeadsProblem {
  const HostTensor *keyScale = nullptr, *valueScale = nullptr;
  /// Pages of keys by batch entry, and the ends of the sequences whose queries,
  /// and whose keys, are in one tensor.
  const HostTensor *pageTable = nullptr, *rowEnds = nullptr, *keyEnds = nullptr;
  const HostTensor *bias = nullptr, *mask = nullptr, *kvLengths = nullptr,
                   *queryOffset = nullptr, *sinks = nullptr;

  std::optional<double> softcap;
  std::optional<int64_t> windowLeft, windowRight;
  Diagonal causal = Diagonal::None;

  /// What changes a score, and what leaves out a key; null is absent.
  std::shared_ptr<const RegionFunction> scoreMod, maskMod;
  /// What regions call the first entry of the batch.
  int64_t firstEntry = 0;

  /// How many bits queries, keys and values have as factors of a plain computation;
  /// 0: all that they have.
  unsigned factorBits = 0;

  /// The type in which the weights are wanted, if they are.
  std::optional<ElementKind> weights;
};

/// What one attention gives.
struct AttentionResult {
  HostTensor output;
  HostTensor lse;

  /// [B, H, M, N]; without elements where the problem does not want them.
  HostTensor weights;

  /// An i1 tensor in the shape of `output`: true where a NaN or an infinity in
  /// a value that some row of the same batch and key head attends to may show,
  /// although the row excludes it.
  HostTensor mayShow;

  /// Largest finite |s| and |value| that some row does not exclude: `S` and
  /// `V` of the error bound. A cap or a region hides the size of a score, not its
  /// error: a score counts before and after it.
  double largestScore = 0, largestValue = 0;

  /// The largest finite |s| that a weight goes by.
  double largestFinalScore = 0;

  /// How many pairs of a row and a key are not excluded, over all heads.
  int64_t attended = 0;
};

/// Compute `problem` in f64, in long double for an f64 query. Fails where
/// shapes do not fit together.
llvm::Expected<AttentionResult>
computeReference(const AttentionProblem &problem);

/// Compute `problem` as a plain program would: in f32 (f64 for an f64 query),
/// weights normalised before the product and not rounded, one rounding to
/// `outputKind` at the end.
llvm::Expected<AttentionResult> computePlain(const AttentionProblem &problem,
                                             ElementKind outputKind);

} // namespace mlir::attn

#endif // ATTN_EXECUTION_REFERENCE_H
