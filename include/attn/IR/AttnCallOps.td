// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What tiled code says of how it runs: on how many threads, and which of its tasks are the same.

#ifndef ATTN_IR_ATTNCALLOPS_TD
#define ATTN_IR_ATTNCALLOPS_TD

include "attn/IR/AttnTypes.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"

def Attn_ThreadsOp : Attn_Op<"threads", [Pure]> {
  let summary = "how many threads a parallel loop may run on";
  let description = [{
    Gives the number of threads that compute the tasks of a parallel loop, at least
    1. It says how much memory may be held; no result of a program depends on it.

    #### Constraints

    None.

    #### Examples

    ```mlir
    func.func @threads() -> index {
      %n = attn.threads
      return %n : index
    }
    ```
  }];
  let results = (outs Index:$count);
  let assemblyFormat = "attr-dict";
}

def Attn_CallOp : Attn_Op<"call", [
    AttrSizedOperandSegments, NoMemoryEffect, DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "tasks that are there once and are run from here";
  let description = [{
    Runs the private function `callee` on tensors and numbers. What it gives are the
    tensors `outputs` after it has written to them. Equal parallel loops of a program
    become one function and a call from each place.

    #### Corner cases

    * Once functions work on memory, `callee` gives a status, as any function does.

    #### Constraints

    * (call-C1) `callee` names a function of as many arguments as there are `inputs`
      and `outputs`.

    #### Examples

    ```mlir
    func.func private @negate(%x: tensor<8xf32>, %to: tensor<8xf32>)
        -> tensor<8xf32> {
      %y = linalg.negf ins(%x : tensor<8xf32>) outs(%to : tensor<8xf32>)
           -> tensor<8xf32>
      return %y : tensor<8xf32>
    }
    func.func @twice(%x: tensor<8xf32>) -> tensor<8xf32> {
      %to = tensor.empty() : tensor<8xf32>
      %y = attn.call @negate(%x : tensor<8xf32>) outs(%to : tensor<8xf32>)
           -> tensor<8xf32>
      %z = attn.call @negate(%y : tensor<8xf32>) outs(%to : tensor<8xf32>)
           -> tensor<8xf32>
      return %z : tensor<8xf32>
    }
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$inputs,
                       Variadic<AnyRankedTensor>:$outputs);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $callee `(` ($inputs^ `:` type($inputs))? `)`
    `outs` `(` $outputs `:` type($outputs) `)` attr-dict `->` type($results)
  }];
  let extraClassDeclaration = [{
    MutableOperandRange getDpsInitsMutable() { return getOutputsMutable(); }
  }];
}

#endif // ATTN_IR_ATTNCALLOPS_TD
