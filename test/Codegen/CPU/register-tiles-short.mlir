// RUN: attn-opt %s --attn-register-tiles --canonicalize --cse | FileCheck %s

#x = affine_map<(row, out, in) -> (row, in)>
#w = affine_map<(row, out, in) -> (in, out)>
#y = affine_map<(row, out, in) -> (row, out)>

// Sixteen steps of a single accumulator, which wait for each other, have no loop round them.
//
// CHECK-LABEL: func.func @one_accumulator
// CHECK-NOT: scf.for
// CHECK-COUNT-16: vector.fma
// CHECK-NOT: vector.fma
func.func @one_accumulator(%x: tensor<1x16xf32>, %w: tensor<16x8xf32>, %sum: tensor<1x8xf32>) -> tensor<1x8xf32> {
  %r = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1x16xf32>, tensor<16x8xf32>) outs(%sum : tensor<1x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %product = arith.mulf %a, %b : f32
    %next = arith.addf %c, %product : f32
    linalg.yield %next : f32
  } -> tensor<1x8xf32>
  return %r : tensor<1x8xf32>
}

// More steps do.
//
// CHECK-LABEL: func.func @many_steps
// CHECK: scf.for
// CHECK-COUNT-1: vector.fma
// CHECK-NOT: vector.fma
func.func @many_steps(%x: tensor<1x24xf32>, %w: tensor<24x8xf32>, %sum: tensor<1x8xf32>) -> tensor<1x8xf32> {
  %r = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1x24xf32>, tensor<24x8xf32>) outs(%sum : tensor<1x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %product = arith.mulf %a, %b : f32
    %next = arith.addf %c, %product : f32
    linalg.yield %next : f32
  } -> tensor<1x8xf32>
  return %r : tensor<1x8xf32>
}

// And so do those of accumulators that need not wait.
//
// CHECK-LABEL: func.func @many_accumulators
// CHECK: scf.for
// CHECK-COUNT-4: vector.fma
// CHECK-NOT: vector.fma
func.func @many_accumulators(%x: tensor<4x16xf32>, %w: tensor<16x8xf32>, %sum: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4x16xf32>, tensor<16x8xf32>) outs(%sum : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %product = arith.mulf %a, %b : f32
    %next = arith.addf %c, %product : f32
    linalg.yield %next : f32
  } -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
