// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes about the road as a whole.

#ifndef ATTN_PIPELINE_PASSES_TD
#define ATTN_PIPELINE_PASSES_TD

include "mlir/Pass/PassBase.td"

def SetTarget : Pass<"attn-set-target", "::mlir::ModuleOp"> {
  let summary = "writes the target on the module";
  let description = [{
    Gives the module the attribute `attn.target`, from which all later passes read
    what they need to know about the processor. Without the option a target that
    the module has stays, and one that has none gets this very machine.

    ```mlir
    module {}
    ```

    becomes, with `target=x86_64-linux-gnu:x86-64-v3`,

    ```mlir
    module attributes {attn.target = {cpu = "x86-64-v3", features = "",
      l1_bytes = 32768 : i64, l2_bytes = 1048576 : i64,
      triple = "x86_64-unknown-linux-gnu", vector_bits = 256 : i64,
      vector_registers = 16 : i64}} {}
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", "\"\"",
           "host, TRIPLE, TRIPLE:CPU or sm_80,sm_90">
  ];
}

def SetPrecision : Pass<"attn-set-precision", "::mlir::ModuleOp"> {
  let summary = "writes a precision on ops that have none";
  let description = [{
    Gives every `attn.sdpa` and `attn.mha` of f32 that has no `precision` the one of
    the option. One other than `exact` is an error where the module's target is no
    GPU.

    ```mlir
    %o = attn.sdpa %q, %k, %v
         : tensor<1x2x8x64xf32>, tensor<1x2x16x64xf32>, tensor<1x2x16x64xf32>
         -> tensor<1x2x8x64xf32>
    ```

    becomes, with `precision=tf32`,

    ```mlir
    %o = attn.sdpa %q, %k, %v precision = tf32
         : tensor<1x2x8x64xf32>, tensor<1x2x16x64xf32>, tensor<1x2x16x64xf32>
         -> tensor<1x2x8x64xf32>
    ```
  }];
  let options = [
    Option<"precision", "precision", "std::string", "\"exact\"",
           "exact, tf32 or tf32x3">
  ];
}

def ApplyRecord : Pass<"attn-apply-record", "::mlir::ModuleOp"> {
  let summary = "writes schedules that were measured before";
  let description = [{
    Writes on every `attn.sdpa` that has no schedule, and that the record of `file`
    knows, the schedule which was the fastest when `attnc --tune` measured it. An op
    whose number of rows is dynamic is there twice afterwards, as after
    `attn-select-schedule`, which sees to what is not in the record. Fails where the
    file is no record. One of another machine is not used, which is a warning.

    ```mlir
    %o = attn.sdpa %q, %k, %v scale = 0.125
         : tensor<1x8x1024x64xf32>, tensor<1x8x1024x64xf32>,
           tensor<1x8x1024x64xf32> -> tensor<1x8x1024x64xf32>
    ```

    becomes, where a register tile of 4 x 64 was faster than that of 8 x 32,

    ```mlir
    %o = attn.sdpa %q, %k, %v scale = 0.125 schedule = <block_m = 512,
         block_n = 256, rows = 4, columns = 64, lanes = 16>
         : tensor<1x8x1024x64xf32>, tensor<1x8x1024x64xf32>,
           tensor<1x8x1024x64xf32> -> tensor<1x8x1024x64xf32>
    ```
  }];
  let options = [
    Option<"file", "file", "std::string", "\"\"", "a record of schedules">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::attn::AttnDialect",
                           "::mlir::scf::SCFDialect"];
}

def VerifyPhase : Pass<"attn-verify-phase", "::mlir::ModuleOp"> {
  let summary = "checks what a phase promises";
  let description = [{
    Fails with a diagnostic unless the module is valid and as the phase leaves it: what
    `attnc --print-phases` says of it, as far as it can be seen op by op.

    ```mlir
    // attn-opt --attn-verify-phase=phase=linalg
    %o = attn.sdpa ...  // error: op expects to be gone after phase 'linalg'
    ```
  }];
  let options = [
    Option<"phase", "phase", "std::string", "\"input\"", "a phase's name">
  ];
}

def WritePhase : Pass<"attn-write-phase", "::mlir::ModuleOp"> {
  let summary = "writes the module to a file";
  let description = [{
    Writes the module to `file`, creating its folder. What --dump-phases-to is made
    of.

    ```mlir
    // attn-opt --attn-write-phase=file=after.mlir
    ```
  }];
  let options = [
    Option<"file", "file", "std::string", "\"-\"", "where to write">
  ];
}

def Report : Pass<"attn-report", "::mlir::ModuleOp"> {
  let summary = "prints what each attention needs";
  let description = [{
    Prints, for each `attn.sdpa`, `attn.mha` and `attn.linear_attention`, its
    operations, the bytes that it reads and writes, and the memory that it holds:
    as formulas in its dimensions, and as numbers where these are known, from types
    or from `sizes`. With `peaks`, the time that it should take. Changes nothing.

    ```mlir
    // attn-opt x.mlir --attn-report=sizes=M=1024,N=1024 -o x.out
    %o = attn.sdpa %q, %k, %v causal = top_left : tensor<1x8x?x64xf32>, ...
    ```

    prints, among others,

    ```
    operations: 1074790400 = 2 B H S D + 2 B H S E, without mask 2147483648
    ```
  }];
  let options = [
    Option<"sizes", "sizes", "std::string", "\"\"",
           "of dynamic dimensions: M=1024,N=1024">,
    Option<"peaks", "peaks", "std::string", "\"\"",
           "of the machine: fma=200,gemm=180,read=40">,
    Option<"json", "json", "bool", "false", "print JSON">,
    Option<"file", "file", "std::string", "\"-\"", "where to print">
  ];
}

def CallMath : Pass<"attn-call-math", "::mlir::ModuleOp"> {
  let summary = "calls libm for functions that LLVM has not";
  let description = [{
    Runs upstream's `convert-math-to-libm` and, for the calls that it makes,
    `convert-to-llvm`, where an op of `math` is left: to find that there is none
    takes them a fiftieth of the time to compile.

    ```mlir
    %1 = math.erf %0 : f32
    ```

    becomes

    ```mlir
    %1 = llvm.call @erff(%0) : (f32) -> f32
    ```
  }];
}

#endif // ATTN_PIPELINE_PASSES_TD
