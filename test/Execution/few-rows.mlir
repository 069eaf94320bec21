// Few rows against keys whose number comes from a loop, from an argument or from an
// element of one: they are split in chunks all the same.
//
// RUN: split-file %s %t
// RUN: attn-run %t/loop.mlir --verify | FileCheck %s
// RUN: attn-run %t/argument.mlir --verify | FileCheck %s
// RUN: attn-run %t/element.mlir --verify | FileCheck %s
// RUN: attn-run %t/element.mlir --device=cuda-emulated --verify | FileCheck %s
// RUN: attn-run %t/past.mlir --verify | FileCheck %s

// CHECK: pass: largest error {{.*}}, 0 elements beyond it

//--- loop.mlir

// Each number of keys from 1 to 130: the first rows see none at first.
func.func @loop(%q: tensor<1x2x3x8xf32>, %k: tensor<1x2x130x8xf32>, %v: tensor<1x2x130x8xf32>)
    -> tensor<130x2x3x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c130 = arith.constant 130 : index
  %empty = tensor.empty() : tensor<130x2x3x8xf32>
  %r = scf.for %i = %c0 to %c130 step %c1 iter_args(%all = %empty) -> (tensor<130x2x3x8xf32>) {
    %n = arith.addi %i, %c1 : index
    %ks = tensor.extract_slice %k[0, 0, 0, 0] [1, 2, %n, 8] [1, 1, 1, 1]
      : tensor<1x2x130x8xf32> to tensor<1x2x?x8xf32>
    %vs = tensor.extract_slice %v[0, 0, 0, 0] [1, 2, %n, 8] [1, 1, 1, 1]
      : tensor<1x2x130x8xf32> to tensor<1x2x?x8xf32>
    %o = attn.sdpa %q, %ks, %vs causal = bottom_right
      : tensor<1x2x3x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32> -> tensor<1x2x3x8xf32>
    %next = tensor.insert_slice %o into %all[%i, 0, 0, 0] [1, 2, 3, 8] [1, 1, 1, 1]
      : tensor<1x2x3x8xf32> into tensor<130x2x3x8xf32>
    scf.yield %next : tensor<130x2x3x8xf32>
  }
  return %r : tensor<130x2x3x8xf32>
}

//--- argument.mlir

// Integers of a random input are small: at most a few of the 3000 keys count.
func.func @argument(%q: tensor<1x4x1x8xf32>, %k: tensor<1x2x3000x8xf32>, %n: index)
    -> tensor<1x4x1x8xf32> {
  %ks = tensor.extract_slice %k[0, 0, 0, 0] [1, 2, %n, 8] [1, 1, 1, 1]
    : tensor<1x2x3000x8xf32> to tensor<1x2x?x8xf32>
  %o = attn.sdpa %q, %ks, %ks
    : tensor<1x4x1x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32> -> tensor<1x4x1x8xf32>
  return %o : tensor<1x4x1x8xf32>
}

//--- element.mlir

func.func @element(%q: tensor<1x4x1x8xf32>, %k: tensor<1x2x3000x8xf32>) -> tensor<1x4x1x8xf32> {
  %lengths = arith.constant dense<[1, 2500]> : tensor<2xi64>
  %c1 = arith.constant 1 : index
  %length = tensor.extract %lengths[%c1] : tensor<2xi64>
  %n = arith.index_cast %length : i64 to index
  %ks = tensor.extract_slice %k[0, 0, 0, 0] [1, 2, %n, 8] [1, 1, 1, 1]
    : tensor<1x2x3000x8xf32> to tensor<1x2x?x8xf32>
  %o = attn.sdpa %q, %ks, %ks
    : tensor<1x4x1x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32> -> tensor<1x4x1x8xf32>
  return %o : tensor<1x4x1x8xf32>
}

//--- past.mlir

// A loop of decoding steps: each token attends to a window of the cache that moves.
func.func @past(%q: tensor<1x2x20x8xf32>, %k: tensor<1x1x2100x8xf32>, %v: tensor<1x1x2100x8xf32>)
    -> tensor<1x2x20x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c20 = arith.constant 20 : index
  %c2081 = arith.constant 2081 : index
  %empty = tensor.empty() : tensor<1x2x20x8xf32>
  %r = scf.for %i = %c0 to %c20 step %c1 iter_args(%all = %empty) -> (tensor<1x2x20x8xf32>) {
    %n = arith.subi %c2081, %i : index
    %x = tensor.extract_slice %q[0, 0, %i, 0] [1, 2, 1, 8] [1, 1, 1, 1]
      : tensor<1x2x20x8xf32> to tensor<1x2x1x8xf32>
    %ks = tensor.extract_slice %k[0, 0, %i, 0] [1, 1, %n, 8] [1, 1, 1, 1]
      : tensor<1x1x2100x8xf32> to tensor<1x1x?x8xf32>
    %vs = tensor.extract_slice %v[0, 0, %i, 0] [1, 1, %n, 8] [1, 1, 1, 1]
      : tensor<1x1x2100x8xf32> to tensor<1x1x?x8xf32>
    %o = attn.sdpa %x, %ks, %vs
      : tensor<1x2x1x8xf32>, tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32> -> tensor<1x2x1x8xf32>
    %next = tensor.insert_slice %o into %all[0, 0, %i, 0] [1, 2, 1, 8] [1, 1, 1, 1]
      : tensor<1x2x1x8xf32> into tensor<1x2x20x8xf32>
    scf.yield %next : tensor<1x2x20x8xf32>
  }
  return %r : tensor<1x2x20x8xf32>
}
