// Schedules that somebody wrote: chunks of keys with more rows than a block has room for; a GPU's on a processor.
//
// REQUIRES: attn-run
// RUN: split-file %s %t
// RUN: attn-run %t/split.mlir --verify --input=1x4x200x24xf32 --input=1x2x277x24xf32 | FileCheck %s
// RUN: attn-run %t/split.mlir --verify --input=1x4x2x24xf32 --input=1x2x277x24xf32 | FileCheck %s
// RUN: attn-run %t/streams.mlir --verify --input=1x4x200x24xf32 --input=1x2x277x24xf32 | FileCheck %s
// RUN: attn-run %t/foreign.mlir --verify | FileCheck %s
//
// CHECK: pass: largest error

//--- split.mlir
func.func @split(%q: tensor<1x4x?x24xf32>, %k: tensor<1x2x277x24xf32>) -> tensor<1x4x?x24xf32> {
  %o = attn.sdpa %q, %k, %k schedule = <block_m = 8, block_n = 64, rows = 8, columns = 32, lanes = 16, chunk = 64, fold_heads = true>
    : tensor<1x4x?x24xf32>, tensor<1x2x277x24xf32>, tensor<1x2x277x24xf32> -> tensor<1x4x?x24xf32>
  return %o : tensor<1x4x?x24xf32>
}

//--- streams.mlir
func.func @streams(%q: tensor<1x4x?x24xf32>, %k: tensor<1x2x277x24xf32>) -> tensor<1x4x?x24xf32> {
  %o = attn.sdpa %q, %k, %k schedule = <block_m = 8, block_n = 64, rows = 8, columns = 32, lanes = 16, chunk = 64, streams = 4>
    : tensor<1x4x?x24xf32>, tensor<1x2x277x24xf32>, tensor<1x2x277x24xf32> -> tensor<1x4x?x24xf32>
  return %o : tensor<1x4x?x24xf32>
}

//--- foreign.mlir
func.func @foreign(%q: tensor<1x4x37x24xf32>) -> tensor<1x4x37x24xf32> {
  %o = attn.sdpa %q, %q, %q schedule = <block_m = 64, block_n = 64, rows = 16, columns = 8, lanes = 2, warps = 4, stages = 2>
    : tensor<1x4x37x24xf32>, tensor<1x4x37x24xf32>, tensor<1x4x37x24xf32> -> tensor<1x4x37x24xf32>
  return %o : tensor<1x4x37x24xf32>
}
