// RUN: attn-opt %s --attn-normalize-operands --split-input-file | FileCheck %s

// The scale is written out, the mask gets rank 4, and the alignment to the last
// key becomes an offset of N - M.
//
// CHECK-LABEL: func.func @all
// CHECK-SAME: %[[M:[a-z0-9]+]]: tensor<8x16xi1>
// CHECK: %[[OFFSET:.*]] = arith.constant 8 : index
// CHECK: %[[M4:.*]] = tensor.expand_shape %[[M]] {{\[\[}}0, 1, 2], [3]] {{.*}} into tensor<1x1x8x16xi1>
// CHECK: attn.sdpa {{.*}} mask(%[[M4]] : tensor<1x1x8x16xi1>) query_offset(%[[OFFSET]] : index)
// CHECK-SAME: scale = 1.250000e-01 causal = top_left
func.func @all(%q: tensor<1x2x8x64xf32>, %k: tensor<1x2x16x64xf32>,
               %v: tensor<1x2x16x64xf32>,
               %m: tensor<8x16xi1>) -> tensor<1x2x8x64xf32> {
  %o = attn.sdpa %q, %k, %v mask(%m : tensor<8x16xi1>) causal = bottom_right
    : tensor<1x2x8x64xf32>, tensor<1x2x16x64xf32>, tensor<1x2x16x64xf32>
    -> tensor<1x2x8x64xf32>
  return %o : tensor<1x2x8x64xf32>
}

// -----

// With lengths the last key depends on the batch entry: clamp(length, 0, N) - M.
//
// CHECK-LABEL: func.func @lengths
// CHECK-SAME: %[[LENGTHS:[a-z0-9]+]]: tensor<3xi32>
// CHECK: %[[INDICES:.*]] = linalg.generic {{.*}} ins(%[[LENGTHS]] : tensor<3xi32>) outs(%{{.*}} : tensor<3xindex>)
// CHECK: %[[OFFSETS:.*]] = linalg.generic {{.*}} ins(%[[INDICES]] : tensor<3xindex>) outs(%{{.*}} : tensor<3xindex>)
// CHECK: arith.maxsi
// CHECK: arith.minsi
// CHECK: arith.subi
// CHECK: attn.sdpa {{.*}} kv_lengths(%[[INDICES]] : tensor<3xindex>) query_offset(%[[OFFSETS]] : tensor<3xindex>)
// CHECK-SAME: causal = top_left window = <left = 4>
func.func @lengths(%q: tensor<3x2x8x4xf32>, %k: tensor<3x2x16x4xf32>,
                   %v: tensor<3x2x16x4xf32>,
                   %n: tensor<3xi32>) -> tensor<3x2x8x4xf32> {
  %o = attn.sdpa %q, %k, %v kv_lengths(%n : tensor<3xi32>)
       causal = bottom_right window = <left = 4>
    : tensor<3x2x8x4xf32>, tensor<3x2x16x4xf32>, tensor<3x2x16x4xf32>
    -> tensor<3x2x8x4xf32>
  return %o : tensor<3x2x8x4xf32>
}

// -----

// A dynamic head size has no scale to write out; a scalar offset becomes an
// index.
//
// CHECK-LABEL: func.func @dynamic
// CHECK-SAME: %[[OFFSET:[a-z0-9]+]]: i32
// CHECK: %[[INDEX:.*]] = arith.index_cast %[[OFFSET]] : i32 to index
// CHECK: attn.sdpa
// CHECK-NOT: scale
// CHECK-SAME: query_offset(%[[INDEX]] : index) causal = top_left
func.func @dynamic(%q: tensor<1x2x8x?xf32>, %k: tensor<1x2x16x?xf32>,
                   %v: tensor<1x2x16x4xf32>,
                   %offset: i32) -> tensor<1x2x8x4xf32> {
  %o = attn.sdpa %q, %k, %v query_offset(%offset : i32) causal = top_left
    : tensor<1x2x8x?xf32>, tensor<1x2x16x?xf32>, tensor<1x2x16x4xf32>
    -> tensor<1x2x8x4xf32>
  return %o : tensor<1x2x8x4xf32>
}
