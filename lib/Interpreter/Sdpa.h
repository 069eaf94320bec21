// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention on values of the interpreter, shared by attn.sdpa and attn.mha.

#ifndef ATTN_LIB_INTERPRETER_SDPA_H
#define ATTN_LIB_INTERPRETER_SDPA_H

#include "Machine.h"

#include "attn/IR/AttentionShape.h"

#include "attn/IR/AttnOps.h"

#include <cmath>

namespace mlir::attn {

/// A rank-4 tensor whose element is named by batch, head, sequence, channel.
struct Heads {
  Heads(const TensorValue &tensor, Layout layout)
      : tensor(tensor), isHeadsFirst(layout == Layout::bhsd),
        heads(tensor.shape[headDim(layout)]),
        sequence(tensor.shape[sequenceDim(layout)]),
        channels(tensor.shape[kChannelDim]) {}

  /// Return where the channels of one head of one token begin.
  int64_t rowOffset(int64_t b, int64_t h, int64_t s) const {
    int64_t row = isHeadsFirst ? h * sequence + s : s * heads + h;
    return (b * heads * sequence + row) * channels;
  }

  const Cell *row(int64_t b, int64_t h, int64_t s) const {
    return tensor.cells.data() + rowOffset(b, h, s);
  }

  const TensorValue &tensor;
  bool isHeadsFirst;
  int64_t heads, sequence, channels;
};

/// Raise `largest` to the magnitude of `number`, if that is finite.
inline void noteMagnitude(double number, double &largest) {
  if (std::isfinite(number))
    largest = std::max(largest, std::fabs(number));
}

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
  /// How many bits queries, keys and values keep as factors; 0: all.
  unsigned factorBits = 0;
  /// Whether the weights are wanted.
  bool weights = false;
};

/// Set in `in` what attn.sdpa and attn.mha say alike: which keys count, and how much.
template <typename Op>
void readRules(Machine &machine, Op op, SdpaInputs &in) {
  in.bias = machine.getOptionalTensor(op.getBias());
  in.mask = machine.getOptionalTensor(op.getMask());
  in.lengths = machine.getOptionalTensor(op.getKvLengths());
  in.sinks = machine.getOptionalTensor(op.getSinks());
  if (Value offset = op.getQueryOffset())
    in.offset = machine.get(offset);
  if (std::optional<APFloat> scale = op.getScale())
    in.scale = scale->convertToDouble();
  if (std::optional<APFloat> softcap = op.getSoftcap())
    in.softcap = softcap->convertToDouble();
  if (std::optional<WindowAttr> window = op.getWindow()) {
    in.left = window->getLeft();
    in.right = window->getRight();
  }
  in.causal = op.getCausal();
  if (!op.getScoreMod().empty())
    in.scoreMod = &op.getScoreMod();
  if (!op.getMaskMod().empty())
    in.maskMod = &op.getMaskMod();
  in.factorBits = machine.getFactorBits(op.getPrecision());
}

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

/// Return `tensor` with the elements that it has as factors of `bits` bits.
TensorValue roundFactors(TensorValue tensor, unsigned bits);

/// Store `tensor` as the value `result`.
void setRounded(Machine &machine, Value result, TensorValue tensor);

/// Return the element of `tensor` at `index`, aligned to the right; an extent of 1
/// is the same for all.
Cell broadcast(const TensorValue &tensor, ArrayRef<int64_t> index);

/// Add two numbers; the nearest end of the range where the sum leaves it.
int64_t addSaturating(int64_t a, int64_t b);

/// Return whether a key at `key` is left of, on or right of the diagonal at
/// `position` where the triangle and the window exclude it.
bool isOutsideBand(int64_t key, int64_t position, bool causal,
                   std::optional<int64_t> left, std::optional<int64_t> right);

} // namespace mlir::attn

#endif // ATTN_LIB_INTERPRETER_SDPA_H
