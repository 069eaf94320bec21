// Kernels with a bias and a mask spill little where all extents are known at run time only, for a bias takes registers, too:
// of f32, whose products are exact, and of few rows of many channels.
//
// REQUIRES: attnc, ptxas
// RUN: split-file %s %t
// RUN: attnc %t/f32.mlir --target=sm_80 --report \
// RUN:   | FileCheck %s --check-prefix=EXACT --implicit-check-not="{{[1-9][0-9]*}} of spills"
// RUN: attnc %t/wide.mlir --target=sm_90a --report \
// RUN:   | FileCheck %s --check-prefix=WIDE --implicit-check-not="{{6[4-9]|[7-9][0-9]|[0-9][0-9][0-9]+}} of spills"
//
// EXACT: attend_k2 (sm_80): {{.*}} 0 bytes of stack, 0 of spills
// EXACT: attend_k2_any (sm_80): {{.*}} 0 bytes of stack, 0 of spills
// WIDE: attend_k0 (sm_90a):
// WIDE: attend_k0_any (sm_90a):
// WIDE: attend_k2 (sm_90a):

//--- f32.mlir
func.func @attend(%q: tensor<1x8x?x128xf32>, %k: tensor<1x8x?x128xf32>, %v: tensor<1x8x?x128xf32>,
                  %x: tensor<1x8x?x?xf32>, %y: tensor<1x1x?x?xi1>) -> tensor<1x8x?x128xf32> {
  %o = attn.sdpa %q, %k, %v bias(%x : tensor<1x8x?x?xf32>) mask(%y : tensor<1x1x?x?xi1>)
    : tensor<1x8x?x128xf32>, tensor<1x8x?x128xf32>, tensor<1x8x?x128xf32> -> tensor<1x8x?x128xf32>
  return %o : tensor<1x8x?x128xf32>
}
//--- wide.mlir
func.func @attend(%q: tensor<1x8x?x256xf16>, %k: tensor<1x8x?x256xf16>, %v: tensor<1x8x?x256xf16>,
                  %x: tensor<1x8x?x?xf16>, %y: tensor<1x1x?x?xi1>) -> tensor<1x8x?x256xf16> {
  %o = attn.sdpa %q, %k, %v bias(%x : tensor<1x8x?x?xf16>) mask(%y : tensor<1x1x?x?xi1>)
    : tensor<1x8x?x256xf16>, tensor<1x8x?x256xf16>, tensor<1x8x?x256xf16> -> tensor<1x8x?x256xf16>
  return %o : tensor<1x8x?x256xf16>
}
