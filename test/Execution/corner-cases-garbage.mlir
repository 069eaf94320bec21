// Numbers that must not show, and those that must: infinities, NaN, the lowest finite numbers.
//
// RUN: split-file %s %t
// RUN: attn-run %t/lowest.mlir | FileCheck %s --check-prefix=LOWEST
// RUN: attn-run %t/lowest_half.mlir | FileCheck %s --check-prefix=HALF
// RUN: attn-run %t/all_excluded.mlir | FileCheck %s --check-prefix=EXCLUDED
// RUN: attn-run %t/keys.mlir --verify | FileCheck %s
// RUN: attn-run %t/biased_keys.mlir | FileCheck %s --check-prefix=BIASED
// RUN: attn-run %t/biased_keys.mlir --verify | FileCheck %s
// RUN: attn-run %t/biased_keys.mlir --device=interpreter | FileCheck %s --check-prefix=BIASED
// RUN: attnc %t/biased_keys.mlir --stop-after=tiles | attn-run - --device=interpreter | FileCheck %s --check-prefix=BIASED
// RUN: attnc %t/biased_keys.mlir --stop-after=linalg | attn-run - --device=interpreter | FileCheck %s --check-prefix=BIASED
// RUN: attn-run %t/values.mlir --verify | FileCheck %s
// RUN: attn-run %t/query.mlir --verify | FileCheck %s
// RUN: attn-run %t/exclude_themselves.mlir --verify | FileCheck %s
// RUN: attn-run %t/exclude_themselves_decode.mlir --verify | FileCheck %s

// CHECK: pass: largest error {{.*}}, 0 elements beyond it

//--- lowest.mlir

// Next to the lowest finite number of f32 or bf16 all scores are the same: the mean of 1, 2, 3 and 6.
//
// LOWEST: result 0: 1x1x2x1xf32 = [3, 3]
// LOWEST: result 1: 1x1x2x1xf32 = [3, 3]
func.func @lowest(%q: tensor<1x1x2x8xf32>, %k: tensor<1x1x4x8xf32>) -> (tensor<1x1x2x1xf32>, tensor<1x1x2x1xf32>) {
  %v = arith.constant dense<[[[[1.0], [2.0], [3.0], [6.0]]]]> : tensor<1x1x4x1xf32>
  %b0 = arith.constant dense<0xFF7FFFFF> : tensor<1x4xf32>
  %b1 = arith.constant dense<0xFF7F> : tensor<2x4xbf16>
  %o0 = attn.sdpa %q, %k, %v bias(%b0 : tensor<1x4xf32>)
    : tensor<1x1x2x8xf32>, tensor<1x1x4x8xf32>, tensor<1x1x4x1xf32> -> tensor<1x1x2x1xf32>
  %o1 = attn.sdpa %q, %k, %v bias(%b1 : tensor<2x4xbf16>)
    : tensor<1x1x2x8xf32>, tensor<1x1x4x8xf32>, tensor<1x1x4x1xf32> -> tensor<1x1x2x1xf32>
  return %o0, %o1 : tensor<1x1x2x1xf32>, tensor<1x1x2x1xf32>
}

//--- lowest_half.mlir

// The lowest number of f16 is not low enough for that: what matters is the difference of scores.
//
// HALF: result 0: 1x1x1x1xf32 = [[RESULT:\[5.*\]]]
// HALF: result 1: 1x1x1x1xf32 = [[RESULT]]
func.func @lowest_half() -> (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) {
  %q = arith.constant dense<1.0> : tensor<1x1x1x1xf32>
  %k = arith.constant dense<[[[[0.0], [1.0], [2.0], [4.0]]]]> : tensor<1x1x4x1xf32>
  %v = arith.constant dense<[[[[1.0], [2.0], [3.0], [6.0]]]]> : tensor<1x1x4x1xf32>
  %b = arith.constant dense<-65504.0> : tensor<1x4xf16>
  %o0 = attn.sdpa %q, %k, %v
    : tensor<1x1x1x1xf32>, tensor<1x1x4x1xf32>, tensor<1x1x4x1xf32> -> tensor<1x1x1x1xf32>
  %o1 = attn.sdpa %q, %k, %v bias(%b : tensor<1x4xf16>)
    : tensor<1x1x1x1xf32>, tensor<1x1x4x1xf32>, tensor<1x1x4x1xf32> -> tensor<1x1x1x1xf32>
  return %o0, %o1 : tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>
}

//--- all_excluded.mlir

// A bias of minus infinity everywhere leaves nothing.
//
// EXCLUDED: result 0: 1x1x1x2xbf16 = [0, 0]
func.func @all_excluded(%x: tensor<1x1x1x2xbf16>) -> tensor<1x1x1x2xbf16> {
  %b = arith.constant dense<0xFF80> : tensor<1x1xbf16>
  %o = attn.sdpa %x, %x, %x bias(%b : tensor<1x1xbf16>)
    : tensor<1x1x1x2xbf16>, tensor<1x1x1x2xbf16>, tensor<1x1x1x2xbf16> -> tensor<1x1x1x2xbf16>
  return %o : tensor<1x1x1x2xbf16>
}

//--- keys.mlir

// A key with NaN, 1e10 or an infinity: nothing in the rows that exclude it; NaN in the others.
func.func @keys(%q: tensor<1x2x40x8xf32>, %k: tensor<1x1x40x8xf32>, %v: tensor<1x1x40x8xf32>)
    -> (tensor<1x2x40x8xf32>, tensor<1x2x40x8xf32>, tensor<1x2x40x8xf32>) {
  %nan = arith.constant 0x7FC00000 : f32
  %inf = arith.constant 0x7F800000 : f32
  %big = arith.constant 1.0e+10 : f32
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c35 = arith.constant 35 : index
  %k0 = tensor.insert %nan into %k[%c0, %c0, %c35, %c3] : tensor<1x1x40x8xf32>
  %k1 = tensor.insert %big into %k[%c0, %c0, %c35, %c3] : tensor<1x1x40x8xf32>
  %k2 = tensor.insert %inf into %k[%c0, %c0, %c35, %c3] : tensor<1x1x40x8xf32>
  %n = arith.constant dense<35> : tensor<1xi32>
  %o0 = attn.sdpa %q, %k0, %v causal = top_left
    : tensor<1x2x40x8xf32>, tensor<1x1x40x8xf32>, tensor<1x1x40x8xf32> -> tensor<1x2x40x8xf32>
  %o1 = attn.sdpa %q, %k1, %v causal = top_left window = <left = 2>
    : tensor<1x2x40x8xf32>, tensor<1x1x40x8xf32>, tensor<1x1x40x8xf32> -> tensor<1x2x40x8xf32>
  %o2 = attn.sdpa %q, %k2, %v kv_lengths(%n : tensor<1xi32>)
    : tensor<1x2x40x8xf32>, tensor<1x1x40x8xf32>, tensor<1x1x40x8xf32> -> tensor<1x2x40x8xf32>
  return %o0, %o1, %o2 : tensor<1x2x40x8xf32>, tensor<1x2x40x8xf32>, tensor<1x2x40x8xf32>
}

//--- biased_keys.mlir

// A bias of -inf leaves out a key whatever it holds, many rows or few: the second key is NaN, the third infinite.
//
// BIASED: result 0: 1x1x9x1xf32 = [5, 5, 5, 5, 5, 5, 5, 5, ...]
// BIASED: result 1: 1x1x1x1xf32 = [5]
func.func @biased_keys() -> (tensor<1x1x9x1xf32>, tensor<1x1x1x1xf32>) {
  %rows = arith.constant dense<1.0> : tensor<1x1x9x1xf32>
  %row = arith.constant dense<1.0> : tensor<1x1x1x1xf32>
  %k = arith.constant dense<[[[[0.0], [0x7FC00000], [0x7F800000]]]]> : tensor<1x1x3x1xf32>
  %v = arith.constant dense<[[[[5.0], [7.0], [9.0]]]]> : tensor<1x1x3x1xf32>
  %b = arith.constant dense<[0.0, 0xFF800000, 0xFF800000]> : tensor<3xf32>
  %o0 = attn.sdpa %rows, %k, %v bias(%b : tensor<3xf32>)
    : tensor<1x1x9x1xf32>, tensor<1x1x3x1xf32>, tensor<1x1x3x1xf32> -> tensor<1x1x9x1xf32>
  %o1 = attn.sdpa %row, %k, %v bias(%b : tensor<3xf32>)
    : tensor<1x1x1x1xf32>, tensor<1x1x3x1xf32>, tensor<1x1x3x1xf32> -> tensor<1x1x1x1xf32>
  return %o0, %o1 : tensor<1x1x9x1xf32>, tensor<1x1x1x1xf32>
}

//--- values.mlir

// A value that no row attends to, because of a length, a mask or a bias, may hold anything.
func.func @values(%q: tensor<1x2x9x8xf32>, %k: tensor<1x1x37x8xf32>, %v: tensor<1x1x37x8xf32>)
    -> (tensor<1x2x9x8xf32>, tensor<1x2x9x8xf32>, tensor<1x2x9x8xf32>) {
  %nan = arith.constant 0x7FC00000 : f32
  %inf = arith.constant 0x7F800000 : f32
  %none = arith.constant 0xFF800000 : f32
  %no = arith.constant false
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %c36 = arith.constant 36 : index
  %n = arith.constant dense<36> : tensor<1xi64>
  %yes = arith.constant dense<true> : tensor<37xi1>
  %zeros = arith.constant dense<0.0> : tensor<37xf32>
  %v0 = tensor.insert %nan into %v[%c0, %c0, %c36, %c5] : tensor<1x1x37x8xf32>
  %v1 = tensor.insert %inf into %v[%c0, %c0, %c5, %c5] : tensor<1x1x37x8xf32>
  %m = tensor.insert %no into %yes[%c5] : tensor<37xi1>
  %b = tensor.insert %none into %zeros[%c36] : tensor<37xf32>
  %o0 = attn.sdpa %q, %k, %v0 kv_lengths(%n : tensor<1xi64>)
    : tensor<1x2x9x8xf32>, tensor<1x1x37x8xf32>, tensor<1x1x37x8xf32> -> tensor<1x2x9x8xf32>
  %o1 = attn.sdpa %q, %k, %v1 mask(%m : tensor<37xi1>)
    : tensor<1x2x9x8xf32>, tensor<1x1x37x8xf32>, tensor<1x1x37x8xf32> -> tensor<1x2x9x8xf32>
  %o2 = attn.sdpa %q, %k, %v0 bias(%b : tensor<37xf32>)
    : tensor<1x2x9x8xf32>, tensor<1x1x37x8xf32>, tensor<1x1x37x8xf32> -> tensor<1x2x9x8xf32>
  return %o0, %o1, %o2 : tensor<1x2x9x8xf32>, tensor<1x2x9x8xf32>, tensor<1x2x9x8xf32>
}

//--- query.mlir

// A NaN in a row of the query stays, and stays in its row.
func.func @query(%q: tensor<1x2x9x8xf32>, %k: tensor<1x1x37x8xf32>, %v: tensor<1x1x37x8xf32>)
    -> tensor<1x2x9x8xf32> {
  %nan = arith.constant 0x7FC00000 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %q0 = tensor.insert %nan into %q[%c0, %c1, %c7, %c0] : tensor<1x2x9x8xf32>
  %o = attn.sdpa %q0, %k, %v
    : tensor<1x2x9x8xf32>, tensor<1x1x37x8xf32>, tensor<1x1x37x8xf32> -> tensor<1x2x9x8xf32>
  return %o : tensor<1x2x9x8xf32>
}

//--- exclude_themselves.mlir

// An infinite key whose score is minus infinity in every row: its value may be NaN, without any mask. In the other
// result every row attends to that value.
func.func @exclude_themselves(%k: tensor<1x1x300x8xf32>, %v: tensor<1x1x300x8xf32>)
    -> (tensor<1x2x20x8xf32>, tensor<1x2x20x8xf32>) {
  %nan = arith.constant 0x7FC00000 : f32
  %none = arith.constant 0xFF800000 : f32
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c290 = arith.constant 290 : index
  %q = arith.constant dense<0.5> : tensor<1x2x20x8xf32>
  %k0 = tensor.insert %none into %k[%c0, %c0, %c290, %c3] : tensor<1x1x300x8xf32>
  %v0 = tensor.insert %nan into %v[%c0, %c0, %c290, %c0] : tensor<1x1x300x8xf32>
  %o0 = attn.sdpa %q, %k0, %v0
    : tensor<1x2x20x8xf32>, tensor<1x1x300x8xf32>, tensor<1x1x300x8xf32> -> tensor<1x2x20x8xf32>
  %o1 = attn.sdpa %q, %k, %v0
    : tensor<1x2x20x8xf32>, tensor<1x1x300x8xf32>, tensor<1x1x300x8xf32> -> tensor<1x2x20x8xf32>
  return %o0, %o1 : tensor<1x2x20x8xf32>, tensor<1x2x20x8xf32>
}

//--- exclude_themselves_decode.mlir

// The same for one row, with keys in chunks.
func.func @exclude_themselves_decode(%k: tensor<1x1x3000x8xf16>, %v: tensor<1x1x3000x8xf16>) -> tensor<1x2x1x8xf16> {
  %inf = arith.constant 0x7C00 : f16
  %none = arith.constant 0xFC00 : f16
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c2990 = arith.constant 2990 : index
  %q = arith.constant dense<0.5> : tensor<1x2x1x8xf16>
  %k0 = tensor.insert %none into %k[%c0, %c0, %c2990, %c3] : tensor<1x1x3000x8xf16>
  %v0 = tensor.insert %inf into %v[%c0, %c0, %c2990, %c0] : tensor<1x1x3000x8xf16>
  %o = attn.sdpa %q, %k0, %v0
    : tensor<1x2x1x8xf16>, tensor<1x1x3000x8xf16>, tensor<1x1x3000x8xf16> -> tensor<1x2x1x8xf16>
  return %o : tensor<1x2x1x8xf16>
}
