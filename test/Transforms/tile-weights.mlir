// The second pass over the keys, where weights are asked for.
//
// RUN: attn-opt %s --split-input-file --attn-tile-blocks | FileCheck %s
// RUN: attn-opt %s --split-input-file --attn-tile-blocks --convert-attn-to-linalg | FileCheck %s --check-prefix=LINALG

// Weights are computed once the state of the rows is known, strip by strip, and written where they belong; what no row of
// the task sees is 0.
//
// CHECK-LABEL: func.func @causal
// CHECK: scf.forall
// CHECK: attn.block_step
// CHECK: attn.finish
// CHECK: linalg.fill {{.*}} : tensor<2x8x16xf32>)
// CHECK: %[[ONES:.*]], %{{.*}} = attn.finish
// CHECK: %[[FACTOR:.*]] = tensor.collapse_shape %[[ONES]]
// CHECK: linalg.fill {{.*}} : tensor<16x?xf32>)
// CHECK: scf.for
// CHECK: linalg.pack
// CHECK: scf.for %[[STRIP:[a-z0-9]+]] =
// CHECK: %[[ROWS:.*]] = tensor.extract_slice %[[FACTOR]][%[[STRIP]], 0, 0] [1, 8, 16]
// CHECK: %[[W:.*]] = attn.block_weights {{.*}} rows(%{{.*}}, %[[ROWS]] : tensor<1x8xf32>, tensor<1x8x16xf32>) {{.*}} causal bounded
// CHECK: linalg.unpack %[[W]] inner_dims_pos = [0, 1] inner_tiles = [8, 16]
// CHECK-NOT: tensor<64x64xf32>
// CHECK: tensor.parallel_insert_slice {{.*}} into tensor<1x1x64x64xf32>
//
// LINALG-LABEL: func.func @causal
// LINALG-NOT: attn.
// LINALG: math.exp
// LINALG: return
func.func @causal(%q: tensor<1x1x64x8xf32>, %k: tensor<1x1x64x8xf32>)
    -> (tensor<1x1x64x8xf32>, tensor<1x1x64x64xf32>) {
  %o, %w = attn.sdpa %q, %k, %k causal = top_left
    schedule = <block_m = 16, block_n = 32, rows = 8, columns = 16, lanes = 8>
    : tensor<1x1x64x8xf32>, tensor<1x1x64x8xf32>, tensor<1x1x64x8xf32>
    -> tensor<1x1x64x8xf32> weights(tensor<1x1x64x64xf32>)
  return %o, %w : tensor<1x1x64x8xf32>, tensor<1x1x64x64xf32>
}

// -----

// Where every row sees all keys there is nothing to clear and nothing to look for.
//
// CHECK-LABEL: func.func @all
// CHECK: attn.finish
// CHECK: attn.finish
// CHECK-NOT: linalg.fill
// CHECK: attn.block_weights
// CHECK-NOT: bounded
// CHECK: linalg.unpack
// CHECK: return
func.func @all(%q: tensor<1x1x16x8xf32>, %k: tensor<1x1x64x8xf32>)
    -> (tensor<1x1x16x8xf32>, tensor<1x1x16x64xf32>) {
  %o, %w = attn.sdpa %q, %k, %k schedule = <block_m = 16, block_n = 32, rows = 8, columns = 16, lanes = 8>
    : tensor<1x1x16x8xf32>, tensor<1x1x64x8xf32>, tensor<1x1x64x8xf32>
    -> tensor<1x1x16x8xf32> weights(tensor<1x1x16x64xf32>)
  return %o, %w : tensor<1x1x16x8xf32>, tensor<1x1x16x64xf32>
}
