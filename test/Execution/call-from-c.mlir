// A library is called from C through its header, with strided tensors and with everything that it refuses.
//
// REQUIRES: attnc, cc
// RUN: rm -rf %t && mkdir -p %t
// RUN: attnc %s -o %t/libadd.so --header=%t/add.h
// RUN: cc -std=c99 -Wall -Wextra -Werror -pedantic -I%t %S/Inputs/add.c \
// RUN:   %t/libadd.so -o %t/add
// RUN: %t/add | FileCheck %s
//
// The same from the object, which needs nothing of ours.
//
// RUN: attnc %s -o %t/add.o
// RUN: cc -I%t %S/Inputs/add.c %t/add.o -o %t/add-static
// RUN: %t/add-static | FileCheck %s

// CHECK: good: 0
// CHECK-NEXT: 710
// CHECK-NEXT: apply: 0
// CHECK-NEXT: 710
// CHECK-NEXT: shape: 0
// CHECK-NEXT: 3 8
// CHECK-NEXT: null: 1 'add' expects argument 'x', got a null pointer
// CHECK-NEXT: rank: 2 'add' expects argument 'x' of rank 2, got rank 1
// CHECK-NEXT: type: 3 'add' expects argument 'x' of element type f32, got f16 (1 lanes)
// CHECK-NEXT: shape: 4 'add' expects argument 'x' of 8 in dimension 1, got 9
// CHECK-NEXT: device: 5 'add' expects argument 'x' on the CPU, got device type 2
// CHECK-NEXT: data: 1 'add' expects argument 'x' with data, got a null pointer
// CHECK-NEXT: offset: 6 'add' expects argument 'x' at a multiple of 4 bytes, got an address that is not
// CHECK-NEXT: strides: 6 'add' expects result 'sum' of innermost stride 1, got stride 3
// CHECK-NEXT: self: 6 'add' expects result 'sum' whose elements do not overlap, got stride 0 in dimension 0
// CHECK-NEXT: alias: 7 'add' expects result 'sum' to share no memory with argument 'x', got an overlap
// CHECK-NEXT: output: 4 'add' expects result 'sum' of 3 in dimension 0, got 2
// CHECK-NEXT: no text: 4
// CHECK-NEXT: empty: 0
func.func @add(%x: tensor<?x8xf32>, %y: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x8xf32>
  %empty = tensor.empty(%m) : tensor<?x8xf32>
  %sum = linalg.add ins(%x, %y : tensor<?x8xf32>, tensor<?x8xf32>)
    outs(%empty : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %sum : tensor<?x8xf32>
}
