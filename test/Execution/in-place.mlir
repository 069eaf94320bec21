// Values, and queries that need no copy for their scale, read where they are.
//
// RUN: split-file %s %t
// RUN: attn-run %t/triangle.mlir --verify | FileCheck %s
// RUN: attn-run %t/band.mlir --verify | FileCheck %s
// RUN: attn-run %t/lengths.mlir --verify | FileCheck %s
// RUN: attn-run %t/scores.mlir --verify | FileCheck %s
// RUN: attn-run %t/layouts.mlir --verify | FileCheck %s
// RUN: attn-run %t/types.mlir --verify | FileCheck %s
// RUN: attn-run %t/never_seen.mlir --verify | FileCheck %s
// RUN: attn-run %t/triangle.mlir --verify --threads=1 | FileCheck %s

// CHECK: pass: largest error {{.*}}, 0 elements beyond it

//--- triangle.mlir

// Strips of 7 fill the rows; a panel of channels and a half.
func.func @triangle(%q: tensor<2x3x42x16xf32>, %k: tensor<2x3x43x16xf32>, %v: tensor<2x3x43x24xf32>)
    -> tensor<2x3x42x24xf32> {
  %o = attn.sdpa %q, %k, %v causal = top_left
    schedule = <block_m = 42, block_n = 48, rows = 7, columns = 16, lanes = 8, prefetch = 2048, in_place = true>
    : tensor<2x3x42x16xf32>, tensor<2x3x43x16xf32>, tensor<2x3x43x24xf32> -> tensor<2x3x42x24xf32>
  return %o : tensor<2x3x42x24xf32>
}

//--- band.mlir

// The last strip is not filled; strips begin at keys in the middle, and the last ones see keys up to the end, or none.
func.func @band(%q: tensor<1x2x90x16xf32>, %k: tensor<1x2x43x16xf32>, %v: tensor<1x2x43x24xf32>)
    -> (tensor<1x2x90x24xf32>, tensor<1x2x90x24xf32>) {
  %a = attn.sdpa %q, %k, %v causal = top_left window = <left = 20>
    schedule = <block_m = 96, block_n = 48, rows = 8, columns = 16, lanes = 8, prefetch = 2048, in_place = true>
    : tensor<1x2x90x16xf32>, tensor<1x2x43x16xf32>, tensor<1x2x43x24xf32> -> tensor<1x2x90x24xf32>
  %b = attn.sdpa %q, %k, %v window = <left = 17, right = 2>
    schedule = <block_m = 90, block_n = 48, rows = 6, columns = 16, lanes = 8, in_place = true>
    : tensor<1x2x90x16xf32>, tensor<1x2x43x16xf32>, tensor<1x2x43x24xf32> -> tensor<1x2x90x24xf32>
  return %a, %b : tensor<1x2x90x24xf32>, tensor<1x2x90x24xf32>
}

//--- lengths.mlir

// All, some and none of the keys count; and all of a block.
func.func @lengths(%q: tensor<3x4x21x16xf32>, %k: tensor<3x2x48x16xf32>, %v: tensor<3x2x48x16xf32>)
    -> (tensor<3x4x21x16xf32>, tensor<3x4x21x16xf32>) {
  %n = arith.constant dense<[48, 13, 0]> : tensor<3xi32>
  %a = attn.sdpa %q, %k, %v kv_lengths(%n : tensor<3xi32>)
    schedule = <block_m = 21, block_n = 48, rows = 7, columns = 16, lanes = 8, prefetch = 2048, in_place = true>
    : tensor<3x4x21x16xf32>, tensor<3x2x48x16xf32>, tensor<3x2x48x16xf32> -> tensor<3x4x21x16xf32>
  %b = attn.sdpa %q, %k, %v
    schedule = <block_m = 21, block_n = 48, rows = 7, columns = 16, lanes = 8, prefetch = 2048, in_place = true>
    : tensor<3x4x21x16xf32>, tensor<3x2x48x16xf32>, tensor<3x2x48x16xf32> -> tensor<3x4x21x16xf32>
  return %a, %b : tensor<3x4x21x16xf32>, tensor<3x4x21x16xf32>
}

//--- scores.mlir

// What changes scores finds them scaled; a scale that is no power of two stays with the query, and lse is asked for.
func.func @scores(%q: tensor<1x2x21x16xf32>, %k: tensor<1x2x30x16xf32>, %v: tensor<1x2x30x16xf32>,
    %bias: tensor<21x30xf32>, %mask: tensor<2x1x30xi1>) -> (tensor<1x2x21x16xf32>, tensor<1x2x21xf32>, tensor<1x2x21x16xf32>) {
  %a, %lse = attn.sdpa %q, %k, %v bias(%bias : tensor<21x30xf32>) mask(%mask : tensor<2x1x30xi1>) softcap = 5.0
    schedule = <block_m = 21, block_n = 32, rows = 7, columns = 16, lanes = 8, in_place = true>
    : tensor<1x2x21x16xf32>, tensor<1x2x30x16xf32>, tensor<1x2x30x16xf32> -> tensor<1x2x21x16xf32>, tensor<1x2x21xf32>
  %b = attn.sdpa %q, %k, %v scale = 0.3
    schedule = <block_m = 21, block_n = 32, rows = 7, columns = 16, lanes = 8, in_place = true>
    : tensor<1x2x21x16xf32>, tensor<1x2x30x16xf32>, tensor<1x2x30x16xf32> -> tensor<1x2x21x16xf32>
  return %a, %lse, %b : tensor<1x2x21x16xf32>, tensor<1x2x21xf32>, tensor<1x2x21x16xf32>
}

//--- layouts.mlir

// Values with other heads between them are packed.
func.func @layouts(%q: tensor<2x21x3x16xf32>, %k: tensor<2x30x3x16xf32>, %v: tensor<2x30x3x24xf32>)
    -> tensor<2x21x3x24xf32> {
  %o = attn.sdpa %q, %k, %v causal = top_left layout = bshd
    schedule = <block_m = 21, block_n = 32, rows = 7, columns = 16, lanes = 8, prefetch = 2048, in_place = true>
    : tensor<2x21x3x16xf32>, tensor<2x30x3x16xf32>, tensor<2x30x3x24xf32> -> tensor<2x21x3x24xf32>
  return %o : tensor<2x21x3x24xf32>
}

//--- types.mlir

// Sums of f64; and types that are converted, which are packed.
func.func @types(%q: tensor<1x2x21x16xf64>, %k: tensor<1x2x30x16xf64>, %v: tensor<1x2x30x16xf64>,
    %qh: tensor<1x2x21x16xf32>, %kh: tensor<1x2x30x16xf16>, %vh: tensor<1x2x30x16xf16>)
    -> (tensor<1x2x21x16xf64>, tensor<1x2x21x16xf32>) {
  %a = attn.sdpa %q, %k, %v causal = top_left
    schedule = <block_m = 21, block_n = 32, rows = 7, columns = 16, lanes = 8, in_place = true>
    : tensor<1x2x21x16xf64>, tensor<1x2x30x16xf64>, tensor<1x2x30x16xf64> -> tensor<1x2x21x16xf64>
  %b = attn.sdpa %qh, %kh, %vh causal = top_left
    schedule = <block_m = 21, block_n = 32, rows = 7, columns = 16, lanes = 8, in_place = true>
    : tensor<1x2x21x16xf32>, tensor<1x2x30x16xf16>, tensor<1x2x30x16xf16> -> tensor<1x2x21x16xf32>
  return %a, %b : tensor<1x2x21x16xf64>, tensor<1x2x21x16xf32>
}

//--- never_seen.mlir

// Values that no row sees may hold anything.
func.func @never_seen(%q: tensor<1x1x21x16xf32>, %k: tensor<1x1x30x16xf32>, %some: tensor<1x1x21x24xf32>)
    -> tensor<1x1x21x24xf32> {
  %nan = arith.constant dense<0x7FC00000> : tensor<1x1x30x24xf32>
  %v = tensor.insert_slice %some into %nan[0, 0, 0, 0] [1, 1, 21, 24] [1, 1, 1, 1]
    : tensor<1x1x21x24xf32> into tensor<1x1x30x24xf32>
  %o = attn.sdpa %q, %k, %v causal = top_left
    schedule = <block_m = 21, block_n = 32, rows = 7, columns = 16, lanes = 8, in_place = true>
    : tensor<1x1x21x16xf32>, tensor<1x1x30x16xf32>, tensor<1x1x30x24xf32> -> tensor<1x1x21x24xf32>
  return %o : tensor<1x1x21x24xf32>
}
