// Rules that models have: distances, relative buckets, graphs, images in a text.
//
// RUN: split-file %s %t
// RUN: attn-run %t/alibi.mlir --verify | FileCheck %s
// RUN: attn-run %t/t5.mlir --verify | FileCheck %s
// RUN: attn-run %t/tables.mlir --verify | FileCheck %s

// CHECK: pass: largest error {{.*}}, 0 elements beyond it

//--- alibi.mlir

// ALiBi with slopes for each head; one row at the end is as the last of many.
func.func @alibi(%q0: tensor<1x3x20x16xf32>, %k0: tensor<1x3x20x16xf32>, %q1: tensor<1x5x90x16xf32>, %k1: tensor<1x5x90x16xf32>, %q2: tensor<1x6x64x16xf32>, %k2: tensor<1x2x130x16xf32>, %q3: tensor<1x12x1x16xf32>, %k3: tensor<1x12x20x16xf32>, %s3: tensor<3xf32>, %s5: tensor<5xf32>, %s6: tensor<6xf32>, %s12: tensor<12xf32>)
    -> (tensor<1x3x20x16xf32>, tensor<1x5x90x16xf32>, tensor<1x6x64x16xf32>, tensor<1x12x1x16xf32>) {
  %o0 = attn.sdpa %q0, %k0, %k0 causal = top_left
    score_mod = alibi(%s3 : tensor<3xf32>)
    : tensor<1x3x20x16xf32>, tensor<1x3x20x16xf32>, tensor<1x3x20x16xf32>
    -> tensor<1x3x20x16xf32>
  %o1 = attn.sdpa %q1, %k1, %k1 causal = top_left
    score_mod = alibi(%s5 : tensor<5xf32>)
    : tensor<1x5x90x16xf32>, tensor<1x5x90x16xf32>, tensor<1x5x90x16xf32>
    -> tensor<1x5x90x16xf32>
  %o2 = attn.sdpa %q2, %k2, %k2 causal = bottom_right
    score_mod = alibi(%s6 : tensor<6xf32>)
    : tensor<1x6x64x16xf32>, tensor<1x2x130x16xf32>, tensor<1x2x130x16xf32>
    -> tensor<1x6x64x16xf32>
  %o3 = attn.sdpa %q3, %k3, %k3 causal = bottom_right
    score_mod = alibi(%s12 : tensor<12xf32>)
    : tensor<1x12x1x16xf32>, tensor<1x12x20x16xf32>, tensor<1x12x20x16xf32>
    -> tensor<1x12x1x16xf32>
  return %o0, %o1, %o2, %o3 :
    tensor<1x3x20x16xf32>, tensor<1x5x90x16xf32>, tensor<1x6x64x16xf32>, tensor<1x12x1x16xf32>
}

//--- t5.mlir

// T5: scale 1, 32 buckets up to distance 128, in both directions and in one.
func.func @t5(%q0: tensor<1x3x300x16xf32>, %k0: tensor<1x3x300x16xf32>, %q1: tensor<1x3x200x16xf32>, %k1: tensor<1x3x200x16xf32>, %q2: tensor<1x3x1x16xf32>, %k2: tensor<1x3x180x16xf32>, %q3: tensor<1x3x40x16xf32>, %k3: tensor<1x3x170x16xf32>, %t: tensor<32x3xf32>)
    -> (tensor<1x3x300x16xf32>, tensor<1x3x200x16xf32>, tensor<1x3x1x16xf32>, tensor<1x3x40x16xf32>) {
  %o0 = attn.sdpa %q0, %k0, %k0 scale = 1.0
    score_mod = t5_bias(%t : tensor<32x3xf32>)
    : tensor<1x3x300x16xf32>, tensor<1x3x300x16xf32>, tensor<1x3x300x16xf32>
    -> tensor<1x3x300x16xf32>
  %o1 = attn.sdpa %q1, %k1, %k1 scale = 1.0 causal = top_left
    score_mod = t5_causal_bias(%t : tensor<32x3xf32>)
    : tensor<1x3x200x16xf32>, tensor<1x3x200x16xf32>, tensor<1x3x200x16xf32>
    -> tensor<1x3x200x16xf32>
  %o2 = attn.sdpa %q2, %k2, %k2 scale = 1.0 causal = bottom_right
    score_mod = t5_causal_bias(%t : tensor<32x3xf32>)
    : tensor<1x3x1x16xf32>, tensor<1x3x180x16xf32>, tensor<1x3x180x16xf32>
    -> tensor<1x3x1x16xf32>
  %o3 = attn.sdpa %q3, %k3, %k3 scale = 1.0
    score_mod = t5_bias(%t : tensor<32x3xf32>)
    : tensor<1x3x40x16xf32>, tensor<1x3x170x16xf32>, tensor<1x3x170x16xf32>
    -> tensor<1x3x40x16xf32>
  return %o0, %o1, %o2, %o3 :
    tensor<1x3x300x16xf32>, tensor<1x3x200x16xf32>, tensor<1x3x1x16xf32>, tensor<1x3x40x16xf32>
}

//--- tables.mlir

// A graph's edges, with nodes that have none; text that sees the last image before it, or nothing.
func.func @tables(%q0: tensor<1x1x50x16xf32>, %k0: tensor<1x1x50x16xf32>, %q1: tensor<1x2x50x16xf32>, %k1: tensor<1x2x96x16xf32>, %g: tensor<50x50xi1>, %at: tensor<50xi32>)
    -> (tensor<1x1x50x16xf32>, tensor<1x2x50x16xf32>) {
  %o0 = attn.sdpa %q0, %k0, %k0
    mask_mod(%b: index, %h: index, %i: index, %j: index) {
      %m = tensor.extract %g[%i, %j] : tensor<50x50xi1>
      attn.yield %m : i1
    }
    : tensor<1x1x50x16xf32>, tensor<1x1x50x16xf32>, tensor<1x1x50x16xf32>
    -> tensor<1x1x50x16xf32>
  %o1 = attn.sdpa %q1, %k1, %k1
    mask_mod(%b: index, %h: index, %i: index, %j: index) {
      %image = tensor.extract %at[%i] : tensor<50xi32>
      %own = arith.index_cast %image : i32 to index
      %one = arith.constant 1 : index
      %size = arith.constant 16 : index
      %number = arith.divsi %j, %size : index
      %count = arith.addi %number, %one : index
      %m = arith.cmpi eq, %count, %own : index
      attn.yield %m : i1
    }
    : tensor<1x2x50x16xf32>, tensor<1x2x96x16xf32>, tensor<1x2x96x16xf32>
    -> tensor<1x2x50x16xf32>
  return %o0, %o1 :
    tensor<1x1x50x16xf32>, tensor<1x2x50x16xf32>
}
