// A key that excludes itself from every row by a score of -inf, without mask, bias or rule, may hold a NaN in its value.
//
// RUN: attn-run %s --device=cuda-emulated --verify | FileCheck %s
// CHECK: pass: largest error {{.*}}, 0 elements beyond it
func.func @excluded_by_score(%k: tensor<1x1x300x8xf32>, %v: tensor<1x1x300x8xf32>) -> tensor<1x1x16x8xf32> {
  %nan = arith.constant 0x7FC00000 : f32
  %none = arith.constant 0xFF800000 : f32
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c290 = arith.constant 290 : index
  %q = arith.constant dense<0.5> : tensor<1x1x16x8xf32>
  %k0 = tensor.insert %none into %k[%c0, %c0, %c290, %c3] : tensor<1x1x300x8xf32>
  %v0 = tensor.insert %nan into %v[%c0, %c0, %c290, %c0] : tensor<1x1x300x8xf32>
  %o = attn.sdpa %q, %k0, %v0
    : tensor<1x1x16x8xf32>, tensor<1x1x300x8xf32>, tensor<1x1x300x8xf32> -> tensor<1x1x16x8xf32>
  return %o : tensor<1x1x16x8xf32>
}
