// RUN: attn-opt %s --verify-roundtrip | FileCheck %s

// The smallest attention: three tensors, default scale.
//
// CHECK-LABEL: func.func @smallest
// CHECK: attn.sdpa %{{.*}}, %{{.*}}, %{{.*}} : tensor<1x2x8x16xf32>
func.func @smallest(%q: tensor<1x2x8x16xf32>, %k: tensor<1x2x8x16xf32>,
                    %v: tensor<1x2x8x16xf32>) -> tensor<1x2x8x16xf32> {
  %o = attn.sdpa %q, %k, %v
    : tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32>
    -> tensor<1x2x8x16xf32>
  return %o : tensor<1x2x8x16xf32>
}
