// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes of a GPU only: from tiles to vectors of blocks of threads, and from functions on memory to kernels and to what
// launches them.

#ifndef ATTN_CODEGEN_CUDAPASSES_TD
#define ATTN_CODEGEN_CUDAPASSES_TD

include "mlir/Pass/PassBase.td"

def VectorizeBlocks : Pass<"attn-vectorize-blocks"> {
  let summary = "tiles of a block of threads as vectors";
  let description = [{
    Rewrites the body of every `scf.forall` whose `attn.schedule` has `warps`: its
    tiles, tensors of static sizes, become vectors, and `attn.block_step`,
    `attn.merge`, `attn.finish` and products of tiles operations on these. Afterwards
    no attn op is left in such a loop. A vector stands for what all threads of the
    block hold together.

    ```mlir
    %k = tensor.pad %keys ... : tensor<?x64xf16> to tensor<64x64xf16>
    %n:3 = attn.block_step %q, %k, %v state(%r, %l, %a) ... products exponent = 15
    ```

    becomes

    ```mlir
    %k = vector.transfer_read %all[%j, %c0], %zero {in_bounds = [false, true]}
         : tensor<?x64xf16>, vector<64x64xf16>
    %scores = vector.contract ... %q, %k, %none
         : vector<128x64xf16>, vector<64x64xf16> into vector<128x64xf32>
    %kept = scf.if %some -> (vector<128x64xf32>) {
      %inside = arith.select ...
    } else { ... }
    %state:3 = scf.if %grown -> ... {
      %reference = vector.multi_reduction <maxnumf>, ...
    } else { ... }
    %p = math.exp2 ...
    %acc = vector.contract ...
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect",
                           "::mlir::vector::VectorDialect"];
}

def PlaceWorkspace : Pass<"attn-place-workspace", "::mlir::ModuleOp"> {
  let summary = "allocations as parts of memory that the caller brings";
  let description = [{
    Gives every function with a signature a further argument, the workspace, and
    replaces its allocations by views of it. A private function `f.workspace` of the
    same arguments says how many bytes it has. A size that only the device knows is
    replaced by that of the tensor which it is a part of. Allocations that are never
    needed at once share memory, as large as the largest of them. Afterwards nothing
    is allocated.

    ```mlir
    func.func @f(%x: memref<?xf32>) -> i32 {
      %n = memref.dim %x, %c0
      %a = memref.alloc(%n) : memref<?xf32>
      ...
    ```

    becomes

    ```mlir
    func.func @f(%x: memref<?xf32>, %workspace: memref<?xi8>) -> i32 {
      %n = memref.dim %x, %c0
      %a = memref.view %workspace[%c256][%n] : memref<?xi8> to memref<?xf32>
      ...
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::memref::MemRefDialect"
  ];
}

def OutlineKernels : Pass<"attn-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "what works on memory as kernels";
  let description = [{
    Replaces every op of a function that writes memory by the launch of a kernel in
    the module `@kernels`. An `scf.forall` of which the schedule has `warps` is a
    program of thread blocks and becomes the body of a kernel as it is. A linalg op
    gets a thread for each place of its parallel dimensions, and any other op that
    the host cannot run is the work of one thread. What is read from memory, and
    what follows from it, is computed again in each kernel that needs it. Checks of
    data come first, in one block whose threads share loops with `attn.search`.
    Afterwards a function only computes sizes and launches.

    ```mlir
    linalg.fill ins(%zero : f32) outs(%y : memref<?xf32>)
    ```

    becomes

    ```mlir
    gpu.launch_func @kernels::@f_k0 blocks in (%blocks, %c1, %c1)
        threads in (%c128, %c1, %c1) args(%y : memref<?xf32>)

    gpu.module @kernels {
      gpu.func @f_k0(%y: memref<?xf32>) kernel { ... }
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"
  ];
}

def SpecializeKernels
    : Pass<"attn-specialize-kernels", "::mlir::ModuleOp"> {
  let summary = "kernels for rows of whole chunks of 16 bytes, and for any rows";
  let description = [{
    Doubles each kernel with a schedule whose products read its arguments, and lets its
    launch decide between the two: where rows are contiguous and begin at multiples of 16
    bytes, the kernel with `attn.aligned = true` copies 16 bytes at once and without asking;
    else `attn.aligned = false` copies number by number.

    ```mlir
    gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c128, %c1, %c1) args(%q : memref<?x64xf16>)
    ```

    becomes

    ```mlir
    scf.if %fits {
      gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c128, %c1, %c1) args(%q : memref<?x64xf16>)
    } else {
      gpu.launch_func @kernels::@k_any blocks in (%c1, %c1, %c1) threads in (%c128, %c1, %c1) args(%q : memref<?x64xf16>)
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def StageCopies : Pass<"attn-stage-copies", "::mlir::gpu::GPUModuleOp"> {
  let summary = "what products read, in shared memory ahead of time";
  let description = [{
    In each `gpu.func` with a schedule, what a `vector.contract` reads of memory is
    copied into the block's dynamic shared memory first: in a loop so many blocks ahead
    as the schedule has `stages`, less one. The bytes that it needs are left on the
    function as `attn.shared_bytes`.

    ```mlir
    %k = vector.transfer_read %keys[%i, %c0], %zero : memref<?x64xf16>, vector<64x64xf16>
    ```

    becomes

    ```mlir
    attn_gpu.copy_to_shared %keys[%i, %c0] to %at dims [0, 1] in_bounds [false, true]
      : memref<?x64xf16>, vector<64x64xf16>
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 0
    gpu.barrier
    %k = attn_gpu.read_shared %at : vector<64x64xf16>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::attn_gpu::AttnGpuDialect",
                           "::mlir::gpu::GPUDialect",
                           "::mlir::NVVM::NVVMDialect"];
}

def DistributeFragments
    : Pass<"attn-distribute-fragments", "::mlir::gpu::GPUModuleOp"> {
  let summary = "from what a block of threads does to what a thread does";
  let description = [{
    Rewrites each `gpu.func` with a schedule and vectors: a vector of the block becomes
    the numbers of it that a thread holds, in the layouts of matrix instructions. After
    it there are no vectors but pairs of neighbours, no `attn_gpu.copy_to_shared` and no
    `attn_gpu.read_shared`. An op that it cannot split is an error.

    ```mlir
    %s = vector.contract ... %q, %k, %zero : vector<64x64xf16>, vector<64x64xf16> into vector<64x64xf32>
    %p = math.exp2 %s : vector<64x64xf32>
    ```

    becomes

    ```mlir
    %s = nvvm.mma.sync A[...] B[...] C[...] {shape = #nvvm.shape<m = 16, n = 8, k = 16>}
    %s0 = llvm.extractvalue %s[0] : !llvm.struct<(f32, f32, f32, f32)>
    %p0 = math.exp2 %s0 : f32
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::attn_gpu::AttnGpuDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::NVVM::NVVMDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def GuardKernels : Pass<"attn-guard-kernels", "::mlir::ModuleOp"> {
  let summary = "kernels that do nothing after a failed check";
  let description = [{
    Gives every kernel with the attribute `attn.guarded`, whose last argument is the
    status, a first block that returns where the status is not 0, and fills in the
    shared memory of every launch from `attn.shared_bytes` of its kernel. Afterwards
    no kernel has `attn.guarded`.

    ```mlir
    gpu.func @f_k1(%x: memref<?xf32>, %status: memref<3xi64>) kernel
        attributes {attn.guarded} {
      ...
    ```

    becomes

    ```mlir
    gpu.func @f_k1(%x: memref<?xf32>, %status: memref<3xi64>) kernel {
      %number = memref.load %status[%c0]
      %good = arith.cmpi eq, %number, %c0_i64
      cf.cond_br %good, ^work, ^done
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
    "::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect"
  ];
}

def LaunchesToCalls : Pass<"attn-launches-to-calls", "::mlir::ModuleOp"> {
  let summary = "launches as calls of the run-time library";
  let description = [{
    Gives every function that launches kernels a further argument, a pointer to the
    call that it is a part of, and replaces each launch by a call of
    `attn_rt_cuda_launch` with the number of the kernel, the sizes, and the
    kernel's arguments as words in an array. Afterwards the host has no op of the
    gpu dialect.

    ```mlir
    gpu.launch_func @kernels::@f_k0 blocks in (%n, %c1, %c1)
        threads in (%c128, %c1, %c1) args(%y : memref<?xf32>)
    ```

    becomes

    ```mlir
    %words = llvm.alloca %c5 x i64
    llvm.store %pointer, %words[0] ...
    llvm.call @attn_rt_cuda_launch(%call, %kernel, %n, %c1, %c1, %c128, %c1, %c1,
                                   %shared, %words, %c5)
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::memref::MemRefDialect", "::mlir::LLVM::LLVMDialect"
  ];
}

def EmitCudaEntries : Pass<"attn-emit-cuda-entries", "::mlir::ModuleOp"> {
  let summary = "the C interface of each function of a GPU";
  let description = [{
    For each function with an `attn.signature`, now in the llvm dialect, adds `f`,
    `f_apply`, `f_shape`, `f_workspace` and `f_status` on pointers to DLTensor, as
    `attn-emit-entries` does for a CPU. `f` takes the workspace and the stream that
    its kernels are launched on.

    ```mlir
    llvm.func @f(%x: !llvm.ptr, %y: !llvm.ptr, %workspace: !llvm.ptr,
                 %stream: !llvm.ptr, %message: !llvm.ptr, %size: i64) -> i32
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // ATTN_CODEGEN_CUDAPASSES_TD
