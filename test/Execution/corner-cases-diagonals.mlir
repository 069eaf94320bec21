// Causal attention, windows and tiles across the diagonal.
//
// RUN: split-file %s %t
// RUN: attn-run %t/top_left.mlir --verify | FileCheck %s
// RUN: attn-run %t/bottom_right.mlir --verify | FileCheck %s
// RUN: attn-run %t/windows.mlir --verify | FileCheck %s
// RUN: attn-run %t/tiles.mlir --verify | FileCheck %s

// CHECK: pass: largest error {{.*}}, 0 elements beyond it

//--- top_left.mlir

// The diagonal starts at the first key, whatever the number of rows.
func.func @top_left(%q0: tensor<1x1x5x8xf32>, %k0: tensor<1x1x2x8xf32>, %v0: tensor<1x1x2x8xf32>,
    %q1: tensor<1x1x2x8xf32>, %k1: tensor<1x1x5x8xf32>, %v1: tensor<1x1x5x8xf32>,
    %q2: tensor<1x1x1x8xf32>, %k2: tensor<1x1x8x8xf32>, %v2: tensor<1x1x8x8xf32>,
    %q3: tensor<1x1x64x8xf32>, %k3: tensor<1x1x1x8xf32>, %v3: tensor<1x1x1x8xf32>,
    %q4: tensor<1x1x799x8xf32>, %k4: tensor<1x1x3x8xf32>, %v4: tensor<1x1x3x8xf32>)
    -> (tensor<1x1x5x8xf32>, tensor<1x1x2x8xf32>, tensor<1x1x1x8xf32>, tensor<1x1x64x8xf32>,
    tensor<1x1x799x8xf32>) {
  %o0 = attn.sdpa %q0, %k0, %v0 causal = top_left
    : tensor<1x1x5x8xf32>, tensor<1x1x2x8xf32>, tensor<1x1x2x8xf32>
    -> tensor<1x1x5x8xf32>
  %o1 = attn.sdpa %q1, %k1, %v1 causal = top_left
    : tensor<1x1x2x8xf32>, tensor<1x1x5x8xf32>, tensor<1x1x5x8xf32>
    -> tensor<1x1x2x8xf32>
  %o2 = attn.sdpa %q2, %k2, %v2 causal = top_left
    : tensor<1x1x1x8xf32>, tensor<1x1x8x8xf32>, tensor<1x1x8x8xf32>
    -> tensor<1x1x1x8xf32>
  %o3 = attn.sdpa %q3, %k3, %v3 causal = top_left
    : tensor<1x1x64x8xf32>, tensor<1x1x1x8xf32>, tensor<1x1x1x8xf32>
    -> tensor<1x1x64x8xf32>
  %o4 = attn.sdpa %q4, %k4, %v4 causal = top_left
    : tensor<1x1x799x8xf32>, tensor<1x1x3x8xf32>, tensor<1x1x3x8xf32>
    -> tensor<1x1x799x8xf32>
  return %o0, %o1, %o2, %o3, %o4 :
    tensor<1x1x5x8xf32>, tensor<1x1x2x8xf32>, tensor<1x1x1x8xf32>, tensor<1x1x64x8xf32>,
    tensor<1x1x799x8xf32>
}

//--- bottom_right.mlir

// The diagonal ends at the last key: with more rows than keys the first see none.
func.func @bottom_right(%q0: tensor<1x1x5x8xf32>, %k0: tensor<1x1x2x8xf32>,
    %v0: tensor<1x1x2x8xf32>, %q1: tensor<1x1x2x8xf32>, %k1: tensor<1x1x5x8xf32>,
    %v1: tensor<1x1x5x8xf32>, %q2: tensor<1x1x1x8xf32>, %k2: tensor<1x1x8x8xf32>,
    %v2: tensor<1x1x8x8xf32>, %q3: tensor<1x1x64x8xf32>, %k3: tensor<1x1x1x8xf32>,
    %v3: tensor<1x1x1x8xf32>, %q4: tensor<1x1x799x8xf32>, %k4: tensor<1x1x3x8xf32>,
    %v4: tensor<1x1x3x8xf32>)
    -> (tensor<1x1x5x8xf32>, tensor<1x1x2x8xf32>, tensor<1x1x1x8xf32>, tensor<1x1x64x8xf32>,
    tensor<1x1x799x8xf32>) {
  %o0 = attn.sdpa %q0, %k0, %v0 causal = bottom_right
    : tensor<1x1x5x8xf32>, tensor<1x1x2x8xf32>, tensor<1x1x2x8xf32>
    -> tensor<1x1x5x8xf32>
  %o1 = attn.sdpa %q1, %k1, %v1 causal = bottom_right
    : tensor<1x1x2x8xf32>, tensor<1x1x5x8xf32>, tensor<1x1x5x8xf32>
    -> tensor<1x1x2x8xf32>
  %o2 = attn.sdpa %q2, %k2, %v2 causal = bottom_right
    : tensor<1x1x1x8xf32>, tensor<1x1x8x8xf32>, tensor<1x1x8x8xf32>
    -> tensor<1x1x1x8xf32>
  %o3 = attn.sdpa %q3, %k3, %v3 causal = bottom_right
    : tensor<1x1x64x8xf32>, tensor<1x1x1x8xf32>, tensor<1x1x1x8xf32>
    -> tensor<1x1x64x8xf32>
  %o4 = attn.sdpa %q4, %k4, %v4 causal = bottom_right
    : tensor<1x1x799x8xf32>, tensor<1x1x3x8xf32>, tensor<1x1x3x8xf32>
    -> tensor<1x1x799x8xf32>
  return %o0, %o1, %o2, %o3, %o4 :
    tensor<1x1x5x8xf32>, tensor<1x1x2x8xf32>, tensor<1x1x1x8xf32>, tensor<1x1x64x8xf32>,
    tensor<1x1x799x8xf32>
}

//--- windows.mlir

// Without causal, a window that has one side does not cut the other.
func.func @windows(%q0: tensor<1x1x70x8xf32>, %k0: tensor<1x1x70x8xf32>, %v0: tensor<1x1x70x8xf32>,
    %q1: tensor<1x1x70x8xf32>, %k1: tensor<1x1x70x8xf32>, %v1: tensor<1x1x70x8xf32>,
    %q2: tensor<1x1x70x8xf32>, %k2: tensor<1x1x70x8xf32>, %v2: tensor<1x1x70x8xf32>,
    %q3: tensor<1x1x70x8xf32>, %k3: tensor<1x1x70x8xf32>, %v3: tensor<1x1x70x8xf32>)
    -> (tensor<1x1x70x8xf32>, tensor<1x1x70x8xf32>, tensor<1x1x70x8xf32>, tensor<1x1x70x8xf32>) {
  %o0 = attn.sdpa %q0, %k0, %v0 window = <left = 0>
    : tensor<1x1x70x8xf32>, tensor<1x1x70x8xf32>, tensor<1x1x70x8xf32>
    -> tensor<1x1x70x8xf32>
  %o1 = attn.sdpa %q1, %k1, %v1 window = <left = 3>
    : tensor<1x1x70x8xf32>, tensor<1x1x70x8xf32>, tensor<1x1x70x8xf32>
    -> tensor<1x1x70x8xf32>
  %o2 = attn.sdpa %q2, %k2, %v2 window = <right = 1>
    : tensor<1x1x70x8xf32>, tensor<1x1x70x8xf32>, tensor<1x1x70x8xf32>
    -> tensor<1x1x70x8xf32>
  %o3 = attn.sdpa %q3, %k3, %v3 window = <left = 4095, right = 0>
    : tensor<1x1x70x8xf32>, tensor<1x1x70x8xf32>, tensor<1x1x70x8xf32>
    -> tensor<1x1x70x8xf32>
  return %o0, %o1, %o2, %o3 :
    tensor<1x1x70x8xf32>, tensor<1x1x70x8xf32>, tensor<1x1x70x8xf32>, tensor<1x1x70x8xf32>
}

//--- tiles.mlir

// Blocks of 32, 64 and 128 on either side, and more rows than keys in a block.
func.func @tiles(%q0: tensor<1x1x37x8xf32>, %k0: tensor<1x1x257x8xf32>, %v0: tensor<1x1x257x8xf32>,
    %q1: tensor<1x1x257x8xf32>, %k1: tensor<1x1x37x8xf32>, %v1: tensor<1x1x37x8xf32>,
    %q2: tensor<1x1x257x8xf32>, %k2: tensor<1x1x257x8xf32>, %v2: tensor<1x1x257x8xf32>,
    %q3: tensor<1x1x40x8xf32>, %k3: tensor<1x1x1025x8xf32>, %v3: tensor<1x1x1025x8xf32>)
    -> (tensor<1x1x37x8xf32>, tensor<1x1x257x8xf32>, tensor<1x1x257x8xf32>, tensor<1x1x40x8xf32>) {
  %o0 = attn.sdpa %q0, %k0, %v0 causal = bottom_right schedule = <block_m = 32,
      block_n = 64, rows = 4, columns = 16, lanes = 8>
    : tensor<1x1x37x8xf32>, tensor<1x1x257x8xf32>, tensor<1x1x257x8xf32>
    -> tensor<1x1x37x8xf32>
  %o1 = attn.sdpa %q1, %k1, %v1 causal = bottom_right schedule = <block_m = 64,
      block_n = 32, rows = 4, columns = 16, lanes = 8>
    : tensor<1x1x257x8xf32>, tensor<1x1x37x8xf32>, tensor<1x1x37x8xf32>
    -> tensor<1x1x257x8xf32>
  %o2 = attn.sdpa %q2, %k2, %v2 causal = bottom_right schedule = <block_m = 128,
      block_n = 32, rows = 4, columns = 16, lanes = 8>
    : tensor<1x1x257x8xf32>, tensor<1x1x257x8xf32>, tensor<1x1x257x8xf32>
    -> tensor<1x1x257x8xf32>
  %o3 = attn.sdpa %q3, %k3, %v3 causal = bottom_right schedule = <block_m = 32,
      block_n = 128, rows = 4, columns = 16, lanes = 8>
    : tensor<1x1x40x8xf32>, tensor<1x1x1025x8xf32>, tensor<1x1x1025x8xf32>
    -> tensor<1x1x40x8xf32>
  return %o0, %o1, %o2, %o3 :
    tensor<1x1x37x8xf32>, tensor<1x1x257x8xf32>, tensor<1x1x257x8xf32>, tensor<1x1x40x8xf32>
}
