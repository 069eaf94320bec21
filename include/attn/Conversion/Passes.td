// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes from one dialect to another.

#ifndef ATTN_CONVERSION_PASSES_TD
#define ATTN_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def AttnToLinalg : Pass<"convert-attn-to-linalg"> {
  let summary = "attn ops as linalg on tensors";
  let description = [{
    Replaces every op of the dialect by its definition in linalg (the method
    `decomposeOperation` of AggregatedOpInterface), until none is left. On ops that
    no pass has tiled the result is the plain meaning on whole tensors, for any
    compiler that works on linalg; on tiles it is one small computation a tile. An op
    that has no definition is an error.

    ```mlir
    %o = attn.sdpa %q, %k, %v scale = 0.125 : tensor<1x2x8x64xf32>,
         tensor<1x2x16x64xf32>, tensor<1x2x16x64xf32> -> tensor<1x2x8x64xf32>
    ```

    becomes

    ```mlir
    %s = linalg.generic ... ins(%q, %k : ...)  // scores, scaled and selected
    %m = linalg.generic ... ins(%s : ...)      // the maximum of each row
    %p = linalg.generic ... ins(%s, %m : ...)  // exp(s - m)
    %l = linalg.generic ... ins(%p : ...)      // the sum of each row
    %a = linalg.generic ... ins(%p, %v : ...)  // the product with the values
    %o = linalg.generic ... ins(%a, %l : ...)  // divided, rounded
    ```
  }];
}

def NVVMToHostCalls : Pass<"convert-nvvm-to-host-calls", "ModuleOp"> {
  let summary = "kernels as host functions that an emulator runs";
  let description = [{
    Makes host functions of the kernels in the module's `gpu.module`s, which hold ops of
    `llvm`, `nvvm` and `attn_gpu`, as they are before `convert-nvvm-to-llvm`. What a CPU
    has no instruction for becomes a call of a function `attn_cuda_...` of the emulator
    (`attn/Execution/CudaEmulator.h`); functions of real numbers, `__nv_...`, stay and are
    those that a GPU gets (`attn/Target/CUDA/LinkMath.h`). Beside
    each kernel stands a function that takes its parameters as `cuLaunchKernel` does. All
    else in the module is dropped. An op that has no counterpart is an error.

    With `track`, each access to memory is announced by a call too.

    The first operand of a call is the number of a string in `attn.sites`: op and place.

    ```mlir
    gpu.module @m {
      llvm.func @k(%x: !llvm.ptr) attributes {nvvm.kernel} {
        nvvm.barrier0
        llvm.return
      }
    }
    ```

    becomes

    ```mlir
    module attributes {attn.sites = ["nvvm.barrier0 at x.mlir:3:5"]} {
      llvm.func @attn_cuda_barrier(i32, i32, i32, i32, i32) -> i32
      llvm.func @m.k(%x: !llvm.ptr) {
        %site = llvm.mlir.constant(0 : i32) : i32
        ...
        %r = llvm.call @attn_cuda_barrier(%site, %id, %threads, %kind, %predicate) : ...
        llvm.return
      }
      llvm.func @m.k.launch(%parameters: !llvm.ptr) attributes {
          attn.kernel = @m::@k, attn.static_shared_bytes = 0 : i64, attn.dynamic_shared_offset = -1 : i64} {
        %p = llvm.load %parameters : !llvm.ptr -> !llvm.ptr
        %x = llvm.load %p {alignment = 1 : i64} : !llvm.ptr -> !llvm.ptr
        llvm.call @m.k(%x) : (!llvm.ptr) -> ()
        llvm.return
      }
    }
    ```
  }];
  let options = [
    Option<"track", "track", "bool", /*default=*/"false",
           "announce every access to memory">
  ];
  let dependentDialects = ["LLVM::LLVMDialect"];
}

#endif // ATTN_CONVERSION_PASSES_TD
