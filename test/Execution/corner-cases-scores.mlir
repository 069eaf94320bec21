// Small weights of f16 are not lost; large inputs of f16 do not overflow; a cap comes before a bias.
//
// RUN: split-file %s %t
// RUN: attn-run %t/long_half.mlir --verify | FileCheck %s
// RUN: attn-run %t/large_half.mlir --verify | FileCheck %s
// RUN: attn-run %t/order.mlir --verify | FileCheck %s

// CHECK: pass: largest error {{.*}}, 0 elements beyond it

//--- long_half.mlir

// Each of 65536 keys has a weight below the smallest normal number of f16.
func.func @long_half(%q: tensor<1x1x1x8xf16>, %k: tensor<1x1x65536x8xf16>) -> tensor<1x1x1x2xf16> {
  %v = arith.constant dense<1.0> : tensor<1x1x65536x2xf16>
  %o = attn.sdpa %q, %k, %v
    : tensor<1x1x1x8xf16>, tensor<1x1x65536x8xf16>, tensor<1x1x65536x2xf16> -> tensor<1x1x1x2xf16>
  return %o : tensor<1x1x1x2xf16>
}

//--- large_half.mlir

// Dot products of ten millions, in f32 however wide the inputs are.
func.func @large_half(%v: tensor<1x2x33x16xf16>) -> (tensor<1x2x5x16xf16>, tensor<1x2x5x16xf16>) {
  %large = arith.constant dense<300.0> : tensor<1x2x5x128xf16>
  %keys = arith.constant dense<300.0> : tensor<1x2x33x128xf16>
  %less = arith.constant dense<-300.0> : tensor<1x2x1x128xf16>
  %mixed = tensor.insert_slice %less into %keys[0, 0, 7, 0] [1, 2, 1, 128] [1, 1, 1, 1]
    : tensor<1x2x1x128xf16> into tensor<1x2x33x128xf16>
  %o0 = attn.sdpa %large, %keys, %v
    : tensor<1x2x5x128xf16>, tensor<1x2x33x128xf16>, tensor<1x2x33x16xf16> -> tensor<1x2x5x16xf16>
  %o1 = attn.sdpa %large, %mixed, %v
    : tensor<1x2x5x128xf16>, tensor<1x2x33x128xf16>, tensor<1x2x33x16xf16> -> tensor<1x2x5x16xf16>
  return %o0, %o1 : tensor<1x2x5x16xf16>, tensor<1x2x5x16xf16>
}

//--- order.mlir

// Scale, cap, bias: in this order. A bias like ALiBi's goes beyond the cap; the last row alone gives what it gives among
// all.
func.func @order(%q: tensor<1x3x20x8xf32>, %k: tensor<1x3x20x8xf32>, %v: tensor<1x3x20x8xf32>)
    -> (tensor<1x3x20x8xf32>, tensor<1x3x1x8xf32>) {
  %slopes = arith.constant dense<[-0.5, -0.25, -2.0]> : tensor<3xf32>
  %e = tensor.empty() : tensor<3x20x20xf32>
  %b = linalg.generic {indexing_maps = [affine_map<(h, i, j) -> (h)>, affine_map<(h, i, j) -> (h, i, j)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%slopes : tensor<3xf32>) outs(%e : tensor<3x20x20xf32>) {
  ^bb0(%s: f32, %x: f32):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %far = arith.subi %i, %j : index
    %far32 = arith.index_cast %far : index to i32
    %distance = arith.sitofp %far32 : i32 to f32
    %y = arith.mulf %s, %distance : f32
    linalg.yield %y : f32
  } -> tensor<3x20x20xf32>
  %q1 = tensor.extract_slice %q[0, 0, 19, 0] [1, 3, 1, 8] [1, 1, 1, 1] : tensor<1x3x20x8xf32> to tensor<1x3x1x8xf32>
  %b1 = tensor.extract_slice %b[0, 19, 0] [3, 1, 20] [1, 1, 1] : tensor<3x20x20xf32> to tensor<3x1x20xf32>
  %o0 = attn.sdpa %q, %k, %v bias(%b : tensor<3x20x20xf32>) scale = 10.0 causal = top_left softcap = 2.0
    : tensor<1x3x20x8xf32>, tensor<1x3x20x8xf32>, tensor<1x3x20x8xf32> -> tensor<1x3x20x8xf32>
  %o1 = attn.sdpa %q1, %k, %v bias(%b1 : tensor<3x1x20xf32>) scale = 10.0 causal = bottom_right softcap = 2.0
    : tensor<1x3x1x8xf32>, tensor<1x3x20x8xf32>, tensor<1x3x20x8xf32> -> tensor<1x3x1x8xf32>
  return %o0, %o1 : tensor<1x3x20x8xf32>, tensor<1x3x1x8xf32>
}
