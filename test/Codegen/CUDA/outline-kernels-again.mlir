// RUN: attn-opt %s --attn-outline-kernels | FileCheck %s

// Launches that are there already are of kernels of another module, and stay so.
//
// CHECK-LABEL: func.func @again(
// CHECK: gpu.launch_func @kernels::@again_k0
// CHECK: gpu.module @kernels
// CHECK: gpu.func @again_k0
module attributes {gpu.container_module} {
func.func @again(%x: memref<?xf32>) -> i32 attributes {attn.signature = {}} {
  %good = arith.constant 0 : i32
  %one = arith.constant 1 : index
  gpu.launch_func @kernels::@again_k0 blocks in (%one, %one, %one) threads in (%one, %one, %one)
    args(%x : memref<?xf32>)
  return %good : i32
}
gpu.module @kernels {
  gpu.func @again_k0(%x: memref<?xf32>) kernel {
    gpu.return
  }
}
}
