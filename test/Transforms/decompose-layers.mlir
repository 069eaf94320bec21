// RUN: attn-opt %s --attn-decompose-layers --canonicalize --cse | FileCheck %s

// A layer is three projections, heads split off without a transpose, attention
// in layout bshd, heads merged, and the output projection.
//
// CHECK-DAG: #[[$TOKENS:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
// CHECK-DAG: #[[$WEIGHT:.*]] = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
// CHECK-DAG: #[[$RESULT:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
//
// CHECK-LABEL: func.func @layer
// CHECK-SAME: (%[[X:.*]]: tensor<1x4x8xf32>, %[[WQ:.*]]: tensor<8x8xf32>, %[[WK:.*]]: tensor<8x8xf32>, %[[WV:.*]]: tensor<8x8xf32>, %[[WO:.*]]: tensor<8x8xf32>)
// CHECK: %[[Q:.*]] = linalg.generic
// CHECK-SAME: [#[[$TOKENS]], #[[$WEIGHT]], #[[$RESULT]]]
// CHECK-SAME: ["parallel", "parallel", "parallel", "reduction"]
// CHECK-SAME: ins(%[[X]], %[[WQ]] :
// CHECK: %[[QH:.*]] = tensor.expand_shape %[[Q]] {{.*}} into tensor<1x4x2x4xf32>
// CHECK: linalg.generic {{.*}} ins(%[[X]], %[[WK]] :
// CHECK: linalg.generic {{.*}} ins(%[[X]], %[[WV]] :
// CHECK: %[[O:.*]] = attn.sdpa %[[QH]], %{{.*}} layout = bshd
// CHECK: %[[JOINED:.*]] = tensor.collapse_shape %[[O]] {{.*}} into tensor<1x4x8xf32>
// CHECK: linalg.generic {{.*}} ins(%[[JOINED]], %[[WO]] :
// CHECK-NOT: attn.mha
func.func @layer(%x: tensor<1x4x8xf32>, %wq: tensor<8x8xf32>,
                 %wk: tensor<8x8xf32>, %wv: tensor<8x8xf32>,
                 %wo: tensor<8x8xf32>) -> tensor<1x4x8xf32> {
  %y = attn.mha %x query(%wq : tensor<8x8xf32>) key(%wk : tensor<8x8xf32>)
       value(%wv : tensor<8x8xf32>) output(%wo : tensor<8x8xf32>) heads = 2
       : tensor<1x4x8xf32> -> tensor<1x4x8xf32>
  return %y : tensor<1x4x8xf32>
}

// The bias is where the sum starts, in f32, so that the projection is rounded
// once.
//
// CHECK-LABEL: func.func @half
// CHECK-SAME: %[[BIAS:[a-z0-9]+]]: tensor<8xf16>
// CHECK: %[[INIT:.*]] = linalg.generic {{.*}} ins(%[[BIAS]] : tensor<8xf16>) outs(%{{.*}} : tensor<1x4x8xf32>)
// CHECK: %[[SUMS:.*]] = linalg.generic {{.*}} outs(%[[INIT]] : tensor<1x4x8xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[SUMS]] : tensor<1x4x8xf32>) outs(%{{.*}} : tensor<1x4x8xf16>)
func.func @half(%x: tensor<1x4x8xf16>, %w: tensor<8x8xf16>,
                %b: tensor<8xf16>) -> tensor<1x4x8xf16> {
  %y = attn.mha %x query(%w : tensor<8x8xf16>, %b : tensor<8xf16>)
       key(%w : tensor<8x8xf16>) value(%w : tensor<8x8xf16>)
       output(%w : tensor<8x8xf16>) heads = 2
       : tensor<1x4x8xf16> -> tensor<1x4x8xf16>
  return %y : tensor<1x4x8xf16>
}

// New keys are put behind the cache, whose layout attention then reads.
//
// CHECK-LABEL: func.func @cache
// CHECK-SAME: %[[PAST:[a-z0-9]+]]: tensor<1x1x?x4xf32>
// CHECK: tensor.insert_slice %[[PAST]] into %{{.*}}[0, 0, 0, 0]
// CHECK: %[[KEYS:.*]] = tensor.insert_slice %{{.*}} into %{{.*}} : tensor<1x1x1x4xf32> into tensor<1x1x?x4xf32>
// CHECK: attn.sdpa %{{.*}}, %[[KEYS]], %{{.*}} causal = bottom_right layout = <query = bshd, key = bhsd, value = bhsd, output = bshd>
// CHECK: return %{{.*}}, %[[KEYS]], %{{.*}}
func.func @cache(%x: tensor<1x1x8xf32>, %wq: tensor<8x8xf32>,
                 %wk: tensor<4x8xf32>, %past: tensor<1x1x?x4xf32>)
    -> (tensor<1x1x8xf32>, tensor<1x1x?x4xf32>, tensor<1x1x?x4xf32>) {
  %y, %k, %v = attn.mha %x query(%wq : tensor<8x8xf32>)
       key(%wk : tensor<4x8xf32>) value(%wk : tensor<4x8xf32>)
       output(%wq : tensor<8x8xf32>)
       past(%past : tensor<1x1x?x4xf32>, %past : tensor<1x1x?x4xf32>)
       heads = 2 kv_heads = 1 causal = bottom_right
       : tensor<1x1x8xf32> -> tensor<1x1x8xf32>
       present(tensor<1x1x?x4xf32>, tensor<1x1x?x4xf32>)
  return %y, %k, %v
    : tensor<1x1x8xf32>, tensor<1x1x?x4xf32>, tensor<1x1x?x4xf32>
}

// Tables of 2 columns rotate 4 channels; the other 2 of each head pass. Both
// halves are written where they came from.
//
// CHECK-LABEL: func.func @rotary
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<1x2x8x6xf32>
// CHECK: %[[X1:.*]] = tensor.extract_slice %[[X]][0, 0, 0, 0] [1, 2, 8, 2]
// CHECK: %[[X2:.*]] = tensor.extract_slice %[[X]][0, 0, 0, 2] [1, 2, 8, 2]
// CHECK: %[[Y:.*]]:2 = linalg.generic {{.*}} outs(%[[X1]], %[[X2]] :
// CHECK: %[[ONE:.*]] = tensor.insert_slice %[[Y]]#0 into %[[X]][0, 0, 0, 0] [1, 2, 8, 2]
// CHECK: tensor.insert_slice %[[Y]]#1 into %[[ONE]][0, 0, 0, 2] [1, 2, 8, 2]
func.func @rotary(%x: tensor<1x2x8x6xf32>, %cos: tensor<1x8x2xf32>,
                  %sin: tensor<1x8x2xf32>) -> tensor<1x2x8x6xf32> {
  %y = attn.rope %x, %cos, %sin rotary_dim = 4
    : tensor<1x2x8x6xf32>, tensor<1x8x2xf32>, tensor<1x8x2xf32>
  return %y : tensor<1x2x8x6xf32>
}

// Interleaved pairs are two slices of stride 2.
//
// CHECK-LABEL: func.func @interleaved
// CHECK: tensor.extract_slice %{{.*}}[0, 0, 0, 0] [1, 2, 8, 3] [1, 1, 1, 2]
// CHECK: tensor.extract_slice %{{.*}}[0, 0, 0, 1] [1, 2, 8, 3] [1, 1, 1, 2]
func.func @interleaved(%x: tensor<1x2x8x6xf32>, %cos: tensor<1x8x3xf32>,
                       %sin: tensor<1x8x3xf32>) -> tensor<1x2x8x6xf32> {
  %y = attn.rope %x, %cos, %sin pairing = interleaved
    : tensor<1x2x8x6xf32>, tensor<1x8x3xf32>, tensor<1x8x3xf32>
  return %y : tensor<1x2x8x6xf32>
}
