// RUN: attn-opt %s --attn-tile-projections --split-input-file --canonicalize | FileCheck %s --enable-var-scope

#x = affine_map<(b, r, o, i) -> (b, r, i)>
#w = affine_map<(b, r, o, i) -> (o, i)>
#p = affine_map<(b, r, o, i) -> (o floordiv 32, i, o mod 32)>
#y = affine_map<(b, r, o, i) -> (b, r, o)>
#vector = affine_map<(b, r, o) -> (o)>
#all = affine_map<(b, r, o) -> (b, r, o)>
#many = #attn.schedule<block_m = 16, block_n = 64, rows = 8, columns = 32, lanes = 16>
#few = #attn.schedule<block_m = 8, block_n = 32, rows = 8, columns = 32, lanes = 16, streams = 1>

// Tokens are put in order and weights are packed before the tasks. A task adds the bias where it has the products.
//
// CHECK-LABEL: func.func @many
// CHECK-SAME: (%[[X:.*]]: tensor<1x40x24xf32>, %[[W:.*]]: tensor<64x24xf32>, %[[B:.*]]: tensor<64xf32>)
// CHECK: scf.forall (%{{.*}}) = (0) to (40) step (32)
// CHECK: %[[STRIPS:.*]] = tensor.expand_shape {{.*}} into tensor<5x8x24xf32>
// CHECK: %[[PANELS:.*]] = scf.forall (%[[PANEL:.*]]) in (2) {{.*}} -> (tensor<2x24x32xf32>)
// CHECK: linalg.pack {{.*}} inner_dims_pos = [0] inner_tiles = [32]
// CHECK: scf.forall (%[[STRIP0:.*]]) = (0) to (5) step (2)
// CHECK: scf.for %[[STRIP:.*]] =
// CHECK: tensor.extract_slice %[[STRIPS]]
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "reduction"]
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[B]] :
func.func @many(%x: tensor<1x40x24xf32>, %w: tensor<64x24xf32>, %b: tensor<64xf32>) -> tensor<1x40x64xf32> {
  %empty = tensor.empty() : tensor<1x40x64xf32>
  %start = linalg.generic {indexing_maps = [#vector, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%b : tensor<64xf32>) outs(%empty : tensor<1x40x64xf32>) {
  ^bb0(%bias: f32, %out: f32):
    linalg.yield %bias : f32
  } -> tensor<1x40x64xf32>
  %r = linalg.generic {attn.schedule = #many, indexing_maps = [#x, #w, #y],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1x40x24xf32>, tensor<64x24xf32>) outs(%start : tensor<1x40x64xf32>) {
  ^bb0(%token: f32, %weight: f32, %sum: f32):
    %product = arith.mulf %token, %weight : f32
    %next = arith.addf %sum, %product : f32
    linalg.yield %next : f32
  } -> tensor<1x40x64xf32>
  return %r : tensor<1x40x64xf32>
}

// Packed weights are read as they are.
//
// CHECK-LABEL: func.func @packed
// CHECK-SAME: %[[P:[a-z0-9]*]]: tensor<2x24x32xf32>
// CHECK-NOT: linalg.pack
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[P]] :
func.func @packed(%x: tensor<1x16x24xf32>, %p: tensor<2x24x32xf32>) -> tensor<1x16x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x16x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x16x64xf32>) -> tensor<1x16x64xf32>
  %r = linalg.generic {attn.schedule = #many, indexing_maps = [#x, #p, #y],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %p : tensor<1x16x24xf32>, tensor<2x24x32xf32>) outs(%start : tensor<1x16x64xf32>) {
  ^bb0(%token: f32, %weight: f32, %sum: f32):
    %product = arith.mulf %token, %weight : f32
    %next = arith.addf %sum, %product : f32
    linalg.yield %next : f32
  } -> tensor<1x16x64xf32>
  return %r : tensor<1x16x64xf32>
}

// With streams, nothing is packed before the tasks. Rounding is part of a task. Rows of two entries are put together,
// and the result is put in its place.
//
// CHECK-LABEL: func.func @few
// CHECK: linalg.fill {{.*}} tensor<2x24xf32>
// CHECK: scf.forall (%{{.*}}) in (2)
// CHECK: scf.forall {{.*}} -> (tensor<6x64xbf16>)
// CHECK: linalg.pack
// CHECK: linalg.generic
// CHECK: arith.truncf
// CHECK: scf.forall {{.*}} -> (tensor<2x3x64xbf16>)
func.func @few(%x: tensor<2x3x24xbf16>, %w: tensor<64x24xbf16>) -> tensor<2x3x64xbf16> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2x3x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x3x64xf32>) -> tensor<2x3x64xf32>
  %sums = linalg.generic {attn.schedule = #few, indexing_maps = [#x, #w, #y],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<2x3x24xbf16>, tensor<64x24xbf16>) outs(%start : tensor<2x3x64xf32>) {
  ^bb0(%token: bf16, %weight: bf16, %sum: f32):
    %a = arith.extf %token : bf16 to f32
    %b = arith.extf %weight : bf16 to f32
    %product = arith.mulf %a, %b : f32
    %next = arith.addf %sum, %product : f32
    linalg.yield %next : f32
  } -> tensor<2x3x64xf32>
  %place = tensor.empty() : tensor<2x3x64xbf16>
  %r = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%sums : tensor<2x3x64xf32>) outs(%place : tensor<2x3x64xbf16>) {
  ^bb0(%sum: f32, %out: bf16):
    %rounded = arith.truncf %sum : f32 to bf16
    linalg.yield %rounded : bf16
  } -> tensor<2x3x64xbf16>
  return %r : tensor<2x3x64xbf16>
}

// Of one row, the channels of weights in place are worked on vector by vector; of eight, more of them at a time.
//
// CHECK-LABEL: func.func @one_row
// CHECK: scf.forall
// CHECK: scf.for {{.*}} = %c0 to %c192 step %c16
// CHECK: linalg.pack
func.func @one_row(%x: tensor<1x1x192xf32>, %w: tensor<64x192xf32>) -> tensor<1x1x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x1x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x1x64xf32>) -> tensor<1x1x64xf32>
  %r = linalg.generic {attn.schedule = #attn.schedule<block_m = 1, block_n = 16, rows = 1, columns = 16, lanes = 16,
      streams = 1>, indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1x1x192xf32>, tensor<64x192xf32>) outs(%start : tensor<1x1x64xf32>) {
  ^bb0(%token: f32, %weight: f32, %sum: f32):
    %product = arith.mulf %token, %weight : f32
    %next = arith.addf %sum, %product : f32
    linalg.yield %next : f32
  } -> tensor<1x1x64xf32>
  return %r : tensor<1x1x64xf32>
}

// CHECK-LABEL: func.func @eight_rows
// CHECK: scf.forall
// CHECK: scf.for {{.*}} = %c0 to %c192 step %c64
// CHECK: linalg.pack
func.func @eight_rows(%x: tensor<1x8x192xf32>, %w: tensor<64x192xf32>) -> tensor<1x8x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x8x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x8x64xf32>) -> tensor<1x8x64xf32>
  %r = linalg.generic {attn.schedule = #few, indexing_maps = [#x, #w, #y],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1x8x192xf32>, tensor<64x192xf32>) outs(%start : tensor<1x8x64xf32>) {
  ^bb0(%token: f32, %weight: f32, %sum: f32):
    %product = arith.mulf %token, %weight : f32
    %next = arith.addf %sum, %product : f32
    linalg.yield %next : f32
  } -> tensor<1x8x64xf32>
  return %r : tensor<1x8x64xf32>
}
