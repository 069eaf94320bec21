// RUN: attn-opt %s --attn-pack-constants | FileCheck %s

#x = affine_map<(b, r, o, i) -> (b, r, i)>
#w = affine_map<(b, r, o, i) -> (o, i)>
#y = affine_map<(b, r, o, i) -> (b, r, o)>
#many = #attn.schedule<block_m = 8, block_n = 4, rows = 8, columns = 4, lanes = 4>
#few = #attn.schedule<block_m = 8, block_n = 4, rows = 8, columns = 4, lanes = 4, streams = 1>

// Panels of four outputs, in f32; outputs beyond the last are zero.
//
// CHECK-LABEL: func.func @packed
// CHECK: %[[P:.*]] = arith.constant dense<
// CHECK-SAME{LITERAL}: [[[1.000000e+00, 3.000000e+00, 5.000000e+00, 7.000000e+00], [2.000000e+00, 4.000000e+00, 6.000000e+00, 8.000000e+00]], [[9.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00], [1.000000e+01, 0.000000e+00, 0.000000e+00, 0.000000e+00]]]> : tensor<2x2x4xf32>
// CHECK: ins(%{{.*}}, %[[P]] : tensor<1x8x2xf16>, tensor<2x2x4xf32>)
// CHECK-NEXT: ^bb0(%{{.*}}: f16, %[[WEIGHT:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: %[[TOKEN:.*]] = arith.extf
// CHECK-NEXT: arith.mulf %[[TOKEN]], %[[WEIGHT]]
func.func @packed(%x: tensor<1x8x2xf16>, %start: tensor<1x8x5xf32>) -> tensor<1x8x5xf32> {
  %w = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0], [9.0, 10.0]]> : tensor<5x2xf16>
  %r = linalg.generic {attn.schedule = #many, indexing_maps = [#x, #w, #y],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1x8x2xf16>, tensor<5x2xf16>) outs(%start : tensor<1x8x5xf32>) {
  ^bb0(%token: f16, %weight: f16, %sum: f32):
    %a = arith.extf %token : f16 to f32
    %b = arith.extf %weight : f16 to f32
    %product = arith.mulf %a, %b : f32
    %next = arith.addf %sum, %product : f32
    linalg.yield %next : f32
  } -> tensor<1x8x5xf32>
  return %r : tensor<1x8x5xf32>
}

// Weights that are read in place stay where they are.
//
// CHECK-LABEL: func.func @in_place
// CHECK: %[[W:.*]] = arith.constant dense<1.000000e+00> : tensor<5x2xf32>
// CHECK: ins(%{{.*}}, %[[W]] :
func.func @in_place(%x: tensor<1x8x2xf32>, %start: tensor<1x8x5xf32>) -> tensor<1x8x5xf32> {
  %w = arith.constant dense<1.0> : tensor<5x2xf32>
  %r = linalg.generic {attn.schedule = #few, indexing_maps = [#x, #w, #y],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1x8x2xf32>, tensor<5x2xf32>) outs(%start : tensor<1x8x5xf32>) {
  ^bb0(%token: f32, %weight: f32, %sum: f32):
    %product = arith.mulf %token, %weight : f32
    %next = arith.addf %sum, %product : f32
    linalg.yield %next : f32
  } -> tensor<1x8x5xf32>
  return %r : tensor<1x8x5xf32>
}

// Resources stay resources.
//
// CHECK-LABEL: func.func @resource
// CHECK: arith.constant dense_resource<packed_weight> : tensor<1x2x4xf32>
func.func @resource(%x: tensor<1x8x2xf32>, %start: tensor<1x8x2xf32>) -> tensor<1x8x2xf32> {
  %w = arith.constant dense_resource<weight> : tensor<2x2xf32>
  %r = linalg.generic {attn.schedule = #many, indexing_maps = [#x, #w, #y],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1x8x2xf32>, tensor<2x2xf32>) outs(%start : tensor<1x8x2xf32>) {
  ^bb0(%token: f32, %weight: f32, %sum: f32):
    %product = arith.mulf %token, %weight : f32
    %next = arith.addf %sum, %product : f32
    linalg.yield %next : f32
  } -> tensor<1x8x2xf32>
  return %r : tensor<1x8x2xf32>
}

{-#
  dialect_resources: {
    builtin: {
      weight: "0x040000000000803F000000400000404000008040"
    }
  }
#-}
