// Rows of padding, whose scores of an infinite key are NaN, do not make a value show that no row attends to: 20 rows fill
// more than one tile of 16, and key 290 excludes itself by a score of -inf. A NaN in the query shows in its own row.
//
// RUN: attn-run %s --device=cuda-emulated --verify | FileCheck %s
// CHECK: pass: largest error {{.*}}, 0 elements beyond it
func.func @excluded_by_score(%k: tensor<1x1x300x8xf32>, %v: tensor<1x1x300x8xf32>, %q1: tensor<1x1x20x8xf32>,
    %bias: tensor<20x300xf32>)
    -> (tensor<1x1x20x8xf32>, tensor<1x1x20x8xf32>) {
  %nan = arith.constant 0x7FC00000 : f32
  %none = arith.constant 0xFF800000 : f32
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c17 = arith.constant 17 : index
  %c290 = arith.constant 290 : index
  %q = arith.constant dense<0.5> : tensor<1x1x20x8xf32>
  %k0 = tensor.insert %none into %k[%c0, %c0, %c290, %c3] : tensor<1x1x300x8xf32>
  %v0 = tensor.insert %nan into %v[%c0, %c0, %c290, %c0] : tensor<1x1x300x8xf32>
  %o0 = attn.sdpa %q, %k0, %v0 bias(%bias : tensor<20x300xf32>)
    : tensor<1x1x20x8xf32>, tensor<1x1x300x8xf32>, tensor<1x1x300x8xf32> -> tensor<1x1x20x8xf32>
  %q2 = tensor.insert %nan into %q1[%c0, %c0, %c17, %c0] : tensor<1x1x20x8xf32>
  %o1 = attn.sdpa %q2, %k, %v bias(%bias : tensor<20x300xf32>)
    : tensor<1x1x20x8xf32>, tensor<1x1x300x8xf32>, tensor<1x1x300x8xf32> -> tensor<1x1x20x8xf32>
  return %o0, %o1 : tensor<1x1x20x8xf32>, tensor<1x1x20x8xf32>
}
