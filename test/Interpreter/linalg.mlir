// RUN: attn-run %s --device=interpreter --function=named | FileCheck %s --check-prefix=NAMED
// RUN: attn-run %s --device=interpreter --function=generic | FileCheck %s --check-prefix=GENERIC
// RUN: attn-run %s --device=interpreter --function=convolution | FileCheck %s --check-prefix=CONVOLUTION
// RUN: attn-run %s --device=interpreter --function=packed | FileCheck %s --check-prefix=PACKED
// RUN: not attn-run %s --device=interpreter --function=outside --input=3x2xf32 --input=3xf32 2>&1 | FileCheck %s --check-prefix=OUTSIDE

// NAMED: result 0: 2x2xf32 = [7, 10, 15, 22]
// NAMED: result 1: 2x2xf32 = [1, 3, 2, 4]
// NAMED: result 2: 2xf32 = [3, 7]
func.func @named() -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2xf32>) {
  %a = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2x2xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x2xf32>) -> tensor<2x2xf32>
  %product = linalg.matmul ins(%a, %a : tensor<2x2xf32>, tensor<2x2xf32>)
      outs(%init : tensor<2x2xf32>) -> tensor<2x2xf32>
  %transposed = linalg.transpose ins(%a : tensor<2x2xf32>)
      outs(%empty : tensor<2x2xf32>) permutation = [1, 0]
  %sums_init = arith.constant dense<0.0> : tensor<2xf32>
  %sums = linalg.reduce { arith.addf } ins(%a : tensor<2x2xf32>)
      outs(%sums_init : tensor<2xf32>) dimensions = [1]
  return %product, %transposed, %sums
      : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2xf32>
}

// The body reads its place, a captured scalar, and a captured tensor at any index; the second result is decided by a
// branch.
//
// GENERIC: result 0: 2x3xf32 = [1, 1, 1, 2, 2, 2]
// GENERIC: result 1: 2x3xf32 = [5, 0, 0, 5, 5, 0]
func.func @generic() -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %table = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %five = arith.constant 5.0 : f32
  %empty = tensor.empty() : tensor<2x3xf32>
  %rows = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      outs(%empty : tensor<2x3xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %read = tensor.extract %table[%i] : tensor<2xf32>
    linalg.yield %read : f32
  } -> tensor<2x3xf32>
  %triangle = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      outs(%empty : tensor<2x3xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %below = arith.cmpi sle, %j, %i : index
    %value = scf.if %below -> f32 {
      scf.yield %five : f32
    } else {
      %zero = arith.constant 0.0 : f32
      scf.yield %zero : f32
    }
    linalg.yield %value : f32
  } -> tensor<2x3xf32>
  return %rows, %triangle : tensor<2x3xf32>, tensor<2x3xf32>
}

// Maps may add loops and divide them.
//
// CONVOLUTION: result 0: 3xf32 = [3, 5, 7]
// CONVOLUTION: result 1: 4xf32 = [1, 1, 2, 2]
func.func @convolution() -> (tensor<3xf32>, tensor<4xf32>) {
  %x = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %window = arith.constant dense<1.0> : tensor<2xf32>
  %init = arith.constant dense<0.0> : tensor<3xf32>
  %sums = linalg.conv_1d ins(%x, %window : tensor<4xf32>, tensor<2xf32>)
      outs(%init : tensor<3xf32>) -> tensor<3xf32>
  %empty = tensor.empty() : tensor<4xf32>
  %twice = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i floordiv 2)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%empty : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4xf32>
  return %sums, %twice : tensor<3xf32>, tensor<4xf32>
}

// Columns packed by two, the tail padded, and taken apart again.
//
// PACKED: result 0: 2x1x2xf32 = [1, 2, 3, 0]
// PACKED: result 1: 1x3xf32 = [1, 2, 3]
func.func @packed() -> (tensor<2x1x2xf32>, tensor<1x3xf32>) {
  %x = arith.constant dense<[[1.0, 2.0, 3.0]]> : tensor<1x3xf32>
  %zero = arith.constant 0.0 : f32
  %panels = tensor.empty() : tensor<2x1x2xf32>
  %packed = linalg.pack %x padding_value(%zero : f32) outer_dims_perm = [1, 0]
      inner_dims_pos = [1] inner_tiles = [2] into %panels
      : tensor<1x3xf32> -> tensor<2x1x2xf32>
  %whole = tensor.empty() : tensor<1x3xf32>
  %unpacked = linalg.unpack %packed outer_dims_perm = [1, 0]
      inner_dims_pos = [1] inner_tiles = [2] into %whole
      : tensor<2x1x2xf32> -> tensor<1x3xf32>
  return %packed, %unpacked : tensor<2x1x2xf32>, tensor<1x3xf32>
}

// OUTSIDE: error: 'linalg.matvec' op reaches outside operand 1
func.func @outside(%a: tensor<?x?xf32>, %x: tensor<?xf32>) -> tensor<?xf32> {
  %short = tensor.extract_slice %x[0] [1] [1] : tensor<?xf32> to tensor<1xf32>
  %dynamic = tensor.cast %short : tensor<1xf32> to tensor<?xf32>
  %y = linalg.matvec ins(%a, %dynamic : tensor<?x?xf32>, tensor<?xf32>)
      outs(%x : tensor<?xf32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}
