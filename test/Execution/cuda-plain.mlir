// Functions without a fast kernel run on a GPU by their definitions: values in the
// emulator, with every access watched.
//
// REQUIRES: attn-run
// RUN: split-file %s %t
// RUN: attn-run %t/f64.mlir --device=cuda-emulated --verify --input=1x2x5x8xf64 --input=1x2x9x8xf64 --input=1x2x9x8xf64 | FileCheck %s
// RUN: attn-run %t/layer.mlir --device=cuda-emulated --verify | FileCheck %s
// RUN: attn-run %t/linear.mlir --device=cuda-emulated --verify | FileCheck %s
// RUN: attn-run %t/pages.mlir --device=cuda-emulated --verify --emulator-seed=3 \
// RUN:   --input=2x4x3x8xf32 --input=8x2x4x8xf32 --input=8x2x4x8xf32 --input=2x3xi32 --input=2xi32 | FileCheck %s
// RUN: %python %S/Inputs/make-table.py %t/table.npy 2 3 1 9 0 0 0 0
// RUN: %python %S/Inputs/make-table.py %t/lengths.npy 2 0 5 5
// RUN: not attn-run %t/pages.mlir --device=cuda-emulated \
// RUN:   --input=2x4x3x8xf32 --input=2x2x4x8xf32 --input=2x2x4x8xf32 --input=@%t/table.npy --input=@%t/lengths.npy 2>&1 | FileCheck %s --check-prefix=PAGE
// RUN: attn-run %t/linear.mlir --device=cuda --verify > %t/gpu.txt 2>&1 || true
// RUN: FileCheck %s --check-prefix=GPU --input-file=%t/gpu.txt
//
// CHECK: pass: largest error
// PAGE: attn-run: 'attn.sdpa' op expects 'page_table' to name pages of 'key', got page 9 of 2
// GPU: {{attn-run: expects a GPU, but there is no CUDA driver|pass: largest error}}

//--- f64.mlir
func.func @f64(%q: tensor<1x2x?x8xf64>, %k: tensor<1x2x?x8xf64>, %v: tensor<1x2x?x8xf64>) -> tensor<1x2x?x8xf64> {
  %o = attn.sdpa %q, %k, %v causal = bottom_right : tensor<1x2x?x8xf64>, tensor<1x2x?x8xf64>, tensor<1x2x?x8xf64> -> tensor<1x2x?x8xf64>
  return %o : tensor<1x2x?x8xf64>
}

//--- layer.mlir
func.func @layer(%x: tensor<1x5x16xf32>, %w: tensor<16x16xf32>) -> tensor<1x5x16xf32> {
  %y = attn.mha %x query(%w : tensor<16x16xf32>) key(%w : tensor<16x16xf32>)
    value(%w : tensor<16x16xf32>) output(%w : tensor<16x16xf32>) heads = 2
    : tensor<1x5x16xf32> -> tensor<1x5x16xf32>
  return %y : tensor<1x5x16xf32>
}

//--- linear.mlir
func.func @linear(%q: tensor<1x2x6x8xf32>, %k: tensor<1x2x6x8xf32>, %v: tensor<1x2x6x8xf32>) -> tensor<1x2x6x8xf32> {
  %o = attn.linear_attention %q, %k, %v rule = linear : tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32> -> tensor<1x2x6x8xf32>
  return %o : tensor<1x2x6x8xf32>
}

//--- pages.mlir
func.func @pages(%q: tensor<2x4x3x8xf32>, %k: tensor<?x2x4x8xf32>, %v: tensor<?x2x4x8xf32>, %t: tensor<2x3xi32>, %n: tensor<2xi32>) -> tensor<2x4x3x8xf32> {
  %o = attn.sdpa %q, %k, %v kv_lengths(%n : tensor<2xi32>) page_table(%t : tensor<2x3xi32>) : tensor<2x4x3x8xf32>, tensor<?x2x4x8xf32>, tensor<?x2x4x8xf32> -> tensor<2x4x3x8xf32>
  return %o : tensor<2x4x3x8xf32>
}
