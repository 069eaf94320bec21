// RUN: attn-run %s --device=interpreter --function=slices | FileCheck %s --check-prefix=SLICES
// RUN: attn-run %s --device=interpreter --function=shapes | FileCheck %s --check-prefix=SHAPES
// RUN: attn-run %s --device=interpreter --function=made | FileCheck %s --check-prefix=MADE
// RUN: attn-run %s --device=interpreter --function=in_place | FileCheck %s --check-prefix=PLACE
// RUN: not attn-run %s --device=interpreter --function=huge --input=i64=1 2>&1 | FileCheck %s --check-prefix=HUGE
// RUN: not attn-run %s --device=interpreter --function=outside --input=i64=1 2>&1 | FileCheck %s --check-prefix=OUTSIDE

// A slice with a stride, one that drops a dimension, and one written back.
//
// SLICES: result 0: 2xf32 = [1, 3]
// SLICES: result 1: 2xf32 = [2, 5]
// SLICES: result 2: 2x3xf32 = [1, 2, 3, 4, 2, 5]
func.func @slices() -> (tensor<2xf32>, tensor<2xf32>, tensor<2x3xf32>) {
  %t = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %strided = tensor.extract_slice %t[0, 0] [1, 2] [1, 2]
      : tensor<2x3xf32> to tensor<2xf32>
  %column = tensor.extract_slice %t[0, 1] [2, 1] [1, 1]
      : tensor<2x3xf32> to tensor<2xf32>
  %written = tensor.insert_slice %column into %t[1, 1] [1, 2] [1, 1]
      : tensor<2xf32> into tensor<2x3xf32>
  return %strided, %column, %written
      : tensor<2xf32>, tensor<2xf32>, tensor<2x3xf32>
}

// SHAPES: result 0: 3x2xf32 = [1, 2, 3, 4, 5, 6]
// SHAPES: result 1: 2x5xf32 = [1, 2, 3, 1, 2, 4, 5, 6, ...]
// SHAPES: result 2: 2x4xf32 = [9, 1, 2, 3, 9, 4, 5, 6]
func.func @shapes() -> (tensor<3x2xf32>, tensor<2x5xf32>, tensor<2x4xf32>) {
  %t = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %nine = arith.constant 9.0 : f32
  %flat = tensor.collapse_shape %t [[0, 1]] : tensor<2x3xf32> into tensor<6xf32>
  %tall = tensor.expand_shape %flat [[0, 1]] output_shape [3, 2]
      : tensor<6xf32> into tensor<3x2xf32>
  %front = tensor.extract_slice %t[0, 0] [2, 2] [1, 1]
      : tensor<2x3xf32> to tensor<2x2xf32>
  %wide = tensor.concat dim(1) %t, %front
      : (tensor<2x3xf32>, tensor<2x2xf32>) -> tensor<2x5xf32>
  %padded = tensor.pad %t low[0, 1] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %nine : f32
  } : tensor<2x3xf32> to tensor<2x4xf32>
  return %tall, %wide, %padded
      : tensor<3x2xf32>, tensor<2x5xf32>, tensor<2x4xf32>
}

// What nothing was written to is NaN.
//
// MADE: result 0: 2x2xi64 = [0, 1, 10, 11]
// MADE: result 1: 3xf32 = [nan, nan, nan]
// MADE: result 2: i64 = [3]
func.func @made() -> (tensor<2x2xindex>, tensor<?xf32>, index) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c10 = arith.constant 10 : index
  %generated = tensor.generate {
  ^bb0(%i: index, %j: index):
    %ten = arith.muli %i, %c10 : index
    %sum = arith.addi %ten, %j : index
    tensor.yield %sum : index
  } : tensor<2x2xindex>
  %empty = tensor.empty(%c3) : tensor<?xf32>
  %size = tensor.dim %empty, %c0 : tensor<?xf32>
  return %generated, %empty, %size : tensor<2x2xindex>, tensor<?xf32>, index
}

// Writing to a value that is used again does not change it.
//
// PLACE: result 0: 2xf32 = [1, 1]
// PLACE: result 1: 2xf32 = [2, 1]
// PLACE: result 2: 2xf32 = [2, 2]
func.func @in_place() -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %two = arith.constant 2.0 : f32
  %a = arith.constant dense<1.0> : tensor<2xf32>
  %b = tensor.insert %two into %a[%c0] : tensor<2xf32>
  %c = tensor.insert %two into %b[%c1] : tensor<2xf32>
  return %a, %b, %c : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// OUTSIDE: error: 'tensor.extract' op takes index 9 of dimension 0, which has 2 elements
func.func @outside(%i: index) -> f32 {
  %c9 = arith.constant 9 : index
  %t = arith.constant dense<1.0> : tensor<2xf32>
  %x = tensor.extract %t[%c9] : tensor<2xf32>
  return %x : f32
}

// HUGE: error: 'tensor.empty' op expects at most 2147483648 elements in a tensor
func.func @huge(%i: index) -> index {
  %c = arith.constant 5000000000 : index
  %c0 = arith.constant 0 : index
  %t = tensor.empty(%c, %c) : tensor<?x?xf32>
  %size = tensor.dim %t, %c0 : tensor<?x?xf32>
  return %size : index
}
