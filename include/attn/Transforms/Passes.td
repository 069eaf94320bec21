// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes from attn to attn.

#ifndef ATTN_TRANSFORMS_PASSES_TD
#define ATTN_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def DecomposeLayers : Pass<"attn-decompose-layers"> {
  let summary = "attn.mha and attn.rope as linalg around attn.sdpa";
  let description = [{
    Replaces every `attn.mha` by its definition: projections in linalg, heads split
    off by `tensor.expand_shape`, rotary embedding, `attn.sdpa` on tensors of layout
    `bshd`, heads merged, output projection. Replaces every `attn.rope` by one
    `linalg.generic`. Afterwards no `attn.mha` and no `attn.rope` is left.

    ```mlir
    %y = attn.mha %x query(%wq : tensor<8x8xf32>) key(%wk : tensor<8x8xf32>)
         value(%wv : tensor<8x8xf32>) output(%wo : tensor<8x8xf32>) heads = 2
         : tensor<1x4x8xf32> -> tensor<1x4x8xf32>
    ```

    becomes

    ```mlir
    %q = linalg.generic ... ins(%x, %wq : ...) // also %k and %v
    %qh = tensor.expand_shape %q [[0], [1], [2, 3]] ... // also %kh and %vh
    %o = attn.sdpa %qh, %kh, %vh layout = bshd
         : tensor<1x4x2x4xf32>, tensor<1x4x2x4xf32>, tensor<1x4x2x4xf32>
         -> tensor<1x4x2x4xf32>
    %oh = tensor.collapse_shape %o [[0], [1], [2, 3]] ...
    %y = linalg.generic ... ins(%oh, %wo : ...)
    ```
  }];
}

#endif // ATTN_TRANSFORMS_PASSES_TD
