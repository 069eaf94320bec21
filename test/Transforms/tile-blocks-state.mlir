// RUN: attn-opt %s --attn-tile-blocks --canonicalize --cse --split-input-file | FileCheck %s

// Each strip starts from the empty state in its first block, and the task once more where the sum of its values is not
// finite; then it leaves out the values whose weight is 0.
//
// CHECK-LABEL: func.func @again
// CHECK: scf.while ({{.*}}, %[[SKIP:[a-z0-9]+]] = %false)
// CHECK-NOT: linalg.fill
// CHECK: %[[TASK:.*]]:5 = scf.for %[[J:.*]] = %c0 to %c64 {{.*}} %{{[a-z0-9]+}} = %false)
// CHECK: %[[BEGINS:.*]] = arith.cmpi eq, %[[J]], %c0
// CHECK: scf.for {{.*}}, %[[SOFAR:[a-z0-9]+]] = %{{[a-z0-9]+}}) ->
// CHECK: scf.if %[[BEGINS]]
// CHECK: linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : tensor<1x8xf32>)
// CHECK: attn.block_step {{.*}} skip_zeros(%[[SKIP]])
// CHECK: %[[BAD:.*]] = arith.cmpf uno, %[[SUM:.*]], %[[SUM]]
// CHECK: arith.ori %[[SOFAR]], %[[BAD]]
// CHECK: %[[FIRST:.*]] = arith.xori %[[SKIP]], %true
// CHECK: %[[AGAIN:.*]] = arith.andi %[[TASK]]#4, %[[FIRST]]
// CHECK: scf.condition(%[[AGAIN]])
// CHECK: scf.yield {{.*}}, %true
func.func @again(%q: tensor<1x1x16x8xf32>, %k: tensor<1x1x64x8xf32>) -> tensor<1x1x16x8xf32> {
  %o = attn.sdpa %q, %k, %k schedule = <block_m = 16, block_n = 32, rows = 8,
       columns = 16, lanes = 8>
    : tensor<1x1x16x8xf32>, tensor<1x1x64x8xf32>, tensor<1x1x64x8xf32>
    -> tensor<1x1x16x8xf32>
  return %o : tensor<1x1x16x8xf32>
}

// -----

// Where weights want the state after the loop and no key may be left, all of it is empty before.
//
// CHECK-LABEL: func.func @no_keys
// CHECK: scf.while
// CHECK: %[[NONE:.*]] = arith.cmpi sle, %[[END:.*]], %c0
// CHECK: scf.if %[[NONE]]
// CHECK: linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : tensor<2x8xf32>)
// CHECK: scf.for %{{.*}} = %c0 to %{{.*}} step %c32
// CHECK: attn.finish
func.func @no_keys(%q: tensor<1x1x16x8xf32>, %k: tensor<1x1x?x8xf32>)
    -> (tensor<1x1x16x8xf32>, tensor<1x1x16x?xf32>) {
  %o, %w = attn.sdpa %q, %k, %k schedule = <block_m = 16, block_n = 32, rows = 8,
       columns = 16, lanes = 8>
    : tensor<1x1x16x8xf32>, tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32>
    -> tensor<1x1x16x8xf32> weights(tensor<1x1x16x?xf32>)
  return %o, %w : tensor<1x1x16x8xf32>, tensor<1x1x16x?xf32>
}

// -----

// Blocks that a mask leaves nothing of are skipped, so that no block is sure to be the first.
//
// CHECK-LABEL: func.func @mask
// CHECK: scf.while
// CHECK: linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : tensor<2x8xf32>)
// CHECK: scf.for
// CHECK-NOT: linalg.fill
// CHECK: attn.block_step
func.func @mask(%q: tensor<1x1x16x8xf32>, %k: tensor<1x1x64x8xf32>, %m: tensor<16x64xi1>) -> tensor<1x1x16x8xf32> {
  %o = attn.sdpa %q, %k, %k mask(%m : tensor<16x64xi1>) schedule = <block_m = 16, block_n = 32, rows = 8,
       columns = 16, lanes = 8>
    : tensor<1x1x16x8xf32>, tensor<1x1x64x8xf32>, tensor<1x1x64x8xf32>
    -> tensor<1x1x16x8xf32>
  return %o : tensor<1x1x16x8xf32>
}
