// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What tiling makes of attention: a state, one step over a block of keys, the merge of two states, the end.

#ifndef ATTN_IR_ATTNTILEOPS_TD
#define ATTN_IR_ATTNTILEOPS_TD

include "attn/IR/AttnTypes.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"

def Attn_BlockStepOp : Attn_Op<"block_step", [
    AttrSizedOperandSegments, NoMemoryEffect,
    DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
      ["reifyResultShapes"]>,
    DeclareOpInterfaceMethods<AggregatedOpInterface,
      ["decomposeOperation"]>,
    DeclareOpInterfaceMethods<TilingInterface, [
      "getLoopIteratorTypes", "getIterationDomain", "getTiledImplementation",
      "getResultTilePosition"]>,
    DeclareOpInterfaceMethods<PartialReductionOpInterface, [
      "generateInitialTensorForPartialReduction", "tileToPartialReduction",
      "mergeReductions", "getPartialResultTilePosition"]>]> {
  let summary = "fold one block of keys into the state of a block of rows";
  let description = [{
    Takes the state of some query rows over the keys seen so far, and gives their
    state over these keys and those of one block.

    ```
    s(i,j)    = scale * q(i) . k(j), score_mod, softcap and bias as for
                attn.sdpa, -inf where the key is excluded
    top(i)    = max(reference(i), max over j of s(i,j))
    alpha(i)  = exp(reference(i) - top(i))
    P(i,j)    = exp(s(i,j) - top(i))
    new_sum(i) = alpha(i) * sum(i) + sum over j of P(i,j)
    new_acc(i) = alpha(i) * acc(i) + sum over j of P(i,j) * v(j)
    new_reference(i) = top(i)
    ```

    A state is three tensors: a `reference` in natural units, and `sum` and `acc`
    relative to `exp(reference)`. The state over no keys is `(-inf, 0, 0)`.

    `at` says where the block lies, in numbers that tiling does not change: `batch`
    and `head` of the first row; `row`, its number in the task, which counts the
    rows of one head after those of another, `rows_per_head` each; `position`, what
    is added to a row's number in its head to give its position; `first_key`, the
    number of the block's first key; `length`, the number of keys that count.
    `bounded` says that `causal`, `window` or `length` may exclude keys of this
    block. Without it none of the three is looked at.

    The regions take what those of `attn.sdpa` take: `batch`, `head` plus the number
    of the row's head in the task, the position, and the number of the key.
    `masked` says, at run time, whether `mask_mod` may be false for one of the
    block's scores; where it is false `mask_mod` is not looked at.

    `first` says that the state given is that over no keys: what its tensors hold
    is not read.

    `skip_zeros` says, at run time, whether a value whose weight is 0 must be left
    out of the sum whatever it holds. Where it is false, such a value may turn an
    element of `new_acc` into a NaN if it is infinite or NaN itself; that is faster,
    and whoever says so looks for a NaN and computes again. Without the operand
    values of weight 0 are left out.

    #### Shapes

    | tensor | plain | packed | streamed |
    |---|---|---|---|
    | `query` | `[R, D]` | `[S, MR, D]` | `[S, MR, D]` |
    | `key` | `[N, D]` | `[NP, D, NR]` | `[N, D]` |
    | `value` | `[N, E]` | `[EP, NP, NR, ER]` | `[N, E]` |
    | `reference` | `[R]` | `[S, MR]` | `[S, MR]` |
    | `sum` | `[R]` or `[R, L]` | `[S, MR, NR]` | `[S, MR, NR]` |
    | `acc` | `[R, E]` | `[S, EP, MR, ER]` | `[S, 1, MR, E]` |
    | `bias`, `mask` | `[heads, rows, keys]` of the task, each 1 or full | the same | the same |
    | `key_scale`, `value_scale` | `[1]` or `[N]` | none | `[1]` or `[N]` |

    `S` strips of `MR` rows, `NP` panels of `NR` keys, `EP` panels of `ER` channels.
    Rows and keys are packed each for itself; the decomposition wants both or none. A
    packed step may have a plain `value`, of at least as many keys as any row sees.
    A `first` step can be tiled over rows, not over keys.
    `channels` says how many of the `EP * ER` channels count, where not all do: what
    `value` holds in the others does not matter, and `acc` keeps what it holds there.
    A step is streamed where its schedule has `streams`: keys and values stay where
    they are. A sum in lanes is added up by `attn.finish`. What a scale is for, each
    key or all of them, is multiplied by it after its conversion.

    Two attributes say in what a plain state is counted, for code that has no time to
    count otherwise. Under `products` a `reference` is a largest `q(i) . k(j)`, and
    `scale * reference` is what it is elsewhere. Under `exponent` `sum` and `acc` are
    2^exponent times what they are elsewhere, so that weights below the least number
    of f16 do not vanish when they are rounded to it, and a sum may have lanes. The state
    over no keys may then have any reference.

    #### Corner cases

    * A block of which a row may read no key leaves that row's state bit for bit.
    * A NaN in a score shows in `sum` and `acc`, never in `reference`.

    #### What is left open

    The order of sums within the block.

    #### Constraints

    * (block_step-C1) The state is of f32, or of f64 if `query` is, and its three
      tensors have the shapes above.
    * (block_step-C2) `scale` is finite, `softcap` finite and above 0.
    * (block_step-C3) `query`, `key` and `value` have the shapes above.
    * (block_step-C4) `key` and `value` are of f64 only if `query` is.
    * (block_step-C5) `bias` and `mask` have rank 3; `bias` is of f64 only if
      `query` is.
    * (block_step-C6) `MR` and `NR` are static.
    * (block_step-C7) Under a schedule with `streams` all tensors have the shapes
      of the last column; else none has.
    * (block_step-C8) `channels` is above 0, and at most `EP * ER`; `value` is packed.
    * (block_step-C9), (block_step-C10) What (sdpa-C21) and (sdpa-C22) say of
      regions; the score is of the state's type.
    * (block_step-C11) `masked` comes with `mask_mod`.
    * (block_step-C12) `key_scale` and `value_scale` have rank 1 and 1 or `N`
      elements, are of f64 only if `query` is, and keys are not packed.
    * (block_step-C13) Under `products` or `exponent` the state is plain. Under
      `products`, `scale` is above 0 and nothing but exclusion of keys changes scores.
    * (block_step-C14) Where keys are packed and `value` is plain, `E` is static and
      `acc` has `E / ER` panels, rounded up.

    #### Examples

    ```mlir
    func.func @step(%q: tensor<16x64xf32>, %k: tensor<?x64xf32>,
                    %v: tensor<?x32xf32>, %r: tensor<16xf32>, %s: tensor<16xf32>,
                    %a: tensor<16x32xf32>, %row: index, %key: index, %n: index)
        -> (tensor<16xf32>, tensor<16xf32>, tensor<16x32xf32>) {
      %zero = arith.constant 0 : index
      %rows = arith.constant 128 : index
      %r1, %s1, %a1 = attn.block_step %q, %k, %v state(%r, %s, %a)
        at(batch %zero, head %zero, row %row per %rows, position %zero,
           key %key of %n) scale = 0.125 causal bounded
        : tensor<16x64xf32>, tensor<?x64xf32>, tensor<?x32xf32>
        -> tensor<16xf32>, tensor<16xf32>, tensor<16x32xf32>
      return %r1, %s1, %a1 : tensor<16xf32>, tensor<16xf32>, tensor<16x32xf32>
    }
    ```
  }];
  let arguments = (ins
    Attn_Tensor:$query, Attn_StoredTensor:$key, Attn_StoredTensor:$value,
    Optional<Attn_Tensor>:$bias, Optional<Attn_MaskTensor>:$mask,
    Optional<Attn_Tensor>:$key_scale, Optional<Attn_Tensor>:$value_scale,
    Attn_Tensor:$reference, Attn_Tensor:$sum, Attn_Tensor:$acc,
    Index:$batch, Index:$head, Index:$row, Index:$rows_per_head,
    Index:$position, Index:$first_key, Index:$length,
    Optional<I1>:$skip_zeros, Optional<I1>:$masked, F64Attr:$scale,
    UnitAttr:$causal,
    OptionalAttr<Attn_WindowAttr>:$window,
    OptionalAttr<F64Attr>:$softcap, UnitAttr:$bounded,
    UnitAttr:$first, OptionalAttr<I64Attr>:$channels,
    UnitAttr:$products, OptionalAttr<I64Attr>:$exponent,
    OptionalAttr<Attn_ScheduleAttr>:$schedule);
  // Variadic: an op that is destination style and holds an empty region cannot
  // be cloned by patterns of the tensor dialect.
  let regions = (region VariadicRegion<SizedRegion<1>>:$mods);
  let results = (outs Attn_Tensor:$new_reference, Attn_Tensor:$new_sum,
                      Attn_Tensor:$new_acc);
  let assemblyFormat = [{
    $query `,` $key `,` $value
    (`bias` `(` $bias^ `:` type($bias) `)`)?
    (`mask` `(` $mask^ `:` type($mask) `)`)?
    (`key_scale` `(` $key_scale^ `:` type($key_scale) `)`)?
    (`value_scale` `(` $value_scale^ `:` type($value_scale) `)`)?
    `state` `(` $reference `,` $sum `,` $acc `)`
    `at` `(` `batch` $batch `,` `head` $head `,` `row` $row `per`
    $rows_per_head `,` `position` $position `,` `key` $first_key `of`
    $length `)`
    (`skip_zeros` `(` $skip_zeros^ `)`)? (`masked` `(` $masked^ `)`)?
    `scale` `=` $scale (`causal` $causal^)? (`window` `=` $window^)?
    (`softcap` `=` $softcap^)? (`bounded` $bounded^)? (`first` $first^)?
    (`channels` `=` $channels^)? (`products` $products^)?
    (`exponent` `=` $exponent^)?
    (`schedule` `=` $schedule^)?
    custom<ScoreBodies>($mods)
    attr-dict `:` type($query) `,` type($key) `,` type($value) `->`
    type($new_reference) `,` type($new_sum) `,` type($new_acc)
    custom<StateTypes>(type($reference), type($sum), type($acc),
      ref(type($new_reference)), ref(type($new_sum)), ref(type($new_acc)))
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    MutableOperandRange getDpsInitsMutable();

    /// Return whether the query and the state, or the key and the value, are
    /// packed into panels.
    bool hasPackedRows();
    bool hasPackedKeys();

    /// Return whether the key and the value are read where they are, as the
    /// schedule says.
    bool isStreamed();

    /// Return the region on scores, or the one on keys; null where there is none.
    Region *getScoreMod();
    Region *getMaskMod();
  }];
}

def Attn_MergeOp : Attn_Op<"merge", [
    NoMemoryEffect,
    AllTypesMatch<["reference", "other_reference", "new_reference"]>,
    AllTypesMatch<["sum", "other_sum", "new_sum"]>,
    AllTypesMatch<["acc", "other_acc", "new_acc"]>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
      ["reifyResultShapes"]>,
    DeclareOpInterfaceMethods<AggregatedOpInterface,
      ["decomposeOperation"]>]> {
  let summary = "join two states";
  let description = [{
    Gives the state of the same rows over the keys of both states.

    ```
    new_reference = max(reference, other_reference)
    new_sum = exp(reference - new_reference) * sum
            + exp(other_reference - new_reference) * other_sum
    new_acc = the same of acc and other_acc
    ```

    #### Shapes

    Those of a state of `attn.block_step`, plain or packed. `sum` may have a last
    dimension of lanes or not.

    #### Corner cases

    * Merging with the state over no keys changes no bit but the sign of a 0.
    * Two states over no keys give one: `-inf - -inf` is never computed.

    #### What is left open

    Nothing but the rounding. Merging is associative and commutative up to that;
    the IR fixes the order.

    #### Constraints

    * (merge-C1) Each state is of f32 or f64, and its tensors fit each other.

    #### Examples

    ```mlir
    func.func @merge(%r0: tensor<16xf32>, %s0: tensor<16xf32>,
                     %a0: tensor<16x32xf32>, %r1: tensor<16xf32>,
                     %s1: tensor<16xf32>, %a1: tensor<16x32xf32>)
        -> tensor<16x32xf32> {
      %r, %s, %a = attn.merge (%r0, %s0, %a0), (%r1, %s1, %a1)
        : tensor<16xf32>, tensor<16xf32>, tensor<16x32xf32>
      return %a : tensor<16x32xf32>
    }
    ```
  }];
  let arguments = (ins
    Attn_Tensor:$reference, Attn_Tensor:$sum, Attn_Tensor:$acc,
    Attn_Tensor:$other_reference, Attn_Tensor:$other_sum,
    Attn_Tensor:$other_acc);
  let results = (outs Attn_Tensor:$new_reference, Attn_Tensor:$new_sum,
                      Attn_Tensor:$new_acc);
  let assemblyFormat = [{
    `(` $reference `,` $sum `,` $acc `)` `,`
    `(` $other_reference `,` $other_sum `,` $other_acc `)`
    attr-dict `:` type($reference) `,` type($sum) `,` type($acc)
  }];
  let hasVerifier = 1;
}

def Attn_FinishOp : Attn_Op<"finish", [
    AttrSizedOperandSegments, NoMemoryEffect,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
      ["reifyResultShapes"]>,
    DeclareOpInterfaceMethods<AggregatedOpInterface,
      ["decomposeOperation"]>]> {
  let summary = "output and logarithm of the sum of a state";
  let description = [{
    Ends a state: divides, and gives what `attn.sdpa` gives for its rows.

    ```
    total  = sum over lanes of sum
    output = acc / total
    lse    = reference + log(total)
    ```

    `sinks` join first, as merging the state `(sink, 1, 0)`; `row` and
    `rows_per_head` say to which head a row belongs, as for `attn.block_step`.

    #### Shapes

    The state is one of `attn.block_step`. `output` has the shape of `acc`, `lse`
    that of `reference`, `sinks` is `[H]`.

    #### Corner cases

    * `total = 0`: `output` is 0, and `lse` is `-inf`, or the sink if there is one.

    #### What is left open

    The order in which lanes are added; whether a row is divided or multiplied by
    the reciprocal of its sum.

    #### Constraints

    * (finish-C1) The state is of f32 or f64, and its tensors fit each other.
    * (finish-C2) `lse` has the element type of the state. `output` has the shape
      of `acc` and `lse` that of `reference`.
    * (finish-C3) `sinks` has rank 1, comes with `row` and `rows_per_head`, and is
      of f64 only if the state is.

    #### Examples

    ```mlir
    func.func @finish(%r: tensor<16xf32>, %s: tensor<16x8xf32>,
                      %a: tensor<16x32xf32>) -> tensor<16x32xf16> {
      %o, %lse = attn.finish %r, %s, %a
        : tensor<16xf32>, tensor<16x8xf32>, tensor<16x32xf32>
        -> tensor<16x32xf16>, tensor<16xf32>
      return %o : tensor<16x32xf16>
    }
    ```
  }];
  let arguments = (ins
    Attn_Tensor:$reference, Attn_Tensor:$sum, Attn_Tensor:$acc,
    Optional<Attn_Tensor>:$sinks, Optional<Index>:$row,
    Optional<Index>:$rows_per_head);
  let results = (outs Attn_Tensor:$output, Attn_LseTensor:$lse);
  let assemblyFormat = [{
    $reference `,` $sum `,` $acc
    (`sinks` `(` $sinks^ `:` type($sinks) `,` `row` $row `per`
      $rows_per_head `)`)?
    attr-dict `:` type($reference) `,` type($sum) `,` type($acc) `->`
    type($output) `,` type($lse)
  }];
  let hasVerifier = 1;
}

#endif // ATTN_IR_ATTNTILEOPS_TD
