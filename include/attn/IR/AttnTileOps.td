// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What tiling makes of attention: a state, one step over a block of keys, the merge of two states, the end.

#ifndef ATTN_IR_ATTNTILEOPS_TD
#define ATTN_IR_ATTNTILEOPS_TD

include "attn/IR/AttnLayerOps.td"
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
      "getResultTilePosition"]>]> {
  let summary = "fold one block of keys into the state of a block of rows";
  let arguments = (ins
    Attn_Tensor:$query, Attn_Tensor:$key, Attn_Tensor:$value,
    Optional<Attn_Tensor>:$bias, Optional<Attn_MaskTensor>:$mask,
    Attn_Tensor:$reference, Attn_Tensor:$sum, Attn_Tensor:$acc,
    Index:$batch, Index:$head, Index:$row, Index:$rows_per_head,
    Index:$position, Index:$first_key, Index:$length,
    F64Attr:$scale, UnitAttr:$causal, OptionalAttr<Attn_WindowAttr>:$window,
    OptionalAttr<F64Attr>:$softcap, UnitAttr:$bounded,
    OptionalAttr<Attn_ScheduleAttr>:$schedule);
  let results = (outs Attn_Tensor:$new_reference, Attn_Tensor:$new_sum,
                      Attn_Tensor:$new_acc);
  let assemblyFormat = [{
    $query `,` $key `,` $value
    (`bias` `(` $bias^ `:` type($bias) `)`)?
    (`mask` `(` $mask^ `:` type($mask) `)`)?
    `state` `(` $reference `,` $sum `,` $acc `)`
    `at` `(` `batch` $batch `,` `head` $head `,` `row` $row `per`
    $rows_per_head `,` `position` $position `,` `key` $first_key `of`
    $length `)`
    `scale` `=` $scale (`causal` $causal^)? (`window` `=` $window^)?
    (`softcap` `=` $softcap^)? (`bounded` $bounded^)?
    (`schedule` `=` $schedule^)?
    attr-dict `:` type($query) `,` type($key) `,` type($value) `->`
    type($new_reference) `,` type($new_sum) `,` type($new_acc)
    custom<StateTypes>(type($reference), type($sum), type($acc),
      ref(type($new_reference)), ref(type($new_sum)), ref(type($new_acc)))
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    MutableOperandRange getDpsInitsMutable();

    /// Return whether the operands are packed into panels.
    bool isPacked() {
      return ::llvm::cast<RankedTensorType>(getQuery().getType()).getRank() ==
             3;
    }
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
