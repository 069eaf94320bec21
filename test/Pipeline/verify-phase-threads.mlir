// In a loop over blocks of threads steps of tiles are left after phase linalg, and nothing else of ours; after phase
// vectors not even they.
//
// RUN: not attn-opt %s --attn-set-target=target=sm_80 --attn-verify-phase=phase=linalg 2>&1 | FileCheck %s
// RUN: not attn-opt %s --attn-set-target=target=sm_80 --attn-verify-phase=phase=vectors 2>&1 | FileCheck %s --check-prefix=VECTORS
//
// CHECK-NOT: error
// CHECK: [[#@LINE+7]]:10: error: 'attn.rope' op expects to be gone after phase 'linalg'
// VECTORS: [[#@LINE+5]]:21: error: 'attn.finish' op expects to be gone after phase 'linalg'

func.func @loop(%r: tensor<64xf32>, %s: tensor<64x8xf32>, %a: tensor<64x16xf32>, %o: tensor<64x16xf32>,
                %x: tensor<1x2x4x8xf32>, %c: tensor<1x4x4xf32>) -> tensor<64x16xf32> {
  %all = scf.forall (%i) in (1) shared_outs(%so = %o) -> (tensor<64x16xf32>) {
    %output, %lse = attn.finish %r, %s, %a : tensor<64xf32>, tensor<64x8xf32>, tensor<64x16xf32> -> tensor<64x16xf32>, tensor<64xf32>
    %y = attn.rope %x, %c, %c : tensor<1x2x4x8xf32>, tensor<1x4x4xf32>, tensor<1x4x4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %output into %so[0, 0] [64, 16] [1, 1] : tensor<64x16xf32> into tensor<64x16xf32>
    }
  } {attn.schedule = #attn.schedule<block_m = 64, block_n = 64, rows = 16, columns = 8, lanes = 2, warps = 4, stages = 2>}
  return %all : tensor<64x16xf32>
}
