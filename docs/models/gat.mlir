// Graph attention (GAT): a node attends to its neighbours with scores that are a sum of two numbers, one of each node,
// through a leaky relu. There is no product of queries and keys, so they have no channels (D = 0); the region of the op
// makes the score, and the adjacency is the mask. A node without neighbours gets 0.
//
// REQUIRES: attn-run, numpy
// RUN: attn-opt %s --verify-roundtrip -o /dev/null
// RUN: %numpy %root/test/Models/run.py gat %s %t

func.func @layer(%features: tensor<1x4x?x16xf32>, %to: tensor<4x?xf32>, %from: tensor<4x?xf32>,
                 %adjacency: tensor<?x?xi1>) -> tensor<1x4x?x16xf32> {
  %c2 = arith.constant 2 : index
  %n = tensor.dim %features, %c2 : tensor<1x4x?x16xf32>
  %none = tensor.empty(%n) : tensor<1x4x?x0xf32>
  %o = attn.sdpa %none, %none, %features mask(%adjacency : tensor<?x?xi1>)
    score_mod(%s: f32, %b: index, %h: index, %i: index, %j: index) {
    %zero = arith.constant 0.0 : f32
    %slope = arith.constant 0.2 : f32
    %mine = tensor.extract %to[%h, %i] : tensor<4x?xf32>
    %theirs = tensor.extract %from[%h, %j] : tensor<4x?xf32>
    %sum = arith.addf %mine, %theirs : f32
    %small = arith.mulf %sum, %slope : f32
    %positive = arith.cmpf ogt, %sum, %zero : f32
    %t = arith.select %positive, %sum, %small : f32
    attn.yield %t : f32
  } : tensor<1x4x?x0xf32>, tensor<1x4x?x0xf32>, tensor<1x4x?x16xf32> -> tensor<1x4x?x16xf32>
  return %o : tensor<1x4x?x16xf32>
}
