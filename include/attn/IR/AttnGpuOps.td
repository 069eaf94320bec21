// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dialect `attn_gpu`: instructions of GPUs that the dialect nvvm has no op for, as ops instead of inline PTX.

#ifndef ATTN_IR_ATTNGPUOPS_TD
#define ATTN_IR_ATTNGPUOPS_TD

include "mlir/Dialect/LLVMIR/LLVMOpBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def AttnGpu_Dialect : Dialect {
  let name = "attn_gpu";
  let cppNamespace = "::mlir::attn_gpu";
  let summary = "Instructions of GPUs that the dialect nvvm lacks";
  let description = [{
    Stands beside `llvm` and `nvvm` in a `gpu.module` on its way to PTX. Each op is one
    instruction, or a few that must stay together. As ops they are seen by whoever
    prints, checks or executes the module; PTX text is made of them last.
  }];
}

class AttnGpu_Op<string mnemonic, list<Trait> traits = []>
    : Op<AttnGpu_Dialect, mnemonic, traits>;

def AttnGpu_Exp2Op : AttnGpu_Op<"exp2", [Pure]> {
  let summary = "2 to the power of a number, approximately";
  let description = [{
    Gives `2 ** x` with a relative error of about 2^-22: `ex2.approx.ftz.f32`, one
    instruction, where `math.exp2` becomes five.

    #### Corner cases

    * A subnormal `x` counts as 0, a subnormal result is 0.
    * `-inf` gives 0, `inf` gives `inf`, NaN gives NaN.

    #### Constraints

    None.

    #### Examples

    ```mlir
    llvm.func @two_to(%x: f32) -> f32 {
      %y = attn_gpu.exp2 %x
      llvm.return %y : f32
    }
    ```
  }];
  let arguments = (ins F32:$x);
  let results = (outs F32:$result);
  let assemblyFormat = "$x attr-dict";
}

def AttnGpu_WgmmaOp : AttnGpu_Op<"wgmma", [
    AttrSizedOperandSegments, AllTypesMatch<["accumulator", "result"]>]> {
  let summary = "products of a warpgroup with the left side in registers";
  let description = [{
    Adds to `accumulator` the product of a matrix A of 64 rows and `16 * steps` columns,
    which the 128 threads of a warpgroup hold in registers, and a matrix B of `N` columns
    in shared memory. Each of the steps is one
    `wgmma.mma_async.sync.aligned.m64nNk16.f32.T.T`; a `wgmma.fence` stands before the
    first, a `wgmma.commit_group` behind the last: the op is one group.

    `accumulator`: the struct of `N / 2` numbers that `nvvm.wgmma.mma_async` has. `a`: four
    registers of two numbers for each step, in the order of the fragments of
    `mma.sync.m16n8k16`, where a warp holds 16 of the rows. `b`: for each step the
    descriptor of 16 rows of B in shared memory. With `transpose_b`, B lies with its columns
    side by side ("MN-major"), else with its rows ("K-major").

    #### Corner cases

    * The result is there only after a `nvvm.wgmma.wait.group.sync.aligned` that covers
      the group. Until then only another product may add to it.
    * Shared memory that `b` describes is read until then, and not through the generic
      proxy: what threads wrote there needs a `nvvm.fence.proxy`.

    #### Left open

    The order in which products are summed, and where sums are rounded.

    #### Constraints

    * (wgmma-C1) `accumulator` is a struct of f32 only, as many as `N / 2` for an `N` that
      is a multiple of 8 from 8 to 256.
    * (wgmma-C2) `a` has four registers for each descriptor of `b`, and there is at least
      one descriptor.

    #### Examples

    ```mlir
    !acc = !llvm.struct<(f32, f32, f32, f32)>
    llvm.func @step(%c: !acc, %a0: i32, %a1: i32, %a2: i32, %a3: i32, %b: i64) -> !acc {
      %d = attn_gpu.wgmma %c, a(%a0, %a1, %a2, %a3) b(%b) transpose_b f16 : !acc
      nvvm.wgmma.wait.group.sync.aligned 0
      llvm.return %d : !acc
    }
    ```
  }];
  let arguments = (ins LLVM_AnyStruct:$accumulator, Variadic<I32>:$a,
                       Variadic<I64>:$b, UnitAttr:$transposeB,
                       TypeAttrOf<AnyTypeOf<[F16, BF16]>>:$elementType);
  let results = (outs LLVM_AnyStruct:$result);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $accumulator `,` `a` `(` $a `)` `b` `(` $b `)`
    (`transpose_b` $transposeB^)? $elementType attr-dict `:` type($accumulator)
  }];
  let extraClassDeclaration = [{
    /// Return the number N of columns of B and of the accumulator.
    int64_t getColumns();
  }];
}

include "attn/IR/AttnGpuTileOps.td"

#endif // ATTN_IR_ATTNGPUOPS_TD
