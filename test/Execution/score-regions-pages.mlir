// Regions count sequences and their keys wherever pages lie.
//
// RUN: attn-run %s --verify | FileCheck %s
// CHECK: pass: largest error {{.*}}, 0 elements beyond it

func.func @pages(%q: tensor<2x4x60x16xf32>, %k: tensor<9x2x16x16xf32>, %v: tensor<9x2x16x16xf32>, %t: tensor<2x4xi32>, %s: tensor<4xf32>, %n: tensor<2xi32>) -> tensor<2x4x60x16xf32> {
  %o = attn.sdpa %q, %k, %v page_table(%t : tensor<2x4xi32>) score_mod = alibi(%s : tensor<4xf32>) mask_mod = prefix_lm(%n : tensor<2xi32>)
   : tensor<2x4x60x16xf32>, tensor<9x2x16x16xf32>, tensor<9x2x16x16xf32> -> tensor<2x4x60x16xf32>
  return %o : tensor<2x4x60x16xf32>
}
