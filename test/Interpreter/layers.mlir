// RUN: attn-run %s --device=interpreter --function=rotations | FileCheck %s --check-prefix=ROPE
// RUN: attn-run %s --device=interpreter --function=layer | FileCheck %s --check-prefix=LAYER
// RUN: attn-opt %s --attn-decompose-layers | attn-run - --device=interpreter --function=layer | FileCheck %s --check-prefix=LAYER
// RUN: attn-opt %s --attn-decompose-layers --convert-attn-to-linalg | attn-run - --device=interpreter --function=layer | FileCheck %s --check-prefix=LAYER
// RUN: not attn-run %s --device=interpreter --function=outside 2>&1 | FileCheck %s --check-prefix=OUTSIDE

// A quarter turn takes (x1, x2) to (-x2, x1); channels from 4 on pass. Halves rotate (1, 3) and (2, 4), neighbours
// (1, 2) and (3, 4).
//
// ROPE: result 0: 1x1x1x6xf32 = [-3, -4, 1, 2, 5, 6]
// ROPE-NEXT: result 1: 1x1x1x6xf32 = [-2, 1, -4, 3, 5, 6]
func.func @rotations() -> (tensor<1x1x1x6xf32>, tensor<1x1x1x6xf32>) {
  %x = arith.constant dense<[[[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]]]]> : tensor<1x1x1x6xf32>
  %cos = arith.constant dense<[[9.0, 9.0], [0.0, 0.0]]> : tensor<2x2xf32>
  %sin = arith.constant dense<[[9.0, 9.0], [1.0, 1.0]]> : tensor<2x2xf32>
  %positions = arith.constant dense<1> : tensor<1x1xi32>
  %half = attn.rope %x, %cos, %sin positions(%positions : tensor<1x1xi32>) rotary_dim = 4
    : tensor<1x1x1x6xf32>, tensor<2x2xf32>, tensor<2x2xf32>
  %neighbours = attn.rope %x, %cos, %sin positions(%positions : tensor<1x1xi32>) rotary_dim = 4 pairing = interleaved
    : tensor<1x1x1x6xf32>, tensor<2x2xf32>, tensor<2x2xf32>
  return %half, %neighbours : tensor<1x1x1x6xf32>, tensor<1x1x1x6xf32>
}

// A layer by its definition, by its parts, and by the linalg of its parts is the same.
//
// LAYER: result 0: 2x3x5xf64 = [0.180462, -0.802996, 0.447362, 0.839903, 0.539619, -0.0107532, -1.34165, 0.118842, ...]
func.func @layer(%x: tensor<2x3x6xf64>, %wq: tensor<8x6xf64>, %bq: tensor<8xf64>, %wk: tensor<4x6xf64>,
                 %wv: tensor<6x6xf64>, %bv: tensor<6xf64>, %wo: tensor<5x12xf64>, %bo: tensor<5xf64>,
                 %cos: tensor<2x3x1xf64>, %sin: tensor<2x3x1xf64>, %pk: tensor<2x2x2x2xf64>,
                 %pv: tensor<2x2x2x3xf64>) -> tensor<2x3x5xf64> {
  %y = attn.mha %x query(%wq : tensor<8x6xf64>, %bq : tensor<8xf64>) key(%wk : tensor<4x6xf64>)
    value(%wv : tensor<6x6xf64>, %bv : tensor<6xf64>) output(%wo : tensor<5x12xf64>, %bo : tensor<5xf64>)
    rope(%cos : tensor<2x3x1xf64>, %sin : tensor<2x3x1xf64>)
    past(%pk : tensor<2x2x2x2xf64>, %pv : tensor<2x2x2x3xf64>)
    heads = 4 kv_heads = 2 causal = bottom_right : tensor<2x3x6xf64> -> tensor<2x3x5xf64>
  return %y : tensor<2x3x5xf64>
}

// OUTSIDE: error: 'attn.rope' op expects positions in a table of 2 rows, got 2 at [0, 0]
func.func @outside() -> tensor<1x1x1x2xf32> {
  %x = arith.constant dense<1.0> : tensor<1x1x1x2xf32>
  %table = arith.constant dense<1.0> : tensor<2x1xf32>
  %positions = arith.constant dense<2> : tensor<1x1xi32>
  %y = attn.rope %x, %table, %table positions(%positions : tensor<1x1xi32>)
    : tensor<1x1x1x2xf32>, tensor<2x1xf32>, tensor<2x1xf32>
  return %y : tensor<1x1x1x2xf32>
}
