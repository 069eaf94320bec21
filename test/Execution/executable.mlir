// An executable reads .npy files and prints or writes what comes out; here for this machine and for another.
//
// REQUIRES: attnc, cc
// RUN: rm -rf %t && mkdir -p %t
// RUN: %python %S/Inputs/make-npy.py %t
// RUN: attnc %s -o %t/add
// RUN: %t/add %t/x.npy %t/y.npy | FileCheck %s
// RUN: %t/add %t/x.npy %t/y.npy -o %t/z.npy
// RUN: %t/add %t/z.npy %t/x.npy | FileCheck %s --check-prefix=AGAIN
// RUN: %python %S/../Tools/Inputs/status.py 2 %t/add %t/x.npy 2>&1 | FileCheck %s --check-prefix=USAGE
// RUN: %python %S/../Tools/Inputs/status.py 1 %t/add %t/x.npy %s 2>&1 | FileCheck %s --check-prefix=FILE
// RUN: %python %S/../Tools/Inputs/status.py 1 %t/add %t/x.npy %t/h.npy 2>&1 | FileCheck %s --check-prefix=TYPE

// CHECK: result 'sum' [2, 8]
// CHECK-NEXT: 0 101 202 303 404 505 606 707
// CHECK-NEXT: 808 909 1010 1111 1212 1313 1414 1515
// AGAIN: 0 102 204 306 408 510 612 714
// USAGE: usage: add FILE.npy FILE.npy [-o FILE.npy]...
// USAGE-NEXT: file 1: argument 'x'
// FILE: is not a .npy file
// TYPE: 'add' expects argument 'y' of element type f32, got f16 (1 lanes)
func.func @add(%x: tensor<?x8xf32>, %y: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x8xf32>
  %empty = tensor.empty(%m) : tensor<?x8xf32>
  %sum = linalg.add ins(%x, %y : tensor<?x8xf32>, tensor<?x8xf32>)
    outs(%empty : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %sum : tensor<?x8xf32>
}
