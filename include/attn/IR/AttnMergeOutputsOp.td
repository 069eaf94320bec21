// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.merge_outputs: attention over all keys from results over parts of them.

#ifndef ATTN_IR_ATTNMERGEOUTPUTSOP_TD
#define ATTN_IR_ATTNMERGEOUTPUTSOP_TD

include "attn/IR/AttnTypes.td"

def Attn_MergeOutputsOp : Attn_Op<"merge_outputs", [
    SameVariadicOperandSize, NoMemoryEffect,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
      ["reifyResultShapes"]>,
    DeclareOpInterfaceMethods<AggregatedOpInterface,
      ["decomposeOperation"]>]> {
  let summary = "attention over all keys from results over parts of them";
  let description = [{
    Joins what `attn.sdpa` gave for disjoint sets of keys into what it gives for
    all of them.

    ```
    lse    = log(sum over parts p of exp(lses[p]))
    output = sum over parts p of exp(lses[p] - lse) * outputs[p]
    ```

    #### Shapes

    `outputs` and `output` are `[..., M, E]`, `lses` and `lse` are `[..., M]`, with
    any number of leading dimensions. Every dimension may be dynamic.

    #### Corner cases

    * A part without keys, `lse = -inf`, changes nothing.
    * Where all parts are without keys, `output` is 0 and `lse` is `-inf`.
    * At most one of the parts was computed with sinks: a sink joins once.

    #### What is left open

    Nothing but the rounding. Parts are joined in the order in which they are
    given, in f32, or f64 for f64.

    #### Constraints

    * (merge_outputs-C1) There is at least one part.
    * (merge_outputs-C2) All parts have the types of the results.
    * (merge_outputs-C3) `lse` has the shape of `output` without its last dimension.

    #### Examples

    A cache in two places:

    ```mlir
    func.func @two_caches(%q: tensor<1x8x1x64xf32>, %k0: tensor<1x8x?x64xf32>,
                          %v0: tensor<1x8x?x64xf32>, %k1: tensor<1x8x?x64xf32>,
                          %v1: tensor<1x8x?x64xf32>) -> tensor<1x8x1x64xf32> {
      %o0, %l0 = attn.sdpa %q, %k0, %v0
        : tensor<1x8x1x64xf32>, tensor<1x8x?x64xf32>, tensor<1x8x?x64xf32>
        -> tensor<1x8x1x64xf32>, tensor<1x8x1xf32>
      %o1, %l1 = attn.sdpa %q, %k1, %v1
        : tensor<1x8x1x64xf32>, tensor<1x8x?x64xf32>, tensor<1x8x?x64xf32>
        -> tensor<1x8x1x64xf32>, tensor<1x8x1xf32>
      %o, %l = attn.merge_outputs outputs(%o0, %o1) lses(%l0, %l1)
        : tensor<1x8x1x64xf32>, tensor<1x8x1xf32>
      return %o : tensor<1x8x1x64xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<Attn_Tensor>:$outputs,
                       Variadic<Attn_LseTensor>:$lses);
  let results = (outs Attn_Tensor:$output, Attn_LseTensor:$lse);
  let assemblyFormat = [{
    `outputs` `(` $outputs `)` `lses` `(` $lses `)` attr-dict `:`
    type($output) `,` type($lse) custom<SameTypes>(
      ref($outputs), type($outputs), ref($lses), type($lses),
      ref(type($output)), ref(type($lse)))
  }];
  let hasVerifier = 1;
}

#endif // ATTN_IR_ATTNMERGEOUTPUTSOP_TD
