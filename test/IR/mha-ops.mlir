// RUN: attn-opt %s --verify-roundtrip | FileCheck %s

// Weights alone.
//
// CHECK-LABEL: func.func @smallest
// CHECK: attn.mha %{{[a-z0-9]+}} query(%{{[a-z0-9]+}} : tensor<8x6xf32>)
// CHECK-SAME: key(%{{[a-z0-9]+}} : tensor<8x6xf32>) value(%{{[a-z0-9]+}} : tensor<8x6xf32>)
// CHECK-SAME: output(%{{[a-z0-9]+}} : tensor<5x8xf32>) heads = 2 : tensor<1x3x6xf32> -> tensor<1x3x5xf32>
func.func @smallest(%x: tensor<1x3x6xf32>, %w: tensor<8x6xf32>,
    %o: tensor<5x8xf32>) -> tensor<1x3x5xf32> {
  %y = attn.mha %x query(%w : tensor<8x6xf32>) key(%w : tensor<8x6xf32>)
    value(%w : tensor<8x6xf32>) output(%o : tensor<5x8xf32>) heads = 2
    : tensor<1x3x6xf32> -> tensor<1x3x5xf32>
  return %y : tensor<1x3x5xf32>
}

// Self-attention with a cache, rotary tables and everything that changes scores.
//
// CHECK-LABEL: func.func @everything
// CHECK: attn.mha
// CHECK-SAME: query(%{{[a-z0-9_]+}} : tensor<8x6xf16>, %{{[a-z0-9_]+}} : tensor<8xf16>)
// CHECK-SAME: key(%{{[a-z0-9_]+}} : tensor<4x6xf16>, %{{[a-z0-9_]+}} : tensor<4xf16>)
// CHECK-SAME: value(%{{[a-z0-9_]+}} : tensor<4x6xf16>, %{{[a-z0-9_]+}} : tensor<4xf16>)
// CHECK-SAME: output(%{{[a-z0-9_]+}} : tensor<6x8xf16>, %{{[a-z0-9_]+}} : tensor<6xf16>)
// CHECK-SAME: rope(%{{[a-z0-9_]+}} : tensor<9x2xf32>, %{{[a-z0-9_]+}} : tensor<9x2xf32>, %{{[a-z0-9_]+}} : tensor<1x3xi32>)
// CHECK-SAME: past(%{{[a-z0-9_]+}} : tensor<1x1x?x4xf16>, %{{[a-z0-9_]+}} : tensor<1x1x?x4xf16>)
// CHECK-SAME: bias(%{{[a-z0-9_]+}} : tensor<2x3x?xf32>) mask(%{{[a-z0-9_]+}} : tensor<3x1xi1>)
// CHECK-SAME: kv_lengths(%{{[a-z0-9_]+}} : tensor<1xi32>) query_offset(%{{[a-z0-9_]+}} : i32) sinks(%{{[a-z0-9_]+}} : tensor<2xf32>)
// CHECK-SAME: heads = 2 kv_heads = 1 scale = 5.000000e-01 causal = top_left
// CHECK-SAME: window = <left = 63> softcap = 3.000000e+01 pairing = interleaved
// CHECK-SAME: : tensor<1x3x6xf16> -> tensor<1x3x6xf16>
// CHECK-SAME: present(tensor<1x1x?x4xf16>, tensor<1x1x?x4xf16>) lse(tensor<1x2x3xf32>)
func.func @everything(%x: tensor<1x3x6xf16>, %wq: tensor<8x6xf16>,
    %bq: tensor<8xf16>, %wk: tensor<4x6xf16>, %bk: tensor<4xf16>,
    %wo: tensor<6x8xf16>, %bo: tensor<6xf16>, %t: tensor<9x2xf32>,
    %at: tensor<1x3xi32>, %past: tensor<1x1x?x4xf16>, %b: tensor<2x3x?xf32>,
    %m: tensor<3x1xi1>, %n: tensor<1xi32>, %p: i32, %s: tensor<2xf32>)
    -> tensor<1x3x6xf16> {
  %y, %k1, %v1, %l = attn.mha %x
    query(%wq : tensor<8x6xf16>, %bq : tensor<8xf16>)
    key(%wk : tensor<4x6xf16>, %bk : tensor<4xf16>)
    value(%wk : tensor<4x6xf16>, %bk : tensor<4xf16>)
    output(%wo : tensor<6x8xf16>, %bo : tensor<6xf16>)
    rope(%t : tensor<9x2xf32>, %t : tensor<9x2xf32>, %at : tensor<1x3xi32>)
    past(%past : tensor<1x1x?x4xf16>, %past : tensor<1x1x?x4xf16>)
    bias(%b : tensor<2x3x?xf32>) mask(%m : tensor<3x1xi1>)
    kv_lengths(%n : tensor<1xi32>) query_offset(%p : i32)
    sinks(%s : tensor<2xf32>) heads = 2 kv_heads = 1 scale = 0.5
    causal = top_left window = <left = 63> softcap = 30.0 pairing = interleaved
    : tensor<1x3x6xf16> -> tensor<1x3x6xf16>
    present(tensor<1x1x?x4xf16>, tensor<1x1x?x4xf16>) lse(tensor<1x2x3xf32>)
  return %y : tensor<1x3x6xf16>
}

// Cross-attention, tables for each token, and a cache that begins: the parts of
// the syntax that the function above leaves out.
//
// CHECK-LABEL: func.func @memory
// CHECK: attn.mha %{{[a-z0-9_]+}} memory(%{{[a-z0-9_]+}} : tensor<1x?x7xf32>) query(
// CHECK-SAME: present(tensor<1x2x?x4xf32>, tensor<1x2x?x4xf32>)
// CHECK: attn.mha
// CHECK-SAME: rope(%{{[a-z0-9_]+}} : tensor<1x3x2xf32>, %{{[a-z0-9_]+}} : tensor<1x3x2xf32>) heads = 2 :
func.func @memory(%x: tensor<1x3x6xf32>, %mem: tensor<1x?x7xf32>,
    %w: tensor<8x6xf32>, %wm: tensor<8x7xf32>, %o: tensor<6x8xf32>,
    %t: tensor<1x3x2xf32>) -> tensor<1x3x6xf32> {
  %y, %k, %v = attn.mha %x memory(%mem : tensor<1x?x7xf32>)
    query(%w : tensor<8x6xf32>) key(%wm : tensor<8x7xf32>)
    value(%wm : tensor<8x7xf32>) output(%o : tensor<6x8xf32>) heads = 2
    : tensor<1x3x6xf32> -> tensor<1x3x6xf32>
    present(tensor<1x2x?x4xf32>, tensor<1x2x?x4xf32>)
  %z = attn.mha %y query(%w : tensor<8x6xf32>) key(%w : tensor<8x6xf32>)
    value(%w : tensor<8x6xf32>) output(%o : tensor<6x8xf32>)
    rope(%t : tensor<1x3x2xf32>, %t : tensor<1x3x2xf32>) heads = 2
    : tensor<1x3x6xf32> -> tensor<1x3x6xf32>
  return %z : tensor<1x3x6xf32>
}
