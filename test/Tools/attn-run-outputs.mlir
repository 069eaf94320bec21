// Each result has a file of its own.
//
// REQUIRES: attn-run
// RUN: rm -f %t.npy
// RUN: not attn-run %s --output=%t.npy --output=%t.npy 2>&1 | FileCheck %s
// RUN: not ls %t.npy
// RUN: attn-run %s --output=/dev/null --output=/dev/null
//
// CHECK: attn-run: expects different files for results, got --output={{.*}}.npy again
func.func @both(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  return %x, %y : tensor<8xf32>, tensor<8xf32>
}
