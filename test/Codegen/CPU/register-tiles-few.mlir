// RUN: attn-opt %s --attn-register-tiles --canonicalize --cse --split-input-file | FileCheck %s

#rows = affine_map<(s, r, n) -> (s, r)>
#lanes = affine_map<(s, r, n) -> (s, r, n)>
#numbers = affine_map<(s, r) -> (s, r)>

// The sums of 7 rows are stored one by one. A vector of them would wait until all are
// in the cache, so that their inverses are taken one by one, too.
//
// CHECK-LABEL: func.func @inverses
// CHECK: scf.for %{{.*}} = %c0 to %c7 step %c1
// CHECK: vector.reduction <add>
// CHECK: tensor.insert
// CHECK: scf.for %[[R:.*]] = %c0 to %c7 step %c1
// CHECK: vector.transfer_read %{{.*}}[%c0, %[[R]]], %{{.*}} : tensor<1x7xf32>, vector<1xf32>
// CHECK: arith.divf %{{.*}} : vector<1xf32>
// CHECK: return
func.func @inverses(%lanes: tensor<1x7x16xf32>) -> tensor<1x7xf32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %empty = tensor.empty() : tensor<1x7xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x7xf32>) -> tensor<1x7xf32>
  %sums = linalg.generic {indexing_maps = [#lanes, #rows],
                          iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%lanes : tensor<1x7x16xf32>) outs(%start : tensor<1x7xf32>) {
  ^bb0(%x: f32, %sum: f32):
    %more = arith.addf %sum, %x : f32
    linalg.yield %more : f32
  } -> tensor<1x7xf32>
  %inverses = linalg.generic {indexing_maps = [#numbers, #numbers],
                              iterator_types = ["parallel", "parallel"]}
      ins(%sums : tensor<1x7xf32>) outs(%empty : tensor<1x7xf32>) {
  ^bb0(%x: f32, %out: f32):
    %inverse = arith.divf %one, %x : f32
    linalg.yield %inverse : f32
  } -> tensor<1x7xf32>
  return %inverses : tensor<1x7xf32>
}

// -----

#numbers = affine_map<(s, r) -> (s, r)>

// What lies in memory is read as one vector.
//
// CHECK-LABEL: func.func @given
// CHECK: vector.transfer_read %{{.*}} : tensor<1x7xf32>, vector<7xf32>
// CHECK-NOT: scf.for
// CHECK: return
func.func @given(%sums: tensor<1x7xf32>) -> tensor<1x7xf32> {
  %one = arith.constant 1.0 : f32
  %empty = tensor.empty() : tensor<1x7xf32>
  %inverses = linalg.generic {indexing_maps = [#numbers, #numbers],
                              iterator_types = ["parallel", "parallel"]}
      ins(%sums : tensor<1x7xf32>) outs(%empty : tensor<1x7xf32>) {
  ^bb0(%x: f32, %out: f32):
    %inverse = arith.divf %one, %x : f32
    linalg.yield %inverse : f32
  } -> tensor<1x7xf32>
  return %inverses : tensor<1x7xf32>
}
