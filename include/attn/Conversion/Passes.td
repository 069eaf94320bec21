// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes from one dialect to another.

#ifndef ATTN_CONVERSION_PASSES_TD
#define ATTN_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def AttnToLinalg : Pass<"convert-attn-to-linalg"> {
  let summary = "attn ops as linalg on tensors";
  let description = [{
    Replaces every op of the dialect by its definition in linalg (the method
    `decomposeOperation` of AggregatedOpInterface), until none is left. On ops that
    no pass has tiled the result is the plain meaning on whole tensors, for any
    compiler that works on linalg; on tiles it is one small computation a tile. An op
    that has no definition is an error.

    ```mlir
    %o = attn.sdpa %q, %k, %v scale = 0.125 : tensor<1x2x8x64xf32>,
         tensor<1x2x16x64xf32>, tensor<1x2x16x64xf32> -> tensor<1x2x8x64xf32>
    ```

    becomes

    ```mlir
    %s = linalg.generic ... ins(%q, %k : ...)  // scores, scaled and selected
    %m = linalg.generic ... ins(%s : ...)      // the maximum of each row
    %p = linalg.generic ... ins(%s, %m : ...)  // exp(s - m)
    %l = linalg.generic ... ins(%p : ...)      // the sum of each row
    %a = linalg.generic ... ins(%p, %v : ...)  // the product with the values
    %o = linalg.generic ... ins(%a, %l : ...)  // divided, rounded
    ```
  }];
}

#endif // ATTN_CONVERSION_PASSES_TD
