// RUN: attn-opt %s --attn-outline-checks --canonicalize --split-input-file | FileCheck %s --enable-var-scope

// Buckets and heads stay inside of the table whatever the extents are: nothing is
// left to be checked.
//
// CHECK-LABEL: func.func private @buckets.check
// CHECK-NOT: scf.for
// CHECK: %[[ZERO:.*]] = arith.constant 0 : i64
// CHECK-NOT: scf.for
// CHECK: return %[[ZERO]], %[[ZERO]], %[[ZERO]]
func.func @buckets(%q: tensor<1x4x64x8xf32>, %t: tensor<32x4xf32>) -> tensor<1x4x64x8xf32> {
  %o = attn.sdpa %q, %q, %q score_mod = t5_bias(%t : tensor<32x4xf32>)
    : tensor<1x4x64x8xf32>, tensor<1x4x64x8xf32>, tensor<1x4x64x8xf32> -> tensor<1x4x64x8xf32>
  return %o : tensor<1x4x64x8xf32>
}

// -----

// A table for all positions is compared with the number of rows and that of keys;
// only where it is too short is each score looked at.
//
// CHECK-LABEL: func.func private @documents.check
// CHECK-SAME: 'mask_mod' to read inside of dimension 0 of 'tensor<?xi32>', argument 1, got index %lld of %lld
// CHECK: scf.if %{{.*}} -> (i1, index, i1, index) {
// CHECK-NEXT: scf.yield
// CHECK-NEXT: } else {
// CHECK: scf.for
// CHECK: tensor.extract
func.func @documents(%q: tensor<1x4x?x8xf32>, %t: tensor<?xi32>) -> tensor<1x4x?x8xf32> {
  %o = attn.sdpa %q, %q, %q mask_mod = documents(%t : tensor<?xi32>)
    : tensor<1x4x?x8xf32>, tensor<1x4x?x8xf32>, tensor<1x4x?x8xf32> -> tensor<1x4x?x8xf32>
  return %o : tensor<1x4x?x8xf32>
}

// -----

// Under causal no distance is negative.
//
// CHECK-LABEL: func.func private @distances.check
// CHECK-NOT: scf.for
// CHECK: return
func.func @distances(%q: tensor<1x4x64x8xf32>, %t: tensor<64xf32>) -> tensor<1x4x64x8xf32> {
  %o = attn.sdpa %q, %q, %q causal = top_left
    score_mod(%s: f32, %b: index, %h: index, %i: index, %j: index) {
      %d = arith.subi %i, %j : index
      %x = tensor.extract %t[%d] : tensor<64xf32>
      %y = arith.addf %s, %x : f32
      attn.yield %y : f32
    }
    : tensor<1x4x64x8xf32>, tensor<1x4x64x8xf32>, tensor<1x4x64x8xf32> -> tensor<1x4x64x8xf32>
  return %o : tensor<1x4x64x8xf32>
}
