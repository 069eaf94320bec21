// Weights of a row sum to 1.
//
// RUN: split-file %s %t
// RUN: attn-run %t/ones_f32.mlir | FileCheck %s --check-prefix=NONE
// RUN: attn-run %t/ones_f16.mlir | FileCheck %s --check-prefix=NONE
// RUN: attn-run %t/ones_bf16.mlir | FileCheck %s --check-prefix=NONE
// RUN: attn-run %t/ones_f64.mlir | FileCheck %s --check-prefix=NONE

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
