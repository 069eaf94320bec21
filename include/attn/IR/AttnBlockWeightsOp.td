// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.block_weights: the second pass of a tiled attention whose weights are asked for.

#ifndef ATTN_IR_ATTNBLOCKWEIGHTSOP_TD
#define ATTN_IR_ATTNBLOCKWEIGHTSOP_TD

include "attn/IR/AttnTypes.td"

def Attn_BlockWeightsOp : Attn_Op<"block_weights", [
    AttrSizedOperandSegments, NoMemoryEffect,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
      ["reifyResultShapes"]>,
    DeclareOpInterfaceMethods<AggregatedOpInterface,
      ["decomposeOperation"]>]> {
  let summary = "the weights of a block of rows on a block of keys";
  let description = [{
    Computes the scores of some query rows and the keys of one block as
    `attn.block_step` does, and gives the weights that they have where a row's
    state over all keys is known: its reference, and the factor that `attn.finish`
    multiplies what is relative to it by.

    ```
    s(i,j)       = the score of attn.block_step, -inf where the key is excluded
    weights(i,j) = exp(s(i,j) - reference(i)) * factor(i), 0 where s(i,j) is -inf
    ```

    `at`, `bounded`, the attributes and the regions mean what they mean for `attn.block_step`.

    #### Shapes

    | tensor | plain | packed |
    |---|---|---|
    | `query` | `[R, D]` | `[S, MR, D]` |
    | `key` | `[N, D]` | `[NP, D, NR]` |
    | `reference` | `[R]` | `[S, MR]` |
    | `factor` | `[R]` | `[S, MR, NR]`, the same in all lanes |
    | `bias`, `mask` | `[heads, rows, keys]` of the task, each 1 or full | the same |
    | `weights` | `[R, N]` | `[S, NP, MR, NR]` |

    #### Corner cases

    * A row without a key, whose `reference` is `-inf`: its weights are 0.
    * Scores of any size: the difference is taken in natural units, so a row of the
      lowest finite number has equal weights.
    * A NaN in a score shows in the weights of its row, where no key is excluded.
    * What stands for rows and keys that only fill a strip or a panel is not defined.

    #### What is left open

    Nothing but the rounding.

    #### Constraints

    * (block_weights-C1) `reference` and `factor` are of f32, or of f64 if `query` is.
    * (block_weights-C2) `scale` is finite, `softcap` finite and above 0.
    * (block_weights-C3) `query`, `key`, `reference`, `factor` and `weights` have
      the shapes of one column above.
    * (block_weights-C4) `key` is of f64 only if `query` is.
    * (block_weights-C5) `bias` and `mask` have rank 3; `bias` is of f64 only if
      `query` is.
    * (block_weights-C6) `MR` and `NR` are static.
    * (block_weights-C7) The `schedule` has no `streams`.
    * (block_weights-C8), (block_weights-C9) What (sdpa-C21) and (sdpa-C22) say of
      regions; the score is of the type of `reference`.

    #### Examples

    ```mlir
    func.func @weights(%q: tensor<16x64xf32>, %k: tensor<?x64xf32>,
                       %r: tensor<16xf32>, %f: tensor<16xf32>, %row: index,
                       %key: index, %n: index) -> tensor<16x?xf32> {
      %zero = arith.constant 0 : index
      %rows = arith.constant 128 : index
      %w = attn.block_weights %q, %k
        rows(%r, %f : tensor<16xf32>, tensor<16xf32>)
        at(batch %zero, head %zero, row %row per %rows, position %zero,
           key %key of %n) scale = 0.125 causal bounded
        : tensor<16x64xf32>, tensor<?x64xf32> -> tensor<16x?xf32>
      return %w : tensor<16x?xf32>
    }
    ```
  }];
  let arguments = (ins
    Attn_Tensor:$query, Attn_Tensor:$key,
    Optional<Attn_Tensor>:$bias, Optional<Attn_MaskTensor>:$mask,
    Attn_LseTensor:$reference, Attn_LseTensor:$factor,
    Index:$batch, Index:$head, Index:$row, Index:$rows_per_head,
    Index:$position, Index:$first_key, Index:$length,
    F64Attr:$scale, UnitAttr:$causal, OptionalAttr<Attn_WindowAttr>:$window,
    OptionalAttr<F64Attr>:$softcap, UnitAttr:$bounded,
    OptionalAttr<Attn_ScheduleAttr>:$schedule);
  let regions = (region VariadicRegion<SizedRegion<1>>:$mods);
  let results = (outs Attn_Tensor:$weights);
  let assemblyFormat = [{
    $query `,` $key
    (`bias` `(` $bias^ `:` type($bias) `)`)?
    (`mask` `(` $mask^ `:` type($mask) `)`)?
    `rows` `(` $reference `,` $factor `:` type($reference) `,` type($factor) `)`
    `at` `(` `batch` $batch `,` `head` $head `,` `row` $row `per`
    $rows_per_head `,` `position` $position `,` `key` $first_key `of`
    $length `)`
    `scale` `=` $scale (`causal` $causal^)? (`window` `=` $window^)?
    (`softcap` `=` $softcap^)? (`bounded` $bounded^)?
    (`schedule` `=` $schedule^)?
    custom<ScoreBodies>($mods)
    attr-dict `:` type($query) `,` type($key) `->` type($weights)
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// Return the region on scores, or the one on keys; null where there is none.
    Region *getScoreMod();
    Region *getMaskMod();
  }];
}

#endif // ATTN_IR_ATTNBLOCKWEIGHTSOP_TD
