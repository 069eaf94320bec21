// RUN: attn-opt %s --attn-guard-kernels | FileCheck %s

// A guarded kernel returns where the status says that a check has failed, and its
// launch gets the shared memory that it needs.
//
// CHECK-LABEL: func.func @f(
// CHECK: %[[BYTES:.*]] = arith.constant 49152 : i32
// CHECK: gpu.launch_func @kernels::@k {{.*}} dynamic_shared_memory_size %[[BYTES]]
// CHECK-LABEL: gpu.func @k(
// CHECK-SAME: %[[STATUS:[a-z0-9]+]]: memref<3xi64>) kernel attributes {attn.shared_bytes
// CHECK: %[[NUMBER:.*]] = memref.load %[[STATUS]]
// CHECK: %[[GOOD:.*]] = arith.cmpi eq, %[[NUMBER]]
// CHECK: cf.cond_br %[[GOOD]], ^[[WORK:.*]], ^[[DONE:.*]]
// CHECK: ^[[WORK]]:
// CHECK: memref.store
// CHECK: ^[[DONE]]:
// CHECK-NEXT: gpu.return
module attributes {gpu.container_module} {
  func.func @f(%x: memref<8xf32>, %status: memref<3xi64>) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%x : memref<8xf32>, %status : memref<3xi64>)
    return
  }
  gpu.module @kernels {
    gpu.func @k(%x: memref<8xf32>, %status: memref<3xi64>) kernel
        attributes {attn.guarded, attn.shared_bytes = 49152 : i64} {
      %c0 = arith.constant 0 : index
      %zero = arith.constant 0.0 : f32
      memref.store %zero, %x[%c0] : memref<8xf32>
      gpu.return
    }
  }
}
