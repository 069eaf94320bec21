// RUN: attn-opt %s --attn-split-keys --canonicalize | FileCheck %s

// Parts of the keys are one block of threads each, on the heads of a group at once; a second loop merges their states.
// On a GPU all states have memory at once.
//
// CHECK-LABEL: func.func @single_row
// CHECK: %[[PARTS:.*]]:3 = scf.forall (%{{.*}}, %{{.*}}, %{{.*}}) in (2, 2, 4)
// CHECK: tensor.extract_slice %{{.*}} : tensor<1x4x1x64xf16> to tensor<4x64xf16>
// CHECK: tensor.pad
// CHECK: tensor<4x64xf16> to tensor<16x64xf16>
// CHECK: attn.block_step
// CHECK: parallel_insert_slice %{{.*}} : tensor<16xf32> into tensor<2x2x4x16xf32>
// CHECK: parallel_insert_slice %{{.*}} : tensor<16x8xf32> into tensor<2x2x4x16x8xf32>
// CHECK: parallel_insert_slice %{{.*}} : tensor<16x64xf32> into tensor<2x2x4x16x64xf32>
// CHECK: mapping = [#gpu.block<z>, #gpu.block<y>, #gpu.block<x>]
// CHECK: scf.forall (%{{.*}}, %{{.*}}) in (2, 2)
// CHECK: scf.for
// CHECK: attn.merge
// CHECK: attn.finish
// CHECK: parallel_insert_slice %{{.*}} : tensor<4x64xf16> into tensor<2x8x1x64xf16>
// CHECK: mapping = [#gpu.block<y>, #gpu.block<x>]
func.func @single_row(%q: tensor<2x8x1x64xf16>, %k: tensor<2x2x1024x64xf16>,
    %v: tensor<2x2x1024x64xf16>) -> tensor<2x8x1x64xf16> {
  %o = attn.sdpa %q, %k, %v scale = 0.125
    schedule = <block_m = 16, block_n = 64, rows = 16, columns = 8, lanes = 2, chunk = 256, fold_heads = true, warps = 1, stages = 2>
    : tensor<2x8x1x64xf16>, tensor<2x2x1024x64xf16>, tensor<2x2x1024x64xf16>
    -> tensor<2x8x1x64xf16>
  return %o : tensor<2x8x1x64xf16>
}

// Where the number of keys is that of what was cast, loops keep their schedules, by which later passes know them.
//
// CHECK-LABEL: func.func @cast
// CHECK: scf.forall (%{{.*}}, %{{.*}}, %{{.*}}) in (1, 2, 3)
// CHECK: {attn.schedule = #attn.schedule<{{.*}}warps = 1{{.*}}>, mapping = [#gpu.block<z>, #gpu.block<y>, #gpu.block<x>]}
func.func @cast(%q: tensor<1x4x1x8xf32>, %k: tensor<1x2x600x8xf32>) -> tensor<1x4x1x8xf32> {
  %keys = tensor.cast %k : tensor<1x2x600x8xf32> to tensor<1x2x?x8xf32>
  %o = attn.sdpa %q, %keys, %keys scale = 0.125
    schedule = <block_m = 16, block_n = 32, rows = 16, columns = 8, lanes = 2, chunk = 256, fold_heads = true, warps = 1, stages = 2>
    : tensor<1x4x1x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32> -> tensor<1x4x1x8xf32>
  return %o : tensor<1x4x1x8xf32>
}

// Several rows of each head of a group are put together first; in the end each head takes its own from the states.
//
// CHECK-LABEL: func.func @several_rows
// CHECK-SAME: %[[Q:[a-z0-9]*]]: tensor<2x8x4x64xf16>
// CHECK: %[[ROWS:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<2x2x16x64xf16>)
// CHECK: tensor.extract %[[Q]]
// CHECK: scf.forall (%[[B:.*]], %[[T:.*]], %{{.*}}) in (2, 2, 4)
// CHECK: tensor.extract_slice %[[ROWS]][%[[B]], %[[T]], 0, 0]
// CHECK: attn.block_step
// CHECK: parallel_insert_slice %{{.*}} : tensor<16x64xf32> into tensor<2x2x4x16x64xf32>
// CHECK: warps = 1
// CHECK: scf.forall (%{{.*}}, %[[HEAD:.*]]) in (2, 8)
// CHECK: %[[TILE:.*]] = arith.divui %[[HEAD]], %c4
// CHECK: %[[FIRST:.*]] = affine.apply {{.*}}%[[HEAD]]
// CHECK: tensor.extract_slice %{{.*}}[%[[FIRST]]] [%{{.*}}] [1] : tensor<16xf32> to tensor<?xf32>
// CHECK: tensor.pad
// CHECK: scf.for
// CHECK: attn.merge
// CHECK: attn.finish
// CHECK: parallel_insert_slice %{{.*}}[%{{.*}}, %[[HEAD]], 0, 0] {{.*}} : tensor<4x64xf16> into tensor<2x8x4x64xf16>
// CHECK: warps = 1
func.func @several_rows(%q: tensor<2x8x4x64xf16>, %k: tensor<2x2x1024x64xf16>,
    %v: tensor<2x2x1024x64xf16>) -> tensor<2x8x4x64xf16> {
  %o = attn.sdpa %q, %k, %v scale = 0.125
    schedule = <block_m = 16, block_n = 64, rows = 16, columns = 8, lanes = 2, chunk = 256, fold_heads = true, warps = 1, stages = 2>
    : tensor<2x8x4x64xf16>, tensor<2x2x1024x64xf16>, tensor<2x2x1024x64xf16>
    -> tensor<2x8x4x64xf16>
  return %o : tensor<2x8x4x64xf16>
}

// The end of a split is written where its output is inserted.
//
// CHECK-LABEL: func.func @part_of_channels
// CHECK: %[[ALL:.*]] = tensor.empty() : tensor<1x8x1x512xf16>
// CHECK: %[[PLACE:.*]] = tensor.extract_slice %[[ALL]][0, 0, 0, 256] [1, 8, 1, 256] [1, 1, 1, 1]
// CHECK: %[[O:.*]] = scf.forall {{.*}} shared_outs(%{{.*}} = %[[PLACE]])
// CHECK: tensor.insert_slice %[[O]] into %[[ALL]][0, 0, 0, 256] [1, 8, 1, 256] [1, 1, 1, 1]
func.func @part_of_channels(%q: tensor<1x8x1x64xf16>, %k: tensor<1x2x1024x64xf16>,
    %v: tensor<1x2x1024x256xf16>) -> tensor<1x8x1x512xf16> {
  %all = tensor.empty() : tensor<1x8x1x512xf16>
  %o = attn.sdpa %q, %k, %v scale = 0.125
    schedule = <block_m = 16, block_n = 64, rows = 16, columns = 8, lanes = 2, chunk = 256, fold_heads = true, warps = 1, stages = 2>
    : tensor<1x8x1x64xf16>, tensor<1x2x1024x64xf16>, tensor<1x2x1024x256xf16> -> tensor<1x8x1x256xf16>
  %r = tensor.insert_slice %o into %all[0, 0, 0, 256] [1, 8, 1, 256] [1, 1, 1, 1]
    : tensor<1x8x1x256xf16> into tensor<1x8x1x512xf16>
  return %r : tensor<1x8x1x512xf16>
}
