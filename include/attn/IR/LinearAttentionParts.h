// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the definition of attn.linear_attention and its tiled form share.

#ifndef ATTN_IR_LINEARATTENTIONPARTS_H
#define ATTN_IR_LINEARATTENTIONPARTS_H

#include "attn/IR/AttnOps.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::attn {

/// Return e^x. A `fast` one is made of exponentials of numbers that are never
/// positive, which code generation knows as short arithmetic.
Value buildExp(ImplicitLocOpBuilder &b, Value x, bool fast);

/// Return the feature `map` of the float `x`, with exponentials as buildExp.
Value buildFeature(ImplicitLocOpBuilder &b, FeatureMap map, Value x, bool fast);

/// Return the factor on the output of `op` as a float of type `type`:
/// the attribute, or 1/sqrt(D), 1 where `headSize`, D, is 0. With `normalize`
/// there is none, and it is 1.
Value buildOutputScale(ImplicitLocOpBuilder &b, LinearAttentionOp op,
                       OpFoldResult headSize, Type type);

} // namespace mlir::attn

#endif // ATTN_IR_LINEARATTENTIONPARTS_H
