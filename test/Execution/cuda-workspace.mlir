// Layers on a GPU take turns with the same memory: a third layer needs no more of the workspace than the second.
//
// REQUIRES: attn-run
// RUN: attn-opt %s --attn-cuda-pipeline="target=sm_80 stop-after=kernels" | FileCheck %s --check-prefix=BYTES
// RUN: attn-run %s --function=three --device=cuda-emulated --verify --input=2x5x16xf32 --input=16x16xf32 | FileCheck %s
// RUN: attn-run %s --function=three --device=cuda-emulated --verify --input=2x5x16xf32 --input=16x16xf32 --emulator-seed=7 | FileCheck %s
//
// BYTES: func.func private @two.workspace
// BYTES: %[[BYTES:.*]] = arith.constant [[SIZE:[0-9]+]] : index
// BYTES: return %[[BYTES]]
// BYTES: func.func private @three.workspace
// BYTES: %[[BYTES:.*]] = arith.constant [[SIZE]] : index
// BYTES: return %[[BYTES]]
// CHECK: pass: largest error

func.func @two(%x: tensor<2x5x16xf32>, %w: tensor<16x16xf32>) -> tensor<2x5x16xf32> {
  %a = attn.mha %x query(%w : tensor<16x16xf32>) key(%w : tensor<16x16xf32>)
    value(%w : tensor<16x16xf32>) output(%w : tensor<16x16xf32>) heads = 2
    : tensor<2x5x16xf32> -> tensor<2x5x16xf32>
  %b = attn.mha %a query(%w : tensor<16x16xf32>) key(%w : tensor<16x16xf32>)
    value(%w : tensor<16x16xf32>) output(%w : tensor<16x16xf32>) heads = 2
    : tensor<2x5x16xf32> -> tensor<2x5x16xf32>
  return %b : tensor<2x5x16xf32>
}

func.func @three(%x: tensor<2x5x16xf32>, %w: tensor<16x16xf32>) -> tensor<2x5x16xf32> {
  %a = attn.mha %x query(%w : tensor<16x16xf32>) key(%w : tensor<16x16xf32>)
    value(%w : tensor<16x16xf32>) output(%w : tensor<16x16xf32>) heads = 2
    : tensor<2x5x16xf32> -> tensor<2x5x16xf32>
  %b = attn.mha %a query(%w : tensor<16x16xf32>) key(%w : tensor<16x16xf32>)
    value(%w : tensor<16x16xf32>) output(%w : tensor<16x16xf32>) heads = 2
    : tensor<2x5x16xf32> -> tensor<2x5x16xf32>
  %c = attn.mha %b query(%w : tensor<16x16xf32>) key(%w : tensor<16x16xf32>)
    value(%w : tensor<16x16xf32>) output(%w : tensor<16x16xf32>) heads = 2
    : tensor<2x5x16xf32> -> tensor<2x5x16xf32>
  return %c : tensor<2x5x16xf32>
}
