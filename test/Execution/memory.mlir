// What is held beside the operands: less than 4 MiB for each thread, however many rows, keys and heads there are.
//
// RUN: split-file %s %t
// RUN: attn-run %t/rows.mlir --threads=1 --benchmark=1 --verify --input=1x8x2048x64xf32 --input=1x8x64x64xf32 \
// RUN:   --input=1x8x64x64xf32 | FileCheck %s
// RUN: attn-run %t/rows.mlir --threads=1 --benchmark=1 --verify --input=1x8x16x64xf32 --input=1x8x20000x64xf32 \
// RUN:   --input=1x8x20000x64xf32 | FileCheck %s
// RUN: attn-run %t/tiles.mlir --threads=1 --benchmark=1 --verify | FileCheck %s
// RUN: attn-run %t/tiles.mlir --threads=2 --verify
//
// CHECK: extra memory: {{([123][0-9]{6}|[0-9]{1,6}) }}bytes
// CHECK: pass

//--- rows.mlir
// One kernel for few rows and one for many: what the first holds does not grow with the rows of the second.
func.func @rows(%q: tensor<1x8x?x64xf32>, %k: tensor<1x8x?x64xf32>, %v: tensor<1x8x?x64xf32>)
    -> tensor<1x8x?x64xf32> {
  %o = attn.sdpa %q, %k, %v
    : tensor<1x8x?x64xf32>, tensor<1x8x?x64xf32>, tensor<1x8x?x64xf32> -> tensor<1x8x?x64xf32>
  return %o : tensor<1x8x?x64xf32>
}

//--- tiles.mlir
// The states of 64 tiles with 16 chunks are 33 MiB: they are computed some tiles after the others.
func.func @tiles(%q: tensor<8x32x16x64xf32>, %k: tensor<8x8x1024x64xf32>, %v: tensor<8x8x1024x64xf32>)
    -> (tensor<8x32x16x64xf32>, tensor<8x32x16xf32>) {
  %o, %l = attn.sdpa %q, %k, %v causal = bottom_right schedule = <block_m = 64, block_n = 64, rows = 4,
      columns = 64, lanes = 16, chunk = 64, fold_heads = true, streams = 4>
    : tensor<8x32x16x64xf32>, tensor<8x8x1024x64xf32>, tensor<8x8x1024x64xf32>
    -> tensor<8x32x16x64xf32>, tensor<8x32x16xf32>
  return %o, %l : tensor<8x32x16x64xf32>, tensor<8x32x16xf32>
}
