// A module of the phase llvm, as attnc leaves it, becomes LLVM IR.
//
// REQUIRES: attnc, attn-translate
// RUN: attnc %s --stop-after=llvm | attn-translate --attn-to-llvmir \
// RUN:   | FileCheck %s

// CHECK-DAG: target triple =
// CHECK-DAG: define {{.*}}i32 @twice(ptr
func.func @twice(%x: tensor<8xf32>) -> tensor<8xf32> {
  %empty = tensor.empty() : tensor<8xf32>
  %y = linalg.add ins(%x, %x : tensor<8xf32>, tensor<8xf32>)
    outs(%empty : tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}
