// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.mha: the whole layer.

#ifndef ATTN_IR_ATTNMHAOP_TD
#define ATTN_IR_ATTNMHAOP_TD

include "attn/IR/AttnTypes.td"

def Attn_MhaOp : Attn_Op<"mha", [
    AttrSizedOperandSegments, AttrSizedResultSegments, NoMemoryEffect,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
      ["reifyResultShapes"]>,
    DeclareOpInterfaceMethods<AggregatedOpInterface,
      ["decomposeOperation"]>]> {
  let summary = "multi-head attention, the whole layer";
  let description = [{
    Projects tokens to queries, keys and values, lets every head attend, and
    projects the heads' outputs back. It is defined by its decomposition:

    ```
    q = heads(x Wq^T + bq);  k = kv_heads(y Wk^T + bk);  v = kv_heads(y Wv^T + bv)
    q = rope(q);  k = rope(k)                     if there are rotary tables
    k = past_key ++ k;  v = past_value ++ v       if there is a past
    a = attn.sdpa q, k, v ...                     with all its modifiers
    output = join(a) Wo^T + bo
    present_key = k;  present_value = v           if asked for
    ```

    where `y` is `memory` if given (cross-attention), else `x`. `bias`, `mask`,
    `kv_lengths`, `query_offset`, `sinks`, `scale`, `causal`, `window`, `softcap`,
    `score_mod`, `mask_mod` and `lse` mean what they mean for `attn.sdpa`; `N` and `kv_lengths` count the
    past too. `precision` is that of the projections as well.

    #### Shapes

    | tensor | shape |
    |---|---|
    | `x` | `[B, M, C]` |
    | `memory` | `[B, N', C']`; without it `N' = M` and `C' = C` |
    | `q_weight`, `q_bias` | `[H * D, C]`, `[H * D]` |
    | `k_weight`, `k_bias` | `[G * D, C']`, `[G * D]` |
    | `v_weight`, `v_bias` | `[G * E, C']`, `[G * E]` |
    | `o_weight`, `o_bias` | `[F, H * E]`, `[F]` |
    | `cos`, `sin`, `positions` | as for `attn.rope`, with `S = M` |
    | `past_key`, `past_value` | `[B, G, P, D]`, `[B, G, P, E]` |
    | `output` | `[B, M, F]` |
    | `present_key`, `present_value` | `[B, G, P + N', D]`, `[B, G, P + N', E]` |
    | `lse` | `[B, H, M]` |

    `H` is `heads` and `G` is `kv_heads`, by default `H`. Weights are stored with a
    row for each output, as frameworks store them; `C` need not be `H * D`. For all
    else `N = P + N'`, with `P = 0` without a past. Every dimension may be dynamic.

    #### Corner cases

    * Those of `attn.sdpa`. A row without a key is the bias of the output
      projection.
    * `present` without `past`: the new keys and values alone, the start of a cache.

    #### What is left open

    What `attn.sdpa` leaves open, and the order of sums in the projections, which
    are accumulated in f32, or f64 for f64, and rounded to the type of `x`.

    #### Constraints

    * (mha-C1) Tokens, weights, biases of the projections and `output` have the
      shapes above.
    * (mha-C2) They and the cache have the element type of `x`.
    * (mha-C3) `heads` and `kv_heads` are at least 1, and the first is a multiple
      of the second.
    * (mha-C4) The weights' extents are multiples of their numbers of heads, and
      give one `D` and one `E`.
    * (mha-C5) `cos` and `sin` come together, `positions` only with them, and have
      the shapes above; the tables have at most `D / 2` columns.
    * (mha-C6) `cos` and `sin` have one element type, which is f64 only if that of
      `x` is.
    * (mha-C7) There are no rotary tables with `memory`: its rows have no positions.
    * (mha-C8) `past_key` and `past_value` come together, `present_key` and
      `present_value` too, and have the shapes above.
    * (mha-C9) to (mha-C20) What (sdpa-C6) to (sdpa-C17) say of `bias`, `mask`,
      `kv_lengths`, `query_offset`, `sinks`, `scale`, `softcap` and `lse`:
      (mha-C9) shape and (mha-C10) type of `bias`; (mha-C11) shape of `mask`;
      (mha-C12) `kv_lengths`; (mha-C13) `query_offset`, (mha-C14) not with
      `bottom_right`; (mha-C15) shape and (mha-C16) type of `sinks`; (mha-C17)
      `scale`; (mha-C18) `softcap`; (mha-C19) shape and (mha-C20) type of `lse`.
    * (mha-C21) With a past, `causal` is `bottom_right`, or `top_left` with a
      `query_offset`: the first new row stands behind the past.
    * (mha-C22), (mha-C23) What (sdpa-C21) and (sdpa-C22) say of regions.
    * (mha-C24) A `precision` other than `exact` goes with an `x` of f32.

    #### Examples

    A layer of an encoder with 12 heads of size 32, padded to the longest sequence:

    ```mlir
    func.func @encoder(%x: tensor<2x?x384xf32>, %wq: tensor<384x384xf32>,
                       %wk: tensor<384x384xf32>, %wv: tensor<384x384xf32>,
                       %wo: tensor<384x384xf32>, %b: tensor<384xf32>,
                       %lengths: tensor<2xi64>) -> tensor<2x?x384xf32> {
      %y = attn.mha %x query(%wq : tensor<384x384xf32>, %b : tensor<384xf32>)
        key(%wk : tensor<384x384xf32>, %b : tensor<384xf32>)
        value(%wv : tensor<384x384xf32>, %b : tensor<384xf32>)
        output(%wo : tensor<384x384xf32>, %b : tensor<384xf32>)
        kv_lengths(%lengths : tensor<2xi64>) heads = 12
        : tensor<2x?x384xf32> -> tensor<2x?x384xf32>
      return %y : tensor<2x?x384xf32>
    }
    ```

    One step of a decoder: 8 heads share 2 key heads, rotary tables, a cache:

    ```mlir
    func.func @decoder(%x: tensor<1x1x512xf16>, %wq: tensor<512x512xf16>,
                       %wk: tensor<128x512xf16>, %wo: tensor<512x512xf16>,
                       %table: tensor<4096x32xf32>, %at: tensor<1x1xi32>,
                       %past: tensor<1x2x?x64xf16>)
        -> (tensor<1x1x512xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>) {
      %y, %keys, %values = attn.mha %x query(%wq : tensor<512x512xf16>)
        key(%wk : tensor<128x512xf16>) value(%wk : tensor<128x512xf16>)
        output(%wo : tensor<512x512xf16>)
        rope(%table : tensor<4096x32xf32>, %table : tensor<4096x32xf32>,
          %at : tensor<1x1xi32>)
        past(%past : tensor<1x2x?x64xf16>, %past : tensor<1x2x?x64xf16>)
        heads = 8 kv_heads = 2 causal = bottom_right
        : tensor<1x1x512xf16> -> tensor<1x1x512xf16>
        present(tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>)
      return %y, %keys, %values
        : tensor<1x1x512xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>
    }
    ```
  }];
  let arguments = (ins
    Attn_Tensor:$x, Optional<Attn_Tensor>:$memory,
    Attn_Tensor:$q_weight, Attn_Tensor:$k_weight,
    Attn_Tensor:$v_weight, Attn_Tensor:$o_weight,
    Optional<Attn_Tensor>:$q_bias, Optional<Attn_Tensor>:$k_bias,
    Optional<Attn_Tensor>:$v_bias, Optional<Attn_Tensor>:$o_bias,
    Optional<Attn_Tensor>:$cos, Optional<Attn_Tensor>:$sin,
    Optional<Attn_LengthTensor>:$positions,
    Optional<Attn_Tensor>:$past_key, Optional<Attn_Tensor>:$past_value,
    Optional<Attn_Tensor>:$bias, Optional<Attn_MaskTensor>:$mask,
    Optional<Attn_LengthTensor>:$kv_lengths,
    Optional<Attn_Offset>:$query_offset, Optional<Attn_Tensor>:$sinks,
    I64Attr:$num_heads, OptionalAttr<I64Attr>:$num_kv_heads,
    OptionalAttr<F64Attr>:$scale,
    DefaultValuedAttr<Attn_CausalEnum, "::mlir::attn::Causal::None">:$causal,
    OptionalAttr<Attn_WindowAttr>:$window,
    OptionalAttr<F64Attr>:$softcap,
    OptionalAttr<Attn_PrecisionEnum>:$precision,
    DefaultValuedAttr<Attn_PairingEnum, "::mlir::attn::Pairing::Half">:$pairing);
  let results = (outs Attn_Tensor:$output, Optional<Attn_Tensor>:$present_key,
                      Optional<Attn_Tensor>:$present_value,
                      Optional<Attn_LseTensor>:$lse);
  let regions = (region AnyRegion:$score_mod, AnyRegion:$mask_mod);
  let assemblyFormat = [{
    $x (`memory` `(` $memory^ `:` type($memory) `)`)?
    `query` `(` $q_weight `:` type($q_weight)
      (`,` $q_bias^ `:` type($q_bias))? `)`
    `key` `(` $k_weight `:` type($k_weight)
      (`,` $k_bias^ `:` type($k_bias))? `)`
    `value` `(` $v_weight `:` type($v_weight)
      (`,` $v_bias^ `:` type($v_bias))? `)`
    `output` `(` $o_weight `:` type($o_weight)
      (`,` $o_bias^ `:` type($o_bias))? `)`
    (`rope` `(` $cos^ `:` type($cos) `,` $sin `:` type($sin)
      (`,` $positions^ `:` type($positions))? `)`)?
    (`past` `(` $past_key^ `:` type($past_key) `,`
      $past_value `:` type($past_value) `)`)?
    (`bias` `(` $bias^ `:` type($bias) `)`)?
    (`mask` `(` $mask^ `:` type($mask) `)`)?
    (`kv_lengths` `(` $kv_lengths^ `:` type($kv_lengths) `)`)?
    (`query_offset` `(` $query_offset^ `:` type($query_offset) `)`)?
    (`sinks` `(` $sinks^ `:` type($sinks) `)`)?
    `heads` `=` $num_heads (`kv_heads` `=` $num_kv_heads^)?
    (`scale` `=` $scale^)?
    (`causal` `=` $causal^)?
    (`window` `=` $window^)?
    (`softcap` `=` $softcap^)?
    (`precision` `=` $precision^)?
    (`pairing` `=` $pairing^)?
    (`score_mod` custom<ScoreBody>($score_mod)^)?
    (`mask_mod` custom<ScoreBody>($mask_mod)^)?
    attr-dict `:` type($x) `->` type($output)
    (`present` `(` type($present_key)^ `,` type($present_value) `)`)?
    (`lse` `(` type($lse)^ `)`)?
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// Return the number of key/value heads: the attribute, or `num_heads`.
    int64_t getKvHeads() { return getNumKvHeads().value_or(getNumHeads()); }
  }];
}

#endif // ATTN_IR_ATTNMHAOP_TD
