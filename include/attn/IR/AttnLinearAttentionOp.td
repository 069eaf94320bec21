// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.linear_attention: attention by a state that does not grow with the sequence.

#ifndef ATTN_IR_ATTNLINEARATTENTIONOP_TD
#define ATTN_IR_ATTNLINEARATTENTIONOP_TD

include "attn/IR/AttnTypes.td"

def Attn_UpdateRuleEnum : Attn_Enum<"UpdateRule", "how a step changes the state", [
  I32EnumAttrCase<"Linear", 0, "linear">,
  I32EnumAttrCase<"Gated", 1, "gated">,
  I32EnumAttrCase<"Delta", 2, "delta">,
  I32EnumAttrCase<"GatedDelta", 3, "gated_delta">
]>;

def Attn_FeatureMapEnum : Attn_Enum<"FeatureMap", "what acts on queries and keys first", [
  I32EnumAttrCase<"Identity", 0, "identity">,
  I32EnumAttrCase<"Elu1", 1, "elu1">,
  I32EnumAttrCase<"Relu", 2, "relu">,
  I32EnumAttrCase<"Exp", 3, "exp">
]>;

def Attn_LinearAttentionOp : Attn_Op<"linear_attention", [
    AttrSizedOperandSegments, AttrSizedResultSegments, NoMemoryEffect,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
      ["reifyResultShapes"]>,
    DeclareOpInterfaceMethods<AggregatedOpInterface,
      ["decomposeOperation"]>]> {
  let summary = "attention by a state that does not grow with the sequence";
  let description = [{
    Keeps for each key head a matrix `S` of `D` by `E` numbers. Step `t` changes it
    by one key and one value, and then reads it with one query of each head.

    ```
    q, k = f(query(t)), f(key(t))           f: feature_map
    S    = exp(decay(t)) * S                gated, gated_delta
    v'   = beta(t) * (value(t) - S^T k)     delta, gated_delta; else v' = value(t)
    S    = S + k v'^T
    output(t) = scale * S^T q               scale: 1/sqrt(D) by default
    ```

    The read comes after the write. `S` starts as `state`, or as 0, and is
    `new_state` at the end. `decay` is one number a step, or one for each of the `D`
    rows of `S`. Head `h` reads the state of key head `h / (H / G)`.

    With `normalize`, `z = exp(decay(t)) * z + k` goes along with `S`, from
    `normalizer` or 0 to `new_normalizer`, and the output is `S^T q / z^T q` without
    a scale, and 0 where the denominator is 0.

    With `non_causal`, all steps write before any query reads, and the number of
    queries may be another than that of keys.

    | feature map | `f(x)` |
    |---|---|
    | `identity` | `x` |
    | `elu1` | `x + 1` where `x > 0`, else `exp(x)` |
    | `relu` | 0 where `x < 0`, else `x` |
    | `exp` | `exp(x)` |

    #### Shapes

    | tensor | `bhsd` | `bshd` |
    |---|---|---|
    | `query` | `[B, H, T, D]` | `[B, T, H, D]` |
    | `key` | `[B, G, T, D]` | `[B, T, G, D]` |
    | `value` | `[B, G, T, E]` | `[B, T, G, E]` |
    | `output` | `[B, H, T, E]` | `[B, T, H, E]` |
    | `decay` | `[B, G, T]` or `[B, G, T, D]` | the same |
    | `beta` | `[B, G, T]` or `[B, 1, T]` | the same |
    | `state`, `new_state` | `[B, G, D, E]` | the same |
    | `normalizer`, `new_normalizer` | `[B, G, D]` | the same |

    `layout` says which column holds: one word for all tensors, or one for each.
    Every dimension may be dynamic, and every dimension may be 0. Of `beta` only a
    static 1 is repeated for all heads.

    #### Corner cases

    * `T = 0`: `new_state` is `state`. `D = 0`: the output is 0.
    * A `decay` of `-inf` forgets all of a finite state. A positive one is computed
      as written.
    * A NaN or an infinity at step `t` shows from `t` on; compiled code may show it a
      few steps before, fewer than the rows of a register tile.

    #### What is left open

    The order of sums, and whether steps are taken one by one or several at a time.
    The state is kept in f32, or f64 for f64, and results are rounded to their types
    last. The bits of a head do not depend on other heads, on `B` or `G`, or on the
    number of threads.

    #### Constraints

    * (linear-C1) `query`, `key`, `value` and `output` have rank 4.
    * (linear-C2) `key` and `value` have the element type of `query`.
    * (linear-C3) `query`, `key` and `value` agree on `B`; `query` and `key` on `D`;
      `key` and `value` on `G` and `T`.
    * (linear-C4) `query` and `key` agree on `T`, unless `non_causal`.
    * (linear-C5) `output` agrees with `query` on `B`, `H` and `T` and with `value`
      on `E`.
    * (linear-C6) `H` is a multiple of `G`; with `G = 0`, `H = 0`.
    * (linear-C7) There is a `decay` just for the rules `gated` and `gated_delta`.
    * (linear-C8) `decay` has shape `[B, G, T]` or `[B, G, T, D]`.
    * (linear-C9) There is a `beta` just for the rules `delta` and `gated_delta`.
    * (linear-C10) `beta` has shape `[B, G, T]` or `[B, 1, T]`.
    * (linear-C11) `decay` and `beta` are of f64 only if `query` is.
    * (linear-C12) `state` and `new_state` have shape `[B, G, D, E]`.
    * (linear-C13) `normalizer` and `new_normalizer` have shape `[B, G, D]`.
    * (linear-C14) These four are of f32, or of f64 if `query` is.
    * (linear-C15) A `normalizer`, in or out, comes with `normalize` only.
    * (linear-C16) `normalize` comes with the rules `linear` and `gated`, and with a
      feature map other than `identity`.
    * (linear-C17) `scale` is finite, and absent with `normalize`.
    * (linear-C18) `non_causal` comes with the rule `linear`.

    #### Examples

    Sixteen steps of two heads from an empty state:

    ```mlir
    func.func @linear(%q: tensor<1x2x16x8xf32>, %k: tensor<1x2x16x8xf32>,
                      %v: tensor<1x2x16x4xf32>) -> tensor<1x2x16x4xf32> {
      %o = attn.linear_attention %q, %k, %v rule = linear
        : tensor<1x2x16x8xf32>, tensor<1x2x16x8xf32>, tensor<1x2x16x4xf32>
        -> tensor<1x2x16x4xf32>
      return %o : tensor<1x2x16x4xf32>
    }
    ```

    A gated delta rule whose state comes from the steps before and goes to those
    after; four heads share a state:

    ```mlir
    func.func @gated_delta(%q: tensor<1x16x?x128xbf16>,
                           %k: tensor<1x4x?x128xbf16>,
                           %v: tensor<1x4x?x128xbf16>, %g: tensor<1x4x?xf32>,
                           %beta: tensor<1x4x?xf32>,
                           %s: tensor<1x4x128x128xf32>)
        -> (tensor<1x16x?x128xbf16>, tensor<1x4x128x128xf32>) {
      %o, %next = attn.linear_attention %q, %k, %v
        decay(%g : tensor<1x4x?xf32>) beta(%beta : tensor<1x4x?xf32>)
        state(%s : tensor<1x4x128x128xf32>) rule = gated_delta
        : tensor<1x16x?x128xbf16>, tensor<1x4x?x128xbf16>,
          tensor<1x4x?x128xbf16> -> tensor<1x16x?x128xbf16>
        state(tensor<1x4x128x128xf32>)
      return %o, %next : tensor<1x16x?x128xbf16>, tensor<1x4x128x128xf32>
    }
    ```

    Positive features, outputs that are weighted means, and all steps seen by all:

    ```mlir
    func.func @encoder(%q: tensor<2x?x8x64xf32>, %k: tensor<2x?x8x64xf32>,
                       %v: tensor<2x?x8x64xf32>)
        -> (tensor<2x?x8x64xf32>, tensor<2x8x64x64xf32>, tensor<2x8x64xf32>) {
      %o, %s, %z = attn.linear_attention %q, %k, %v rule = linear
        feature_map = elu1 normalize non_causal layout = bshd
        : tensor<2x?x8x64xf32>, tensor<2x?x8x64xf32>, tensor<2x?x8x64xf32>
        -> tensor<2x?x8x64xf32> state(tensor<2x8x64x64xf32>)
        normalizer(tensor<2x8x64xf32>)
      return %o, %s, %z
        : tensor<2x?x8x64xf32>, tensor<2x8x64x64xf32>, tensor<2x8x64xf32>
    }
    ```
  }];
  let arguments = (ins
    Attn_Tensor:$query, Attn_Tensor:$key, Attn_Tensor:$value,
    Optional<Attn_Tensor>:$decay, Optional<Attn_Tensor>:$beta,
    Optional<Attn_LseTensor>:$state, Optional<Attn_LseTensor>:$normalizer,
    Attn_UpdateRuleEnum:$rule,
    OptionalAttr<F64Attr>:$scale,
    DefaultValuedAttr<Attn_FeatureMapEnum,
      "::mlir::attn::FeatureMap::Identity">:$feature_map,
    UnitAttr:$normalize, UnitAttr:$non_causal,
    OptionalAttr<Attn_LayoutsAttr>:$layout,
    OptionalAttr<Attn_ScheduleAttr>:$schedule);
  let results = (outs Attn_Tensor:$output, Optional<Attn_LseTensor>:$new_state,
                      Optional<Attn_LseTensor>:$new_normalizer);
  let assemblyFormat = [{
    $query `,` $key `,` $value
    (`decay` `(` $decay^ `:` type($decay) `)`)?
    (`beta` `(` $beta^ `:` type($beta) `)`)?
    (`state` `(` $state^ `:` type($state) `)`)?
    (`normalizer` `(` $normalizer^ `:` type($normalizer) `)`)?
    `rule` `=` $rule
    (`scale` `=` $scale^)?
    (`feature_map` `=` $feature_map^)?
    (`normalize` $normalize^)?
    (`non_causal` $non_causal^)?
    (`layout` `=` custom<Layouts>($layout)^)?
    (`schedule` `=` $schedule^)?
    attr-dict `:` type($query) `,` type($key) `,` type($value) `->`
    type($output) (`state` `(` type($new_state)^ `)`)?
    (`normalizer` `(` type($new_normalizer)^ `)`)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Return the layout of the query, key, value and output tensor.
    Layout getQueryLayout();
    Layout getKeyLayout();
    Layout getValueLayout();
    Layout getOutputLayout();

    /// Return whether the rule multiplies the state by a decay.
    bool isGated() {
      return getRule() == UpdateRule::Gated ||
             getRule() == UpdateRule::GatedDelta;
    }

    /// Return whether the rule writes what the state does not know yet.
    bool isDelta() {
      return getRule() == UpdateRule::Delta ||
             getRule() == UpdateRule::GatedDelta;
    }

    /// Return whether each row of the state has a decay of its own.
    bool hasChannelDecay();
  }];
}

#endif // ATTN_IR_ATTNLINEARATTENTIONOP_TD
