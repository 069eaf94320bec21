// RUN: attn-opt %s --attn-tile-blocks --canonicalize --cse --split-input-file | FileCheck %s --enable-var-scope

// A block of keys that no row of the task may attend to is not packed. In others
// each strip of rows has a test of its own, and the region is asked only where it
// may be false. Rows of one chunk, or keys of one, are the interval of their
// quotients.
//
// CHECK-LABEL: func.func @chunks
// CHECK: scf.forall (%[[M:.*]]) = (0) to (64) step (16)
// CHECK-DAG: %[[FIRST:.*]] = arith.floordivsi %[[M]], %c32
// CHECK: scf.for %[[J:.*]] = %c0 to %c64 step %c32
// CHECK: %[[ANY:.*]] = arith.andi %{{.*}}, %{{.*}} : i1
// CHECK: scf.if %[[ANY]]
// CHECK: linalg.pack
// CHECK: scf.for
// CHECK: scf.if
// CHECK: attn.block_step {{.*}} masked(%{{.*}}) {{.*}} mask_mod(
// CHECK: } else {
func.func @chunks(%q: tensor<1x1x64x8xf32>) -> tensor<1x1x64x8xf32> {
  %o = attn.sdpa %q, %q, %q schedule = <block_m = 16, block_n = 32, rows = 8,
       columns = 16, lanes = 8>
    mask_mod(%b: index, %h: index, %i: index, %j: index) {
      %c32 = arith.constant 32 : index
      %own = arith.floordivsi %i, %c32 : index
      %other = arith.floordivsi %j, %c32 : index
      %same = arith.cmpi eq, %own, %other : index
      attn.yield %same : i1
    }
    : tensor<1x1x64x8xf32>, tensor<1x1x64x8xf32>, tensor<1x1x64x8xf32>
    -> tensor<1x1x64x8xf32>
  return %o : tensor<1x1x64x8xf32>
}

// -----

// Heads are counted from the whole op's first, wherever a task begins.
//
// CHECK-LABEL: func.func @heads
// CHECK: scf.forall (%[[B:.*]], %[[H:.*]]) in (2, 3)
// CHECK: attn.block_step
// CHECK-SAME: score_mod(%{{.*}}: f32, %[[TB:.*]]: index, %[[TH:.*]]: index, %{{.*}}: index, %{{.*}}: index) {
// CHECK-DAG: %[[HEAD:.*]] = arith.addi %[[TH]], %[[H]] : index
// CHECK-DAG: %[[ENTRY:.*]] = arith.addi %[[TB]], %[[B]] : index
// CHECK: tensor.extract %{{.*}}[%[[ENTRY]], %[[HEAD]]] : tensor<2x3xf32>
func.func @heads(%q: tensor<2x3x16x8xf32>, %t: tensor<2x3xf32>) -> tensor<2x3x16x8xf32> {
  %o = attn.sdpa %q, %q, %q schedule = <block_m = 16, block_n = 32, rows = 8,
       columns = 16, lanes = 8>
    score_mod(%s: f32, %b: index, %h: index, %i: index, %j: index) {
      %x = tensor.extract %t[%b, %h] : tensor<2x3xf32>
      %y = arith.addf %s, %x : f32
      attn.yield %y : f32
    }
    : tensor<2x3x16x8xf32>, tensor<2x3x16x8xf32>, tensor<2x3x16x8xf32>
    -> tensor<2x3x16x8xf32>
  return %o : tensor<2x3x16x8xf32>
}
