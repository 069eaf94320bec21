// Few rows: keys and values are read where they are, in streams. Each function
// is compared with attention by definition.
//
// RUN: split-file %s %t
// RUN: attn-run %t/keys.mlir --verify | FileCheck %s
// RUN: attn-run %t/row_groups.mlir --verify | FileCheck %s
// RUN: attn-run %t/channels.mlir --verify | FileCheck %s
// RUN: attn-run %t/types.mlir --verify | FileCheck %s
// RUN: attn-run %t/chunks.mlir --verify | FileCheck %s
// RUN: attn-run %t/excluded.mlir --verify | FileCheck %s
// RUN: attn-run %t/lengths.mlir --verify | FileCheck %s
// RUN: attn-run %t/dynamic.mlir --verify --input=2x6x1x24xf32 --input=2x2x75x24xf32 --input=2x2x75x40xf32 | FileCheck %s
// RUN: attn-run %t/dynamic.mlir --verify --input=1x6x4x24xf32 --input=1x2x1029x24xf32 --input=1x2x1029x40xf32 | FileCheck %s
// RUN: attn-run %t/dynamic.mlir --verify --input=1x6x5x24xf32 --input=1x2x3x24xf32 --input=1x2x3x40xf32 | FileCheck %s
// RUN: attn-run %t/dynamic.mlir --verify --input=1x6x3x1xf32 --input=1x2x40x1xf32 --input=1x2x40x3xf32 | FileCheck %s

// CHECK: pass: largest error {{.*}}, 0 elements beyond it

//--- keys.mlir

// Each number of keys from 0 to 150: fewer than a step, streams of unequal
// lengths, panels that are not full.
func.func @keys(%q: tensor<1x4x1x16xf32>, %keys: tensor<1x1x150x16xf32>,
    %values: tensor<1x1x150x16xf32>) -> tensor<151x4x1x16xf32> {
  %first = arith.constant 0 : index
  %last = arith.constant 151 : index
  %step = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<151x4x1x16xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<151x4x1x16xf32>) -> tensor<151x4x1x16xf32>
  %r = scf.for %n = %first to %last step %step iter_args(%all = %start) -> (tensor<151x4x1x16xf32>) {
    %k = tensor.extract_slice %keys[0, 0, 0, 0] [1, 1, %n, 16] [1, 1, 1, 1]
      : tensor<1x1x150x16xf32> to tensor<1x1x?x16xf32>
    %v = tensor.extract_slice %values[0, 0, 0, 0] [1, 1, %n, 16] [1, 1, 1, 1]
      : tensor<1x1x150x16xf32> to tensor<1x1x?x16xf32>
    %o = attn.sdpa %q, %k, %v schedule = <block_m = 4, block_n = 64, rows = 4,
      columns = 16, lanes = 8, fold_heads = true, streams = 4>
      : tensor<1x4x1x16xf32>, tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32>
      -> tensor<1x4x1x16xf32>
    %next = tensor.insert_slice %o into %all[%n, 0, 0, 0] [1, 4, 1, 16] [1, 1, 1, 1]
      : tensor<1x4x1x16xf32> into tensor<151x4x1x16xf32>
    scf.yield %next : tensor<151x4x1x16xf32>
  }
  return %r : tensor<151x4x1x16xf32>
}

//--- row_groups.mlir

// One row; strips of 1, 2, 4 and 8 rows; rows that do not fill their strips; all
// with vectors of 4, of 8 and of 16, where one of these is the processor's.
func.func @row_groups(%a: tensor<1x1x1x20xf32>, %b: tensor<1x3x1x20xf32>,
    %c: tensor<1x1x7x20xf32>, %d: tensor<1x8x2x20xf32>,
    %k: tensor<1x1x133x20xf32>, %v: tensor<1x1x133x36xf32>)
    -> (tensor<1x1x1x36xf32>, tensor<1x1x1x36xf32>, tensor<1x3x1x36xf32>,
        tensor<1x1x7x36xf32>, tensor<1x8x2x36xf32>, tensor<1x8x2x36xf32>) {
  %0 = attn.sdpa %a, %k, %v schedule = <block_m = 1, block_n = 128, rows = 1,
    columns = 32, lanes = 4, fold_heads = true, streams = 4>
    : tensor<1x1x1x20xf32>, tensor<1x1x133x20xf32>, tensor<1x1x133x36xf32>
    -> tensor<1x1x1x36xf32>
  %1 = attn.sdpa %a, %k, %v schedule = <block_m = 1, block_n = 128, rows = 1,
    columns = 128, lanes = 16, fold_heads = true, streams = 2>
    : tensor<1x1x1x20xf32>, tensor<1x1x133x20xf32>, tensor<1x1x133x36xf32>
    -> tensor<1x1x1x36xf32>
  %2 = attn.sdpa %b, %k, %v schedule = <block_m = 4, block_n = 128, rows = 2,
    columns = 32, lanes = 8, fold_heads = true, streams = 4>
    : tensor<1x3x1x20xf32>, tensor<1x1x133x20xf32>, tensor<1x1x133x36xf32>
    -> tensor<1x3x1x36xf32>
  %3 = attn.sdpa %c, %k, %v schedule = <block_m = 8, block_n = 64, rows = 8,
    columns = 8, lanes = 4, fold_heads = true, streams = 4>
    : tensor<1x1x7x20xf32>, tensor<1x1x133x20xf32>, tensor<1x1x133x36xf32>
    -> tensor<1x1x7x36xf32>
  %4 = attn.sdpa %d, %k, %v schedule = <block_m = 16, block_n = 64, rows = 8,
    columns = 32, lanes = 16, fold_heads = true, streams = 4>
    : tensor<1x8x2x20xf32>, tensor<1x1x133x20xf32>, tensor<1x1x133x36xf32>
    -> tensor<1x8x2x36xf32>
  %5 = attn.sdpa %d, %k, %v schedule = <block_m = 16, block_n = 64, rows = 4,
    columns = 16, lanes = 8, fold_heads = true, streams = 1>
    : tensor<1x8x2x20xf32>, tensor<1x1x133x20xf32>, tensor<1x1x133x36xf32>
    -> tensor<1x8x2x36xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<1x1x1x36xf32>, tensor<1x1x1x36xf32>,
    tensor<1x3x1x36xf32>, tensor<1x1x7x36xf32>, tensor<1x8x2x36xf32>,
    tensor<1x8x2x36xf32>
}

//--- channels.mlir

// Channels that fill no vector, no tile, or many.
func.func @channels(%a: tensor<1x2x1x1xf32>, %b: tensor<1x2x1x31xf32>,
    %c: tensor<1x2x1x80xf32>, %d: tensor<1x2x1x576xf32>,
    %ka: tensor<1x1x17x1xf32>, %kb: tensor<1x1x17x31xf32>,
    %kc: tensor<1x1x70x80xf32>, %kd: tensor<1x1x70x576xf32>)
    -> (tensor<1x2x1x31xf32>, tensor<1x2x1x1xf32>, tensor<1x2x1x576xf32>,
        tensor<1x2x1x80xf32>) {
  %0 = attn.sdpa %a, %ka, %kb : tensor<1x2x1x1xf32>, tensor<1x1x17x1xf32>,
    tensor<1x1x17x31xf32> -> tensor<1x2x1x31xf32>
  %1 = attn.sdpa %b, %kb, %ka : tensor<1x2x1x31xf32>, tensor<1x1x17x31xf32>,
    tensor<1x1x17x1xf32> -> tensor<1x2x1x1xf32>
  %2 = attn.sdpa %c, %kc, %kd : tensor<1x2x1x80xf32>, tensor<1x1x70x80xf32>,
    tensor<1x1x70x576xf32> -> tensor<1x2x1x576xf32>
  %3 = attn.sdpa %d, %kd, %kc : tensor<1x2x1x576xf32>, tensor<1x1x70x576xf32>,
    tensor<1x1x70x80xf32> -> tensor<1x2x1x80xf32>
  return %0, %1, %2, %3 : tensor<1x2x1x31xf32>, tensor<1x2x1x1xf32>,
    tensor<1x2x1x576xf32>, tensor<1x2x1x80xf32>
}

//--- types.mlir

func.func @types(%a: tensor<1x4x1x72xf16>, %ka: tensor<1x2x300x72xf16>,
    %b: tensor<1x4x1x72xbf16>, %kb: tensor<1x2x300x72xbf16>,
    %c: tensor<1x4x1x72xf64>, %kc: tensor<1x2x300x72xf64>)
    -> (tensor<1x4x1x72xf16>, tensor<1x4x1x72xbf16>, tensor<1x4x1x72xf64>) {
  %0 = attn.sdpa %a, %ka, %ka : tensor<1x4x1x72xf16>, tensor<1x2x300x72xf16>,
    tensor<1x2x300x72xf16> -> tensor<1x4x1x72xf16>
  %1 = attn.sdpa %b, %kb, %kb : tensor<1x4x1x72xbf16>, tensor<1x2x300x72xbf16>,
    tensor<1x2x300x72xbf16> -> tensor<1x4x1x72xbf16>
  %2 = attn.sdpa %c, %kc, %kc : tensor<1x4x1x72xf64>, tensor<1x2x300x72xf64>,
    tensor<1x2x300x72xf64> -> tensor<1x4x1x72xf64>
  return %0, %1, %2 : tensor<1x4x1x72xf16>, tensor<1x4x1x72xbf16>,
    tensor<1x4x1x72xf64>
}

//--- chunks.mlir

// Keys of several chunks, the last of which is short, in both layouts.
func.func @chunks(%a: tensor<1x4x1x16xf32>, %k: tensor<1x1x9001x16xf32>,
    %b: tensor<1x1x4x16xf32>, %l: tensor<1x9001x1x16xf32>)
    -> (tensor<1x4x1x16xf32>, tensor<1x4x1xf32>, tensor<1x1x4x16xf32>) {
  %0, %lse = attn.sdpa %a, %k, %k : tensor<1x4x1x16xf32>,
    tensor<1x1x9001x16xf32>, tensor<1x1x9001x16xf32> -> tensor<1x4x1x16xf32>,
    tensor<1x4x1xf32>
  %1 = attn.sdpa %b, %l, %l layout = bshd : tensor<1x1x4x16xf32>,
    tensor<1x9001x1x16xf32>, tensor<1x9001x1x16xf32> -> tensor<1x1x4x16xf32>
  return %0, %lse, %1 : tensor<1x4x1x16xf32>, tensor<1x4x1xf32>,
    tensor<1x1x4x16xf32>
}

//--- excluded.mlir

// All that excludes keys or changes scores, at rows of one group.
func.func @excluded(%q: tensor<2x4x3x32xf32>, %k: tensor<2x2x200x32xf32>,
    %v: tensor<2x2x200x32xf32>, %bias: tensor<4x3x200xf32>,
    %mask: tensor<2x1x3x200xi1>, %sinks: tensor<4xf32>)
    -> (tensor<2x4x3x32xf32>, tensor<2x4x3x32xf32>, tensor<2x4x3x32xf32>) {
  %0 = attn.sdpa %q, %k, %v bias(%bias : tensor<4x3x200xf32>)
    sinks(%sinks : tensor<4xf32>) causal = bottom_right softcap = 5.0
    : tensor<2x4x3x32xf32>, tensor<2x2x200x32xf32>, tensor<2x2x200x32xf32>
    -> tensor<2x4x3x32xf32>
  %1 = attn.sdpa %q, %k, %v mask(%mask : tensor<2x1x3x200xi1>)
    : tensor<2x4x3x32xf32>, tensor<2x2x200x32xf32>, tensor<2x2x200x32xf32>
    -> tensor<2x4x3x32xf32>
  %2 = attn.sdpa %q, %k, %v causal = bottom_right window = <left = 40>
    : tensor<2x4x3x32xf32>, tensor<2x2x200x32xf32>, tensor<2x2x200x32xf32>
    -> tensor<2x4x3x32xf32>
  return %0, %1, %2 : tensor<2x4x3x32xf32>, tensor<2x4x3x32xf32>,
    tensor<2x4x3x32xf32>
}

//--- lengths.mlir

// Caches of several lengths, one of them empty.
func.func @lengths(%q: tensor<5x4x1x16xf32>, %k: tensor<5x2x120x16xf32>,
    %v: tensor<5x2x120x16xf32>) -> tensor<5x4x1x16xf32> {
  %lengths = arith.constant dense<[0, 1, 7, 64, 120]> : tensor<5xi32>
  %o = attn.sdpa %q, %k, %v kv_lengths(%lengths : tensor<5xi32>)
    causal = bottom_right
    : tensor<5x4x1x16xf32>, tensor<5x2x120x16xf32>, tensor<5x2x120x16xf32>
    -> tensor<5x4x1x16xf32>
  return %o : tensor<5x4x1x16xf32>
}

//--- dynamic.mlir

// Nothing but the heads is known.
func.func @dynamic(%q: tensor<?x6x?x?xf32>, %k: tensor<?x2x?x?xf32>,
    %v: tensor<?x2x?x?xf32>) -> tensor<?x6x?x?xf32> {
  %o = attn.sdpa %q, %k, %v scale = 0.2 : tensor<?x6x?x?xf32>,
    tensor<?x2x?x?xf32>, tensor<?x2x?x?xf32> -> tensor<?x6x?x?xf32>
  return %o : tensor<?x6x?x?xf32>
}
