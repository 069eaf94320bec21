// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.sdpa: scaled dot-product attention.

#ifndef ATTN_IR_ATTNSDPAOP_TD
#define ATTN_IR_ATTNSDPAOP_TD

include "attn/IR/AttnTypes.td"

def Attn_SdpaOp : Attn_Op<"sdpa", [
    AttrSizedOperandSegments, AttrSizedResultSegments, NoMemoryEffect,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
      ["reifyResultShapes"]>,
    DeclareOpInterfaceMethods<AggregatedOpInterface,
      ["decomposeOperation"]>,
    DeclareOpInterfaceMethods<TilingInterface, [
      "getLoopIteratorTypes", "getIterationDomain", "getTiledImplementation",
      "getResultTilePosition"]>]> {
  let summary = "scaled dot-product attention";
  let description = [{
    Each row of `query` looks at the rows of `key`, weighs them by their
    products, and returns the weighted mean of the rows of `value`.

    ```
    s(i,j) = scale * q(i) . k(j)                 scale: 1/sqrt(D) by default
    s(i,j) = score_mod(s(i,j), b, h, p, j)       if there is a score_mod
    s(i,j) = softcap * tanh(s(i,j) / softcap)    if there is a softcap
    s(i,j) = s(i,j) + bias(i,j)                  if there is a bias
    P(i,.) = softmax of s(i,.) over the keys that are not excluded
    output(i) = sum over j of P(i,j) * v(j)
    lse(i) = log(sum over j of exp(s(i,j)))
    weights(i,j) = P(i,j), and 0 where the key is excluded
    ```

    A key `j` is excluded for the row at position `p` where

    * `mask` or `mask_mod(b, h, p, j)` is false, or
    * `j >= n`, with `n = clamp(kv_lengths[b], 0, N)`, or `N` without lengths, or
    * `causal` is not `none` and `j > p`, or
    * it is outside the window: `j < p - left` or `j > p + right`, or
    * its score is `-inf` after `score_mod`, or after the bias.

    The position of row `i` is `p = i + query_offset`; without that operand
    `p = i` for `none` and `top_left`, and `p = i + n - M` for `bottom_right`. It
    may be negative, and is never clamped. `sinks` add `exp(sink[h])` to the
    denominator of each row of head `h`, and to the sum in `lse`; they are neither
    scaled nor capped, and have no value. Head `h` reads key head `h / (H / G)`.

    `score_mod` and `mask_mod` are regions. They take the entry of the batch, the
    head, the position `p` of the row and the key, may use values from outside,
    and may read tensors from outside at any index. They behave as if they were
    evaluated only for keys that nothing else excludes. Some rules have a short
    form, which is read as the region and printed so: `score_mod = alibi(...)`,
    `t5_bias(...)`, `t5_causal_bias(...)`; `mask_mod = prefix_lm(...)`,
    `documents(...)`.

    #### Shapes

    | tensor | `bhsd` | `bshd` |
    |---|---|---|
    | `query` | `[B, H, M, D]` | `[B, M, H, D]` |
    | `key` | `[B, G, N, D]` | `[B, N, G, D]` |
    | `value` | `[B, G, N, E]` | `[B, N, G, E]` |
    | `output` | `[B, H, M, E]` | `[B, M, H, E]` |
    | `bias`, `mask` | rank 1 to 4, aligned to the right of `[B, H, M, N]` | the same |
    | `kv_lengths` | `[B]` | the same |
    | `query_offset` | a number, or `[B]` | the same |
    | `sinks` | `[H]` | the same |
    | `lse` | `[B, H, M]` | the same |
    | `weights` | `[B, H, M, N]` | the same |

    `layout` says which column holds: one word for all tensors, or one for each.

    #### Storage

    Keys and values may be kept in a smaller type than the query's. Each element
    is converted to f32 as it is read, and multiplied by its `key_scale` or
    `value_scale`, 1 where there is none. A scale is aligned to the right of
    `[B, G, N]`: one number for all, `[G, 1]` for each head, `[B, G, N]` for each
    token. Only a static 1 broadcasts. Scales of excluded keys do not matter.

    With a `page_table` keys and values lie in a pool of pages of `page` tokens
    each: `key` is `[pool, G, page, D]`, or `[pool, page, G, D]` where it is `bshd`,
    `value` likewise, and a scale of each token is `[pool, G, page]`. Token `j` of
    batch entry `b` is number `j mod page` of page `page_table[b, j / page]`, and
    `N` is `pages * page`. An entry is read only if its page holds a key below `n`
    that is inside the window of some row; such an entry must be the number of a
    page, or it is an error when the program runs. What is in the others does not
    matter.

    With `cu_seqlens_q` the queries of `B` sequences follow one another in one
    tensor without padding: those of sequence `b` are rows `cu_seqlens_q[b]` to
    `cu_seqlens_q[b + 1] - 1`. With `cu_seqlens_k` so do keys and values; without it
    these have a batch of `B`, or pages. The numbers start with 0, never fall, and
    end with the number of rows, or it is an error when the program runs. `M`, `N`,
    row and key numbers, `kv_lengths` and the alignment are those of each sequence.

    | tensor | with `cu_seqlens_q` |
    |---|---|
    | `query`, `output` | `[Tq, H, D]`, `[Tq, H, E]` |
    | `lse` | `[H, Tq]` |

    | tensor | with `cu_seqlens_k` |
    |---|---|
    | `key`, `value` | `[Tk, G, D]`, `[Tk, G, E]` |
    | `key_scale`, `value_scale` | aligned to the right of `[G, Tk]` |

    All of these may have a leading dimension of 1 before the shape given here; the
    layout of the tensor then says which comes first, heads or rows.

    Every dimension may be dynamic, and every dimension may be 0. Of `bias` and
    `mask` only a static 1 broadcasts: a dynamic extent has to be the full one, and
    is an error when the program runs if it is not; so are dynamic extents that
    break a constraint below.

    #### Precision

    `precision` says what a GPU may do to the factors of products of f32, those of
    queries with keys and of weights with values. `exact`, the default: nothing.
    `tf32`: round them to 11 bits. `tf32x3`: take each as the sum of two numbers of
    11 bits, and leave out the product of both second ones, which is at most 2^-21
    of the whole for each product. Sums are those of f32 in any case. A processor
    multiplies exactly, whatever it says, and so does a GPU where attention is not
    worked on by blocks of threads.

    #### Corner cases

    * A row without a key: `output` and `weights` are 0, `lse` is `-inf`. With a
      sink `lse` is the sink. `N = 0` makes all rows such rows.
    * `D = 0`: all products are 0, and the default scale is 1.
    * What an excluded key or an unread value holds, NaN and Inf included, has no
      effect on the row.
    * A NaN in a row of the query, in its bias or in a key that it reads shows in
      that row.
    * A bias of the lowest finite number is a number: a row of nothing else is the
      mean of the values.
    * A region that reads outside of a tensor for a key that nothing else excludes
      is an error when the program runs.

    #### What is left open

    The order of sums over channels and keys. Products are accumulated in f32, or
    f64 for f64, and rounded to the type of `output` last. Weights may be rounded
    to the type of `value` where `query` and `value` are both f16 or both bf16. The
    bits of a row do not depend on other rows, on `B` or `G`, or on the number of
    threads.

    #### Constraints

    * (sdpa-C1) `query`, `key`, `value` and `output` have rank 4, or 3 where all
      sequences are in one tensor.
    * (sdpa-C2) `key` and `value` have one element type: that of `query`; f16 or
      bf16 under an f32 query; i8, f8E4M3FN or f8E5M2 under one of f16, bf16 or f32.
    * (sdpa-C3) `query`, `key` and `value` agree on `B`; `query` and `key` on `D`;
      `key` and `value` on `G` and `N`.
    * (sdpa-C4) `output` agrees with `query` on `B`, `H` and `M` and with `value`
      on `E`.
    * (sdpa-C5) `H` is a multiple of `G`; with `G = 0`, `H = 0`.
    * (sdpa-C6) An extent of `bias` is 1 or the full one. Its head extent is 1 or
      `H`, never `G`.
    * (sdpa-C7) `bias` is of f64 only if `query` is.
    * (sdpa-C8) An extent of `mask` is 1 or the full one, as for `bias`.
    * (sdpa-C9) `kv_lengths` has shape `[B]`.
    * (sdpa-C10) `query_offset` is a number or has shape `[B]`.
    * (sdpa-C11) There is no `query_offset` with `bottom_right`.
    * (sdpa-C12) `sinks` has shape `[H]`.
    * (sdpa-C13) `sinks` is of f64 only if `query` is.
    * (sdpa-C14) `scale` is finite. It may be 0 or negative.
    * (sdpa-C15) `softcap` is finite and above 0.
    * (sdpa-C16) `lse` has shape `[B, H, M]` in every layout.
    * (sdpa-C17) `lse` is of f32, or of f64 if `query` is.
    * (sdpa-C18) `weights` has shape `[B, H, M, N]` in every layout.
    * (sdpa-C19) `weights` is of f32, or of f64 if `query` is, or of the type of
      `query`.
    * (sdpa-C20) With `weights` the `schedule` has neither `chunk` nor `streams` nor
      `fold_heads`.
    * (sdpa-C21) A region is one block that ends in `attn.yield`. `score_mod` takes
      an f32 (f64 if `query` is of f64) and four indices and yields the former;
      `mask_mod` takes four indices and yields an i1.
    * (sdpa-C22) A region holds element-wise operations on scalars, constants, and
      `tensor.extract` and `tensor.dim` of tensors from outside, nothing else.
    * (sdpa-C23) `key_scale` and `value_scale` go with keys of i8, f8E4M3FN or
      f8E5M2, are not of f64, and an extent of theirs is 1 or the full one.
    * (sdpa-C24) `page_table` has shape `[B, pages]` and elements of i32.
    * (sdpa-C25) There is no `page_table` with `cu_seqlens_k`.
    * (sdpa-C26) `cu_seqlens_q` and `cu_seqlens_k` have shape `[B + 1]` and elements
      of i32 or i64.
    * (sdpa-C27) There is no `cu_seqlens_k` without `cu_seqlens_q`.
    * (sdpa-C28) There is no `bias` and no `mask` with `cu_seqlens_q`.
    * (sdpa-C29) A leading dimension before the rows of all sequences is 1.
    * (sdpa-C30) There are no `weights` with `page_table` or `cu_seqlens_q`.
    * (sdpa-C31) A `precision` other than `exact`, of the op or of its `schedule`,
      goes with a `query` of f32.

    #### Examples

    Two heads, eight rows, eight keys:

    ```mlir
    func.func @self(%q: tensor<1x2x8x16xf32>, %k: tensor<1x2x8x16xf32>,
                    %v: tensor<1x2x8x16xf32>) -> tensor<1x2x8x16xf32> {
      %o = attn.sdpa %q, %k, %v
        : tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32>
        -> tensor<1x2x8x16xf32>
      return %o : tensor<1x2x8x16xf32>
    }
    ```

    One new row of 32 heads against a cache of which `%n` entries are filled; four
    heads share a key head, and the window keeps the last 1024 keys:

    ```mlir
    func.func @decode(%q: tensor<4x32x1x128xf16>, %k: tensor<4x8x?x128xf16>,
                      %v: tensor<4x8x?x128xf16>, %n: tensor<4xi32>)
        -> tensor<4x32x1x128xf16> {
      %o = attn.sdpa %q, %k, %v kv_lengths(%n : tensor<4xi32>)
        causal = bottom_right window = <left = 1023>
        : tensor<4x32x1x128xf16>, tensor<4x8x?x128xf16>, tensor<4x8x?x128xf16>
        -> tensor<4x32x1x128xf16>
      return %o : tensor<4x32x1x128xf16>
    }
    ```

    The same against a cache of bytes with a scale for each token and head:

    ```mlir
    func.func @small_cache(%q: tensor<4x32x1x128xf16>, %k: tensor<4x8x?x128xi8>,
                           %v: tensor<4x8x?x128xi8>, %ks: tensor<4x8x?xf32>,
                           %vs: tensor<4x8x?xf32>) -> tensor<4x32x1x128xf16> {
      %o = attn.sdpa %q, %k, %v key_scale(%ks : tensor<4x8x?xf32>)
        value_scale(%vs : tensor<4x8x?xf32>)
        : tensor<4x32x1x128xf16>, tensor<4x8x?x128xi8>, tensor<4x8x?x128xi8>
        -> tensor<4x32x1x128xf16>
      return %o : tensor<4x32x1x128xf16>
    }
    ```

    Tensors in the order in which projections leave them, a bias for each head, a
    padding mask, capped scores, and the logarithm of the sums:

    ```mlir
    func.func @all(%q: tensor<2x?x8x64xbf16>, %k: tensor<2x?x8x64xbf16>,
                   %v: tensor<2x?x8x64xbf16>, %bias: tensor<8x?x?xf32>,
                   %mask: tensor<2x1x1x?xi1>)
        -> (tensor<2x?x8x64xbf16>, tensor<2x8x?xf32>) {
      %o, %lse = attn.sdpa %q, %k, %v bias(%bias : tensor<8x?x?xf32>)
        mask(%mask : tensor<2x1x1x?xi1>) scale = 0.125 softcap = 50.0
        layout = bshd
        : tensor<2x?x8x64xbf16>, tensor<2x?x8x64xbf16>, tensor<2x?x8x64xbf16>
        -> tensor<2x?x8x64xbf16>, tensor<2x8x?xf32>
      return %o, %lse : tensor<2x?x8x64xbf16>, tensor<2x8x?xf32>
    }
    ```

    What each row looks at, to be drawn; this alone takes memory for each pair of a
    row and a key:

    ```mlir
    func.func @inspect(%q: tensor<1x12x?x32xf32>, %k: tensor<1x12x?x32xf32>,
                       %v: tensor<1x12x?x32xf32>)
        -> (tensor<1x12x?x32xf32>, tensor<1x12x?x?xf32>) {
      %o, %w = attn.sdpa %q, %k, %v
        : tensor<1x12x?x32xf32>, tensor<1x12x?x32xf32>, tensor<1x12x?x32xf32>
        -> tensor<1x12x?x32xf32> weights(tensor<1x12x?x?xf32>)
      return %o, %w : tensor<1x12x?x32xf32>, tensor<1x12x?x?xf32>
    }
    ```

    Documents in one sequence: a row attends to the keys of its own, and its scores
    fall with the distance:

    ```mlir
    func.func @documents(%q: tensor<1x8x512x64xf32>, %k: tensor<1x8x512x64xf32>,
                         %v: tensor<1x8x512x64xf32>, %doc: tensor<512xi32>,
                         %slopes: tensor<8xf32>) -> tensor<1x8x512x64xf32> {
      %o = attn.sdpa %q, %k, %v
        score_mod(%s: f32, %b: index, %h: index, %i: index, %j: index) {
          %slope = tensor.extract %slopes[%h] : tensor<8xf32>
          %ahead = arith.subi %j, %i : index
          %short = arith.index_cast %ahead : index to i32
          %distance = arith.sitofp %short : i32 to f32
          %term = arith.mulf %slope, %distance : f32
          %sum = arith.addf %s, %term : f32
          attn.yield %sum : f32
        }
        mask_mod(%b: index, %h: index, %i: index, %j: index) {
          %own = tensor.extract %doc[%i] : tensor<512xi32>
          %other = tensor.extract %doc[%j] : tensor<512xi32>
          %same = arith.cmpi eq, %own, %other : i32
          attn.yield %same : i1
        }
        : tensor<1x8x512x64xf32>, tensor<1x8x512x64xf32>, tensor<1x8x512x64xf32>
        -> tensor<1x8x512x64xf32>
      return %o : tensor<1x8x512x64xf32>
    }
    ```
  }];
  let arguments = (ins
    Attn_Tensor:$query, Attn_StoredTensor:$key, Attn_StoredTensor:$value,
    Optional<Attn_Tensor>:$bias, Optional<Attn_MaskTensor>:$mask,
    Optional<Attn_LengthTensor>:$kv_lengths,
    Optional<Attn_Offset>:$query_offset, Optional<Attn_Tensor>:$sinks,
    Optional<Attn_LengthTensor>:$page_table,
    Optional<Attn_LengthTensor>:$cu_seqlens_q,
    Optional<Attn_LengthTensor>:$cu_seqlens_k,
    Optional<Attn_Tensor>:$key_scale, Optional<Attn_Tensor>:$value_scale,
    OptionalAttr<F64Attr>:$scale,
    DefaultValuedAttr<Attn_CausalEnum, "::mlir::attn::Causal::None">:$causal,
    OptionalAttr<Attn_WindowAttr>:$window,
    OptionalAttr<F64Attr>:$softcap,
    OptionalAttr<Attn_PrecisionEnum>:$precision,
    OptionalAttr<Attn_LayoutsAttr>:$layout,
    OptionalAttr<Attn_ScheduleAttr>:$schedule);
  let results = (outs Attn_Tensor:$output, Optional<Attn_LseTensor>:$lse,
                      Optional<Attn_Tensor>:$weights);
  let regions = (region AnyRegion:$score_mod, AnyRegion:$mask_mod);
  let assemblyFormat = [{
    $query `,` $key `,` $value
    (`bias` `(` $bias^ `:` type($bias) `)`)?
    (`mask` `(` $mask^ `:` type($mask) `)`)?
    (`kv_lengths` `(` $kv_lengths^ `:` type($kv_lengths) `)`)?
    (`query_offset` `(` $query_offset^ `:` type($query_offset) `)`)?
    (`sinks` `(` $sinks^ `:` type($sinks) `)`)?
    (`page_table` `(` $page_table^ `:` type($page_table) `)`)?
    (`cu_seqlens_q` `(` $cu_seqlens_q^ `:` type($cu_seqlens_q) `)`)?
    (`cu_seqlens_k` `(` $cu_seqlens_k^ `:` type($cu_seqlens_k) `)`)?
    (`key_scale` `(` $key_scale^ `:` type($key_scale) `)`)?
    (`value_scale` `(` $value_scale^ `:` type($value_scale) `)`)?
    (`scale` `=` $scale^)?
    (`causal` `=` $causal^)?
    (`window` `=` $window^)?
    (`softcap` `=` $softcap^)?
    (`precision` `=` $precision^)?
    (`layout` `=` custom<Layouts>($layout)^)?
    (`schedule` `=` $schedule^)?
    (`score_mod` custom<ScoreBody>($score_mod)^)?
    (`mask_mod` custom<ScoreBody>($mask_mod)^)?
    attr-dict `:` type($query) `,` type($key) `,` type($value) `->`
    type($output) (`,` type($lse)^)? (`weights` `(` type($weights)^ `)`)?
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    /// Return the layout of the query, key, value and output tensor.
    Layout getQueryLayout();
    Layout getKeyLayout();
    Layout getValueLayout();
    Layout getOutputLayout();

    /// Return the factor on `q . k`: the attribute, or 1/sqrt(D), or 1 for D = 0.
    /// Must not be called without the attribute where D is dynamic.
    double getScaleValue();

    /// Return whether keys and values lie in pages that a table names.
    bool isPaged() { return static_cast<bool>(getPageTable()); }

    /// Return whether the queries, or the keys and values, of all sequences
    /// follow one another in one tensor.
    bool hasPackedRows() { return static_cast<bool>(getCuSeqlensQ()); }
    bool hasPackedKeys() { return static_cast<bool>(getCuSeqlensK()); }
  }];
}

#endif // ATTN_IR_ATTNSDPAOP_TD
