// Biases and masks of every shape, and operands that do not lie one after the other.
//
// RUN: split-file %s %t
// RUN: attn-run %t/biases.mlir --verify | FileCheck %s
// RUN: attn-run %t/masks.mlir --verify | FileCheck %s
// RUN: attn-run %t/triangle.mlir | FileCheck %s --check-prefix=SAME
// RUN: attn-run %t/decode.mlir --verify | FileCheck %s
// RUN: attn-run %t/transposed.mlir --verify | FileCheck %s
// RUN: attn-run %t/strided.mlir --verify | FileCheck %s

// CHECK: pass: largest error {{.*}}, 0 elements beyond it
// SAME: result 0: f32 = [0]

//--- biases.mlir

// 37 keys fill no vector.
func.func @biases(%q: tensor<2x4x9x8xf32>, %k: tensor<2x2x37x8xf32>, %v: tensor<2x2x37x8xf32>,
    %b0: tensor<9x1xf32>, %b1: tensor<1x37xf32>, %b2: tensor<1x1xf32>, %b3: tensor<2x1x1x37xf32>,
    %b4: tensor<2x4x9x1xf32>, %b5: tensor<1x1x9x37xf32>)
    -> (tensor<2x4x9x8xf32>, tensor<2x4x9x8xf32>, tensor<2x4x9x8xf32>, tensor<2x4x9x8xf32>, tensor<2x4x9x8xf32>, tensor<2x4x9x8xf32>) {
  %o0 = attn.sdpa %q, %k, %v bias(%b0 : tensor<9x1xf32>)
    : tensor<2x4x9x8xf32>, tensor<2x2x37x8xf32>, tensor<2x2x37x8xf32> -> tensor<2x4x9x8xf32>
  %o1 = attn.sdpa %q, %k, %v bias(%b1 : tensor<1x37xf32>)
    : tensor<2x4x9x8xf32>, tensor<2x2x37x8xf32>, tensor<2x2x37x8xf32> -> tensor<2x4x9x8xf32>
  %o2 = attn.sdpa %q, %k, %v bias(%b2 : tensor<1x1xf32>)
    : tensor<2x4x9x8xf32>, tensor<2x2x37x8xf32>, tensor<2x2x37x8xf32> -> tensor<2x4x9x8xf32>
  %o3 = attn.sdpa %q, %k, %v bias(%b3 : tensor<2x1x1x37xf32>)
    : tensor<2x4x9x8xf32>, tensor<2x2x37x8xf32>, tensor<2x2x37x8xf32> -> tensor<2x4x9x8xf32>
  %o4 = attn.sdpa %q, %k, %v bias(%b4 : tensor<2x4x9x1xf32>)
    : tensor<2x4x9x8xf32>, tensor<2x2x37x8xf32>, tensor<2x2x37x8xf32> -> tensor<2x4x9x8xf32>
  %o5 = attn.sdpa %q, %k, %v bias(%b5 : tensor<1x1x9x37xf32>)
    : tensor<2x4x9x8xf32>, tensor<2x2x37x8xf32>, tensor<2x2x37x8xf32> -> tensor<2x4x9x8xf32>
  return %o0, %o1, %o2, %o3, %o4, %o5 : tensor<2x4x9x8xf32>, tensor<2x4x9x8xf32>, tensor<2x4x9x8xf32>, tensor<2x4x9x8xf32>, tensor<2x4x9x8xf32>, tensor<2x4x9x8xf32>
}

//--- masks.mlir

// The same shapes, and a diagonal with them.
func.func @masks(%q: tensor<2x4x9x8xf32>, %k: tensor<2x2x37x8xf32>, %v: tensor<2x2x37x8xf32>,
    %m0: tensor<9x1xi1>, %m1: tensor<1x37xi1>, %m2: tensor<1x1xi1>, %m3: tensor<2x1x1x37xi1>,
    %m4: tensor<2x4x9x1xi1>, %m5: tensor<1x1x9x37xi1>)
    -> (tensor<2x4x9x8xf32>, tensor<2x4x9x8xf32>, tensor<2x4x9x8xf32>, tensor<2x4x9x8xf32>, tensor<2x4x9x8xf32>, tensor<2x4x9x8xf32>) {
  %o0 = attn.sdpa %q, %k, %v mask(%m0 : tensor<9x1xi1>) causal = bottom_right
    : tensor<2x4x9x8xf32>, tensor<2x2x37x8xf32>, tensor<2x2x37x8xf32> -> tensor<2x4x9x8xf32>
  %o1 = attn.sdpa %q, %k, %v mask(%m1 : tensor<1x37xi1>) causal = bottom_right
    : tensor<2x4x9x8xf32>, tensor<2x2x37x8xf32>, tensor<2x2x37x8xf32> -> tensor<2x4x9x8xf32>
  %o2 = attn.sdpa %q, %k, %v mask(%m2 : tensor<1x1xi1>) causal = bottom_right
    : tensor<2x4x9x8xf32>, tensor<2x2x37x8xf32>, tensor<2x2x37x8xf32> -> tensor<2x4x9x8xf32>
  %o3 = attn.sdpa %q, %k, %v mask(%m3 : tensor<2x1x1x37xi1>) causal = bottom_right
    : tensor<2x4x9x8xf32>, tensor<2x2x37x8xf32>, tensor<2x2x37x8xf32> -> tensor<2x4x9x8xf32>
  %o4 = attn.sdpa %q, %k, %v mask(%m4 : tensor<2x4x9x1xi1>) causal = bottom_right
    : tensor<2x4x9x8xf32>, tensor<2x2x37x8xf32>, tensor<2x2x37x8xf32> -> tensor<2x4x9x8xf32>
  %o5 = attn.sdpa %q, %k, %v mask(%m5 : tensor<1x1x9x37xi1>) causal = bottom_right
    : tensor<2x4x9x8xf32>, tensor<2x2x37x8xf32>, tensor<2x2x37x8xf32> -> tensor<2x4x9x8xf32>
  return %o0, %o1, %o2, %o3, %o4, %o5 : tensor<2x4x9x8xf32>, tensor<2x4x9x8xf32>, tensor<2x4x9x8xf32>, tensor<2x4x9x8xf32>, tensor<2x4x9x8xf32>, tensor<2x4x9x8xf32>
}

//--- triangle.mlir

#rows = affine_map<(i, j) -> (i, j)>
#whole = affine_map<(b, h, i, e) -> (b, h, i, e)>
#none = affine_map<(b, h, i, e) -> ()>

// For each number of keys from 1 to 130: a mask under a diagonal, and a mask that has the diagonal in it. The largest
// difference of a row's results.
func.func @triangle(%q: tensor<1x2x70x8xf32>, %k: tensor<1x1x130x8xf32>, %mask: tensor<70x130xi1>) -> tensor<f32> {
  %c1 = arith.constant 1 : index
  %c131 = arith.constant 131 : index
  %false = arith.constant false
  %start = arith.constant dense<0.0> : tensor<f32>
  %r = scf.for %n = %c1 to %c131 step %c1 iter_args(%most = %start) -> (tensor<f32>) {
    %ks = tensor.extract_slice %k[0, 0, 0, 0] [1, 1, %n, 8] [1, 1, 1, 1]
      : tensor<1x1x130x8xf32> to tensor<1x1x?x8xf32>
    %m = tensor.extract_slice %mask[0, 0] [70, %n] [1, 1] : tensor<70x130xi1> to tensor<70x?xi1>
    %e = tensor.empty(%n) : tensor<70x?xi1>
    %both = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%m : tensor<70x?xi1>) outs(%e : tensor<70x?xi1>) {
    ^bb0(%x: i1, %y: i1):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %sees = arith.cmpi sle, %j, %i : index
      %keeps = arith.andi %x, %sees : i1
      linalg.yield %keeps : i1
    } -> tensor<70x?xi1>
    %a = attn.sdpa %q, %ks, %ks mask(%m : tensor<70x?xi1>) causal = top_left
      : tensor<1x2x70x8xf32>, tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32> -> tensor<1x2x70x8xf32>
    %b = attn.sdpa %q, %ks, %ks mask(%both : tensor<70x?xi1>)
      : tensor<1x2x70x8xf32>, tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32> -> tensor<1x2x70x8xf32>
    %next = linalg.generic {indexing_maps = [#whole, #whole, #none],
        iterator_types = ["reduction", "reduction", "reduction", "reduction"]}
      ins(%a, %b : tensor<1x2x70x8xf32>, tensor<1x2x70x8xf32>) outs(%most : tensor<f32>) {
    ^bb0(%x: f32, %y: f32, %so: f32):
      %d = arith.subf %x, %y : f32
      %size = math.absf %d : f32
      %larger = arith.maximumf %so, %size : f32
      linalg.yield %larger : f32
    } -> tensor<f32>
    scf.yield %next : tensor<f32>
  }
  return %r : tensor<f32>
}

//--- decode.mlir

// One row of each head against a cache that is filled differently in each entry of the batch.
func.func @decode(%q: tensor<4x8x1x32xf32>, %k: tensor<4x8x50x32xf32>, %v: tensor<4x8x50x32xf32>,
    %mask: tensor<4x1x1x50xi1>, %n: index) -> tensor<4x8x1x32xf32> {
  %c40 = arith.constant 40 : index
  %keys = arith.addi %n, %c40 : index
  %ks = tensor.extract_slice %k[0, 0, 0, 0] [4, 8, %keys, 32] [1, 1, 1, 1]
    : tensor<4x8x50x32xf32> to tensor<4x8x?x32xf32>
  %vs = tensor.extract_slice %v[0, 0, 0, 0] [4, 8, %keys, 32] [1, 1, 1, 1]
    : tensor<4x8x50x32xf32> to tensor<4x8x?x32xf32>
  %m = tensor.extract_slice %mask[0, 0, 0, 0] [4, 1, 1, %keys] [1, 1, 1, 1]
    : tensor<4x1x1x50xi1> to tensor<4x1x1x?xi1>
  %o = attn.sdpa %q, %ks, %vs mask(%m : tensor<4x1x1x?xi1>)
    : tensor<4x8x1x32xf32>, tensor<4x8x?x32xf32>, tensor<4x8x?x32xf32> -> tensor<4x8x1x32xf32>
  return %o : tensor<4x8x1x32xf32>
}

//--- transposed.mlir

// One operand only lies with its rows before its heads; and channels before its rows.
func.func @transposed(%a: tensor<1x2x9x8xf32>, %x: tensor<1x9x2x8xf32>, %y: tensor<1x2x8x9xf32>)
    -> (tensor<1x2x9x8xf32>, tensor<1x2x9x8xf32>, tensor<1x2x9x8xf32>, tensor<1x2x9x8xf32>) {
  %e = tensor.empty() : tensor<1x2x9x8xf32>
  %t = linalg.transpose ins(%x : tensor<1x9x2x8xf32>) outs(%e : tensor<1x2x9x8xf32>) permutation = [0, 2, 1, 3]
  %u = linalg.transpose ins(%y : tensor<1x2x8x9xf32>) outs(%e : tensor<1x2x9x8xf32>) permutation = [0, 1, 3, 2]
  %o0 = attn.sdpa %t, %a, %a
    : tensor<1x2x9x8xf32>, tensor<1x2x9x8xf32>, tensor<1x2x9x8xf32> -> tensor<1x2x9x8xf32>
  %o1 = attn.sdpa %a, %t, %a
    : tensor<1x2x9x8xf32>, tensor<1x2x9x8xf32>, tensor<1x2x9x8xf32> -> tensor<1x2x9x8xf32>
  %o2 = attn.sdpa %a, %a, %t
    : tensor<1x2x9x8xf32>, tensor<1x2x9x8xf32>, tensor<1x2x9x8xf32> -> tensor<1x2x9x8xf32>
  %o3 = attn.sdpa %u, %a, %u
    : tensor<1x2x9x8xf32>, tensor<1x2x9x8xf32>, tensor<1x2x9x8xf32> -> tensor<1x2x9x8xf32>
  return %o0, %o1, %o2, %o3
    : tensor<1x2x9x8xf32>, tensor<1x2x9x8xf32>, tensor<1x2x9x8xf32>, tensor<1x2x9x8xf32>
}

//--- strided.mlir

// Every second channel, row or head of a larger tensor.
func.func @strided(%x: tensor<1x4x18x16xf32>, %a: tensor<1x2x9x8xf32>)
    -> (tensor<1x2x9x8xf32>, tensor<1x2x9x8xf32>, tensor<1x2x9x8xf32>) {
  %s = tensor.extract_slice %x[0, 0, 0, 0] [1, 2, 9, 8] [1, 2, 2, 2]
    : tensor<1x4x18x16xf32> to tensor<1x2x9x8xf32>
  %o0 = attn.sdpa %s, %a, %a
    : tensor<1x2x9x8xf32>, tensor<1x2x9x8xf32>, tensor<1x2x9x8xf32> -> tensor<1x2x9x8xf32>
  %o1 = attn.sdpa %a, %s, %a
    : tensor<1x2x9x8xf32>, tensor<1x2x9x8xf32>, tensor<1x2x9x8xf32> -> tensor<1x2x9x8xf32>
  %o2 = attn.sdpa %a, %a, %s
    : tensor<1x2x9x8xf32>, tensor<1x2x9x8xf32>, tensor<1x2x9x8xf32> -> tensor<1x2x9x8xf32>
  return %o0, %o1, %o2 : tensor<1x2x9x8xf32>, tensor<1x2x9x8xf32>, tensor<1x2x9x8xf32>
}
