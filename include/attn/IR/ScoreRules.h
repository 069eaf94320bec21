// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Regions of the rules that models name. Each function fills an empty region of an op; what it captures must dominate
// the op. In IR they are written `score_mod = alibi(...)` and the like.

#ifndef ATTN_IR_SCORERULES_H
#define ATTN_IR_SCORERULES_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Region.h"

namespace mlir::attn {

/// Add `slopes[h] * (j - i)` to the score, of type `scoreType`: a key further back
/// counts less. `slopes` is [H].
void buildAlibi(Region &scoreMod, Value slopes, Type scoreType);

/// The buckets of relative positions of T5.
struct RelativeBuckets {
  int64_t maxDistance = 128;
  /// Whether keys before and behind a row have buckets of their own; else keys
  /// behind it have that of distance 0.
  bool bidirectional = true;
};

/// Add `table[bucket(j - i), h]` to the score, of type `scoreType`. `table` is
/// [buckets, H], with a static, even number of buckets.
void buildT5RelativeBias(Region &scoreMod, Value table,
                         const RelativeBuckets &buckets, Type scoreType);

/// Let a row attend to the first `prefix` keys, and to those up to its own.
/// `prefix` is a number or [B].
void buildPrefixLm(Region &maskMod, Value prefix);

/// Let a row attend to the keys of its own document. `documents` is the number of
/// the document at each position, [positions] or [B, positions].
void buildDocumentMask(Region &maskMod, Value documents);

/// Fails, saying why at `emitError`, unless `value` is what the rule `name` takes.
LogicalResult verifyScoreRule(StringRef name, Value value,
                              function_ref<InFlightDiagnostic()> emitError);

/// Return the names of the rules on scores and of those on keys.
ArrayRef<StringRef> getScoreRules();
ArrayRef<StringRef> getMaskRules();

/// Fill `region` by the rule `name`, one of the above, which captures `value`.
void buildScoreRule(Region &region, StringRef name, Value value);

} // namespace mlir::attn

#endif // ATTN_IR_SCORERULES_H
