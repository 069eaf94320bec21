// RUN: attn-opt %s --attn-tile-projections --split-input-file --canonicalize | FileCheck %s --enable-var-scope

#x = affine_map<(b, r, o, i) -> (b, r, i)>
#w = affine_map<(b, r, o, i) -> (o, i)>
#y = affine_map<(b, r, o, i) -> (b, r, o)>
#vector = affine_map<(b, r, o) -> (o)>
#all = affine_map<(b, r, o) -> (b, r, o)>
#warps = #attn.schedule<block_m = 128, block_n = 64, rows = 32, columns = 8, lanes = 2, warps = 4, stages = 2>

// A block of threads adds up some channels of its tokens and weights after the others, from memory as it is: nothing is
// packed. It adds the bias and rounds where it has the sums.
//
// CHECK-LABEL: func.func @rounded
// CHECK-SAME: (%[[X:.*]]: tensor<2x?x72xf16>, %[[W:.*]]: tensor<96x72xf16>, %[[B:.*]]: tensor<96xf16>
// CHECK: scf.forall (%[[ENTRY:.*]], %[[OUT:.*]], %[[ROW:.*]]) = (0, 0, 0) to (2, 96, %{{.*}}) step (1, 64, 128)
// CHECK: %[[ROWS:.*]] = tensor.extract_slice %[[X]][%[[ENTRY]], 0, 0]
// CHECK: %[[SUMS:.*]] = scf.for %[[IN:.*]] = %c0 to %c72 step %c64 iter_args(%[[BEFORE:.*]] = %{{.*}}) -> (tensor<128x64xf32>)
// CHECK: tensor.extract_slice %[[ROWS]][%[[ROW]], %[[IN]]]
// CHECK: %[[LEFT:.*]] = tensor.pad {{.*}}
// CHECK: tensor<?x?xf16> to tensor<128x64xf16>
// CHECK: tensor.extract_slice %[[W]][%[[OUT]], %[[IN]]]
// CHECK: %[[RIGHT:.*]] = tensor.pad {{.*}}
// CHECK: tensor<?x?xf16> to tensor<64x64xf16>
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[LEFT]], %[[RIGHT]] : {{.*}}) outs(%[[BEFORE]] :
// CHECK: tensor.extract_slice %[[B]][%[[OUT]]]
// CHECK: tensor.pad
// CHECK: arith.extf {{.*}} : tensor<64xf16> to tensor<64xf32>
// CHECK: %[[BIAS:.*]] = linalg.broadcast {{.*}} dimensions = [0]
// CHECK: arith.addf %[[SUMS]], %[[BIAS]]
// CHECK: arith.truncf {{.*}} : tensor<128x64xf32> to tensor<128x64xf16>
// CHECK: tensor.parallel_insert_slice {{.*}}[%[[ENTRY]], %[[ROW]], %[[OUT]]]
// CHECK: mapping = [#gpu.block<z>, #gpu.block<y>, #gpu.block<x>]
func.func @rounded(%x: tensor<2x?x72xf16>, %w: tensor<96x72xf16>, %b: tensor<96xf16>, %rows: index) -> tensor<2x?x96xf16> {
  %wide = tensor.empty(%rows) : tensor<2x?x96xf32>
  %start = linalg.generic {indexing_maps = [#vector, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%b : tensor<96xf16>) outs(%wide : tensor<2x?x96xf32>) {
  ^bb0(%bias: f16, %out: f32):
    %e = arith.extf %bias : f16 to f32
    linalg.yield %e : f32
  } -> tensor<2x?x96xf32>
  %r = linalg.generic {attn.schedule = #warps, indexing_maps = [#x, #w, #y],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<2x?x72xf16>, tensor<96x72xf16>) outs(%start : tensor<2x?x96xf32>) {
  ^bb0(%token: f16, %weight: f16, %sum: f32):
    %t = arith.extf %token : f16 to f32
    %v = arith.extf %weight : f16 to f32
    %product = arith.mulf %t, %v : f32
    %next = arith.addf %sum, %product : f32
    linalg.yield %next : f32
  } -> tensor<2x?x96xf32>
  %narrow = tensor.empty(%rows) : tensor<2x?x96xf16>
  %o = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%r : tensor<2x?x96xf32>) outs(%narrow : tensor<2x?x96xf16>) {
  ^bb0(%sum: f32, %out: f16):
    %t = arith.truncf %sum : f32 to f16
    linalg.yield %t : f16
  } -> tensor<2x?x96xf16>
  return %o : tensor<2x?x96xf16>
}

// -----

#x = affine_map<(b, r, o, i) -> (b, r, i)>
#w = affine_map<(b, r, o, i) -> (o, i)>
#y = affine_map<(b, r, o, i) -> (b, r, o)>
#few = #attn.schedule<block_m = 16, block_n = 16, rows = 16, columns = 8, lanes = 2, warps = 1, stages = 4>

// Single rows of many entries are the rows of one block, so that a weight is read once for all of them.
//
// CHECK-LABEL: func.func @single_rows
// CHECK-SAME: (%[[X:.*]]: tensor<40x1x64xf32>
// CHECK: scf.forall (%{{.*}}, %[[OUT:.*]], %[[ROW:.*]]) = (0, 0, 0) to (1, 96, 40) step (1, 16, 16)
// CHECK: tensor.extract_slice %[[X]][0, 0, 0] [40, 1, 64] [1, 1, 1] : tensor<40x1x64xf32> to tensor<40x64xf32>
// CHECK: tensor.parallel_insert_slice {{.*}}[%[[ROW]], 0, %[[OUT]]] [%{{.*}}, 1, 16]
func.func @single_rows(%x: tensor<40x1x64xf32>, %w: tensor<96x64xf32>) -> tensor<40x1x96xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<40x1x96xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<40x1x96xf32>) -> tensor<40x1x96xf32>
  %r = linalg.generic {attn.schedule = #few, indexing_maps = [#x, #w, #y],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<40x1x64xf32>, tensor<96x64xf32>) outs(%start : tensor<40x1x96xf32>) {
  ^bb0(%token: f32, %weight: f32, %sum: f32):
    %product = arith.mulf %token, %weight : f32
    %next = arith.addf %sum, %product : f32
    linalg.yield %next : f32
  } -> tensor<40x1x96xf32>
  return %r : tensor<40x1x96xf32>
}
