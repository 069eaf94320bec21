// Upstream's tiler parts the keys of a step, in a stock mlir-opt too: each part has a
// state that starts as (-inf, 0, 0), and the states are merged in their order.
//
// REQUIRES: AttnPlugin
// UNSUPPORTED: sanitize
// RUN: mlir-opt %s --load-dialect-plugin=%lib/AttnPlugin.so \
// RUN:   --transform-interpreter --canonicalize --cse | FileCheck %s

// CHECK-LABEL: func.func @parts
// CHECK-SAME: %[[Q:[a-z0-9]+]]: tensor<8x4xf32>, %[[K:[a-z0-9]+]]: tensor<24x4xf32>
// CHECK-DAG: %[[LOWEST:.*]] = arith.constant 0xFF800000 : f32
// CHECK: %[[EMPTY:.*]] = linalg.fill ins(%[[LOWEST]] : f32) {{.*}} -> tensor<3x8xf32>
// CHECK: %[[PARTS:.*]]:3 = scf.forall (%[[I:.*]]) = (0) to (24) step (8) shared_outs(%[[R:.*]] = %[[EMPTY]],
// CHECK: %[[PART:.*]] = affine.apply #{{.*}}()[%[[I]]]
// CHECK: %[[BEFORE:.*]] = tensor.extract_slice %[[R]][%[[PART]], 0] [1, 8] [1, 1]
// CHECK: %[[KEYS:.*]] = tensor.extract_slice %[[K]][%[[I]], 0] [8, 4]
// CHECK: attn.block_step %[[Q]], %[[KEYS]], %{{.*}} state(%[[BEFORE]], {{.*}} key %[[I]] of
// CHECK: tensor.parallel_insert_slice %{{.*}} into %[[R]][%[[PART]], 0] [1, 8] [1, 1]
// CHECK: scf.for %[[J:.*]] = %c0 to %c3
// CHECK: tensor.extract_slice %[[PARTS]]#0[%[[J]], 0] [1, 8] [1, 1]
// CHECK: attn.merge
module attributes {transform.with_named_sequence} {
func.func @parts(%q: tensor<8x4xf32>, %k: tensor<24x4xf32>,
    %v: tensor<24x4xf32>) -> tensor<8x4xf32> {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c24 = arith.constant 24 : index
  %lowest = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<8xf32>
  %e2 = tensor.empty() : tensor<8x4xf32>
  %r = linalg.fill ins(%lowest : f32) outs(%e1 : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.fill ins(%zero : f32) outs(%e1 : tensor<8xf32>) -> tensor<8xf32>
  %a = linalg.fill ins(%zero : f32) outs(%e2 : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r1, %s1, %a1 = attn.block_step %q, %k, %v state(%r, %s, %a)
    at(batch %c0, head %c0, row %c0 per %c8, position %c0, key %c0 of %c24) scale = 0.5
    : tensor<8x4xf32>, tensor<24x4xf32>, tensor<24x4xf32>
    -> tensor<8xf32>, tensor<8xf32>, tensor<8x4xf32>
  %o, %l = attn.finish %r1, %s1, %a1
    : tensor<8xf32>, tensor<8xf32>, tensor<8x4xf32> -> tensor<8x4xf32>, tensor<8xf32>
  return %o : tensor<8x4xf32>
}
transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
  %step = transform.structured.match ops{["attn.block_step"]} in %root
    : (!transform.any_op) -> !transform.any_op
  %fill:3, %split, %merge, %loop =
    transform.structured.tile_reduction_using_forall %step by tile_sizes = [0, 8]
    : (!transform.any_op)
    -> (!transform.any_op, !transform.any_op, !transform.any_op,
        !transform.any_op, !transform.any_op, !transform.any_op)
  transform.yield
}
}
