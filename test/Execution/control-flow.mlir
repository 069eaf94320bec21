// Attention in loops and branches, on the CPU and on a GPU.
//
// REQUIRES: attn-run
// RUN: split-file %s %t
// RUN: %python %S/Inputs/make-table.py %t/two.npy 1 0 2
// RUN: attn-run %t/steps.mlir --verify | FileCheck %s
// RUN: attn-run %t/steps.mlir --device=cuda-emulated --verify | FileCheck %s
// RUN: attn-run %t/grows.mlir --verify | FileCheck %s
// RUN: attn-run %t/grows.mlir --device=cuda-emulated --verify | FileCheck %s
// RUN: attn-run %t/counted.mlir --verify --input=1x2x3x16xf16 --input=1x2x9x16xf16 --input=@%t/two.npy | FileCheck %s
// RUN: attn-run %t/counted.mlir --device=cuda-emulated --verify --input=1x2x3x16xf16 --input=1x2x9x16xf16 --input=@%t/two.npy | FileCheck %s
// RUN: attn-run %t/layers.mlir --device=cuda-emulated --verify --input=1x5x16xf16 --input=16x16xf16 --input=@%t/two.npy | FileCheck %s
// RUN: attn-run %t/dynamic.mlir --verify --input=1x2x5x16xf16 --input=1x2x9x16xf16 | FileCheck %s
// RUN: attn-run %t/dynamic.mlir --device=cuda-emulated --verify --input=1x2x5x16xf16 --input=1x2x9x16xf16 | FileCheck %s
// RUN: attn-run %t/branch.mlir --verify --input=1x1x5x16xf16 --input=1x1x9x16xf16 | FileCheck %s
// RUN: attn-run %t/branch.mlir --device=cuda-emulated --verify --input=1x1x5x16xf16 --input=1x1x9x16xf16 | FileCheck %s
// RUN: attn-run %t/branch.mlir --device=cuda-emulated --verify --input=1x1x2x16xf16 --input=1x1x9x16xf16 | FileCheck %s
//
// CHECK: pass: largest error

// Two tensors that change places.
//--- steps.mlir
func.func @steps(%q: tensor<1x2x9x16xf16>, %k: tensor<1x2x9x16xf16>) -> (tensor<1x2x9x16xf16>, tensor<1x2x9x16xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %q, %b = %k) -> (tensor<1x2x9x16xf16>, tensor<1x2x9x16xf16>) {
    %o = attn.sdpa %a, %b, %b : tensor<1x2x9x16xf16>, tensor<1x2x9x16xf16>, tensor<1x2x9x16xf16> -> tensor<1x2x9x16xf16>
    scf.yield %b, %o : tensor<1x2x9x16xf16>, tensor<1x2x9x16xf16>
  }
  return %r#0, %r#1 : tensor<1x2x9x16xf16>, tensor<1x2x9x16xf16>
}

// Extents that are not known, and the same in every step.
//--- dynamic.mlir
func.func @dynamic(%q: tensor<1x2x?x16xf16>, %k: tensor<1x2x?x16xf16>) -> tensor<1x2x?x16xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %q) -> tensor<1x2x?x16xf16> {
    %o = attn.sdpa %a, %k, %k causal = bottom_right
      : tensor<1x2x?x16xf16>, tensor<1x2x?x16xf16>, tensor<1x2x?x16xf16> -> tensor<1x2x?x16xf16>
    scf.yield %o : tensor<1x2x?x16xf16>
  }
  return %r : tensor<1x2x?x16xf16>
}

// A number that grows from step to step.
//--- grows.mlir
func.func @grows(%q: tensor<1x2x3x16xf16>, %k: tensor<1x2x32x16xf16>) -> tensor<1x2x3x16xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %q, %n = %c3) -> (tensor<1x2x3x16xf16>, index) {
    %ks = tensor.extract_slice %k[0, 0, 0, 0] [1, 2, %n, 16] [1, 1, 1, 1] : tensor<1x2x32x16xf16> to tensor<1x2x?x16xf16>
    %o = attn.sdpa %a, %ks, %ks : tensor<1x2x3x16xf16>, tensor<1x2x?x16xf16>, tensor<1x2x?x16xf16> -> tensor<1x2x3x16xf16>
    %next = arith.muli %n, %c3 : index
    scf.yield %o, %next : tensor<1x2x3x16xf16>, index
  }
  return %r#0 : tensor<1x2x3x16xf16>
}

// A number of steps that is data.
//--- counted.mlir
func.func @counted(%q: tensor<1x2x3x16xf16>, %k: tensor<1x2x9x16xf16>, %t: tensor<1xi32>) -> tensor<1x2x3x16xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %word = tensor.extract %t[%c0] : tensor<1xi32>
  %n = arith.index_cast %word : i32 to index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %q) -> tensor<1x2x3x16xf16> {
    %o = attn.sdpa %a, %k, %k : tensor<1x2x3x16xf16>, tensor<1x2x9x16xf16>, tensor<1x2x9x16xf16> -> tensor<1x2x3x16xf16>
    scf.yield %o : tensor<1x2x3x16xf16>
  }
  return %r : tensor<1x2x3x16xf16>
}

// So many layers.
//--- layers.mlir
func.func @layers(%x: tensor<1x5x16xf16>, %w: tensor<16x16xf16>, %t: tensor<1xi32>) -> tensor<1x5x16xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %word = tensor.extract %t[%c0] : tensor<1xi32>
  %n = arith.index_cast %word : i32 to index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<1x5x16xf16> {
    %y = attn.mha %a query(%w : tensor<16x16xf16>) key(%w : tensor<16x16xf16>)
      value(%w : tensor<16x16xf16>) output(%w : tensor<16x16xf16>) heads = 2
      : tensor<1x5x16xf16> -> tensor<1x5x16xf16>
    scf.yield %y : tensor<1x5x16xf16>
  }
  return %r : tensor<1x5x16xf16>
}

// A result of either branch, whose extents are not known.
//--- branch.mlir
func.func @branch(%q: tensor<1x1x?x16xf16>, %k: tensor<1x1x?x16xf16>) -> tensor<1x1x?x16xf16> {
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %m = tensor.dim %q, %c2 : tensor<1x1x?x16xf16>
  %c = arith.cmpi slt, %m, %c3 : index
  %r = scf.if %c -> tensor<1x1x?x16xf16> {
    %o = attn.sdpa %q, %k, %k causal = top_left : tensor<1x1x?x16xf16>, tensor<1x1x?x16xf16>, tensor<1x1x?x16xf16> -> tensor<1x1x?x16xf16>
    scf.yield %o : tensor<1x1x?x16xf16>
  } else {
    scf.yield %q : tensor<1x1x?x16xf16>
  }
  return %r : tensor<1x1x?x16xf16>
}
