// RUN: attn-opt %s --verify-roundtrip | FileCheck %s --enable-var-scope

// Regions use scalars and tensors from outside.
//
// CHECK-LABEL: func.func @captured
// CHECK: attn.sdpa
// CHECK-SAME: score_mod (%[[S:.*]]: f32, %{{.*}}: index, %[[H:.*]]: index, %{{.*}}: index, %{{.*}}: index) {
// CHECK: tensor.extract %{{.*}}[%[[H]]] : tensor<4xf32>
// CHECK: attn.yield %{{.*}} : f32
// CHECK: } mask_mod (%{{.*}}: index, %{{.*}}: index, %{{.*}}: index, %[[J:.*]]: index) {
// CHECK: arith.cmpi slt, %[[J]], %{{.*}} : index
// CHECK: attn.yield %{{.*}} : i1
func.func @captured(%q: tensor<1x4x8x16xf16>, %k: tensor<1x2x10x16xf16>,
    %factors: tensor<4xf32>, %n: index) -> tensor<1x4x8x16xf16> {
  %o = attn.sdpa %q, %k, %k
    score_mod(%s: f32, %b: index, %h: index, %i: index, %j: index) {
      %factor = tensor.extract %factors[%h] : tensor<4xf32>
      %product = arith.mulf %s, %factor : f32
      attn.yield %product : f32
    }
    mask_mod(%b: index, %h: index, %i: index, %j: index) {
      %kept = arith.cmpi slt, %j, %n : index
      attn.yield %kept : i1
    }
    : tensor<1x4x8x16xf16>, tensor<1x2x10x16xf16>, tensor<1x2x10x16xf16>
    -> tensor<1x4x8x16xf16>
  return %o : tensor<1x4x8x16xf16>
}

// Scores of f64 are f64, in a layer too.
//
// CHECK-LABEL: func.func @layer
// CHECK: attn.mha
// CHECK-SAME: score_mod (%{{.*}}: f64
func.func @layer(%x: tensor<1x4x8xf64>, %w: tensor<8x8xf64>) -> tensor<1x4x8xf64> {
  %o = attn.mha %x query(%w : tensor<8x8xf64>) key(%w : tensor<8x8xf64>)
    value(%w : tensor<8x8xf64>) output(%w : tensor<8x8xf64>) heads = 2
    score_mod(%s: f64, %b: index, %h: index, %i: index, %j: index) {
      attn.yield %s : f64
    }
    : tensor<1x4x8xf64> -> tensor<1x4x8xf64>
  return %o : tensor<1x4x8xf64>
}

// Scores fall with the distance, by a slope for each head.
//
// CHECK-LABEL: func.func @alibi
// CHECK: score_mod (%[[S:.*]]: f32, %{{.*}}: index, %[[H:.*]]: index, %[[I:.*]]: index, %[[J:.*]]: index) {
// CHECK: %[[SLOPE:.*]] = tensor.extract %{{.*}}[%[[H]]] : tensor<3xf32>
// CHECK: %[[AHEAD:.*]] = arith.subi %[[J]], %[[I]] : index
// CHECK: %[[SHORT:.*]] = arith.index_cast %[[AHEAD]] : index to i32
// CHECK: %[[DISTANCE:.*]] = arith.sitofp %[[SHORT]] : i32 to f32
// CHECK: %[[TERM:.*]] = arith.mulf %[[SLOPE]], %[[DISTANCE]] : f32
// CHECK: %[[SUM:.*]] = arith.addf %[[S]], %[[TERM]] : f32
// CHECK: attn.yield %[[SUM]] : f32
func.func @alibi(%q: tensor<1x3x8x16xf32>, %slopes: tensor<3xf32>) -> tensor<1x3x8x16xf32> {
  %o = attn.sdpa %q, %q, %q score_mod = alibi(%slopes : tensor<3xf32>)
    : tensor<1x3x8x16xf32>, tensor<1x3x8x16xf32>, tensor<1x3x8x16xf32>
    -> tensor<1x3x8x16xf32>
  return %o : tensor<1x3x8x16xf32>
}

// Half of the buckets are for keys behind a row; of 8 for distances before it, 4
// are exact, and further ones begin at 4 * 32^(k/4).
//
// CHECK-LABEL: func.func @t5_bias
// CHECK: score_mod
// CHECK: math.absi %{{.*}} : i32
// CHECK: arith.constant 10 : i32
// CHECK: arith.constant 23 : i32
// CHECK: arith.constant 54 : i32
// CHECK: tensor.extract %{{.*}}[%{{.*}}, %{{.*}}] : tensor<16x3xf32>
func.func @t5_bias(%q: tensor<1x3x8x16xf32>, %table: tensor<16x3xf32>) -> tensor<1x3x8x16xf32> {
  %o = attn.sdpa %q, %q, %q score_mod = t5_bias(%table : tensor<16x3xf32>)
    : tensor<1x3x8x16xf32>, tensor<1x3x8x16xf32>, tensor<1x3x8x16xf32>
    -> tensor<1x3x8x16xf32>
  return %o : tensor<1x3x8x16xf32>
}

// A prefix is seen by all rows, and may be another for each entry of the batch.
//
// CHECK-LABEL: func.func @prefix
// CHECK: mask_mod (%[[B:.*]]: index, %{{.*}}: index, %[[I:.*]]: index, %[[J:.*]]: index) {
// CHECK: %[[N:.*]] = tensor.extract %{{.*}}[%[[B]]] : tensor<1xi32>
// CHECK: %[[COUNT:.*]] = arith.index_cast %[[N]] : i32 to index
// CHECK: %[[INSIDE:.*]] = arith.cmpi slt, %[[J]], %[[COUNT]] : index
// CHECK: %[[PAST:.*]] = arith.cmpi sle, %[[J]], %[[I]] : index
// CHECK: arith.ori %[[INSIDE]], %[[PAST]] : i1
func.func @prefix(%q: tensor<1x3x8x16xf32>, %n: tensor<1xi32>) -> tensor<1x3x8x16xf32> {
  %o = attn.sdpa %q, %q, %q mask_mod = prefix_lm(%n : tensor<1xi32>)
    : tensor<1x3x8x16xf32>, tensor<1x3x8x16xf32>, tensor<1x3x8x16xf32>
    -> tensor<1x3x8x16xf32>
  return %o : tensor<1x3x8x16xf32>
}

// CHECK-LABEL: func.func @documents
// CHECK: mask_mod (%{{.*}}: index, %{{.*}}: index, %[[I:.*]]: index, %[[J:.*]]: index) {
// CHECK: %[[OWN:.*]] = tensor.extract %{{.*}}[%[[I]]] : tensor<8xi32>
// CHECK: %[[OTHER:.*]] = tensor.extract %{{.*}}[%[[J]]] : tensor<8xi32>
// CHECK: arith.cmpi eq, %[[OWN]], %[[OTHER]] : i32
func.func @documents(%q: tensor<1x3x8x16xf32>, %doc: tensor<8xi32>) -> tensor<1x3x8x16xf32> {
  %o = attn.sdpa %q, %q, %q mask_mod = documents(%doc : tensor<8xi32>)
    : tensor<1x3x8x16xf32>, tensor<1x3x8x16xf32>, tensor<1x3x8x16xf32>
    -> tensor<1x3x8x16xf32>
  return %o : tensor<1x3x8x16xf32>
}
