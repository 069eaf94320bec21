// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes from linalg on tiles to vectors, and from functions on tensors to functions on memory that C can call.

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

def EmitEntries : Pass<"attn-emit-entries", "::mlir::ModuleOp"> {
  let summary = "the C interface of each compiled function";
  let description = [{
    For each function with an `attn.signature`, now in the llvm dialect, adds `f`,
    `f_apply` and `f_shape` on pointers to DLTensor. The function itself becomes
    the internal `f.body`. The entry checks every tensor, calls `f.check`,
    compares the outputs with `f.shape`, and only then runs the body. These take one
    pointer to the words of all tensors and load what they use, in each parallel
    region anew.

    ```mlir
    llvm.func @f(%x: !llvm.ptr, %y: !llvm.ptr, %message: !llvm.ptr, %size: i64)
        -> i32
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def RegisterTiles : Pass<"attn-register-tiles"> {
  let summary = "linalg on tiles as loops over vectors";
  let description = [{
    Replaces linalg ops by loops over vectors, of the width that the `attn.schedule`
    of the `scf.forall` around them says, or else the target has. Static inner
    dimensions of a contraction are unrolled into accumulators that stay in
    registers. Afterwards only ops that do not fit are linalg; a remark names each.

    ```mlir
    %s = linalg.generic ... ins(%q, %k : tensor<1x64x8xf32>, tensor<?x64x32xf32>)
                            outs(%zero : tensor<1x?x8x32xf32>) ...
    ```

    becomes

    ```mlir
    %s = scf.for %panel = ... {
      %acc:16 = scf.for %d = %c0 to %c64 step %c1 iter_args(...) {
        vector.transfer_read ... : tensor<?x64x32xf32>, vector<16xf32>
        vector.fma ...
      }
      vector.transfer_write ...
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
    "::mlir::vector::VectorDialect"
  ];
}

def ApproximateMath : Pass<"attn-approximate-math"> {
  let summary = "exponentials, maxima and tanh of softmax as short arithmetic";
  let description = [{
    Replaces `math.exp` of an argument that is never positive (the discardable
    attribute `attn.nonpositive`) by a polynomial, `arith.maxnumf` by a comparison
    and a select, and `math.tanh` of f32 by a rational approximation. Afterwards
    none of them is left.

    ```mlir
    %m = arith.maxnumf %a, %b : f32
    ```

    becomes

    ```mlir
    %c = arith.cmpf ogt, %b, %a : f32
    %m = arith.select %c, %b, %a : f32
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::vector::VectorDialect"];
}

def SpecializeStrides : Pass<"attn-specialize-strides"> {
  let summary = "vector reads of arguments that lie together";
  let description = [{
    Puts each nest of loops that reads vectors from arguments of unknown innermost
    stride under a test of that stride. Afterwards the reads under the test are of
    memrefs with innermost stride 1; the nest as it was stands beside it.

    ```mlir
    scf.for %i = ... {
      vector.transfer_read %k[%i, %j] : memref<?x64xf32, strided<[?, ?], offset: ?>>, ...
    }
    ```

    becomes

    ```mlir
    scf.if %together {
      scf.for %i = ... {
        vector.transfer_read %unit[%i, %j] : memref<?x64xf32, strided<[?, 1], offset: ?>>, ...
      }
    } else {
      scf.for %i = ... { as it was }
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"
  ];
}

def PrefetchStreams : Pass<"attn-prefetch-streams"> {
  let summary = "ask for rows of keys and values before they are read";
  let description = [{
    A loop says in its attribute `attn.prefetch` how many rows ahead memory should
    be asked for. Before each cache line that it reads by vectors from a memref of
    rank 2 the same line so many rows on is prefetched. Afterwards no loop has the
    attribute.

    ```mlir
    scf.for %i = ... {
      vector.transfer_read %k[%row, %i] : memref<?x64xf32, strided<[?, 1], offset: ?>>, vector<16xf32>
    } {attn.prefetch = 8 : index}
    ```

    becomes

    ```mlir
    scf.for %i = ... {
      %ahead = arith.addi %row, %c8 : index
      memref.prefetch %k[%ahead, %i], read, locality<3>, data : ...
      vector.transfer_read %k[%row, %i] : memref<?x64xf32, strided<[?, 1], offset: ?>>, vector<16xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
}

def PrefetchBlocks : Pass<"attn-prefetch-blocks", "::mlir::ModuleOp"> {
  let summary = "ask for the next block while one is worked on";
  let description = [{
    A loop over strips of rows says in its attribute `attn.ahead` that what is
    packed next should be asked for in it, and at most how many rows of each
    tensor. That is the next block of keys, or in the last block the tiles of the
    task that this thread is likely to get next. Each strip asks for its share.
    Afterwards no loop has the attribute.

    ```mlir
    scf.for %strip = %c0 to %strips step %c1 { ... } {attn.ahead = 256 : index}
    ```

    becomes

    ```mlir
    %next = memref.subview %k[%b1, %h1, 0, 0] [1, 1, 197, 64] [1, 1, 1, 1] : ...
    scf.for %strip = %c0 to %strips step %c1 {
      scf.for %row = %from to %to step %c1 {
        memref.prefetch %next[%c0, %c0, %row, %c0], read, locality<2>, data : ...
      }
      ...
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"
  ];
}

def PlaceScratch : Pass<"attn-place-scratch", "::mlir::ModuleOp"> {
  let summary = "all allocations of a function in one block";
  let description = [{
    Replaces the allocations of every function by views of one block, which is
    allocated on entry and freed on exit; allocations in a parallel loop have one
    place a thread, which all loops use one after the other. Afterwards no loop
    allocates, and a function whose block cannot be had, or that calls one whose
    block cannot be had, returns the status 9. An allocation whose size is not known
    on entry is an error. `attn.threads` gets its answer.

    ```mlir
    %a = memref.alloc() : memref<8x64x32xf32>
    ```

    becomes

    ```mlir
    %a = memref.view %block[%offset][] : memref<?xi8> to memref<8x64x32xf32>
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"
  ];
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

def ForallToOpenMP : Pass<"convert-attn-forall-to-openmp"> {
  let summary = "parallel loops as OpenMP loops with dynamic scheduling";
  let description = [{
    Replaces every outermost `scf.forall` on buffers by an OpenMP loop from which
    a thread takes the next iteration when it is done with one.

    ```mlir
    scf.forall (%i) in (%n) { ... }
    ```

    becomes

    ```mlir
    omp.parallel {
      omp.wsloop schedule(dynamic = %c1 : i32) {
        omp.loop_nest (%i) : index = (%c0) to (%n) step (%c1_0) { ... }
      }
      omp.terminator
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::omp::OpenMPDialect"];
}

def EmitMain : Pass<"attn-emit-main", "::mlir::ModuleOp"> {
  let summary = "the main function of an executable";
  let description = [{
    Adds `main` to a module with the C entry of one function. It reads a .npy file
    for each input, calls the function, and prints or writes the results.

    ```mlir
    llvm.func @main(%argc: i32, %argv: !llvm.ptr) -> i32
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // ATTN_CODEGEN_PASSES_TD
