// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention as models have it, under names that stay.

#ifndef ATTN_EXECUTION_BENCHWORKLOADS_H
#define ATTN_EXECUTION_BENCHWORKLOADS_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace mlir::attn {

/// One attention with as many value channels as key channels.
struct NamedWorkload {
  /// Where the diagonal lies: nowhere, from the first row and key (a prompt),
  /// or to the last row and key (new rows over a cache).
  enum class Diagonal { None, TopLeft, BottomRight };

  /// What decides beside the diagonal which keys count, and how much.
  enum class Scores { Plain, Mask, Bias };

  /// Keys before and after a row's own that it sees; -1 for all.
  struct Window {
    int64_t left = -1, right = -1;
  };

  /// What it stands for: prompts, images, decode; more of all kinds; rules written
  /// as regions; layers; linear attention.
  StringLiteral group;
  StringLiteral name;
  int64_t batch, heads, kvHeads, rows, keys, headSize;
  StringLiteral type;
  Diagonal causal = Diagonal::None;
  Scores scores = Scores::Plain;
  Window window = {};
  /// Whether each batch has a number of keys of its own.
  bool ragged = false;
  /// The rule of a linear attention; empty for attention by softmax.
  StringLiteral rule = "";
  /// The conditions of a mask_mod, after which `%kept` says whether a key counts;
  /// none where it is empty.
  StringLiteral maskMod = "";
  /// Documents of equal length, of which a row sees its own; 0 for none.
  int64_t documents = 0;

  /// Return which document each key belongs to; none without documents.
  SmallVector<int64_t> getDocuments() const;

  /// Return how many keys each batch has; none unless they are ragged.
  SmallVector<int64_t> getLengths() const;

  /// Return a module whose only function, `f`, is this attention of query, key,
  /// value and then mask, bias or lengths.
  std::string getModule() const;

  /// Return the shape in words.
  std::string describe() const;
};

/// Return all workloads.
ArrayRef<NamedWorkload> getNamedWorkloads();

/// Print `workloads` as one JSON object: shapes and modules.
void printJson(ArrayRef<const NamedWorkload *> workloads, raw_ostream &os);

} // namespace mlir::attn

#endif // ATTN_EXECUTION_BENCHWORKLOADS_H
