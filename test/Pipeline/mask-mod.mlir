// A triangle that is written out has the loops of the attribute: the programs are the same to the letter. A rule of which
// an operation cannot be analysed is reported.
//
// RUN: split-file %s %t
// RUN: attnc %t/attribute.mlir --stop-after=tiles -o %t/attribute-tiles.mlir
// RUN: attnc %t/region.mlir --stop-after=tiles -o %t/region-tiles.mlir
// RUN: diff %t/attribute-tiles.mlir %t/region-tiles.mlir
// RUN: FileCheck %s --check-prefix=TILES --input-file=%t/region-tiles.mlir
// RUN: attnc %t/remarks.mlir --stop-after=tiles --remarks=attn -o %t/remarks-tiles.mlir 2>&1 | FileCheck %s

// The loops of both kernels go from the first key of the window to the row's own, and the blocks at their ends exclude by
// attributes; nothing of the region is left.
//
// TILES-LABEL: func.func @f
// TILES-NOT: mask_mod
// TILES: attn.block_step {{.*}} causal {{.*}}window = <left = 100>
// TILES-NOT: mask_mod
// TILES: attn.block_step {{.*}} causal {{.*}}window = <left = 100>
// TILES-NOT: mask_mod
// TILES: return

// CHECK-DAG: Passed{{.*}}BlockRange{{.*}}blocks of keys that mask_mod leaves out are skipped
// CHECK-DAG: Missed{{.*}}BlockRange{{.*}}nothing is known of 'arith.ceildivui' on a block

//--- attribute.mlir

func.func @f(%q: tensor<2x4x?x64xf32>, %k: tensor<2x4x?x64xf32>, %p: tensor<2xi64>) -> tensor<2x4x?x64xf32> {
  %o = attn.sdpa %q, %k, %k query_offset(%p : tensor<2xi64>) causal = top_left window = <left = 100>
    : tensor<2x4x?x64xf32>, tensor<2x4x?x64xf32>, tensor<2x4x?x64xf32> -> tensor<2x4x?x64xf32>
  return %o : tensor<2x4x?x64xf32>
}

//--- region.mlir

func.func @f(%q: tensor<2x4x?x64xf32>, %k: tensor<2x4x?x64xf32>, %p: tensor<2xi64>) -> tensor<2x4x?x64xf32> {
  %o = attn.sdpa %q, %k, %k query_offset(%p : tensor<2xi64>)
    mask_mod(%b: index, %h: index, %i: index, %j: index) {
      %c100 = arith.constant 100 : index
      %past = arith.cmpi sge, %i, %j : index
      %first = arith.subi %i, %c100 : index
      %near = arith.cmpi sle, %first, %j : index
      %both = arith.andi %near, %past : i1
      attn.yield %both : i1
    }
    : tensor<2x4x?x64xf32>, tensor<2x4x?x64xf32>, tensor<2x4x?x64xf32> -> tensor<2x4x?x64xf32>
  return %o : tensor<2x4x?x64xf32>
}

//--- remarks.mlir

func.func @known(%q: tensor<1x1x512x64xf32>, %d: tensor<512xi32>) -> tensor<1x1x512x64xf32> {
  %o = attn.sdpa %q, %q, %q mask_mod = documents(%d : tensor<512xi32>)
    : tensor<1x1x512x64xf32>, tensor<1x1x512x64xf32>, tensor<1x1x512x64xf32> -> tensor<1x1x512x64xf32>
  return %o : tensor<1x1x512x64xf32>
}

func.func @unknown(%q: tensor<1x1x512x64xf32>, %n: index) -> tensor<1x1x512x64xf32> {
  %o = attn.sdpa %q, %q, %q
    mask_mod(%b: index, %h: index, %i: index, %j: index) {
      %x = arith.ceildivui %j, %n : index
      %kept = arith.cmpi eq, %x, %i : index
      attn.yield %kept : i1
    }
    : tensor<1x1x512x64xf32>, tensor<1x1x512x64xf32>, tensor<1x1x512x64xf32> -> tensor<1x1x512x64xf32>
  return %o : tensor<1x1x512x64xf32>
}
