// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes of a processor only, in order: from tiles to registers, memory, threads and C entries.

#ifndef ATTN_CODEGEN_CPUPASSES_TD
#define ATTN_CODEGEN_CPUPASSES_TD

include "mlir/Pass/PassBase.td"

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
    task that this thread is likely to get next. Each strip asks for its share, or,
    where tasks are short, each step of a product for one line.
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
    "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"
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

def ForallToOpenMP : Pass<"convert-attn-forall-to-openmp"> {
  let summary = "parallel loops as OpenMP regions whose threads take tasks";
  let description = [{
    Replaces every outermost `scf.forall` on buffers by a parallel region of OpenMP.
    Its tasks are cut into as many parts as there are threads. A thread takes the
    tasks of its own part one by one, and then, from the end, what others have left.

    ```mlir
    scf.forall (%i) in (%n) { ... }
    ```

    becomes

    ```mlir
    %left = memref.alloca() : memref<64x16xi64>
    scf.for %part = %c0 to %parts step %c1 { memref.store %all, %left[%part, %c0] }
    omp.parallel {
      scf.for %k = %c0 to %parts step %c1 {
        scf.while : () -> index {
          %were = memref.atomic_rmw addi %change, %left[%part, %c0]
          ...
          scf.condition(%is_left) %task : index
        } do { ... }
      }
      omp.terminator
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::omp::OpenMPDialect",
                           "::mlir::scf::SCFDialect"];
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

#endif // ATTN_CODEGEN_CPUPASSES_TD
