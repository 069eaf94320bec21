// Layers in which some extent is 0.
//
// RUN: split-file %s %t
// RUN: attn-run %t/no_entries.mlir --verify | FileCheck %s
// RUN: attn-run %t/no_tokens.mlir --verify | FileCheck %s
// RUN: attn-run %t/no_past.mlir --verify | FileCheck %s
// RUN: attn-run %t/no_memory.mlir --verify | FileCheck %s
// RUN: attn-run %t/no_inputs.mlir --verify | FileCheck %s
// RUN: attn-run %t/no_outputs.mlir --verify | FileCheck %s
// RUN: attn-run %t/no_channels.mlir --verify | FileCheck %s
// RUN: attn-run %t/no_values.mlir --verify | FileCheck %s
// RUN: attn-run %t/rope.mlir --verify | FileCheck %s

// CHECK: pass: largest error {{.*}}, 0 elements beyond it

//--- no_entries.mlir

// No entry in the batch, but a cache.
func.func @no_entries(%x: tensor<0x3x6xf32>, %wq: tensor<8x6xf32>, %wk: tensor<8x6xf32>,
    %wv: tensor<8x6xf32>, %wo: tensor<5x8xf32>, %bq: tensor<8xf32>, %bo: tensor<5xf32>,
    %pk: tensor<0x2x2x4xf32>, %pv: tensor<0x2x2x4xf32>)
    -> (tensor<0x3x5xf32>, tensor<0x2x5x4xf32>, tensor<0x2x5x4xf32>) {
  %y, %k, %v = attn.mha %x query(%wq : tensor<8x6xf32>, %bq : tensor<8xf32>)
    key(%wk : tensor<8x6xf32>) value(%wv : tensor<8x6xf32>)
    output(%wo : tensor<5x8xf32>, %bo : tensor<5xf32>)
    past(%pk : tensor<0x2x2x4xf32>, %pv : tensor<0x2x2x4xf32>)
    heads = 2 : tensor<0x3x6xf32> -> tensor<0x3x5xf32>
    present(tensor<0x2x5x4xf32>, tensor<0x2x5x4xf32>)
  return %y, %k, %v : tensor<0x3x5xf32>, tensor<0x2x5x4xf32>, tensor<0x2x5x4xf32>
}

//--- no_tokens.mlir

// No new token: present is past.
func.func @no_tokens(%x: tensor<1x0x6xf32>, %wq: tensor<8x6xf32>, %wk: tensor<8x6xf32>,
    %wv: tensor<8x6xf32>, %wo: tensor<5x8xf32>, %bq: tensor<8xf32>, %bo: tensor<5xf32>,
    %pk: tensor<1x2x2x4xf32>, %pv: tensor<1x2x2x4xf32>)
    -> (tensor<1x0x5xf32>, tensor<1x2x2x4xf32>, tensor<1x2x2x4xf32>) {
  %y, %k, %v = attn.mha %x query(%wq : tensor<8x6xf32>, %bq : tensor<8xf32>)
    key(%wk : tensor<8x6xf32>) value(%wv : tensor<8x6xf32>)
    output(%wo : tensor<5x8xf32>, %bo : tensor<5xf32>)
    past(%pk : tensor<1x2x2x4xf32>, %pv : tensor<1x2x2x4xf32>)
    heads = 2 : tensor<1x0x6xf32> -> tensor<1x0x5xf32>
    present(tensor<1x2x2x4xf32>, tensor<1x2x2x4xf32>)
  return %y, %k, %v : tensor<1x0x5xf32>, tensor<1x2x2x4xf32>, tensor<1x2x2x4xf32>
}

//--- no_past.mlir

// A cache that is still empty.
func.func @no_past(%x: tensor<1x3x6xf32>, %wq: tensor<8x6xf32>, %wk: tensor<8x6xf32>,
    %wv: tensor<8x6xf32>, %wo: tensor<5x8xf32>, %bq: tensor<8xf32>, %bo: tensor<5xf32>,
    %pk: tensor<1x2x0x4xf32>, %pv: tensor<1x2x0x4xf32>)
    -> (tensor<1x3x5xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) {
  %y, %k, %v = attn.mha %x query(%wq : tensor<8x6xf32>, %bq : tensor<8xf32>)
    key(%wk : tensor<8x6xf32>) value(%wv : tensor<8x6xf32>)
    output(%wo : tensor<5x8xf32>, %bo : tensor<5xf32>)
    past(%pk : tensor<1x2x0x4xf32>, %pv : tensor<1x2x0x4xf32>)
    heads = 2 : tensor<1x3x6xf32> -> tensor<1x3x5xf32>
    present(tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>)
  return %y, %k, %v : tensor<1x3x5xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>
}

//--- no_memory.mlir

// Attention to nothing is 0, and the layer its last bias.
func.func @no_memory(%x: tensor<1x3x6xf32>, %mem: tensor<1x0x6xf32>, %wq: tensor<8x6xf32>,
    %wk: tensor<8x6xf32>, %wv: tensor<8x6xf32>, %wo: tensor<5x8xf32>, %bq: tensor<8xf32>,
    %bo: tensor<5xf32>)
    -> tensor<1x3x5xf32> {
  %y = attn.mha %x memory(%mem : tensor<1x0x6xf32>) query(%wq : tensor<8x6xf32>, %bq : tensor<8xf32>)
    key(%wk : tensor<8x6xf32>) value(%wv : tensor<8x6xf32>)
    output(%wo : tensor<5x8xf32>, %bo : tensor<5xf32>)
    heads = 2 : tensor<1x3x6xf32> -> tensor<1x3x5xf32>
  return %y : tensor<1x3x5xf32>
}

//--- no_inputs.mlir

// Tokens without features leave the biases.
func.func @no_inputs(%x: tensor<1x3x0xf32>, %wq: tensor<8x0xf32>, %wk: tensor<8x0xf32>,
    %wv: tensor<8x0xf32>, %wo: tensor<5x8xf32>, %bq: tensor<8xf32>, %bo: tensor<5xf32>)
    -> tensor<1x3x5xf32> {
  %y = attn.mha %x query(%wq : tensor<8x0xf32>, %bq : tensor<8xf32>)
    key(%wk : tensor<8x0xf32>) value(%wv : tensor<8x0xf32>)
    output(%wo : tensor<5x8xf32>, %bo : tensor<5xf32>)
    heads = 2 : tensor<1x3x0xf32> -> tensor<1x3x5xf32>
  return %y : tensor<1x3x5xf32>
}

//--- no_outputs.mlir

// A layer without outputs.
func.func @no_outputs(%x: tensor<1x3x6xf32>, %wq: tensor<8x6xf32>, %wk: tensor<8x6xf32>,
    %wv: tensor<8x6xf32>, %wo: tensor<0x8xf32>, %bq: tensor<8xf32>, %bo: tensor<0xf32>,
    %pk: tensor<1x2x2x4xf32>, %pv: tensor<1x2x2x4xf32>)
    -> (tensor<1x3x0xf32>, tensor<1x2x5x4xf32>, tensor<1x2x5x4xf32>) {
  %y, %k, %v = attn.mha %x query(%wq : tensor<8x6xf32>, %bq : tensor<8xf32>)
    key(%wk : tensor<8x6xf32>) value(%wv : tensor<8x6xf32>)
    output(%wo : tensor<0x8xf32>, %bo : tensor<0xf32>)
    past(%pk : tensor<1x2x2x4xf32>, %pv : tensor<1x2x2x4xf32>)
    heads = 2 : tensor<1x3x6xf32> -> tensor<1x3x0xf32>
    present(tensor<1x2x5x4xf32>, tensor<1x2x5x4xf32>)
  return %y, %k, %v : tensor<1x3x0xf32>, tensor<1x2x5x4xf32>, tensor<1x2x5x4xf32>
}

//--- no_channels.mlir

// Heads without channels of query and key: the mean of the values.
func.func @no_channels(%x: tensor<1x3x6xf32>, %wq: tensor<0x6xf32>, %wk: tensor<0x6xf32>,
    %wv: tensor<8x6xf32>, %wo: tensor<5x8xf32>, %bq: tensor<0xf32>, %bo: tensor<5xf32>,
    %pk: tensor<1x2x2x0xf32>, %pv: tensor<1x2x2x4xf32>)
    -> (tensor<1x3x5xf32>, tensor<1x2x5x0xf32>, tensor<1x2x5x4xf32>) {
  %y, %k, %v = attn.mha %x query(%wq : tensor<0x6xf32>, %bq : tensor<0xf32>)
    key(%wk : tensor<0x6xf32>) value(%wv : tensor<8x6xf32>)
    output(%wo : tensor<5x8xf32>, %bo : tensor<5xf32>)
    past(%pk : tensor<1x2x2x0xf32>, %pv : tensor<1x2x2x4xf32>)
    heads = 2 : tensor<1x3x6xf32> -> tensor<1x3x5xf32>
    present(tensor<1x2x5x0xf32>, tensor<1x2x5x4xf32>)
  return %y, %k, %v : tensor<1x3x5xf32>, tensor<1x2x5x0xf32>, tensor<1x2x5x4xf32>
}

//--- no_values.mlir

// Heads without channels of values leave the last bias.
func.func @no_values(%x: tensor<1x3x6xf32>, %wq: tensor<8x6xf32>, %wk: tensor<8x6xf32>,
    %wv: tensor<0x6xf32>, %wo: tensor<5x0xf32>, %bq: tensor<8xf32>, %bo: tensor<5xf32>,
    %pk: tensor<1x2x2x4xf32>, %pv: tensor<1x2x2x0xf32>)
    -> (tensor<1x3x5xf32>, tensor<1x2x5x4xf32>, tensor<1x2x5x0xf32>) {
  %y, %k, %v = attn.mha %x query(%wq : tensor<8x6xf32>, %bq : tensor<8xf32>)
    key(%wk : tensor<8x6xf32>) value(%wv : tensor<0x6xf32>)
    output(%wo : tensor<5x0xf32>, %bo : tensor<5xf32>)
    past(%pk : tensor<1x2x2x4xf32>, %pv : tensor<1x2x2x0xf32>)
    heads = 2 : tensor<1x3x6xf32> -> tensor<1x3x5xf32>
    present(tensor<1x2x5x4xf32>, tensor<1x2x5x0xf32>)
  return %y, %k, %v : tensor<1x3x5xf32>, tensor<1x2x5x4xf32>, tensor<1x2x5x0xf32>
}

//--- rope.mlir

// Rotation of nothing: no token, no head, no channel that turns.
func.func @rope(%t: tensor<1x2x0x4xf32>, %ct: tensor<1x0x2xf32>, %h: tensor<1x0x3x4xf32>,
    %ch: tensor<1x3x2xf32>, %c: tensor<1x2x3x4xf32>, %cc: tensor<1x3x0xf32>)
    -> (tensor<1x2x0x4xf32>, tensor<1x0x3x4xf32>, tensor<1x2x3x4xf32>) {
  %o0 = attn.rope %t, %ct, %ct
    : tensor<1x2x0x4xf32>, tensor<1x0x2xf32>, tensor<1x0x2xf32>
  %o1 = attn.rope %h, %ch, %ch
    : tensor<1x0x3x4xf32>, tensor<1x3x2xf32>, tensor<1x3x2xf32>
  %o2 = attn.rope %c, %cc, %cc rotary_dim = 0
    : tensor<1x2x3x4xf32>, tensor<1x3x0xf32>, tensor<1x3x0xf32>
  return %o0, %o1, %o2 : tensor<1x2x0x4xf32>, tensor<1x0x3x4xf32>, tensor<1x2x3x4xf32>
}
