// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes of every target: checks, shapes and packing as functions of their own, and memory behind tensors.

#ifndef ATTN_CODEGEN_PASSES_TD
#define ATTN_CODEGEN_PASSES_TD

include "mlir/Pass/PassBase.td"

def CheckCalls : Pass<"attn-check-calls", "::mlir::ModuleOp"> {
  let summary = "only calls that can be inlined";
  let description = [{
    Fails where a function calls itself, directly or through others, or calls one
    that has no body. What passes can be inlined completely, as the later phases
    need it.
  }];
}

def OutlineShapes : Pass<"attn-outline-shapes", "::mlir::ModuleOp"> {
  let summary = "the shapes of a function's results as a function of its own";
  let description = [{
    Adds to each public function `@f` a private `@f.shape` of the same arguments
    that returns the extents of all results in a row, and computes nothing else.
    `f_shape` of the C interface calls it.

    ```mlir
    func.func @f(%q: tensor<1x8x?x64xf32>, ...) -> tensor<1x8x?x64xf32>
    ```

    gets

    ```mlir
    func.func private @f.shape(%q: tensor<1x8x?x64xf32>, ...)
        -> (index, index, index, index) {
      %m = tensor.dim %q, %c2 : tensor<1x8x?x64xf32>
      return %c1, %c8, %m, %c64 : index, index, index, index
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

def OutlineChecks : Pass<"attn-outline-checks", "::mlir::ModuleOp"> {
  let summary = "what must hold at run time as a function of its own";
  let description = [{
    Adds to each public function `@f` with attn ops whose operands may disagree at
    run time a private `@f.check` of the same arguments. It returns the number of
    the first check that fails (0: none) with the two numbers that its message
    needs. The messages stand in its attribute `attn.messages`, the kinds of the
    errors in `attn.kinds`. The C entry calls it before anything is written.

    ```mlir
    func.func private @f.check(%q: tensor<1x8x?x64xf32>, ...)
        -> (i64, i64, i64) attributes {attn.messages = [
          "'attn.sdpa' op expects 'key' and 'value' to agree on dimension 2, "
          "got %lld and %lld"], attn.kinds = array<i64: 4>}
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def OutlinePacking : Pass<"attn-outline-packing", "::mlir::ModuleOp"> {
  let summary = "packing of weights as a function of its own";
  let description = [{
    Splits each public function `@f` with projections whose weights are arguments of
    static shape, used as nothing else, into `@f.pack` and `@f.work`, and adds the
    public functions `@f_pack`, which packs all weights into one block, and
    `@f_packed`, which takes the block in place of the weights. `@f` itself packs and
    works. The block begins with a mark, which a check of `@f_packed` compares.

    ```mlir
    func.func @f(%x: tensor<1x128x384xf32>, %w: tensor<384x384xf32>)
        -> tensor<1x128x384xf32> { ... }
    ```

    becomes

    ```mlir
    func.func private @f.pack(%w: tensor<384x384xf32>)
        -> tensor<147472xf32> { ... }
    func.func private @f.work(%x: tensor<1x128x384xf32>,
                              %packed: tensor<147472xf32>)
        -> tensor<1x128x384xf32> { ... }
    func.func @f(%x: tensor<1x128x384xf32>, %w: tensor<384x384xf32>)
        -> tensor<1x128x384xf32> {
      %packed = call @f.pack(%w)
      %y = call @f.work(%x, %packed)
      return %y : tensor<1x128x384xf32>
    }
    func.func @f_pack(%w: tensor<384x384xf32>) -> tensor<147472xf32> { ... }
    func.func @f_packed(%x: tensor<1x128x384xf32>, %packed: tensor<147472xf32>)
        -> tensor<1x128x384xf32> { ... }
    ```
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::bufferization::BufferizationDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def ShareTasks : Pass<"attn-share-tasks", "::mlir::ModuleOp"> {
  let summary = "equal parallel loops as one function";
  let description = [{
    Replaces parallel loops with an `attn.schedule` that are equal, but for what they
    read and write, by calls of one private function. Afterwards no two such loops of
    the module are equal, so that the layers of a model are compiled once.

    ```mlir
    %a = scf.forall (%i) in (8) shared_outs(%o = %x) { ... %q ... }
    %b = scf.forall (%i) in (8) shared_outs(%o = %y) { ... %a ... }
    ```

    becomes

    ```mlir
    func.func private @attn.task(%0: tensor<8x64xf32>, %1: tensor<8x64xf32>)
        -> tensor<8x64xf32> {
      %r = scf.forall (%i) in (8) shared_outs(%o = %1) { ... %0 ... }
      return %r : tensor<8x64xf32>
    }

    %a = attn.call @attn.task(%q : tensor<8x64xf32>) outs(%x : tensor<8x64xf32>)
         -> tensor<8x64xf32>
    %b = attn.call @attn.task(%a : tensor<8x64xf32>) outs(%y : tensor<8x64xf32>)
         -> tensor<8x64xf32>
    ```
  }];
}

def BooleansToBytes : Pass<"attn-booleans-to-bytes", "::mlir::func::FuncOp"> {
  let summary = "tensors of i1 as tensors of i8";
  let description = [{
    Gives every tensor of `i1` the element type `i8`, where zero is false and all
    else is true. Afterwards no tensor of `i1` is left. Elementwise arithmetic on
    such tensors must be linalg before.

    ```mlir
    %x = tensor.extract %mask[%i] : tensor<8xi1>
    ```

    becomes

    ```mlir
    %byte = tensor.extract %mask[%i] : tensor<8xi8>
    %x = arith.cmpi ne, %byte, %c0_i8 : i8
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def ExposeBuffers : Pass<"attn-expose-buffers", "::mlir::func::FuncOp"> {
  let summary = "function arguments and results as memory";
  let description = [{
    Arguments become memrefs with any strides. The results of a public function
    become further arguments, of innermost stride 1, and the function returns a
    status, 0 for good. A scalar becomes a memref of rank 0. What the function was
    stands in its attribute `attn.signature`. The body stays on tensors, for
    one-shot-bufferize; what started from `tensor.empty` and ends in a result starts
    from the result's memory.

    ```mlir
    func.func @f(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
      %y = ...
      return %y : tensor<?x8xf32>
    }
    ```

    becomes

    ```mlir
    func.func @f(%a: memref<?x8xf32, strided<[?, ?], offset: ?>>,
                 %b: memref<?x8xf32, strided<[?, 1], offset: ?>>) -> i32 {
      %x = bufferization.to_tensor %a restrict : ...
      %y = ...
      bufferization.materialize_in_destination %y in writable %b : ...
      %good = arith.constant 0 : i32
      return %good : i32
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::bufferization::BufferizationDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::tensor::TensorDialect"];
}

def CopiesToLinalg : Pass<"attn-copies-to-linalg", "::mlir::func::FuncOp"> {
  let summary = "memref.copy as linalg.generic";
  let description = [{
    Makes every copy a loop like all others, instead of a call of a library that no
    object of ours links.

    ```mlir
    memref.copy %a, %b : memref<?xf32> to memref<?xf32, strided<[?], offset: ?>>
    ```

    becomes

    ```mlir
    linalg.generic ... ins(%a : ...) outs(%b : ...) { linalg.yield %in : f32 }
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def ExpandSmallFloats : Pass<"attn-expand-small-floats"> {
  let summary = "conversions of floats of a byte as integer arithmetic";
  let description = [{
    Replaces `arith.extf` from f8E4M3FN and f8E5M2, and `arith.truncf` from at most
    f32 to them, on scalars and vectors, by operations that a processor has. Every
    code becomes its very number; numbers are rounded to nearest, ties to even.

    ```mlir
    %y = arith.extf %x : vector<16xf8E5M2> to vector<16xf32>
    ```

    becomes

    ```mlir
    %code = arith.bitcast %x : vector<16xf8E5M2> to vector<16xi8>
    %wide = arith.extui %code : vector<16xi8> to vector<16xi16>
    %bits = arith.shli %wide, %c8 : vector<16xi16>
    %half = arith.bitcast %bits : vector<16xi16> to vector<16xf16>
    %y = arith.extf %half : vector<16xf16> to vector<16xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

#endif // ATTN_CODEGEN_PASSES_TD
