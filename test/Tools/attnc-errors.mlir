// An error in the input has its place in the source, and leaves no output.
//
// REQUIRES: attnc
// RUN: rm -f %t.o
// RUN: not attnc %s -o %t.o 2>&1 | FileCheck %s
// RUN: not ls %t.o
// RUN: not attnc %s --header=%t.h 2>&1 | FileCheck %s

// CHECK: attnc-errors.mlir:[[#@LINE+1]]:1: error: 'func.func' op expects result 0 to be a ranked tensor or a scalar that C can name, got 'tensor<8xi4>'
func.func @nibbles(%x: tensor<8xi8>) -> tensor<8xi4> {
  %y = arith.trunci %x : tensor<8xi8> to tensor<8xi4>
  return %y : tensor<8xi4>
}
