// Kernels of f32 with 256 channels spill nothing where all extents are known at run time only: their values are taken in
// two parts.
//
// REQUIRES: attnc, ptxas
// RUN: attnc %s --target=sm_80,sm_90a --report | FileCheck %s --implicit-check-not="{{[1-9][0-9]*}} bytes of stack" --implicit-check-not="{{[1-9][0-9]*}} of spills"
//
// CHECK: wide_k{{[0-9]+}} (sm_80): {{.*}} 0 bytes of stack, 0 of spills
// CHECK: wide_k{{[0-9]+}} (sm_90a): {{.*}} 0 bytes of stack, 0 of spills

func.func @wide(%q: tensor<1x8x?x256xf32>, %k: tensor<1x8x?x256xf32>, %v: tensor<1x8x?x256xf32>) -> tensor<1x8x?x256xf32> {
  %o = attn.sdpa %q, %k, %v
    : tensor<1x8x?x256xf32>, tensor<1x8x?x256xf32>, tensor<1x8x?x256xf32> -> tensor<1x8x?x256xf32>
  return %o : tensor<1x8x?x256xf32>
}
