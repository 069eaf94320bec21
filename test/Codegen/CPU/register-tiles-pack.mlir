// How a tile is packed into panels, and what makes it on the way.
//
// RUN: attn-opt %s --attn-register-tiles --canonicalize --cse --split-input-file | FileCheck %s

// 8 rows are read along their channels, by halves that two of them share a vector with,
// transposed in registers and written as 8 vectors of keys. A row beyond the last is
// read as the last and written as 0; where 8 are, none is read.
//
// CHECK-LABEL: func.func @pack
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<?x8xf32>
// CHECK: %[[ROWS:.*]] = tensor.dim %[[X]], %c0
// CHECK: %[[SQUARES:.*]] = affine.apply #{{.*}}()[%[[ROWS]]]
// CHECK: %[[DONE:.*]] = scf.for {{.*}} = %c0 to %[[SQUARES]]
// CHECK: %[[LEFT:.*]] = arith.subi %[[ROWS]], %{{.*}}
// CHECK: %[[THERE:.*]] = vector.create_mask %[[LEFT]] : vector<8xi1>
// CHECK: %[[LAST:.*]] = arith.subi %[[ROWS]], %c1
// CHECK: %[[ROW:.*]] = arith.minsi %{{.*}}, %[[LAST]]
// CHECK: vector.transfer_read %[[X]][%[[ROW]], %{{.*}}], {{.*}} {in_bounds = [true]} : tensor<?x8xf32>, vector<4xf32>
// CHECK: vector.shuffle {{.*}} [0, 1, 2, 3, 4, 5, 6, 7] : vector<4xf32>, vector<4xf32>
// CHECK-COUNT-16: vector.shuffle {{.*}} : vector<8xf32>, vector<8xf32>
// CHECK: arith.select %[[THERE]], %{{.*}}, %{{.*}} : vector<8xi1>, vector<8xf32>
// CHECK: vector.transfer_write {{.*}} {in_bounds = [true]}
// CHECK: scf.for {{.*}} = %[[SQUARES]] to %{{.*}} iter_args(%{{.*}} = %[[DONE]])
// CHECK: vector.transfer_write %cst
// CHECK-NOT: scf.if
// CHECK-NOT: linalg.pack
func.func @pack(%x: tensor<?x8xf32>, %dest: tensor<?x8x16xf32>) -> tensor<?x8x16xf32> {
  %zero = arith.constant 0.0 : f32
  %packed = linalg.pack %x padding_value(%zero : f32) inner_dims_pos = [0]
    inner_tiles = [16] into %dest : tensor<?x8xf32> -> tensor<?x8x16xf32>
  return %packed : tensor<?x8x16xf32>
}

// -----

// Values are copied: the last channels of 12 do not fill a vector of a panel and
// are followed by zeros; nothing beyond a row's end is read.
//
// CHECK-LABEL: func.func @pack_values
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<32x12xf32>
// CHECK-NOT: vector.shuffle
// CHECK: vector.transfer_read %[[X]]
// CHECK: vector.transfer_write
// CHECK-NOT: linalg.pack
// CHECK: return
func.func @pack_values(%x: tensor<32x12xf32>, %dest: tensor<1x2x16x16xf32>) -> tensor<1x2x16x16xf32> {
  %zero = arith.constant 0.0 : f32
  %packed = linalg.pack %x padding_value(%zero : f32) outer_dims_perm = [1, 0]
    inner_dims_pos = [0, 1] inner_tiles = [16, 16] into %dest
    : tensor<32x12xf32> -> tensor<1x2x16x16xf32>
  return %packed : tensor<1x2x16x16xf32>
}

// -----

// What only scales the source is done on columns: an insertion from memory would not be
// one of what was scaled.
//
// CHECK-LABEL: func.func @pack_only_scaled
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<16x8xf32>
// CHECK: vector.transfer_read %[[X]]{{.*}} : tensor<16x8xf32>, vector<4xf32>
// CHECK-COUNT-16: vector.shuffle {{.*}} : vector<8xf32>, vector<8xf32>
// CHECK-COUNT-8: arith.mulf %{{.*}} : vector<8xf32>
// CHECK-NOT: arith.mulf
// CHECK: return
#both = affine_map<(d0, d1) -> (d0, d1)>
func.func @pack_only_scaled(%x: tensor<16x8xf32>, %dest: tensor<2x8x8xf32>)
    -> tensor<2x8x8xf32> {
  %scale = arith.constant 0.125 : f32
  %empty = tensor.empty() : tensor<16x8xf32>
  %rows = linalg.generic {indexing_maps = [#both, #both],
      iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<16x8xf32>) outs(%empty : tensor<16x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %scaled = arith.mulf %in, %scale : f32
    linalg.yield %scaled : f32
  } -> tensor<16x8xf32>
  %packed = linalg.pack %rows inner_dims_pos = [0] inner_tiles = [8] into %dest
    : tensor<16x8xf32> -> tensor<2x8x8xf32>
  return %packed : tensor<2x8x8xf32>
}

// -----

// What scales and widens the source of a pack is done on the vectors that are read;
// there is no buffer for it.
//
// CHECK-LABEL: func.func @pack_scaled
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<16x8xf16>
// CHECK: %[[READ:.*]] = vector.transfer_read %[[X]]{{.*}} : tensor<16x8xf16>, vector<8xf16>
// CHECK: %[[WIDE:.*]] = arith.extf %[[READ]] : vector<8xf16> to vector<8xf32>
// CHECK: arith.mulf %[[WIDE]], %{{.*}} : vector<8xf32>
// CHECK: vector.shuffle
// CHECK-NOT: tensor<16x8xf32>
// CHECK: return
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @pack_scaled(%x: tensor<16x8xf16>, %dest: tensor<2x8x8xf32>)
    -> tensor<2x8x8xf32> {
  %scale = arith.constant 0.125 : f32
  %empty = tensor.empty() : tensor<16x8xf32>
  %rows = linalg.generic {indexing_maps = [#id, #id],
      iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<16x8xf16>) outs(%empty : tensor<16x8xf32>) {
  ^bb0(%in: f16, %out: f32):
    %wide = arith.extf %in : f16 to f32
    %scaled = arith.mulf %wide, %scale : f32
    linalg.yield %scaled : f32
  } -> tensor<16x8xf32>
  %packed = linalg.pack %rows inner_dims_pos = [0] inner_tiles = [8] into %dest
    : tensor<16x8xf32> -> tensor<2x8x8xf32>
  return %packed : tensor<2x8x8xf32>
}

// -----

// A source that someone else reads too is made first.
//
// CHECK-LABEL: func.func @pack_shared
// CHECK: vector.transfer_write {{.*}} tensor<16x8xf32>
// CHECK: vector.shuffle
// CHECK: return
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @pack_shared(%x: tensor<16x8xf32>, %dest: tensor<2x8x8xf32>)
    -> (tensor<16x8xf32>, tensor<2x8x8xf32>) {
  %scale = arith.constant 0.125 : f32
  %empty = tensor.empty() : tensor<16x8xf32>
  %rows = linalg.generic {indexing_maps = [#id, #id],
      iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<16x8xf32>) outs(%empty : tensor<16x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %scaled = arith.mulf %in, %scale : f32
    linalg.yield %scaled : f32
  } -> tensor<16x8xf32>
  %packed = linalg.pack %rows inner_dims_pos = [0] inner_tiles = [8] into %dest
    : tensor<16x8xf32> -> tensor<2x8x8xf32>
  return %rows, %packed : tensor<16x8xf32>, tensor<2x8x8xf32>
}
