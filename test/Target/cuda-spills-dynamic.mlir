// Kernels of 64 channels with a causal mask spill nothing where all extents are known at run time only, and have as few
// instructions for a matrix product as without.
//
// REQUIRES: attnc, ptxas
// RUN: attnc %s --target=sm_80,sm_86,sm_89,sm_90a --report | FileCheck %s --implicit-check-not="{{[1-9][0-9]*}} bytes of stack" --implicit-check-not="{{[1-9][0-9]*}} of spills"
//
// CHECK: bottom_right_k2 (sm_80): {{.*}} 0 bytes of stack, 0 of spills, 49152 of shared memory, 2 blocks of 128 threads
// CHECK-NEXT: loop:
// CHECK-NEXT: shortest way: {{[0-9]+}} instructions, 128 matrix products ({{3[.][0-9]+}} for each)
// CHECK: top_left_k2 (sm_80): {{.*}} 0 bytes of stack, 0 of spills, 49152 of shared memory, 2 blocks of 128 threads
// CHECK: top_left_half_k2 (sm_86): {{.*}} 0 bytes of stack, 0 of spills
// CHECK: top_left_k2 (sm_86): {{.*}} 0 bytes of stack, 0 of spills
// CHECK: top_left_half_k2 (sm_89): {{.*}} 0 bytes of stack, 0 of spills
// CHECK: top_left_k2 (sm_89): {{.*}} 0 bytes of stack, 0 of spills
// CHECK: bottom_right_k2 (sm_90a): {{.*}} 0 bytes of stack, 0 of spills, 49152 of shared memory, 2 blocks of 128 threads
// CHECK: top_left_k2 (sm_90a): {{.*}} 0 bytes of stack, 0 of spills, 49152 of shared memory, 2 blocks of 128 threads

func.func @bottom_right(%q: tensor<1x8x?x64xf16>, %k: tensor<1x8x?x64xf16>, %v: tensor<1x8x?x64xf16>) -> tensor<1x8x?x64xf16> {
  %o = attn.sdpa %q, %k, %v causal = bottom_right
    : tensor<1x8x?x64xf16>, tensor<1x8x?x64xf16>, tensor<1x8x?x64xf16> -> tensor<1x8x?x64xf16>
  return %o : tensor<1x8x?x64xf16>
}
func.func @top_left(%q: tensor<1x8x?x64xbf16>, %k: tensor<1x8x?x64xbf16>, %v: tensor<1x8x?x64xbf16>) -> tensor<1x8x?x64xbf16> {
  %o = attn.sdpa %q, %k, %v causal = top_left
    : tensor<1x8x?x64xbf16>, tensor<1x8x?x64xbf16>, tensor<1x8x?x64xbf16> -> tensor<1x8x?x64xbf16>
  return %o : tensor<1x8x?x64xbf16>
}
func.func @top_left_half(%q: tensor<1x8x?x64xf16>, %k: tensor<1x8x?x64xf16>, %v: tensor<1x8x?x64xf16>) -> tensor<1x8x?x64xf16> {
  %o = attn.sdpa %q, %k, %v causal = top_left
    : tensor<1x8x?x64xf16>, tensor<1x8x?x64xf16>, tensor<1x8x?x64xf16> -> tensor<1x8x?x64xf16>
  return %o : tensor<1x8x?x64xf16>
}
