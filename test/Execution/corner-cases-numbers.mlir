// Scores far from 0, scales, caps, sinks, chunks without keys.
//
// RUN: split-file %s %t
// RUN: attn-run %t/maxima.mlir --verify | FileCheck %s
// RUN: attn-run %t/softcap.mlir --verify | FileCheck %s
// RUN: attn-run %t/scales.mlir --verify | FileCheck %s
// RUN: attn-run %t/sinks.mlir --verify | FileCheck %s
// RUN: attn-run %t/chunks.mlir --verify | FileCheck %s
// RUN: attn-run %t/halves.mlir --verify | FileCheck %s
// RUN: attn-run %t/mask.mlir --verify | FileCheck %s

// CHECK: pass: largest error {{.*}}, 0 elements beyond it

//--- maxima.mlir

// Row maxima of about 150 and -10; scores all near -100 with a tail of keys.
func.func @maxima(%q0: tensor<1x1x2x8xf32>, %k0: tensor<1x1x37x8xf32>, %v0: tensor<1x1x37x8xf32>,
    %q1: tensor<1x1x5x8xf32>, %k1: tensor<1x1x37x8xf32>, %v1: tensor<1x1x37x8xf32>)
    -> (tensor<1x1x2x8xf32>, tensor<1x1x5x8xf32>) {
  %high = arith.constant dense<[[150.0], [-10.0]]> : tensor<2x1xf32>
  %low = arith.constant dense<-100.0> : tensor<1x1xf32>
  %o0 = attn.sdpa %q0, %k0, %v0 bias(%high : tensor<2x1xf32>)
    : tensor<1x1x2x8xf32>, tensor<1x1x37x8xf32>, tensor<1x1x37x8xf32>
    -> tensor<1x1x2x8xf32>
  %o1 = attn.sdpa %q1, %k1, %v1 bias(%low : tensor<1x1xf32>)
    : tensor<1x1x5x8xf32>, tensor<1x1x37x8xf32>, tensor<1x1x37x8xf32>
    -> tensor<1x1x5x8xf32>
  return %o0, %o1 :
    tensor<1x1x2x8xf32>, tensor<1x1x5x8xf32>
}

//--- softcap.mlir

// The cap comes after the scale and before a bias, which excludes all the same.
func.func @softcap(%q0: tensor<1x1x3x8xf32>, %k0: tensor<1x1x37x8xf32>, %v0: tensor<1x1x37x8xf32>,
    %q1: tensor<1x1x3x8xf32>, %k1: tensor<1x1x5x8xf32>, %v1: tensor<1x1x5x8xf32>)
    -> (tensor<1x1x3x8xf32>, tensor<1x1x3x8xf32>) {
  %b = arith.constant dense<[[0xFF800000, 0.0, 0.5, 0.0, -1.0]]> : tensor<1x5xf32>
  %o0 = attn.sdpa %q0, %k0, %v0 scale = 100.0 softcap = 15.0
    : tensor<1x1x3x8xf32>, tensor<1x1x37x8xf32>, tensor<1x1x37x8xf32>
    -> tensor<1x1x3x8xf32>
  %o1 = attn.sdpa %q1, %k1, %v1 bias(%b : tensor<1x5xf32>) softcap = 0.5
    : tensor<1x1x3x8xf32>, tensor<1x1x5x8xf32>, tensor<1x1x5x8xf32>
    -> tensor<1x1x3x8xf32>
  return %o0, %o1 :
    tensor<1x1x3x8xf32>, tensor<1x1x3x8xf32>
}

//--- scales.mlir

// A scale of 0 or below 0 does not make a number of an excluded key.
func.func @scales(%q0: tensor<1x1x5x8xf32>, %k0: tensor<1x1x5x8xf32>, %v0: tensor<1x1x5x8xf32>,
    %q1: tensor<1x1x5x8xf32>, %k1: tensor<1x1x5x8xf32>, %v1: tensor<1x1x5x8xf32>,
    %q2: tensor<1x1x5x8xf32>, %k2: tensor<1x1x5x8xf32>, %v2: tensor<1x1x5x8xf32>)
    -> (tensor<1x1x5x8xf32>, tensor<1x1x5x8xf32>, tensor<1x1x5x8xf32>) {
  %b = arith.constant dense<[[0xFF800000, 0.0, 0.5, 0.0, -1.0]]> : tensor<1x5xf32>
  %m = arith.constant dense<[[true, false, true, true, true]]> : tensor<1x5xi1>
  %o0 = attn.sdpa %q0, %k0, %v0 bias(%b : tensor<1x5xf32>) mask(%m : tensor<1x5xi1>)
    scale = 0.0 causal = top_left
    : tensor<1x1x5x8xf32>, tensor<1x1x5x8xf32>, tensor<1x1x5x8xf32>
    -> tensor<1x1x5x8xf32>
  %o1 = attn.sdpa %q1, %k1, %v1 bias(%b : tensor<1x5xf32>) mask(%m : tensor<1x5xi1>)
    scale = -2.0 causal = top_left
    : tensor<1x1x5x8xf32>, tensor<1x1x5x8xf32>, tensor<1x1x5x8xf32>
    -> tensor<1x1x5x8xf32>
  %o2 = attn.sdpa %q2, %k2, %v2 bias(%b : tensor<1x5xf32>) mask(%m : tensor<1x5xi1>)
    scale = 1.0e-3 causal = top_left
    : tensor<1x1x5x8xf32>, tensor<1x1x5x8xf32>, tensor<1x1x5x8xf32>
    -> tensor<1x1x5x8xf32>
  return %o0, %o1, %o2 :
    tensor<1x1x5x8xf32>, tensor<1x1x5x8xf32>, tensor<1x1x5x8xf32>
}

//--- sinks.mlir

// A large sink leaves nearly nothing to the keys; keys in chunks see it once.
func.func @sinks(%q0: tensor<1x2x3x8xf32>, %k0: tensor<1x2x37x8xf32>, %v0: tensor<1x2x37x8xf32>,
    %q1: tensor<1x2x1x8xf32>, %k1: tensor<1x2x100x8xf32>, %v1: tensor<1x2x100x8xf32>)
    -> (tensor<1x2x3x8xf32>, tensor<1x2x1x8xf32>) {
  %s = arith.constant dense<[300.0, 1.0]> : tensor<2xf32>
  %o0 = attn.sdpa %q0, %k0, %v0 sinks(%s : tensor<2xf32>)
    : tensor<1x2x3x8xf32>, tensor<1x2x37x8xf32>, tensor<1x2x37x8xf32>
    -> tensor<1x2x3x8xf32>
  %o1 = attn.sdpa %q1, %k1, %v1 sinks(%s : tensor<2xf32>) schedule = <block_m = 1, block_n = 32,
    rows = 1, columns = 32, lanes = 8, chunk = 32, fold_heads = true>
    : tensor<1x2x1x8xf32>, tensor<1x2x100x8xf32>, tensor<1x2x100x8xf32>
    -> tensor<1x2x1x8xf32>
  return %o0, %o1 :
    tensor<1x2x3x8xf32>, tensor<1x2x1x8xf32>
}

//--- chunks.mlir

// Keys in chunks of which the last is part of one; 8 keys in the first and none in
// the others; none at all.
func.func @chunks(%q0: tensor<3x4x1x8xf32>, %k0: tensor<3x2x100x8xf32>, %v0: tensor<3x2x100x8xf32>)
    -> tensor<3x4x1x8xf32> {
  %n = arith.constant dense<[100, 8, 0]> : tensor<3xi32>
  %o0 = attn.sdpa %q0, %k0, %v0 kv_lengths(%n : tensor<3xi32>) schedule = <block_m = 2, block_n = 32,
    rows = 2, columns = 32, lanes = 8, chunk = 32, fold_heads = true>
    : tensor<3x4x1x8xf32>, tensor<3x2x100x8xf32>, tensor<3x2x100x8xf32>
    -> tensor<3x4x1x8xf32>
  return %o0 : tensor<3x4x1x8xf32>
}

//--- halves.mlir

// Rounded once: f16 and bf16 with long rows.
func.func @halves(%q0: tensor<1x1x1x8xf16>, %k0: tensor<1x1x4097x8xf16>,
    %v0: tensor<1x1x4097x8xf16>, %q1: tensor<1x1x1x8xbf16>, %k1: tensor<1x1x4097x8xbf16>,
    %v1: tensor<1x1x4097x8xbf16>, %q2: tensor<1x1x9x8xf64>, %k2: tensor<1x1x37x8xf64>,
    %v2: tensor<1x1x37x8xf64>)
    -> (tensor<1x1x1x8xf16>, tensor<1x1x1x8xbf16>, tensor<1x1x9x8xf64>) {
  %o0 = attn.sdpa %q0, %k0, %v0
    : tensor<1x1x1x8xf16>, tensor<1x1x4097x8xf16>, tensor<1x1x4097x8xf16>
    -> tensor<1x1x1x8xf16>
  %o1 = attn.sdpa %q1, %k1, %v1
    : tensor<1x1x1x8xbf16>, tensor<1x1x4097x8xbf16>, tensor<1x1x4097x8xbf16>
    -> tensor<1x1x1x8xbf16>
  %o2 = attn.sdpa %q2, %k2, %v2
    : tensor<1x1x9x8xf64>, tensor<1x1x37x8xf64>, tensor<1x1x37x8xf64>
    -> tensor<1x1x9x8xf64>
  return %o0, %o1, %o2 :
    tensor<1x1x1x8xf16>, tensor<1x1x1x8xbf16>, tensor<1x1x9x8xf64>
}

//--- mask.mlir

// Rows 4 to 7 see no key: zeros.
func.func @mask(%q0: tensor<1x1x8x8xf32>, %k0: tensor<1x1x8x8xf32>, %v0: tensor<1x1x8x8xf32>)
    -> tensor<1x1x8x8xf32> {
  %m = arith.constant dense<[
    [true, true, true, true, false, false, false, false],
    [true, true, true, true, false, false, false, false],
    [true, true, true, true, false, false, false, false],
    [true, true, true, true, false, false, false, false],
    [false, false, false, false, false, false, false, false],
    [false, false, false, false, false, false, false, false],
    [false, false, false, false, false, false, false, false],
    [false, false, false, false, false, false, false, false]]> : tensor<8x8xi1>
  %o0 = attn.sdpa %q0, %k0, %v0 mask(%m : tensor<8x8xi1>)
    : tensor<1x1x8x8xf32>, tensor<1x1x8x8xf32>, tensor<1x1x8x8xf32>
    -> tensor<1x1x8x8xf32>
  return %o0 : tensor<1x1x8x8xf32>
}
