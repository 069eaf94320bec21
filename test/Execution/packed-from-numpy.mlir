// The weights of a layer are packed once, by numpy: few rows and many, one entry of a batch and more, give the bits of
// the layer that packs on each call, and a block that layer_pack did not write is refused.
//
// REQUIRES: attnc, cc, numpy
// RUN: attnc %s -o %t.so
// RUN: %numpy %S/Inputs/packed_from_numpy.py %t.so %S/../../tools/dev/demo | FileCheck %s

// CHECK: pack 0
// CHECK: 1 1 (0, '') (0, '') same bits: True
// CHECK: 1 5 (0, '') (0, '') same bits: True
// CHECK: 2 8 (0, '') (0, '') same bits: True
// CHECK: 1 17 (0, '') (0, '') same bits: True
// CHECK: 3 11 (0, '') (0, '') same bits: True
// CHECK: 2 64 (0, '') (0, '') same bits: True
// CHECK: short: 4 'layer_packed' expects argument 'packed' of [[SIZE:[0-9]+]] in dimension 0, got {{[0-9]+}}
// CHECK: wide: 3 'layer_packed' expects argument 'packed' of element type f32, got f64
// CHECK: zero: 8 'layer_packed' expects 'packed' to hold what 'layer_pack' wrote, got mark 0 instead of {{[0-9]+}}
// CHECK: other: 8 'layer_packed' expects 'packed' to hold these weights, packed for this kind of CPU, got mark {{[0-9]+}} instead of {{[0-9]+}}
// CHECK: strided: 6 'layer_packed' expects packed weights of stride 1
// CHECK: rows: 4 'layer_packed' expects argument 'bias' of 24 in dimension 0, got 23
// CHECK: copied: 0
func.func @layer(%x: tensor<?x?x24xf32>, %wq: tensor<40x24xf32>,
                 %wk: tensor<40x24xf32>, %wv: tensor<40x24xf32>,
                 %wo: tensor<24x40xf32>, %bias: tensor<24xf32>)
    -> tensor<?x?x24xf32> {
  %y = attn.mha %x query(%wq : tensor<40x24xf32>)
    key(%wk : tensor<40x24xf32>) value(%wv : tensor<40x24xf32>)
    output(%wo : tensor<24x40xf32>, %bias : tensor<24xf32>)
    heads = 5 causal = top_left : tensor<?x?x24xf32> -> tensor<?x?x24xf32>
  return %y : tensor<?x?x24xf32>
}
