// Projections of a layer on tensor cores, in the emulator: with and without bias, of one row an entry, with channels that
// fill no step, of sizes that are known or not.
//
// REQUIRES: attn-run
// RUN: split-file %s %t
// RUN: attn-run %t/bias.mlir --device=cuda-emulated --verify | FileCheck %s
// RUN: attn-run %t/whole.mlir --device=cuda-emulated --verify | FileCheck %s
// RUN: attn-run %t/single-rows.mlir --device=cuda-emulated --verify | FileCheck %s
// RUN: attn-run %t/exact.mlir --device=cuda-emulated --verify | FileCheck %s
// RUN: attn-run %t/dynamic.mlir --device=cuda-emulated --verify --input=2x5x24xf16 --input=32x24xf16 --input=32x24xf16 --input=32x24xf16 --input=24x32xf16 --input=32xf16 --input=24xf16 | FileCheck %s
//
// CHECK: pass: largest error

//--- bias.mlir
func.func @bias(%x: tensor<2x33x72xf16>, %wq: tensor<48x72xf16>,
    %wk: tensor<24x72xf16>, %wv: tensor<24x72xf16>, %wo: tensor<40x48xf16>,
    %bq: tensor<48xf16>, %bo: tensor<40xf16>)
    -> tensor<2x33x40xf16> {
  %y = attn.mha %x query(%wq : tensor<48x72xf16>, %bq : tensor<48xf16>)
    key(%wk : tensor<24x72xf16>) value(%wv : tensor<24x72xf16>)
    output(%wo : tensor<40x48xf16>, %bo : tensor<40xf16>) heads = 2 kv_heads = 1
    : tensor<2x33x72xf16> -> tensor<2x33x40xf16>
  return %y : tensor<2x33x40xf16>
}

//--- whole.mlir
func.func @whole(%x: tensor<1x70x128xbf16>, %wq: tensor<128x128xbf16>,
    %wk: tensor<128x128xbf16>, %wv: tensor<128x128xbf16>, %wo: tensor<100x128xbf16>)
    -> tensor<1x70x100xbf16> {
  %y = attn.mha %x query(%wq : tensor<128x128xbf16>)
    key(%wk : tensor<128x128xbf16>) value(%wv : tensor<128x128xbf16>)
    output(%wo : tensor<100x128xbf16>) heads = 4 kv_heads = 4
    : tensor<1x70x128xbf16> -> tensor<1x70x100xbf16>
  return %y : tensor<1x70x100xbf16>
}

//--- single-rows.mlir
func.func @single_rows(%x: tensor<5x1x96xf16>, %wq: tensor<96x96xf16>,
    %wk: tensor<96x96xf16>, %wv: tensor<96x96xf16>, %wo: tensor<72x96xf16>,
    %bq: tensor<96xf16>, %bo: tensor<72xf16>)
    -> tensor<5x1x72xf16> {
  %y = attn.mha %x query(%wq : tensor<96x96xf16>, %bq : tensor<96xf16>)
    key(%wk : tensor<96x96xf16>) value(%wv : tensor<96x96xf16>)
    output(%wo : tensor<72x96xf16>, %bo : tensor<72xf16>) heads = 2 kv_heads = 2
    : tensor<5x1x96xf16> -> tensor<5x1x72xf16>
  return %y : tensor<5x1x72xf16>
}

//--- exact.mlir
func.func @exact(%x: tensor<1x20x40xf32>, %wq: tensor<40x40xf32>,
    %wk: tensor<40x40xf32>, %wv: tensor<40x40xf32>, %wo: tensor<36x40xf32>,
    %bq: tensor<40xf32>, %bo: tensor<36xf32>)
    -> tensor<1x20x36xf32> {
  %y = attn.mha %x query(%wq : tensor<40x40xf32>, %bq : tensor<40xf32>)
    key(%wk : tensor<40x40xf32>) value(%wv : tensor<40x40xf32>)
    output(%wo : tensor<36x40xf32>, %bo : tensor<36xf32>) heads = 2 kv_heads = 2
    : tensor<1x20x40xf32> -> tensor<1x20x36xf32>
  return %y : tensor<1x20x36xf32>
}

//--- dynamic.mlir
func.func @dynamic(%x: tensor<?x?x?xf16>, %wq: tensor<32x?xf16>,
    %wk: tensor<32x?xf16>, %wv: tensor<32x?xf16>, %wo: tensor<24x32xf16>,
    %bq: tensor<32xf16>, %bo: tensor<24xf16>)
    -> tensor<?x?x24xf16> {
  %y = attn.mha %x query(%wq : tensor<32x?xf16>, %bq : tensor<32xf16>)
    key(%wk : tensor<32x?xf16>) value(%wv : tensor<32x?xf16>)
    output(%wo : tensor<24x32xf16>, %bo : tensor<24xf16>) heads = 2 kv_heads = 2
    : tensor<?x?x?xf16> -> tensor<?x?x24xf16>
  return %y : tensor<?x?x24xf16>
}
