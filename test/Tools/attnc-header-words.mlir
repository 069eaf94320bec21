// A header declares no function whose name is a word of C.
//
// REQUIRES: attnc
// RUN: not attnc %s --header=%t.h 2>&1 | FileCheck %s
// RUN: not attnc %s --target=sm_80 --header=%t.h 2>&1 | FileCheck %s

// CHECK: attnc-header-words.mlir:[[#@LINE+1]]:1: error: 'func.func' op expects a name that is no word of C or C++, got 'int'
func.func @int(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
