// Code for another CPU is refused with a message, not with an illegal instruction.
//
// REQUIRES: attnc, cc, x86_64
// RUN: rm -rf %t && mkdir -p %t
// RUN: %python %S/Inputs/make-npy.py %t
// RUN: attnc %s -o %t/twice --target=x86_64-linux-gnu:diamondrapids
// RUN: %python %S/../Tools/Inputs/status.py 1 %t/twice %t/x.npy 2>&1 \
// RUN:   | FileCheck %s
// RUN: attnc %s -o %t/old --target=x86_64-linux-gnu
// RUN: %t/old %t/x.npy | FileCheck %s --check-prefix=OLD

// CHECK: 'twice' expects a CPU with the feature '{{.*}}', got one without
// OLD: result 'y' [2, 8]
// OLD-NEXT: 0 2 4 6 8 10 12 14
func.func @twice(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %empty = tensor.empty() : tensor<2x8xf32>
  %y = linalg.add ins(%x, %x : tensor<2x8xf32>, tensor<2x8xf32>)
    outs(%empty : tensor<2x8xf32>) -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}
