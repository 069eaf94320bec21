// RUN: attn-opt %s --attn-register-tiles --canonicalize --cse | FileCheck %s

#rows = affine_map<(s, p, r, c, d) -> (s, d, r)>
#panels = affine_map<(s, p, r, c, d) -> (p, d, c)>
#scores = affine_map<(s, p, r, c, d) -> (s, p, r, c)>

// What seldom runs has little code: one row at a time.
//
// CHECK-LABEL: func.func @rare
// CHECK: scf.for %{{.*}} = %c0 to %c4 step %c1
// CHECK: scf.for %{{.*}} = %c0 to %c64 step %c1
// CHECK-COUNT-2: vector.fma
// CHECK-NOT: vector.fma
// CHECK: return
func.func @rare(%q: tensor<1x64x4xf32>, %k: tensor<?x64x16xf32>,
    %init: tensor<1x?x4x16xf32>) -> tensor<1x?x4x16xf32> {
  %s = linalg.generic {indexing_maps = [#rows, #panels, #scores],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<1x64x4xf32>, tensor<?x64x16xf32>)
      outs(%init : tensor<1x?x4x16xf32>) attrs = {attn.rare} {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %n = arith.addf %c, %m : f32
    linalg.yield %n : f32
  } -> tensor<1x?x4x16xf32>
  return %s : tensor<1x?x4x16xf32>
}
