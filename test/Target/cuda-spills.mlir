// Kernels of 64 and 128 channels keep all that a thread needs in its registers, of both 16-bit types, with and without a
// causal mask: no stack, and nothing is spilled.
//
// REQUIRES: attnc, ptxas
// RUN: attnc %s --target=sm_80 --report | FileCheck %s --implicit-check-not="{{[1-9][0-9]*}} bytes of stack" --implicit-check-not="{{[1-9][0-9]*}} of spills"
//
// Two blocks share a multiprocessor, whose tensor cores eight warps keep busy.
//
// CHECK-DAG: full_f16_64_k0 ({{.*}}): {{.*}} 0 bytes of stack, 0 of spills, 49152 of shared memory, 2 blocks of 128 threads
// CHECK-DAG: causal_f16_64_k0 ({{.*}}): {{.*}} 0 bytes of stack, 0 of spills, 49152 of shared memory, 2 blocks of 128 threads
// CHECK-DAG: full_bf16_64_k0 ({{.*}}): {{.*}} 0 bytes of stack, 0 of spills, 49152 of shared memory, 2 blocks of 128 threads
// CHECK-DAG: causal_bf16_64_k0 ({{.*}}): {{.*}} 0 bytes of stack, 0 of spills, 49152 of shared memory, 2 blocks of 128 threads
// CHECK-DAG: full_f16_128_k0 ({{.*}}): {{.*}} 0 bytes of stack, 0 of spills, 65536 of shared memory, 2 blocks of 128 threads
// CHECK-DAG: causal_f16_128_k0 ({{.*}}): {{.*}} 0 bytes of stack, 0 of spills, 65536 of shared memory, 2 blocks of 128 threads
// CHECK-DAG: full_bf16_128_k0 ({{.*}}): {{.*}} 0 bytes of stack, 0 of spills, 65536 of shared memory, 2 blocks of 128 threads
// CHECK-DAG: causal_bf16_128_k0 ({{.*}}): {{.*}} 0 bytes of stack, 0 of spills, 65536 of shared memory, 2 blocks of 128 threads

func.func @full_f16_64(%q: tensor<1x8x1024x64xf16>, %k: tensor<1x8x?x64xf16>, %v: tensor<1x8x?x64xf16>) -> tensor<1x8x1024x64xf16> {
  %o = attn.sdpa %q, %k, %v
    : tensor<1x8x1024x64xf16>, tensor<1x8x?x64xf16>, tensor<1x8x?x64xf16> -> tensor<1x8x1024x64xf16>
  return %o : tensor<1x8x1024x64xf16>
}
func.func @causal_f16_64(%q: tensor<1x8x1024x64xf16>, %k: tensor<1x8x?x64xf16>, %v: tensor<1x8x?x64xf16>) -> tensor<1x8x1024x64xf16> {
  %o = attn.sdpa %q, %k, %v causal = bottom_right
    : tensor<1x8x1024x64xf16>, tensor<1x8x?x64xf16>, tensor<1x8x?x64xf16> -> tensor<1x8x1024x64xf16>
  return %o : tensor<1x8x1024x64xf16>
}
func.func @full_bf16_64(%q: tensor<1x8x1024x64xbf16>, %k: tensor<1x8x?x64xbf16>, %v: tensor<1x8x?x64xbf16>) -> tensor<1x8x1024x64xbf16> {
  %o = attn.sdpa %q, %k, %v
    : tensor<1x8x1024x64xbf16>, tensor<1x8x?x64xbf16>, tensor<1x8x?x64xbf16> -> tensor<1x8x1024x64xbf16>
  return %o : tensor<1x8x1024x64xbf16>
}
func.func @causal_bf16_64(%q: tensor<1x8x1024x64xbf16>, %k: tensor<1x8x?x64xbf16>, %v: tensor<1x8x?x64xbf16>) -> tensor<1x8x1024x64xbf16> {
  %o = attn.sdpa %q, %k, %v causal = bottom_right
    : tensor<1x8x1024x64xbf16>, tensor<1x8x?x64xbf16>, tensor<1x8x?x64xbf16> -> tensor<1x8x1024x64xbf16>
  return %o : tensor<1x8x1024x64xbf16>
}
func.func @full_f16_128(%q: tensor<1x8x1024x128xf16>, %k: tensor<1x8x?x128xf16>, %v: tensor<1x8x?x128xf16>) -> tensor<1x8x1024x128xf16> {
  %o = attn.sdpa %q, %k, %v
    : tensor<1x8x1024x128xf16>, tensor<1x8x?x128xf16>, tensor<1x8x?x128xf16> -> tensor<1x8x1024x128xf16>
  return %o : tensor<1x8x1024x128xf16>
}
func.func @causal_f16_128(%q: tensor<1x8x1024x128xf16>, %k: tensor<1x8x?x128xf16>, %v: tensor<1x8x?x128xf16>) -> tensor<1x8x1024x128xf16> {
  %o = attn.sdpa %q, %k, %v causal = bottom_right
    : tensor<1x8x1024x128xf16>, tensor<1x8x?x128xf16>, tensor<1x8x?x128xf16> -> tensor<1x8x1024x128xf16>
  return %o : tensor<1x8x1024x128xf16>
}
func.func @full_bf16_128(%q: tensor<1x8x1024x128xbf16>, %k: tensor<1x8x?x128xbf16>, %v: tensor<1x8x?x128xbf16>) -> tensor<1x8x1024x128xbf16> {
  %o = attn.sdpa %q, %k, %v
    : tensor<1x8x1024x128xbf16>, tensor<1x8x?x128xbf16>, tensor<1x8x?x128xbf16> -> tensor<1x8x1024x128xbf16>
  return %o : tensor<1x8x1024x128xbf16>
}
func.func @causal_bf16_128(%q: tensor<1x8x1024x128xbf16>, %k: tensor<1x8x?x128xbf16>, %v: tensor<1x8x?x128xbf16>) -> tensor<1x8x1024x128xbf16> {
  %o = attn.sdpa %q, %k, %v causal = bottom_right
    : tensor<1x8x1024x128xbf16>, tensor<1x8x?x128xbf16>, tensor<1x8x?x128xbf16> -> tensor<1x8x1024x128xbf16>
  return %o : tensor<1x8x1024x128xbf16>
}
