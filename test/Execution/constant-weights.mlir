// A layer whose weights are constants agrees with the definition, few rows and many.
//
// RUN: attn-run %s --verify --input=1x40x4xf32 | FileCheck %s
// RUN: attn-run %s --verify --input=2x3x4xf32 | FileCheck %s
//
// No call packs them: nothing is left of the plain constant but what few rows read.
//
// RUN: attnc %s --stop-after=tiles | FileCheck %s --check-prefix=TILES

// CHECK: pass
// TILES: arith.constant dense_resource<packed_weight> : tensor<1x4x{{[0-9]+}}xf32>
func.func @layer(%x: tensor<?x?x4xf32>) -> tensor<?x?x4xf32> {
  %w = arith.constant dense<[[1.0, 0.5, -1.0, 0.25], [0.0, 2.0, 0.5, -0.5], [1.5, 0.0, 0.0, 1.0], [0.125, -2.0, 1.0, 0.5]]> : tensor<4x4xf32>
  %o = arith.constant dense_resource<weight> : tensor<4x4xf32>
  %y = attn.mha %x query(%w : tensor<4x4xf32>) key(%w : tensor<4x4xf32>)
    value(%w : tensor<4x4xf32>) output(%o : tensor<4x4xf32>) heads = 2
    : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
  return %y : tensor<?x?x4xf32>
}

{-#
  dialect_resources: {
    builtin: {
      weight: "0x040000000000803F0000004000004040000080400000803F0000004000004040000080400000803F0000004000004040000080400000803F000000400000404000008040"
    }
  }
#-}
