// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.rope: rotary position embedding.

#ifndef ATTN_IR_ATTNROPEOP_TD
#define ATTN_IR_ATTNROPEOP_TD

include "attn/IR/AttnTypes.td"

def Attn_RopeOp : Attn_Op<"rope", [
    NoMemoryEffect, AllTypesMatch<["input", "output"]>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
      ["reifyResultShapes"]>,
    DeclareOpInterfaceMethods<AggregatedOpInterface,
      ["decomposeOperation"]>]> {
  let summary = "rotary position embedding";
  let description = [{
    Turns pairs of channels of each row by angles that depend on the row's
    position.

    ```
    y1 = x1 * cos - x2 * sin
    y2 = x1 * sin + x2 * cos
    ```

    Of the first `r = rotary_dim` channels (all `D` by default), pair `c` is
    channels `c` and `c + r/2` for the pairing `half`, and `2c` and `2c + 1` for
    `interleaved`; column `c` of the tables holds its cosine and sine. The channels
    from `r` on pass unchanged.

    #### Shapes

    | tensor | shape |
    |---|---|
    | `input`, `output` | `[B, H, S, D]`, or `[B, S, H, D]` in layout `bshd` |
    | `cos`, `sin` with `positions` | `[P, r/2]`: a row for each position |
    | `positions` | `[B, S]` |
    | `cos`, `sin` without `positions` | `[B, S, r/2]`: a row for each token |

    Every dimension may be dynamic.

    #### Corner cases

    * A position that is negative or not below `P` is an error when the program
      runs.
    * `r = 0` leaves the input as it is. `r < D` rotates a part of each head.

    #### What is left open

    Nothing but the rounding: the products and their sum are computed in f32, or
    f64 for f64, and rounded to the type of `output` last.

    #### Constraints

    * (rope-C1) `input` has rank 4.
    * (rope-C2) `cos`, `sin` and `positions` have the shapes above, and agree with
      `input` on `B` and `S`.
    * (rope-C3) `cos` and `sin` have one element type, which is f64 only if that of
      `input` is.
    * (rope-C4) `rotary_dim`, or else `D`, is even, at least 0 and at most `D`.
    * (rope-C5) The tables have `r/2` columns.

    #### Examples

    Tables for 2048 positions:

    ```mlir
    func.func @positions(%x: tensor<2x8x?x64xf32>, %cos: tensor<2048x32xf32>,
                         %sin: tensor<2048x32xf32>, %at: tensor<2x?xi32>)
        -> tensor<2x8x?x64xf32> {
      %y = attn.rope %x, %cos, %sin positions(%at : tensor<2x?xi32>)
        : tensor<2x8x?x64xf32>, tensor<2048x32xf32>, tensor<2048x32xf32>
      return %y : tensor<2x8x?x64xf32>
    }
    ```

    Neighbouring channels of the first 32, tables for each token:

    ```mlir
    func.func @partial(%x: tensor<2x?x8x64xf16>, %cos: tensor<2x?x16xf32>,
                       %sin: tensor<2x?x16xf32>) -> tensor<2x?x8x64xf16> {
      %y = attn.rope %x, %cos, %sin rotary_dim = 32 pairing = interleaved
        layout = bshd
        : tensor<2x?x8x64xf16>, tensor<2x?x16xf32>, tensor<2x?x16xf32>
      return %y : tensor<2x?x8x64xf16>
    }
    ```
  }];
  let arguments = (ins
    Attn_Tensor:$input, Attn_Tensor:$cos, Attn_Tensor:$sin,
    Optional<Attn_LengthTensor>:$positions,
    OptionalAttr<I64Attr>:$rotary_dim,
    DefaultValuedAttr<Attn_PairingEnum, "::mlir::attn::Pairing::Half">:$pairing,
    DefaultValuedAttr<Attn_LayoutEnum, "::mlir::attn::Layout::bhsd">:$layout);
  let results = (outs Attn_Tensor:$output);
  let assemblyFormat = [{
    $input `,` $cos `,` $sin
    (`positions` `(` $positions^ `:` type($positions) `)`)?
    (`rotary_dim` `=` $rotary_dim^)?
    (`pairing` `=` $pairing^)? (`layout` `=` $layout^)?
    attr-dict `:` type($input) `,` type($cos) `,` type($sin)
  }];
  let hasVerifier = 1;
}

#endif // ATTN_IR_ATTNROPEOP_TD
