// Sizes that fit no tile: all kinds of tails, and nothing at all.
//
// RUN: split-file %s %t
// RUN: attn-run %t/keys_at_1.mlir --verify | FileCheck %s
// RUN: attn-run %t/keys_at_3.mlir --verify | FileCheck %s
// RUN: attn-run %t/keys_at_8.mlir --verify | FileCheck %s
// RUN: attn-run %t/rows.mlir --verify | FileCheck %s
// RUN: attn-run %t/head_sizes.mlir --verify | FileCheck %s
// RUN: attn-run %t/static_head_sizes.mlir --verify | FileCheck %s
// RUN: attn-run %t/large_head_sizes.mlir --verify | FileCheck %s
// RUN: attn-run %t/nothing.mlir --verify | FileCheck %s
// RUN: attn-run %t/groups.mlir --verify | FileCheck %s
// RUN: attn-run %t/large_groups.mlir --verify | FileCheck %s

// CHECK: pass: largest error {{.*}}, 0 elements beyond it

//--- keys_at_1.mlir

// Each number of keys from 0 to 130 at one row.
func.func @keys_at_1(%q: tensor<1x2x1x8xf32>, %keys: tensor<1x2x130x8xf32>,
    %values: tensor<1x2x130x8xf32>)
    -> tensor<131x2x1x8xf32> {
  %first = arith.constant 0 : index
  %last = arith.constant 131 : index
  %step = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<131x2x1x8xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<131x2x1x8xf32>) -> tensor<131x2x1x8xf32>
  %r = scf.for %n = %first to %last step %step iter_args(%all = %start) -> (tensor<131x2x1x8xf32>) {
    %k = tensor.extract_slice %keys[0, 0, 0, 0] [1, 2, %n, 8] [1, 1, 1, 1]
      : tensor<1x2x130x8xf32> to tensor<1x2x?x8xf32>
    %v = tensor.extract_slice %values[0, 0, 0, 0] [1, 2, %n, 8] [1, 1, 1, 1]
      : tensor<1x2x130x8xf32> to tensor<1x2x?x8xf32>
    %o = attn.sdpa %q, %k, %v causal = bottom_right schedule = <block_m = 1,
      block_n = 64, rows = 1, columns = 32, lanes = 8, fold_heads = true>
      : tensor<1x2x1x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>
      -> tensor<1x2x1x8xf32>
    %next = tensor.insert_slice %o into %all[%n, 0, 0, 0] [1, 2, 1, 8] [1, 1, 1, 1]
      : tensor<1x2x1x8xf32> into tensor<131x2x1x8xf32>
    scf.yield %next : tensor<131x2x1x8xf32>
  }
  return %r : tensor<131x2x1x8xf32>
}

//--- keys_at_3.mlir

// The same at 3 rows: where keys are fewer, rows on top have none.
func.func @keys_at_3(%q: tensor<1x2x3x8xf32>, %keys: tensor<1x2x130x8xf32>,
    %values: tensor<1x2x130x8xf32>)
    -> tensor<131x2x3x8xf32> {
  %first = arith.constant 0 : index
  %last = arith.constant 131 : index
  %step = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<131x2x3x8xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<131x2x3x8xf32>) -> tensor<131x2x3x8xf32>
  %r = scf.for %n = %first to %last step %step iter_args(%all = %start) -> (tensor<131x2x3x8xf32>) {
    %k = tensor.extract_slice %keys[0, 0, 0, 0] [1, 2, %n, 8] [1, 1, 1, 1]
      : tensor<1x2x130x8xf32> to tensor<1x2x?x8xf32>
    %v = tensor.extract_slice %values[0, 0, 0, 0] [1, 2, %n, 8] [1, 1, 1, 1]
      : tensor<1x2x130x8xf32> to tensor<1x2x?x8xf32>
    %o = attn.sdpa %q, %k, %v causal = bottom_right schedule = <block_m = 4,
      block_n = 64, rows = 4, columns = 16, lanes = 8, fold_heads = true>
      : tensor<1x2x3x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>
      -> tensor<1x2x3x8xf32>
    %next = tensor.insert_slice %o into %all[%n, 0, 0, 0] [1, 2, 3, 8] [1, 1, 1, 1]
      : tensor<1x2x3x8xf32> into tensor<131x2x3x8xf32>
    scf.yield %next : tensor<131x2x3x8xf32>
  }
  return %r : tensor<131x2x3x8xf32>
}

//--- keys_at_8.mlir

// The same at 8 rows.
func.func @keys_at_8(%q: tensor<1x2x8x8xf32>, %keys: tensor<1x2x130x8xf32>,
    %values: tensor<1x2x130x8xf32>)
    -> tensor<131x2x8x8xf32> {
  %first = arith.constant 0 : index
  %last = arith.constant 131 : index
  %step = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<131x2x8x8xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<131x2x8x8xf32>) -> tensor<131x2x8x8xf32>
  %r = scf.for %n = %first to %last step %step iter_args(%all = %start) -> (tensor<131x2x8x8xf32>) {
    %k = tensor.extract_slice %keys[0, 0, 0, 0] [1, 2, %n, 8] [1, 1, 1, 1]
      : tensor<1x2x130x8xf32> to tensor<1x2x?x8xf32>
    %v = tensor.extract_slice %values[0, 0, 0, 0] [1, 2, %n, 8] [1, 1, 1, 1]
      : tensor<1x2x130x8xf32> to tensor<1x2x?x8xf32>
    %o = attn.sdpa %q, %k, %v causal = bottom_right schedule = <block_m = 8,
      block_n = 64, rows = 4, columns = 16, lanes = 8>
      : tensor<1x2x8x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>
      -> tensor<1x2x8x8xf32>
    %next = tensor.insert_slice %o into %all[%n, 0, 0, 0] [1, 2, 8, 8] [1, 1, 1, 1]
      : tensor<1x2x8x8xf32> into tensor<131x2x8x8xf32>
    scf.yield %next : tensor<131x2x8x8xf32>
  }
  return %r : tensor<131x2x8x8xf32>
}

//--- rows.mlir

// Each number of rows from 0 to 130 at 64 keys.
func.func @rows(%rows: tensor<1x2x130x8xf32>, %k: tensor<1x2x64x8xf32>)
    -> tensor<131x2x130x8xf32> {
  %first = arith.constant 0 : index
  %last = arith.constant 131 : index
  %step = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<131x2x130x8xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<131x2x130x8xf32>) -> tensor<131x2x130x8xf32>
  %r = scf.for %n = %first to %last step %step iter_args(%all = %start) -> (tensor<131x2x130x8xf32>) {
    %q = tensor.extract_slice %rows[0, 0, 0, 0] [1, 2, %n, 8] [1, 1, 1, 1]
      : tensor<1x2x130x8xf32> to tensor<1x2x?x8xf32>
    %o = attn.sdpa %q, %k, %k causal = bottom_right
      : tensor<1x2x?x8xf32>, tensor<1x2x64x8xf32>, tensor<1x2x64x8xf32>
      -> tensor<1x2x?x8xf32>
    %next = tensor.insert_slice %o into %all[%n, 0, 0, 0] [1, 2, %n, 8] [1, 1, 1, 1]
      : tensor<1x2x?x8xf32> into tensor<131x2x130x8xf32>
    scf.yield %next : tensor<131x2x130x8xf32>
  }
  return %r : tensor<131x2x130x8xf32>
}

//--- head_sizes.mlir

// Each head size from 0, where all weights are equal, to 130.
func.func @head_sizes(%queries: tensor<1x1x5x130xf32>, %keys: tensor<1x1x19x130xf32>)
    -> tensor<131x1x5x130xf32> {
  %first = arith.constant 0 : index
  %last = arith.constant 131 : index
  %step = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<131x1x5x130xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<131x1x5x130xf32>) -> tensor<131x1x5x130xf32>
  %r = scf.for %n = %first to %last step %step iter_args(%all = %start) -> (tensor<131x1x5x130xf32>) {
    %q = tensor.extract_slice %queries[0, 0, 0, 0] [1, 1, 5, %n] [1, 1, 1, 1]
      : tensor<1x1x5x130xf32> to tensor<1x1x5x?xf32>
    %k = tensor.extract_slice %keys[0, 0, 0, 0] [1, 1, 19, %n] [1, 1, 1, 1]
      : tensor<1x1x19x130xf32> to tensor<1x1x19x?xf32>
    %o = attn.sdpa %q, %k, %k
      : tensor<1x1x5x?xf32>, tensor<1x1x19x?xf32>, tensor<1x1x19x?xf32>
      -> tensor<1x1x5x?xf32>
    %next = tensor.insert_slice %o into %all[%n, 0, 0, 0] [1, 1, 5, %n] [1, 1, 1, 1]
      : tensor<1x1x5x?xf32> into tensor<131x1x5x130xf32>
    scf.yield %next : tensor<131x1x5x130xf32>
  }
  return %r : tensor<131x1x5x130xf32>
}

//--- static_head_sizes.mlir

// Static head sizes below, at and beyond a vector, and values of another size.
func.func @static_head_sizes(%q0: tensor<1x1x5x1xf32>, %k0: tensor<1x1x19x1xf32>,
    %v0: tensor<1x1x19x1xf32>, %q1: tensor<1x1x5x6xf32>, %k1: tensor<1x1x19x6xf32>,
    %v1: tensor<1x1x19x6xf32>, %q2: tensor<1x1x5x8xf32>, %k2: tensor<1x1x19x8xf32>,
    %v2: tensor<1x1x19x2xf32>, %q3: tensor<1x1x5x16xf32>, %k3: tensor<1x1x19x16xf32>,
    %v3: tensor<1x1x19x24xf32>, %q4: tensor<1x1x5x36xf32>, %k4: tensor<1x1x19x36xf32>,
    %v4: tensor<1x1x19x36xf32>, %q5: tensor<1x1x5x80xf32>, %k5: tensor<1x1x19x80xf32>,
    %v5: tensor<1x1x19x80xf32>, %q6: tensor<1x1x5x192xf32>, %k6: tensor<1x1x19x192xf32>,
    %v6: tensor<1x1x19x128xf32>)
    -> (tensor<1x1x5x1xf32>, tensor<1x1x5x6xf32>, tensor<1x1x5x2xf32>, tensor<1x1x5x24xf32>,
    tensor<1x1x5x36xf32>, tensor<1x1x5x80xf32>, tensor<1x1x5x128xf32>) {
  %o0 = attn.sdpa %q0, %k0, %v0
    : tensor<1x1x5x1xf32>, tensor<1x1x19x1xf32>, tensor<1x1x19x1xf32>
    -> tensor<1x1x5x1xf32>
  %o1 = attn.sdpa %q1, %k1, %v1
    : tensor<1x1x5x6xf32>, tensor<1x1x19x6xf32>, tensor<1x1x19x6xf32>
    -> tensor<1x1x5x6xf32>
  %o2 = attn.sdpa %q2, %k2, %v2
    : tensor<1x1x5x8xf32>, tensor<1x1x19x8xf32>, tensor<1x1x19x2xf32>
    -> tensor<1x1x5x2xf32>
  %o3 = attn.sdpa %q3, %k3, %v3
    : tensor<1x1x5x16xf32>, tensor<1x1x19x16xf32>, tensor<1x1x19x24xf32>
    -> tensor<1x1x5x24xf32>
  %o4 = attn.sdpa %q4, %k4, %v4
    : tensor<1x1x5x36xf32>, tensor<1x1x19x36xf32>, tensor<1x1x19x36xf32>
    -> tensor<1x1x5x36xf32>
  %o5 = attn.sdpa %q5, %k5, %v5
    : tensor<1x1x5x80xf32>, tensor<1x1x19x80xf32>, tensor<1x1x19x80xf32>
    -> tensor<1x1x5x80xf32>
  %o6 = attn.sdpa %q6, %k6, %v6
    : tensor<1x1x5x192xf32>, tensor<1x1x19x192xf32>, tensor<1x1x19x128xf32>
    -> tensor<1x1x5x128xf32>
  return %o0, %o1, %o2, %o3, %o4, %o5, %o6 :
    tensor<1x1x5x1xf32>, tensor<1x1x5x6xf32>, tensor<1x1x5x2xf32>, tensor<1x1x5x24xf32>,
    tensor<1x1x5x36xf32>, tensor<1x1x5x80xf32>, tensor<1x1x5x128xf32>
}

//--- large_head_sizes.mlir

// Head sizes that leave room for few keys.
func.func @large_head_sizes(%q0: tensor<1x1x5x320xf32>, %k0: tensor<1x1x19x320xf32>,
    %v0: tensor<1x1x19x320xf32>, %q1: tensor<1x1x5x576xf32>, %k1: tensor<1x1x19x576xf32>,
    %v1: tensor<1x1x19x512xf32>)
    -> (tensor<1x1x5x320xf32>, tensor<1x1x5x512xf32>) {
  %o0 = attn.sdpa %q0, %k0, %v0
    : tensor<1x1x5x320xf32>, tensor<1x1x19x320xf32>, tensor<1x1x19x320xf32>
    -> tensor<1x1x5x320xf32>
  %o1 = attn.sdpa %q1, %k1, %v1
    : tensor<1x1x5x576xf32>, tensor<1x1x19x576xf32>, tensor<1x1x19x512xf32>
    -> tensor<1x1x5x512xf32>
  return %o0, %o1 :
    tensor<1x1x5x320xf32>, tensor<1x1x5x512xf32>
}

//--- nothing.mlir

// No entry, no row, no head; zeros without keys, the mean without channels.
func.func @nothing(%q0: tensor<0x2x3x8xf32>, %k0: tensor<0x2x5x8xf32>, %v0: tensor<0x2x5x8xf32>,
    %q1: tensor<1x2x0x8xf32>, %k1: tensor<1x2x5x8xf32>, %v1: tensor<1x2x5x8xf32>,
    %q2: tensor<1x0x3x8xf32>, %k2: tensor<1x0x5x8xf32>, %v2: tensor<1x0x5x8xf32>,
    %q3: tensor<1x2x3x8xf32>, %k3: tensor<1x2x0x8xf32>, %v3: tensor<1x2x0x8xf32>,
    %q4: tensor<1x2x3x0xf32>, %k4: tensor<1x2x5x0xf32>, %v4: tensor<1x2x5x4xf32>)
    -> (tensor<0x2x3x8xf32>, tensor<1x2x0x8xf32>, tensor<1x0x3x8xf32>, tensor<1x2x3x8xf32>,
    tensor<1x2x3x4xf32>) {
  %o0 = attn.sdpa %q0, %k0, %v0
    : tensor<0x2x3x8xf32>, tensor<0x2x5x8xf32>, tensor<0x2x5x8xf32>
    -> tensor<0x2x3x8xf32>
  %o1 = attn.sdpa %q1, %k1, %v1
    : tensor<1x2x0x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x5x8xf32>
    -> tensor<1x2x0x8xf32>
  %o2 = attn.sdpa %q2, %k2, %v2
    : tensor<1x0x3x8xf32>, tensor<1x0x5x8xf32>, tensor<1x0x5x8xf32>
    -> tensor<1x0x3x8xf32>
  %o3 = attn.sdpa %q3, %k3, %v3
    : tensor<1x2x3x8xf32>, tensor<1x2x0x8xf32>, tensor<1x2x0x8xf32>
    -> tensor<1x2x3x8xf32>
  %o4 = attn.sdpa %q4, %k4, %v4
    : tensor<1x2x3x0xf32>, tensor<1x2x5x0xf32>, tensor<1x2x5x4xf32>
    -> tensor<1x2x3x4xf32>
  return %o0, %o1, %o2, %o3, %o4 :
    tensor<0x2x3x8xf32>, tensor<1x2x0x8xf32>, tensor<1x0x3x8xf32>, tensor<1x2x3x8xf32>,
    tensor<1x2x3x4xf32>
}

//--- groups.mlir

// Heads that share keys, in odd numbers, for decoding.
func.func @groups(%q0: tensor<1x6x1x8xf32>, %k0: tensor<1x2x21x8xf32>, %v0: tensor<1x2x21x8xf32>,
    %q1: tensor<1x9x1x8xf32>, %k1: tensor<1x3x21x8xf32>, %v1: tensor<1x3x21x8xf32>,
    %q2: tensor<1x28x1x8xf32>, %k2: tensor<1x4x21x8xf32>, %v2: tensor<1x4x21x8xf32>,
    %q3: tensor<1x12x1x8xf32>, %k3: tensor<1x1x21x8xf32>, %v3: tensor<1x1x21x8xf32>)
    -> (tensor<1x6x1x8xf32>, tensor<1x9x1x8xf32>, tensor<1x28x1x8xf32>, tensor<1x12x1x8xf32>) {
  %o0 = attn.sdpa %q0, %k0, %v0
    : tensor<1x6x1x8xf32>, tensor<1x2x21x8xf32>, tensor<1x2x21x8xf32>
    -> tensor<1x6x1x8xf32>
  %o1 = attn.sdpa %q1, %k1, %v1
    : tensor<1x9x1x8xf32>, tensor<1x3x21x8xf32>, tensor<1x3x21x8xf32>
    -> tensor<1x9x1x8xf32>
  %o2 = attn.sdpa %q2, %k2, %v2
    : tensor<1x28x1x8xf32>, tensor<1x4x21x8xf32>, tensor<1x4x21x8xf32>
    -> tensor<1x28x1x8xf32>
  %o3 = attn.sdpa %q3, %k3, %v3
    : tensor<1x12x1x8xf32>, tensor<1x1x21x8xf32>, tensor<1x1x21x8xf32>
    -> tensor<1x12x1x8xf32>
  return %o0, %o1, %o2, %o3 :
    tensor<1x6x1x8xf32>, tensor<1x9x1x8xf32>, tensor<1x28x1x8xf32>, tensor<1x12x1x8xf32>
}

//--- large_groups.mlir

// The same for more rows: 24 heads that share keys, and a batch.
func.func @large_groups(%q0: tensor<1x48x5x8xf32>, %k0: tensor<1x2x21x8xf32>,
    %v0: tensor<1x2x21x8xf32>, %q1: tensor<2x9x5x8xf32>, %k1: tensor<2x3x21x8xf32>,
    %v1: tensor<2x3x21x8xf32>, %q2: tensor<2x6x64x8xf32>, %k2: tensor<2x2x21x8xf32>,
    %v2: tensor<2x2x21x8xf32>)
    -> (tensor<1x48x5x8xf32>, tensor<2x9x5x8xf32>, tensor<2x6x64x8xf32>) {
  %o0 = attn.sdpa %q0, %k0, %v0
    : tensor<1x48x5x8xf32>, tensor<1x2x21x8xf32>, tensor<1x2x21x8xf32>
    -> tensor<1x48x5x8xf32>
  %o1 = attn.sdpa %q1, %k1, %v1
    : tensor<2x9x5x8xf32>, tensor<2x3x21x8xf32>, tensor<2x3x21x8xf32>
    -> tensor<2x9x5x8xf32>
  %o2 = attn.sdpa %q2, %k2, %v2
    : tensor<2x6x64x8xf32>, tensor<2x2x21x8xf32>, tensor<2x2x21x8xf32>
    -> tensor<2x6x64x8xf32>
  return %o0, %o1, %o2 :
    tensor<1x48x5x8xf32>, tensor<2x9x5x8xf32>, tensor<2x6x64x8xf32>
}
