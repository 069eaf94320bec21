// RUN: attn-opt %s --attn-tile-blocks --canonicalize --split-input-file | FileCheck %s

// A block of threads has tiles of static sizes: zeros fill what rows and keys do not, and a step is bounded by its keys.
//
// CHECK-LABEL: func.func @lengths_unknown
// CHECK: scf.forall
// CHECK: tensor.pad
// CHECK: tensor<?x40xf16> to tensor<128x48xf16>
// CHECK: linalg.fill {{.*}} -> tensor<128xf32>
// CHECK: linalg.fill {{.*}} -> tensor<128x8xf32>
// CHECK: linalg.fill {{.*}} -> tensor<128x64xf32>
// CHECK: scf.for %{{.*}} = %c0 to %{{.*}} step %c64
// CHECK: tensor.pad
// CHECK: tensor<?x40xf16> to tensor<64x48xf16>
// CHECK: tensor.pad
// CHECK: tensor<?x56xf16> to tensor<64x64xf16>
// CHECK: attn.block_step
// CHECK-SAME: scale = 1.250000e-01 bounded products exponent = 15
// CHECK: attn.finish {{.*}} -> tensor<128x64xf16>, tensor<128xf32>
// CHECK: parallel_insert_slice %{{.*}} : tensor<?x56xf16> into tensor<1x2x?x56xf16>
// CHECK: mapping = [#gpu.block<z>, #gpu.block<y>, #gpu.block<x>]
func.func @lengths_unknown(%q: tensor<1x2x?x40xf16>, %k: tensor<1x2x?x40xf16>,
    %v: tensor<1x2x?x56xf16>) -> tensor<1x2x?x56xf16> {
  %o = attn.sdpa %q, %k, %v scale = 0.125
    schedule = <block_m = 128, block_n = 64, rows = 32, columns = 8, lanes = 2, warps = 4, stages = 2>
    : tensor<1x2x?x40xf16>, tensor<1x2x?x40xf16>, tensor<1x2x?x56xf16>
    -> tensor<1x2x?x56xf16>
  return %o : tensor<1x2x?x56xf16>
}

// -----

// Nothing is padded, and no step is bounded, where blocks fit.
//
// CHECK-LABEL: func.func @whole_blocks
// CHECK-NOT: tensor.pad
// CHECK: attn.block_step
// CHECK-NOT: bounded
// CHECK-SAME: products exponent = 0
func.func @whole_blocks(%q: tensor<1x2x64x64xbf16>, %k: tensor<1x2x128x64xbf16>,
    %v: tensor<1x2x128x64xbf16>) -> tensor<1x2x64x64xbf16> {
  %o = attn.sdpa %q, %k, %v scale = 0.125
    schedule = <block_m = 64, block_n = 64, rows = 16, columns = 8, lanes = 2, warps = 4, stages = 2>
    : tensor<1x2x64x64xbf16>, tensor<1x2x128x64xbf16>, tensor<1x2x128x64xbf16>
    -> tensor<1x2x64x64xbf16>
  return %o : tensor<1x2x64x64xbf16>
}

// -----

// Where a scale could make of a product what is not finite, or more than exclusion changes scores, these are compared.
//
// CHECK-LABEL: func.func @scores_capped
// CHECK: attn.block_step
// CHECK-NOT: products
// CHECK-SAME: softcap = 8.000000e+00 exponent = 15
// CHECK-LABEL: func.func @scale_large
// CHECK: attn.block_step
// CHECK-NOT: products
// CHECK-SAME: scale = 2.000000e+00 exponent = 15
func.func @scores_capped(%q: tensor<1x2x64x64xf16>, %k: tensor<1x2x128x64xf16>,
    %v: tensor<1x2x128x64xf16>) -> tensor<1x2x64x64xf16> {
  %o = attn.sdpa %q, %k, %v scale = 0.125 softcap = 8.0
    schedule = <block_m = 64, block_n = 64, rows = 16, columns = 8, lanes = 2, warps = 4, stages = 2>
    : tensor<1x2x64x64xf16>, tensor<1x2x128x64xf16>, tensor<1x2x128x64xf16>
    -> tensor<1x2x64x64xf16>
  return %o : tensor<1x2x64x64xf16>
}
func.func @scale_large(%q: tensor<1x2x64x64xf16>, %k: tensor<1x2x128x64xf16>,
    %v: tensor<1x2x128x64xf16>) -> tensor<1x2x64x64xf16> {
  %o = attn.sdpa %q, %k, %v scale = 2.0
    schedule = <block_m = 64, block_n = 64, rows = 16, columns = 8, lanes = 2, warps = 4, stages = 2>
    : tensor<1x2x64x64xf16>, tensor<1x2x128x64xf16>, tensor<1x2x128x64xf16>
    -> tensor<1x2x64x64xf16>
  return %o : tensor<1x2x64x64xf16>
}

// -----

// A key may be one that no row attends to: sums are looked at, and keys are taken one by one where one is NaN.
//
// CHECK-LABEL: func.func @keys_without_rows
// CHECK: %[[SUMS:.*]]:3 = scf.for {{.*}} step %c64
// CHECK: arith.cmpf uno, %[[SUMS]]#2, %[[SUMS]]#2
// CHECK: linalg.reduce
// CHECK: %[[AGAIN:.*]] = tensor.extract
// CHECK: scf.if %[[AGAIN]]
// CHECK: scf.for {{.*}} step %c1
// CHECK: attn.block_step
// CHECK-SAME: skip_zeros(%true)
// CHECK-SAME: bounded
// CHECK-SAME: tensor<64x64xf16>, tensor<16x64xf16>, tensor<16x64xf16>
func.func @keys_without_rows(%q: tensor<1x2x64x64xf16>,
    %k: tensor<1x2x128x64xf16>, %v: tensor<1x2x128x64xf16>,
    %mask: tensor<1x1x64x128xi1>) -> tensor<1x2x64x64xf16> {
  %o = attn.sdpa %q, %k, %v mask(%mask : tensor<1x1x64x128xi1>) scale = 0.125
    schedule = <block_m = 64, block_n = 64, rows = 16, columns = 8, lanes = 2, warps = 4, stages = 2>
    : tensor<1x2x64x64xf16>, tensor<1x2x128x64xf16>, tensor<1x2x128x64xf16>
    -> tensor<1x2x64x64xf16>
  return %o : tensor<1x2x64x64xf16>
}

// -----

// What is inserted into a larger tensor is written there by the blocks themselves.
//
// CHECK-LABEL: func.func @part_of_channels
// CHECK: %[[ALL:.*]] = tensor.empty() : tensor<1x2x64x512xf16>
// CHECK: %[[PLACE:.*]] = tensor.extract_slice %[[ALL]][0, 0, 0, 256] [1, 2, 64, 256] [1, 1, 1, 1]
// CHECK: %[[O:.*]] = scf.forall {{.*}} shared_outs(%{{.*}} = %[[PLACE]])
// CHECK: tensor.insert_slice %[[O]] into %[[ALL]][0, 0, 0, 256] [1, 2, 64, 256] [1, 1, 1, 1]
func.func @part_of_channels(%q: tensor<1x2x64x64xf16>, %k: tensor<1x2x128x64xf16>,
    %v: tensor<1x2x128x256xf16>) -> tensor<1x2x64x512xf16> {
  %all = tensor.empty() : tensor<1x2x64x512xf16>
  %o = attn.sdpa %q, %k, %v scale = 0.125
    schedule = <block_m = 64, block_n = 32, rows = 16, columns = 8, lanes = 2, warps = 4, stages = 2>
    : tensor<1x2x64x64xf16>, tensor<1x2x128x64xf16>, tensor<1x2x128x256xf16> -> tensor<1x2x64x256xf16>
  %r = tensor.insert_slice %o into %all[0, 0, 0, 256] [1, 2, 64, 256] [1, 1, 1, 1]
    : tensor<1x2x64x256xf16> into tensor<1x2x64x512xf16>
  return %r : tensor<1x2x64x512xf16>
}
