// RUN: attn-opt %s --attn-tile-blocks --canonicalize --cse | FileCheck %s

// Sequences of few rows are a loop of their own, which writes between the rows of the others. In each the sequences of
// the other have no rows: those of 16 rows or less in the first, those of more in the second.
//
// CHECK-LABEL: func.func @two_kernels
// CHECK: %[[MANY:.*]] = scf.forall
// CHECK: arith.cmpi sgt, %{{.*}}, %c16
// CHECK: attn.block_step
// CHECK: scf.forall.in_parallel
// CHECK: %[[ALL:.*]] = scf.forall {{.*}} shared_outs(%{{.*}} = %[[MANY]])
// CHECK: arith.cmpi sle, %{{.*}}, %c16
// CHECK: attn.block_step {{.*}} schedule = <{{.*}} streams = 4
// CHECK: return %[[ALL]]
func.func @two_kernels(%q: tensor<1x?x8x64xf32>, %k: tensor<1x?x2x64xf32>, %e: tensor<?xi32>) -> tensor<1x?x8x64xf32> {
  %o = attn.sdpa %q, %k, %k cu_seqlens_q(%e : tensor<?xi32>) cu_seqlens_k(%e : tensor<?xi32>) layout = bshd
    schedule = <block_m = 256, block_n = 256, rows = 4, columns = 16, lanes = 8>
    {attn.few_schedule = #attn.schedule<block_m = 64, block_n = 2048, rows = 4, columns = 16, lanes = 8,
                                        fold_heads = true, streams = 4>}
    : tensor<1x?x8x64xf32>, tensor<1x?x2x64xf32>, tensor<1x?x2x64xf32> -> tensor<1x?x8x64xf32>
  return %o : tensor<1x?x8x64xf32>
}
