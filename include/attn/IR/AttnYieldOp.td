// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.yield: the end of a region.

#ifndef ATTN_IR_ATTNYIELDOP_TD
#define ATTN_IR_ATTNYIELDOP_TD

include "attn/IR/AttnBase.td"

def Attn_YieldOp : Attn_Op<"yield", [
    Pure, Terminator,
    ParentOneOf<["SdpaOp", "MhaOp", "BlockStepOp", "BlockWeightsOp"]>]> {
  let summary = "what a region gives for one score";
  let description = [{
    Ends the `score_mod` or the `mask_mod` of an op: the score, or whether the key
    may be attended to.

    ```mlir
    attn.yield %s : f32
    ```
  }];
  let arguments = (ins AnyType:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

#endif // ATTN_IR_ATTNYIELDOP_TD
