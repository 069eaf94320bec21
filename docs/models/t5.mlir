// Attention of T5: no scale, and a learned bias for each head and each bucket of distances. Buckets are exact up to 8
// (16 in the decoder), then wider and wider up to 128; in the encoder keys ahead have buckets of their own. The rule is
// written as a region of the op, so the bias is computed where it is needed and never stored as a matrix.
//
// REQUIRES: attn-run, numpy
// RUN: attn-opt %s --verify-roundtrip -o /dev/null
// RUN: %numpy %root/test/Models/run.py t5 %s %t

func.func @encoder(%q: tensor<1x4x?x16xf32>, %k: tensor<1x4x?x16xf32>, %v: tensor<1x4x?x16xf32>,
                   %table: tensor<32x4xf32>) -> tensor<1x4x?x16xf32> {
  %o = attn.sdpa %q, %k, %v scale = 1.0
    score_mod(%s: f32, %b: index, %h: index, %i: index, %j: index) {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %ahead = arith.subi %j, %i : index
    %behind = arith.subi %i, %j : index
    %distance = arith.maxsi %ahead, %behind : index
    %exact = arith.constant 8 : index
    %near = arith.minsi %distance, %exact : index
    %t0 = arith.constant 12 : index
    %far0 = arith.cmpi sge, %distance, %t0 : index
    %one0 = arith.index_castui %far0 : i1 to index
    %sum0 = arith.addi %near, %one0 : index
    %t1 = arith.constant 16 : index
    %far1 = arith.cmpi sge, %distance, %t1 : index
    %one1 = arith.index_castui %far1 : i1 to index
    %sum1 = arith.addi %sum0, %one1 : index
    %t2 = arith.constant 23 : index
    %far2 = arith.cmpi sge, %distance, %t2 : index
    %one2 = arith.index_castui %far2 : i1 to index
    %sum2 = arith.addi %sum1, %one2 : index
    %t3 = arith.constant 32 : index
    %far3 = arith.cmpi sge, %distance, %t3 : index
    %one3 = arith.index_castui %far3 : i1 to index
    %sum3 = arith.addi %sum2, %one3 : index
    %t4 = arith.constant 46 : index
    %far4 = arith.cmpi sge, %distance, %t4 : index
    %one4 = arith.index_castui %far4 : i1 to index
    %sum4 = arith.addi %sum3, %one4 : index
    %t5 = arith.constant 64 : index
    %far5 = arith.cmpi sge, %distance, %t5 : index
    %one5 = arith.index_castui %far5 : i1 to index
    %sum5 = arith.addi %sum4, %one5 : index
    %t6 = arith.constant 91 : index
    %far6 = arith.cmpi sge, %distance, %t6 : index
    %one6 = arith.index_castui %far6 : i1 to index
    %sum6 = arith.addi %sum5, %one6 : index
    %is_ahead = arith.cmpi sgt, %ahead, %c0 : index
    %half = arith.select %is_ahead, %c16, %c0 : index
    %bucket = arith.addi %sum6, %half : index
    %bias = tensor.extract %table[%bucket, %h] : tensor<32x4xf32>
    %t = arith.addf %s, %bias : f32
    attn.yield %t : f32
  } : tensor<1x4x?x16xf32>, tensor<1x4x?x16xf32>, tensor<1x4x?x16xf32> -> tensor<1x4x?x16xf32>
  return %o : tensor<1x4x?x16xf32>
}

func.func @decoder(%q: tensor<1x4x?x16xf32>, %k: tensor<1x4x?x16xf32>, %v: tensor<1x4x?x16xf32>,
                   %table: tensor<32x4xf32>) -> tensor<1x4x?x16xf32> {
  %o = attn.sdpa %q, %k, %v scale = 1.0 causal = bottom_right
    score_mod(%s: f32, %b: index, %h: index, %i: index, %j: index) {
    %c0 = arith.constant 0 : index
    %behind = arith.subi %i, %j : index
    %distance = arith.maxsi %behind, %c0 : index
    %exact = arith.constant 16 : index
    %near = arith.minsi %distance, %exact : index
    %t0 = arith.constant 19 : index
    %far0 = arith.cmpi sge, %distance, %t0 : index
    %one0 = arith.index_castui %far0 : i1 to index
    %sum0 = arith.addi %near, %one0 : index
    %t1 = arith.constant 21 : index
    %far1 = arith.cmpi sge, %distance, %t1 : index
    %one1 = arith.index_castui %far1 : i1 to index
    %sum1 = arith.addi %sum0, %one1 : index
    %t2 = arith.constant 24 : index
    %far2 = arith.cmpi sge, %distance, %t2 : index
    %one2 = arith.index_castui %far2 : i1 to index
    %sum2 = arith.addi %sum1, %one2 : index
    %t3 = arith.constant 27 : index
    %far3 = arith.cmpi sge, %distance, %t3 : index
    %one3 = arith.index_castui %far3 : i1 to index
    %sum3 = arith.addi %sum2, %one3 : index
    %t4 = arith.constant 31 : index
    %far4 = arith.cmpi sge, %distance, %t4 : index
    %one4 = arith.index_castui %far4 : i1 to index
    %sum4 = arith.addi %sum3, %one4 : index
    %t5 = arith.constant 35 : index
    %far5 = arith.cmpi sge, %distance, %t5 : index
    %one5 = arith.index_castui %far5 : i1 to index
    %sum5 = arith.addi %sum4, %one5 : index
    %t6 = arith.constant 40 : index
    %far6 = arith.cmpi sge, %distance, %t6 : index
    %one6 = arith.index_castui %far6 : i1 to index
    %sum6 = arith.addi %sum5, %one6 : index
    %t7 = arith.constant 46 : index
    %far7 = arith.cmpi sge, %distance, %t7 : index
    %one7 = arith.index_castui %far7 : i1 to index
    %sum7 = arith.addi %sum6, %one7 : index
    %t8 = arith.constant 52 : index
    %far8 = arith.cmpi sge, %distance, %t8 : index
    %one8 = arith.index_castui %far8 : i1 to index
    %sum8 = arith.addi %sum7, %one8 : index
    %t9 = arith.constant 59 : index
    %far9 = arith.cmpi sge, %distance, %t9 : index
    %one9 = arith.index_castui %far9 : i1 to index
    %sum9 = arith.addi %sum8, %one9 : index
    %t10 = arith.constant 67 : index
    %far10 = arith.cmpi sge, %distance, %t10 : index
    %one10 = arith.index_castui %far10 : i1 to index
    %sum10 = arith.addi %sum9, %one10 : index
    %t11 = arith.constant 77 : index
    %far11 = arith.cmpi sge, %distance, %t11 : index
    %one11 = arith.index_castui %far11 : i1 to index
    %sum11 = arith.addi %sum10, %one11 : index
    %t12 = arith.constant 87 : index
    %far12 = arith.cmpi sge, %distance, %t12 : index
    %one12 = arith.index_castui %far12 : i1 to index
    %sum12 = arith.addi %sum11, %one12 : index
    %t13 = arith.constant 99 : index
    %far13 = arith.cmpi sge, %distance, %t13 : index
    %one13 = arith.index_castui %far13 : i1 to index
    %sum13 = arith.addi %sum12, %one13 : index
    %t14 = arith.constant 113 : index
    %far14 = arith.cmpi sge, %distance, %t14 : index
    %one14 = arith.index_castui %far14 : i1 to index
    %sum14 = arith.addi %sum13, %one14 : index
    %bias = tensor.extract %table[%sum14, %h] : tensor<32x4xf32>
    %t = arith.addf %s, %bias : f32
    attn.yield %t : f32
  } : tensor<1x4x?x16xf32>, tensor<1x4x?x16xf32>, tensor<1x4x?x16xf32> -> tensor<1x4x?x16xf32>
  return %o : tensor<1x4x?x16xf32>
}

// The decoder on what the encoder gave: no bias at all.
func.func @cross(%x: tensor<1x?x64xf32>, %memory: tensor<1x?x64xf32>, %wq: tensor<64x64xf32>,
                 %wk: tensor<64x64xf32>, %wv: tensor<64x64xf32>, %wo: tensor<64x64xf32>) -> tensor<1x?x64xf32> {
  %a = attn.mha %x memory(%memory : tensor<1x?x64xf32>)
    query(%wq : tensor<64x64xf32>) key(%wk : tensor<64x64xf32>)
    value(%wv : tensor<64x64xf32>) output(%wo : tensor<64x64xf32>)
    heads = 4 scale = 1.0 : tensor<1x?x64xf32> -> tensor<1x?x64xf32>
  %y = arith.addf %x, %a : tensor<1x?x64xf32>
  return %y : tensor<1x?x64xf32>
}
