// RUN: attn-opt %s --attn-cpu-pipeline | FileCheck %s

// Equal ops share a function, which is called through all phases.
//
// CHECK-LABEL: llvm.func @f
// CHECK-COUNT-2: llvm.call @[[TASK:attn.task]](
// CHECK: llvm.func {{.*}}@[[TASK]](
func.func @f(%q: tensor<1x2x64x64xf32>, %k: tensor<1x2x64x64xf32>, %v: tensor<1x2x64x64xf32>) -> tensor<1x2x64x64xf32> {
  %o = attn.sdpa %q, %k, %v : tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32> -> tensor<1x2x64x64xf32>
  %p = attn.sdpa %o, %k, %v : tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32> -> tensor<1x2x64x64xf32>
  return %p : tensor<1x2x64x64xf32>
}
