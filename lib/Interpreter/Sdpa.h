// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention on values of the interpreter, shared by attn.sdpa and attn.mha.

#ifndef ATTN_LIB_INTERPRETER_SDPA_H
#define ATTN_LIB_INTERPRETER_SDPA_H

#include "Machine.h"

#include "attn/IR/AttnOps.h"

namespace mlir::attn {

/// Operands and settings of one attention; null or none is absent.
struct SdpaInputs {
  const TensorValue *query = nullptr, *key = nullptr, *value = nullptr;
  const TensorValue *keyScale = nullptr, *valueScale = nullptr;
  const TensorValue *bias = nullptr, *mask = nullptr, *lengths = nullptr,
                    *sinks = nullptr;
  /// Regions; null is absent.
  Region *scoreMod = nullptr, *maskMod = nullptr;
  /// What regions call the first entry of the batch.
  int64_t firstEntry = 0;
  std::optional<RuntimeValue> offset;
  std::optional<double> scale, softcap;
  std::optional<int64_t> left, right;
  Causal causal = Causal::None;
  Layout queryLayout = Layout::bhsd, keyLayout = Layout::bhsd,
         valueLayout = Layout::bhsd, outputLayout = Layout::bhsd;
  /// Whether the weights are wanted.
  bool weights = false;
};

/// What says where the keys and rows of an attention lie; null is absent.
struct SdpaPlaces {
  const TensorValue *table = nullptr, *rowEnds = nullptr, *keyEnds = nullptr;

  explicit operator bool() const { return table || rowEnds; }
};

/// What attention gives, before it is stored in a type.
struct SdpaOutputs {
  TensorValue output, lse;
  /// [B, H, M, N], or empty.
  TensorValue weights;
};

/// Compute attention; complaints about shapes are made at `op`.
FailureOr<SdpaOutputs> computeSdpa(Machine &machine, Operation *op,
                                   const SdpaInputs &inputs);

/// Compute attention whose keys are in pages or whose sequences are in one tensor,
/// one entry of the batch after the other.
FailureOr<SdpaOutputs> computePlacedSdpa(Machine &machine, Operation *op,
                                         const SdpaInputs &inputs,
                                         const SdpaPlaces &places);

/// Add two numbers; the nearest end of the range where the sum leaves it.
int64_t addSaturating(int64_t a, int64_t b);

/// Return whether a key at `key` is left of, on or right of the diagonal at
/// `position` where the triangle and the window exclude it.
bool isOutsideBand(int64_t key, int64_t position, bool causal,
                   std::optional<int64_t> left, std::optional<int64_t> right);

} // namespace mlir::attn

#endif // ATTN_LIB_INTERPRETER_SDPA_H
