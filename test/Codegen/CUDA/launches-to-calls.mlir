// RUN: attn-opt %s --attn-launches-to-calls --canonicalize | FileCheck %s

// A launch passes the words of its memrefs, its numbers as words, and the number of
// its kernel.
//
// CHECK: llvm.func @attn_rt_cuda_launch(!llvm.ptr, i64, i64, i64, i64, i64, i64, i64, i64, !llvm.ptr, i64)
// CHECK-LABEL: func.func @f(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<?xf32>, %[[S:[a-z0-9]+]]: f32, %[[CALL:[a-z0-9]+]]: !llvm.ptr) -> i32
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : i64
// CHECK-DAG: %[[SIX:.*]] = arith.constant 6 : i64
// CHECK-DAG: %[[SHARED:.*]] = arith.constant 1024 : i64
// CHECK: %[[WORDS:.*]] = llvm.alloca
// CHECK: %[[P:.*]] = memref.extract_aligned_pointer_as_index %[[X]]
// CHECK: %[[BITS:.*]] = arith.bitcast %[[S]] : f32 to i32
// CHECK: arith.extui %[[BITS]] : i32 to i64
// CHECK-COUNT-6: llvm.store
// CHECK: llvm.call @attn_rt_cuda_launch(%[[CALL]], %[[ONE]], {{.*}}, %[[SHARED]], %[[WORDS]], %[[SIX]])
// CHECK-NOT: gpu.launch_func
module attributes {gpu.container_module} {
  func.func @f(%x: memref<?xf32>, %s: f32) -> i32 attributes {attn.signature = {}} {
    %good = arith.constant 0 : i32
    %c1 = arith.constant 1 : index
    %bytes = arith.constant 1024 : i32
    gpu.launch_func @kernels::@k1 blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      dynamic_shared_memory_size %bytes args(%x : memref<?xf32>, %s : f32)
    return %good : i32
  }
  gpu.module @kernels {
    llvm.func @k0() attributes {gpu.kernel, nvvm.kernel} { llvm.return }
    llvm.func @k1(%0: !llvm.ptr, %1: !llvm.ptr, %2: i64, %3: i64, %4: i64, %5: f32)
        attributes {gpu.kernel, nvvm.kernel} { llvm.return }
  }
}
