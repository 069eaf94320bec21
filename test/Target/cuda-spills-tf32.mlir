// Kernels of f32 with 128 channels and a causal mask need hardly more registers than there are where each product is three
// of tf32, also where all extents are known at run time only.
//
// REQUIRES: attnc, ptxas
// RUN: attnc %s --target=sm_80,sm_90a --precision=tf32x3 --report \
// RUN:   | FileCheck %s --implicit-check-not="{{[0-9][0-9]+}} bytes of stack" --implicit-check-not="{{[0-9][0-9]+}} of spills"
//
// CHECK: causal_k2 (sm_80): {{.*}} 0 bytes of stack, 0 of spills
// CHECK: causal_k2_any (sm_80): {{.*}} {{[0-9]}} bytes of stack, {{[0-9]}} of spills
// CHECK: causal_k2 (sm_90a): {{.*}} 0 bytes of stack, 0 of spills
// CHECK: causal_k2_any (sm_90a): {{.*}} {{[0-9]}} bytes of stack, {{[0-9]}} of spills

func.func @causal(%q: tensor<1x8x?x128xf32>, %k: tensor<1x8x?x128xf32>, %v: tensor<1x8x?x128xf32>) -> tensor<1x8x?x128xf32> {
  %o = attn.sdpa %q, %k, %v causal = top_left
    : tensor<1x8x?x128xf32>, tensor<1x8x?x128xf32>, tensor<1x8x?x128xf32> -> tensor<1x8x?x128xf32>
  return %o : tensor<1x8x?x128xf32>
}
