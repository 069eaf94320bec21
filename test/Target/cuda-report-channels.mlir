// Of many channels, the loop over parts of them issues matrix products: of 48 keys 24 for each warp, with few instructions
// beside them, and nothing is spilled. All parts of a value are kernels of that kind.
//
// REQUIRES: attnc, ptxas
// RUN: attnc %s --target=sm_80,sm_90a --report | FileCheck %s --implicit-check-not="{{[1-9][0-9]*}} of spills"
// RUN: attnc %s --target=sm_80 -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX --input-file=%t.ptx
//
// CHECK: latent_k0 (sm_80): {{.*}} 0 bytes of stack, 0 of spills, 69632 of shared memory, 1 blocks of 256 threads
// CHECK-NEXT: loop: {{[0-9]+}} instructions, 24 matrix products ({{3[.][0-9]+}} for each), 16 matrix loads, 6 copies
// CHECK: latent_k0 (sm_90a)
// CHECK-NEXT: loop: {{[0-9]+}} instructions, 24 matrix products ({{3[.][0-9]+}} for each), 16 matrix loads, 6 copies
//
// Loops over parts stay loops, that over single keys, too.
//
// PTX: .visible .entry latent_k0(
// PTX-COUNT-2: .pragma "nounroll"
func.func @latent(%q: tensor<1x16x256x576xf16>, %k: tensor<1x1x?x576xf16>, %v: tensor<1x1x?x256xf16>) -> tensor<1x16x256x256xf16> {
  %o = attn.sdpa %q, %k, %v
    : tensor<1x16x256x576xf16>, tensor<1x1x?x576xf16>, tensor<1x1x?x256xf16> -> tensor<1x16x256x256xf16>
  return %o : tensor<1x16x256x256xf16>
}
