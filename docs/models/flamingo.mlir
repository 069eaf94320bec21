// Gated cross-attention of Flamingo: words look at the image before them, and at no other. %image says for each word
// how many images came before it; an image is 8 latents of %media. Words before the first image get exactly 0 from
// attention. tanh(%gate), 0 at the start of training, says how much of it the text takes.
//
// REQUIRES: attn-run, numpy
// RUN: attn-opt %s --verify-roundtrip -o /dev/null
// RUN: %numpy %root/test/Models/run.py flamingo %s %t

func.func @layer(%x: tensor<2x?x64xf32>, %media: tensor<2x?x48xf32>, %image: tensor<2x?xi32>, %gate: f32,
                 %wq: tensor<64x64xf32>, %wk: tensor<64x48xf32>, %wv: tensor<64x48xf32>, %wo: tensor<64x64xf32>)
    -> tensor<2x?x64xf32> {
  %a = attn.mha %x memory(%media : tensor<2x?x48xf32>)
    query(%wq : tensor<64x64xf32>) key(%wk : tensor<64x48xf32>)
    value(%wv : tensor<64x48xf32>) output(%wo : tensor<64x64xf32>)
    heads = 4
    mask_mod(%b: index, %h: index, %i: index, %j: index) {
    %latents = arith.constant 8 : index
    %c1 = arith.constant 1 : index
    %before = arith.divui %j, %latents : index
    %mine = arith.addi %before, %c1 : index
    %seen = tensor.extract %image[%b, %i] : tensor<2x?xi32>
    %last = arith.index_cast %seen : i32 to index
    %keep = arith.cmpi eq, %mine, %last : index
    attn.yield %keep : i1
  } : tensor<2x?x64xf32> -> tensor<2x?x64xf32>
  %share = math.tanh %gate : f32
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c1 : tensor<2x?x64xf32>
  %empty = tensor.empty(%m) : tensor<2x?x64xf32>
  %gates = linalg.fill ins(%share : f32) outs(%empty : tensor<2x?x64xf32>) -> tensor<2x?x64xf32>
  %gated = arith.mulf %gates, %a : tensor<2x?x64xf32>
  %y = arith.addf %x, %gated : tensor<2x?x64xf32>
  return %y : tensor<2x?x64xf32>
}
