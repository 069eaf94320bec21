// Heads that share keys are rows of one tile, whose keys are packed once: of few rows with keys in chunks, of more in
// tiles of rows of all heads.
//
// RUN: split-file %s %t
// RUN: attn-run %t/chunks.mlir --verify --threads=2 | FileCheck %s
// RUN: attn-run %t/tiles.mlir --verify --threads=2 | FileCheck %s
// RUN: attn-run %t/operands.mlir --verify | FileCheck %s
// RUN: attn-run %t/dynamic.mlir --verify --input=2x40x6x16xf16 --input=2x1x700x16xf16 --input=2x1x700x16xf16 | FileCheck %s
// RUN: attn-run %t/dynamic.mlir --verify --input=2x40x7x16xf16 --input=2x1x9x16xf16 --input=2x1x9x16xf16 | FileCheck %s

// CHECK: pass: largest error {{.*}}, 0 elements beyond it

//--- chunks.mlir

func.func @chunks(%q: tensor<2x14x5x24xf32>, %k: tensor<2x2x4500x24xf32>, %v: tensor<2x2x4500x40xf32>)
    -> (tensor<2x14x5x40xf32>, tensor<2x14x5xf32>) {
  %o, %lse = attn.sdpa %q, %k, %v causal = bottom_right window = <left = 4400>
    : tensor<2x14x5x24xf32>, tensor<2x2x4500x24xf32>, tensor<2x2x4500x40xf32>
    -> tensor<2x14x5x40xf32>, tensor<2x14x5xf32>
  return %o, %lse : tensor<2x14x5x40xf32>, tensor<2x14x5xf32>
}

//--- tiles.mlir

// 71 heads of 5 rows: tiles of 3 rows and 2.
func.func @tiles(%q: tensor<1x71x5x16xf32>, %k: tensor<1x1x600x16xf32>, %v: tensor<1x1x600x8xf32>)
    -> tensor<1x71x5x8xf32> {
  %o = attn.sdpa %q, %k, %v causal = bottom_right
    : tensor<1x71x5x16xf32>, tensor<1x1x600x16xf32>, tensor<1x1x600x8xf32> -> tensor<1x71x5x8xf32>
  return %o : tensor<1x71x5x8xf32>
}

//--- operands.mlir

// A bias of each head and row, a mask of each row, and keys that are not there.
func.func @operands(%q: tensor<2x48x11x16xf32>, %k: tensor<2x2x300x16xf32>, %v: tensor<2x2x300x16xf32>,
    %bias: tensor<1x48x11x300xf32>, %mask: tensor<2x1x11x300xi1>, %n: tensor<2xi32>) -> tensor<2x48x11x16xf32> {
  %o = attn.sdpa %q, %k, %v bias(%bias : tensor<1x48x11x300xf32>) mask(%mask : tensor<2x1x11x300xi1>)
    kv_lengths(%n : tensor<2xi32>) softcap = 4.0
    : tensor<2x48x11x16xf32>, tensor<2x2x300x16xf32>, tensor<2x2x300x16xf32> -> tensor<2x48x11x16xf32>
  return %o : tensor<2x48x11x16xf32>
}

//--- dynamic.mlir

// 6 rows of 40 heads are few, 7 are not.
func.func @dynamic(%q: tensor<?x40x?x16xf16>, %k: tensor<?x1x?x16xf16>, %v: tensor<?x1x?x16xf16>)
    -> tensor<?x40x?x16xf16> {
  %o = attn.sdpa %q, %k, %v causal = bottom_right
    : tensor<?x40x?x16xf16>, tensor<?x1x?x16xf16>, tensor<?x1x?x16xf16> -> tensor<?x40x?x16xf16>
  return %o : tensor<?x40x?x16xf16>
}
