// RUN: attn-opt %s --attn-register-tiles --canonicalize --cse | FileCheck %s

// What is the same in all iterations of a reduction is read before it: what the loop writes may lie in the same memory,
// for all that is known later.
//
// CHECK-LABEL: func.func @differences
// CHECK-SAME: %[[REFERENCE:[a-z0-9]+]]: tensor<4xf32>
// CHECK: scf.for %[[ROW:.*]] = %c0 to %c4
// CHECK: %[[R:.*]] = tensor.extract %[[REFERENCE]][%[[ROW]]]
// CHECK: scf.for
// CHECK-NOT: tensor.extract
// CHECK: vector.broadcast %[[R]] : f32 to vector<8xf32>
// CHECK: return
func.func @differences(%reference: tensor<4xf32>, %x: tensor<4x?x8xf32>, %sum: tensor<4x8xf32>)
    -> (tensor<4x?x8xf32>, tensor<4x8xf32>) {
  %d:2 = linalg.generic {indexing_maps = [affine_map<(r, p, c) -> (r)>, affine_map<(r, p, c) -> (r, p, c)>,
      affine_map<(r, p, c) -> (r, c)>], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%reference : tensor<4xf32>) outs(%x, %sum : tensor<4x?x8xf32>, tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %s = arith.subf %b, %a : f32
    %t = arith.addf %c, %s : f32
    linalg.yield %s, %t : f32, f32
  } -> (tensor<4x?x8xf32>, tensor<4x8xf32>)
  return %d#0, %d#1 : tensor<4x?x8xf32>, tensor<4x8xf32>
}
