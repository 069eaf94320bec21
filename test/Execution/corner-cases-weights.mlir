// Weights of a row sum to 1; small weights of f16 are not lost; large inputs of f16 do not overflow; a cap comes before a
// bias.
//
// RUN: split-file %s %t
// RUN: attn-run %t/ones_f32.mlir | FileCheck %s --check-prefix=NONE
// RUN: attn-run %t/ones_f16.mlir | FileCheck %s --check-prefix=NONE
// RUN: attn-run %t/ones_bf16.mlir | FileCheck %s --check-prefix=NONE
// RUN: attn-run %t/ones_f64.mlir | FileCheck %s --check-prefix=NONE
// RUN: attn-run %t/long_half.mlir --verify | FileCheck %s
// RUN: attn-run %t/large_half.mlir --verify | FileCheck %s
// RUN: attn-run %t/order.mlir --verify | FileCheck %s

// CHECK: pass: largest error {{.*}}, 0 elements beyond it
// NONE: result 0: i32 = [0]
// NONE: result 1: i32 = [0]
// NONE: result 2: i32 = [0]

//--- ones_f32.mlir

#whole = affine_map<(b, h, i, e) -> (b, h, i, e)>
#none = affine_map<(b, h, i, e) -> ()>

// Where all values are 1 so is the result: the number of elements that are not, within 1.0e-5.
func.func @ones(%q: tensor<1x2x64x8xf32>, %k: tensor<1x2x8192x8xf32>)
    -> (tensor<i32>, tensor<i32>, tensor<i32>) {
  %bound = arith.constant 1.0e-5 : f32
  %one = arith.constant 1.0 : f32
  %start = arith.constant dense<0> : tensor<i32>
  %q0 = tensor.extract_slice %q[0, 0, 0, 0] [1, 2, 1, 8] [1, 1, 1, 1] : tensor<1x2x64x8xf32> to tensor<1x2x1x8xf32>
  %k0 = tensor.extract_slice %k[0, 0, 0, 0] [1, 2, 1, 8] [1, 1, 1, 1] : tensor<1x2x8192x8xf32> to tensor<1x2x1x8xf32>
  %v0 = arith.constant dense<1.0> : tensor<1x2x1x8xf32>
  %o0 = attn.sdpa %q0, %k0, %v0
    : tensor<1x2x1x8xf32>, tensor<1x2x1x8xf32>, tensor<1x2x1x8xf32> -> tensor<1x2x1x8xf32>
  %n0 = linalg.generic {indexing_maps = [#whole, #none],
      iterator_types = ["reduction", "reduction", "reduction", "reduction"]}
    ins(%o0 : tensor<1x2x1x8xf32>) outs(%start : tensor<i32>) {
  ^bb0(%x: f32, %so: i32):
    %d = arith.subf %x, %one : f32
    %size = math.absf %d : f32
    %bad = arith.cmpf ugt, %size, %bound : f32
    %count = arith.extui %bad : i1 to i32
    %sum = arith.addi %so, %count : i32
    linalg.yield %sum : i32
  } -> tensor<i32>
  %q1 = tensor.extract_slice %q[0, 0, 0, 0] [1, 2, 64, 8] [1, 1, 1, 1] : tensor<1x2x64x8xf32> to tensor<1x2x64x8xf32>
  %k1 = tensor.extract_slice %k[0, 0, 0, 0] [1, 2, 77, 8] [1, 1, 1, 1] : tensor<1x2x8192x8xf32> to tensor<1x2x77x8xf32>
  %v1 = arith.constant dense<1.0> : tensor<1x2x77x8xf32>
  %o1 = attn.sdpa %q1, %k1, %v1
    : tensor<1x2x64x8xf32>, tensor<1x2x77x8xf32>, tensor<1x2x77x8xf32> -> tensor<1x2x64x8xf32>
  %n1 = linalg.generic {indexing_maps = [#whole, #none],
      iterator_types = ["reduction", "reduction", "reduction", "reduction"]}
    ins(%o1 : tensor<1x2x64x8xf32>) outs(%start : tensor<i32>) {
  ^bb0(%x: f32, %so: i32):
    %d = arith.subf %x, %one : f32
    %size = math.absf %d : f32
    %bad = arith.cmpf ugt, %size, %bound : f32
    %count = arith.extui %bad : i1 to i32
    %sum = arith.addi %so, %count : i32
    linalg.yield %sum : i32
  } -> tensor<i32>
  %q2 = tensor.extract_slice %q[0, 0, 0, 0] [1, 2, 1, 8] [1, 1, 1, 1] : tensor<1x2x64x8xf32> to tensor<1x2x1x8xf32>
  %k2 = tensor.extract_slice %k[0, 0, 0, 0] [1, 2, 8192, 8] [1, 1, 1, 1] : tensor<1x2x8192x8xf32> to tensor<1x2x8192x8xf32>
  %v2 = arith.constant dense<1.0> : tensor<1x2x8192x8xf32>
  %o2 = attn.sdpa %q2, %k2, %v2
    : tensor<1x2x1x8xf32>, tensor<1x2x8192x8xf32>, tensor<1x2x8192x8xf32> -> tensor<1x2x1x8xf32>
  %n2 = linalg.generic {indexing_maps = [#whole, #none],
      iterator_types = ["reduction", "reduction", "reduction", "reduction"]}
    ins(%o2 : tensor<1x2x1x8xf32>) outs(%start : tensor<i32>) {
  ^bb0(%x: f32, %so: i32):
    %d = arith.subf %x, %one : f32
    %size = math.absf %d : f32
    %bad = arith.cmpf ugt, %size, %bound : f32
    %count = arith.extui %bad : i1 to i32
    %sum = arith.addi %so, %count : i32
    linalg.yield %sum : i32
  } -> tensor<i32>
  return %n0, %n1, %n2 : tensor<i32>, tensor<i32>, tensor<i32>
}

//--- ones_f16.mlir

#whole = affine_map<(b, h, i, e) -> (b, h, i, e)>
#none = affine_map<(b, h, i, e) -> ()>

// Where all values are 1 so is the result: the number of elements that are not, within 0.0009765625.
func.func @ones(%q: tensor<1x2x64x8xf16>, %k: tensor<1x2x8192x8xf16>)
    -> (tensor<i32>, tensor<i32>, tensor<i32>) {
  %bound = arith.constant 0.0009765625 : f16
  %one = arith.constant 1.0 : f16
  %start = arith.constant dense<0> : tensor<i32>
  %q0 = tensor.extract_slice %q[0, 0, 0, 0] [1, 2, 1, 8] [1, 1, 1, 1] : tensor<1x2x64x8xf16> to tensor<1x2x1x8xf16>
  %k0 = tensor.extract_slice %k[0, 0, 0, 0] [1, 2, 1, 8] [1, 1, 1, 1] : tensor<1x2x8192x8xf16> to tensor<1x2x1x8xf16>
  %v0 = arith.constant dense<1.0> : tensor<1x2x1x8xf16>
  %o0 = attn.sdpa %q0, %k0, %v0
    : tensor<1x2x1x8xf16>, tensor<1x2x1x8xf16>, tensor<1x2x1x8xf16> -> tensor<1x2x1x8xf16>
  %n0 = linalg.generic {indexing_maps = [#whole, #none],
      iterator_types = ["reduction", "reduction", "reduction", "reduction"]}
    ins(%o0 : tensor<1x2x1x8xf16>) outs(%start : tensor<i32>) {
  ^bb0(%x: f16, %so: i32):
    %d = arith.subf %x, %one : f16
    %size = math.absf %d : f16
    %bad = arith.cmpf ugt, %size, %bound : f16
    %count = arith.extui %bad : i1 to i32
    %sum = arith.addi %so, %count : i32
    linalg.yield %sum : i32
  } -> tensor<i32>
  %q1 = tensor.extract_slice %q[0, 0, 0, 0] [1, 2, 64, 8] [1, 1, 1, 1] : tensor<1x2x64x8xf16> to tensor<1x2x64x8xf16>
  %k1 = tensor.extract_slice %k[0, 0, 0, 0] [1, 2, 77, 8] [1, 1, 1, 1] : tensor<1x2x8192x8xf16> to tensor<1x2x77x8xf16>
  %v1 = arith.constant dense<1.0> : tensor<1x2x77x8xf16>
  %o1 = attn.sdpa %q1, %k1, %v1
    : tensor<1x2x64x8xf16>, tensor<1x2x77x8xf16>, tensor<1x2x77x8xf16> -> tensor<1x2x64x8xf16>
  %n1 = linalg.generic {indexing_maps = [#whole, #none],
      iterator_types = ["reduction", "reduction", "reduction", "reduction"]}
    ins(%o1 : tensor<1x2x64x8xf16>) outs(%start : tensor<i32>) {
  ^bb0(%x: f16, %so: i32):
    %d = arith.subf %x, %one : f16
    %size = math.absf %d : f16
    %bad = arith.cmpf ugt, %size, %bound : f16
    %count = arith.extui %bad : i1 to i32
    %sum = arith.addi %so, %count : i32
    linalg.yield %sum : i32
  } -> tensor<i32>
  %q2 = tensor.extract_slice %q[0, 0, 0, 0] [1, 2, 1, 8] [1, 1, 1, 1] : tensor<1x2x64x8xf16> to tensor<1x2x1x8xf16>
  %k2 = tensor.extract_slice %k[0, 0, 0, 0] [1, 2, 8192, 8] [1, 1, 1, 1] : tensor<1x2x8192x8xf16> to tensor<1x2x8192x8xf16>
  %v2 = arith.constant dense<1.0> : tensor<1x2x8192x8xf16>
  %o2 = attn.sdpa %q2, %k2, %v2
    : tensor<1x2x1x8xf16>, tensor<1x2x8192x8xf16>, tensor<1x2x8192x8xf16> -> tensor<1x2x1x8xf16>
  %n2 = linalg.generic {indexing_maps = [#whole, #none],
      iterator_types = ["reduction", "reduction", "reduction", "reduction"]}
    ins(%o2 : tensor<1x2x1x8xf16>) outs(%start : tensor<i32>) {
  ^bb0(%x: f16, %so: i32):
    %d = arith.subf %x, %one : f16
    %size = math.absf %d : f16
    %bad = arith.cmpf ugt, %size, %bound : f16
    %count = arith.extui %bad : i1 to i32
    %sum = arith.addi %so, %count : i32
    linalg.yield %sum : i32
  } -> tensor<i32>
  return %n0, %n1, %n2 : tensor<i32>, tensor<i32>, tensor<i32>
}

//--- ones_bf16.mlir

#whole = affine_map<(b, h, i, e) -> (b, h, i, e)>
#none = affine_map<(b, h, i, e) -> ()>

// Where all values are 1 so is the result: the number of elements that are not, within 0.0078125.
func.func @ones(%q: tensor<1x2x64x8xbf16>, %k: tensor<1x2x8192x8xbf16>)
    -> (tensor<i32>, tensor<i32>, tensor<i32>) {
  %bound = arith.constant 0.0078125 : bf16
  %one = arith.constant 1.0 : bf16
  %start = arith.constant dense<0> : tensor<i32>
  %q0 = tensor.extract_slice %q[0, 0, 0, 0] [1, 2, 1, 8] [1, 1, 1, 1] : tensor<1x2x64x8xbf16> to tensor<1x2x1x8xbf16>
  %k0 = tensor.extract_slice %k[0, 0, 0, 0] [1, 2, 1, 8] [1, 1, 1, 1] : tensor<1x2x8192x8xbf16> to tensor<1x2x1x8xbf16>
  %v0 = arith.constant dense<1.0> : tensor<1x2x1x8xbf16>
  %o0 = attn.sdpa %q0, %k0, %v0
    : tensor<1x2x1x8xbf16>, tensor<1x2x1x8xbf16>, tensor<1x2x1x8xbf16> -> tensor<1x2x1x8xbf16>
  %n0 = linalg.generic {indexing_maps = [#whole, #none],
      iterator_types = ["reduction", "reduction", "reduction", "reduction"]}
    ins(%o0 : tensor<1x2x1x8xbf16>) outs(%start : tensor<i32>) {
  ^bb0(%x: bf16, %so: i32):
    %d = arith.subf %x, %one : bf16
    %size = math.absf %d : bf16
    %bad = arith.cmpf ugt, %size, %bound : bf16
    %count = arith.extui %bad : i1 to i32
    %sum = arith.addi %so, %count : i32
    linalg.yield %sum : i32
  } -> tensor<i32>
  %q1 = tensor.extract_slice %q[0, 0, 0, 0] [1, 2, 64, 8] [1, 1, 1, 1] : tensor<1x2x64x8xbf16> to tensor<1x2x64x8xbf16>
  %k1 = tensor.extract_slice %k[0, 0, 0, 0] [1, 2, 77, 8] [1, 1, 1, 1] : tensor<1x2x8192x8xbf16> to tensor<1x2x77x8xbf16>
  %v1 = arith.constant dense<1.0> : tensor<1x2x77x8xbf16>
  %o1 = attn.sdpa %q1, %k1, %v1
    : tensor<1x2x64x8xbf16>, tensor<1x2x77x8xbf16>, tensor<1x2x77x8xbf16> -> tensor<1x2x64x8xbf16>
  %n1 = linalg.generic {indexing_maps = [#whole, #none],
      iterator_types = ["reduction", "reduction", "reduction", "reduction"]}
    ins(%o1 : tensor<1x2x64x8xbf16>) outs(%start : tensor<i32>) {
  ^bb0(%x: bf16, %so: i32):
    %d = arith.subf %x, %one : bf16
    %size = math.absf %d : bf16
    %bad = arith.cmpf ugt, %size, %bound : bf16
    %count = arith.extui %bad : i1 to i32
    %sum = arith.addi %so, %count : i32
    linalg.yield %sum : i32
  } -> tensor<i32>
  %q2 = tensor.extract_slice %q[0, 0, 0, 0] [1, 2, 1, 8] [1, 1, 1, 1] : tensor<1x2x64x8xbf16> to tensor<1x2x1x8xbf16>
  %k2 = tensor.extract_slice %k[0, 0, 0, 0] [1, 2, 8192, 8] [1, 1, 1, 1] : tensor<1x2x8192x8xbf16> to tensor<1x2x8192x8xbf16>
  %v2 = arith.constant dense<1.0> : tensor<1x2x8192x8xbf16>
  %o2 = attn.sdpa %q2, %k2, %v2
    : tensor<1x2x1x8xbf16>, tensor<1x2x8192x8xbf16>, tensor<1x2x8192x8xbf16> -> tensor<1x2x1x8xbf16>
  %n2 = linalg.generic {indexing_maps = [#whole, #none],
      iterator_types = ["reduction", "reduction", "reduction", "reduction"]}
    ins(%o2 : tensor<1x2x1x8xbf16>) outs(%start : tensor<i32>) {
  ^bb0(%x: bf16, %so: i32):
    %d = arith.subf %x, %one : bf16
    %size = math.absf %d : bf16
    %bad = arith.cmpf ugt, %size, %bound : bf16
    %count = arith.extui %bad : i1 to i32
    %sum = arith.addi %so, %count : i32
    linalg.yield %sum : i32
  } -> tensor<i32>
  return %n0, %n1, %n2 : tensor<i32>, tensor<i32>, tensor<i32>
}

//--- ones_f64.mlir

#whole = affine_map<(b, h, i, e) -> (b, h, i, e)>
#none = affine_map<(b, h, i, e) -> ()>

// Where all values are 1 so is the result: the number of elements that are not, within 1.0e-13.
func.func @ones(%q: tensor<1x2x64x8xf64>, %k: tensor<1x2x8192x8xf64>)
    -> (tensor<i32>, tensor<i32>, tensor<i32>) {
  %bound = arith.constant 1.0e-13 : f64
  %one = arith.constant 1.0 : f64
  %start = arith.constant dense<0> : tensor<i32>
  %q0 = tensor.extract_slice %q[0, 0, 0, 0] [1, 2, 1, 8] [1, 1, 1, 1] : tensor<1x2x64x8xf64> to tensor<1x2x1x8xf64>
  %k0 = tensor.extract_slice %k[0, 0, 0, 0] [1, 2, 1, 8] [1, 1, 1, 1] : tensor<1x2x8192x8xf64> to tensor<1x2x1x8xf64>
  %v0 = arith.constant dense<1.0> : tensor<1x2x1x8xf64>
  %o0 = attn.sdpa %q0, %k0, %v0
    : tensor<1x2x1x8xf64>, tensor<1x2x1x8xf64>, tensor<1x2x1x8xf64> -> tensor<1x2x1x8xf64>
  %n0 = linalg.generic {indexing_maps = [#whole, #none],
      iterator_types = ["reduction", "reduction", "reduction", "reduction"]}
    ins(%o0 : tensor<1x2x1x8xf64>) outs(%start : tensor<i32>) {
  ^bb0(%x: f64, %so: i32):
    %d = arith.subf %x, %one : f64
    %size = math.absf %d : f64
    %bad = arith.cmpf ugt, %size, %bound : f64
    %count = arith.extui %bad : i1 to i32
    %sum = arith.addi %so, %count : i32
    linalg.yield %sum : i32
  } -> tensor<i32>
  %q1 = tensor.extract_slice %q[0, 0, 0, 0] [1, 2, 64, 8] [1, 1, 1, 1] : tensor<1x2x64x8xf64> to tensor<1x2x64x8xf64>
  %k1 = tensor.extract_slice %k[0, 0, 0, 0] [1, 2, 77, 8] [1, 1, 1, 1] : tensor<1x2x8192x8xf64> to tensor<1x2x77x8xf64>
  %v1 = arith.constant dense<1.0> : tensor<1x2x77x8xf64>
  %o1 = attn.sdpa %q1, %k1, %v1
    : tensor<1x2x64x8xf64>, tensor<1x2x77x8xf64>, tensor<1x2x77x8xf64> -> tensor<1x2x64x8xf64>
  %n1 = linalg.generic {indexing_maps = [#whole, #none],
      iterator_types = ["reduction", "reduction", "reduction", "reduction"]}
    ins(%o1 : tensor<1x2x64x8xf64>) outs(%start : tensor<i32>) {
  ^bb0(%x: f64, %so: i32):
    %d = arith.subf %x, %one : f64
    %size = math.absf %d : f64
    %bad = arith.cmpf ugt, %size, %bound : f64
    %count = arith.extui %bad : i1 to i32
    %sum = arith.addi %so, %count : i32
    linalg.yield %sum : i32
  } -> tensor<i32>
  %q2 = tensor.extract_slice %q[0, 0, 0, 0] [1, 2, 1, 8] [1, 1, 1, 1] : tensor<1x2x64x8xf64> to tensor<1x2x1x8xf64>
  %k2 = tensor.extract_slice %k[0, 0, 0, 0] [1, 2, 8192, 8] [1, 1, 1, 1] : tensor<1x2x8192x8xf64> to tensor<1x2x8192x8xf64>
  %v2 = arith.constant dense<1.0> : tensor<1x2x8192x8xf64>
  %o2 = attn.sdpa %q2, %k2, %v2
    : tensor<1x2x1x8xf64>, tensor<1x2x8192x8xf64>, tensor<1x2x8192x8xf64> -> tensor<1x2x1x8xf64>
  %n2 = linalg.generic {indexing_maps = [#whole, #none],
      iterator_types = ["reduction", "reduction", "reduction", "reduction"]}
    ins(%o2 : tensor<1x2x1x8xf64>) outs(%start : tensor<i32>) {
  ^bb0(%x: f64, %so: i32):
    %d = arith.subf %x, %one : f64
    %size = math.absf %d : f64
    %bad = arith.cmpf ugt, %size, %bound : f64
    %count = arith.extui %bad : i1 to i32
    %sum = arith.addi %so, %count : i32
    linalg.yield %sum : i32
  } -> tensor<i32>
  return %n0, %n1, %n2 : tensor<i32>, tensor<i32>, tensor<i32>
}

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
