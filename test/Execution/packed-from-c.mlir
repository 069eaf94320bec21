// The packed entries of a layer are declared in its header and called from C.
//
// REQUIRES: attnc, cc
// RUN: rm -rf %t && mkdir -p %t
// RUN: attnc %s -o %t/liblayer.so --header=%t/layer.h
// RUN: cc -std=c99 -Wall -Wextra -Werror -pedantic -I%t %S/Inputs/packed.c \
// RUN:   %t/liblayer.so -o %t/packed
// RUN: %t/packed | FileCheck %s

// CHECK: shape: 0
// CHECK-NEXT: length is that of whole panels: 1
// CHECK-NEXT: no mark: 8 'layer_packed' expects 'packed' to hold what 'layer_pack' wrote, got mark 0 instead of 1314149441
// CHECK-NEXT: pack: 0
// CHECK-NEXT: packed: 0
// CHECK-NEXT: layer: 0
// CHECK-NEXT: same bits: 1
// CHECK-NEXT: apply: 0
// CHECK-NEXT: same bits: 1
// CHECK-NEXT: null: 1 'layer_packed' expects argument 'packed', got a null pointer
func.func @layer(%x: tensor<1x20x48xf32>, %wq: tensor<48x48xf32>,
                 %wk: tensor<48x48xf32>, %wv: tensor<48x48xf32>,
                 %wo: tensor<48x48xf32>) -> tensor<1x20x48xf32> {
  %y = attn.mha %x query(%wq : tensor<48x48xf32>)
    key(%wk : tensor<48x48xf32>) value(%wv : tensor<48x48xf32>)
    output(%wo : tensor<48x48xf32>) heads = 4
    : tensor<1x20x48xf32> -> tensor<1x20x48xf32>
  return %y : tensor<1x20x48xf32>
}
