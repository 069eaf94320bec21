// RUN: attn-opt %s --attn-select-schedule | FileCheck %s
// RUN: attn-opt %s --attn-select-schedule --attn-select-schedule | FileCheck %s

// States of chunks have room for the rows of a block: more rows are not split. A second run finds the test.
//
// CHECK-LABEL: func.func @split
// CHECK: %[[FEW:.+]] = arith.cmpi sle, %{{.+}}, %c4
// CHECK-NEXT: scf.if %[[FEW]]
// CHECK-NEXT: attn.sdpa {{.*}}block_m = 8, {{.*}}chunk = 64, fold_heads = true
// CHECK: } else {
// CHECK-NEXT: attn.sdpa {{.*}}block_m = 8, {{.*}}lanes = 16, fold_heads = true
// CHECK-NOT: attn.sdpa
func.func @split(%q: tensor<1x4x?x16xf32>, %k: tensor<1x2x277x16xf32>) -> tensor<1x4x?x16xf32> {
  %o = attn.sdpa %q, %k, %k schedule = <block_m = 8, block_n = 64, rows = 8, columns = 32, lanes = 16, chunk = 64, fold_heads = true>
    : tensor<1x4x?x16xf32>, tensor<1x2x277x16xf32>, tensor<1x2x277x16xf32> -> tensor<1x4x?x16xf32>
  return %o : tensor<1x4x?x16xf32>
}

// A processor does not follow schedules of a GPU.
//
// CHECK-LABEL: func.func @foreign
// CHECK: attn.sdpa
// CHECK-NOT: warps
// CHECK: return
func.func @foreign(%q: tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32> {
  %o = attn.sdpa %q, %q, %q schedule = <block_m = 64, block_n = 64, rows = 16, columns = 8, lanes = 2, warps = 4, stages = 2>
    : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32> -> tensor<1x4x8x16xf32>
  return %o : tensor<1x4x8x16xf32>
}
