// Keys in pages on tensor cores: pages of one block of keys or more, pages of which a block has several, with windows,
// regions, few rows, and entries without keys. What the table says behind the keys of an entry is never read.
//
// REQUIRES: attn-run
// RUN: split-file %s %t
// DEFINE: %{make} = %python %S/Inputs/make-table.py
// DEFINE: %{run} = attn-run --device=cuda-emulated --verify --input=@%t/table.npy --input=@%t/lengths.npy
// RUN: %{make} %t/lengths.npy 2 0 75 0
// RUN: %{make} %t/table.npy 2 2 3 1 -9 700
// RUN: %{run} %t/large.mlir --input=2x4x40x64xf16 --input=4x2x64x64xf16 --input=4x2x64x64xf16 --emulator-seed=3 | FileCheck %s
// RUN: %{make} %t/lengths.npy 2 0 120 53
// RUN: %{make} %t/table.npy 2 8 6 1 7 0 3 2 9 5  4 8 1 6 -1 88 -3 9
// RUN: %{run} %t/small.mlir --input=2x4x40x64xf16 --input=10x2x16x64xf16 --input=10x2x16x64xf16 --emulator-seed=5 | FileCheck %s
// RUN: %{run} %t/window.mlir --input=2x4x9x40xf32 --input=10x24x2x40xf32 --input=10x24x2x72xf32 | FileCheck %s
// RUN: %{run} %t/window.mlir --input=2x4x37x40xf32 --input=10x24x2x40xf32 --input=10x24x2x72xf32 | FileCheck %s
// RUN: %{make} %t/lengths.npy 2 0 600 601
// RUN: %{make} %t/table.npy 2 80 0*37 7 1 2*36 9*5 3*37 9 1*38 8*4
// RUN: %{run} %t/one.mlir --input=2x8x1x32xbf16 --input=10x2x8x32xbf16 --input=10x2x8x32xbf16 | FileCheck %s
//
// A value that is NaN and has no weight leaves no NaN: then keys are taken one by one, from their pages too.
//
// RUN: %{make} %t/lengths.npy 2 0 30 20
// RUN: %{make} %t/table.npy 2 2 1 0 0 1
// RUN: %{run} %t/single.mlir --input=2x1x16x8xf32 --input=2x1x16x8xf32 | FileCheck %s
//
// Of static tables all pages but those of the last block are there as a whole.
//
// RUN: %{make} %t/table.npy 1 3 1 0 1
// RUN: %{make} %t/lengths.npy 1 0 40
// RUN: %{run} %t/whole.mlir --input=1x1x3x16xf16 --input=2x1x16x16xf16 --input=2x1x16x16xf16 | FileCheck %s
//
// A pool of one page is every page of a block.
//
// RUN: %{make} %t/table.npy 1 2 0 0
// RUN: %{make} %t/lengths.npy 1 0 13
// RUN: %{run} %t/same.mlir --input=1x1x1x16xf32 --input=1x1x8x16xf32 --input=1x1x8x16xf32 | FileCheck %s
//
// CHECK: pass: largest error

//--- large.mlir
func.func @large(%t: tensor<2x2xi32>, %n: tensor<2xi32>, %q: tensor<2x4x?x64xf16>, %k: tensor<?x2x64x64xf16>,
                 %v: tensor<?x2x64x64xf16>) -> tensor<2x4x?x64xf16> {
  %o = attn.sdpa %q, %k, %v kv_lengths(%n : tensor<2xi32>) page_table(%t : tensor<2x2xi32>)
    : tensor<2x4x?x64xf16>, tensor<?x2x64x64xf16>, tensor<?x2x64x64xf16> -> tensor<2x4x?x64xf16>
  return %o : tensor<2x4x?x64xf16>
}

//--- small.mlir
func.func @small(%t: tensor<2x?xi32>, %n: tensor<2xi32>, %q: tensor<2x4x40x64xf16>, %k: tensor<?x2x16x64xf16>,
                 %v: tensor<?x2x16x64xf16>) -> tensor<2x4x40x64xf16> {
  %c = arith.constant 70 : index
  %o = attn.sdpa %q, %k, %v kv_lengths(%n : tensor<2xi32>) page_table(%t : tensor<2x?xi32>)
    mask_mod(%b: index, %h: index, %i: index, %j: index) {
      %late = arith.cmpi uge, %j, %c : index
      attn.yield %late : i1
    }
    : tensor<2x4x40x64xf16>, tensor<?x2x16x64xf16>, tensor<?x2x16x64xf16> -> tensor<2x4x40x64xf16>
  return %o : tensor<2x4x40x64xf16>
}

//--- window.mlir
func.func @window(%t: tensor<2x?xi32>, %n: tensor<2xi32>, %q: tensor<2x4x?x40xf32>, %k: tensor<?x24x2x40xf32>,
                  %v: tensor<?x24x2x72xf32>) -> tensor<2x4x?x72xf32> {
  %o = attn.sdpa %q, %k, %v kv_lengths(%n : tensor<2xi32>) page_table(%t : tensor<2x?xi32>)
    causal = bottom_right window = <left = 40> layout = <key = bshd, value = bshd>
    : tensor<2x4x?x40xf32>, tensor<?x24x2x40xf32>, tensor<?x24x2x72xf32> -> tensor<2x4x?x72xf32>
  return %o : tensor<2x4x?x72xf32>
}

//--- one.mlir
func.func @one(%t: tensor<2x?xi32>, %n: tensor<2xi32>, %q: tensor<2x8x1x32xbf16>, %k: tensor<?x2x8x32xbf16>,
               %v: tensor<?x2x8x32xbf16>) -> (tensor<2x8x1x32xbf16>, tensor<2x8x1xf32>) {
  %o, %l = attn.sdpa %q, %k, %v kv_lengths(%n : tensor<2xi32>) page_table(%t : tensor<2x?xi32>)
    : tensor<2x8x1x32xbf16>, tensor<?x2x8x32xbf16>, tensor<?x2x8x32xbf16> -> tensor<2x8x1x32xbf16>, tensor<2x8x1xf32>
  return %o, %l : tensor<2x8x1x32xbf16>, tensor<2x8x1xf32>
}

//--- single.mlir
func.func @single(%t: tensor<2x2xi32>, %n: tensor<2xi32>, %k: tensor<2x1x16x8xf32>, %v: tensor<2x1x16x8xf32>)
    -> tensor<2x1x16x8xf32> {
  %nan = arith.constant 0x7FC00000 : f32
  %none = arith.constant 0xFF800000 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c10 = arith.constant 10 : index
  %q = arith.constant dense<0.5> : tensor<2x1x16x8xf32>
  %k0 = tensor.insert %none into %k[%c1, %c0, %c10, %c3] : tensor<2x1x16x8xf32>
  %v0 = tensor.insert %nan into %v[%c1, %c0, %c10, %c0] : tensor<2x1x16x8xf32>
  %o = attn.sdpa %q, %k0, %v0 kv_lengths(%n : tensor<2xi32>) page_table(%t : tensor<2x2xi32>)
    : tensor<2x1x16x8xf32>, tensor<2x1x16x8xf32>, tensor<2x1x16x8xf32> -> tensor<2x1x16x8xf32>
  return %o : tensor<2x1x16x8xf32>
}

//--- same.mlir
func.func @same(%t: tensor<1x2xi32>, %n: tensor<1xi32>, %q: tensor<1x1x1x16xf32>, %k: tensor<1x1x8x16xf32>,
                %v: tensor<1x1x8x16xf32>) -> tensor<1x1x1x16xf32> {
  %o = attn.sdpa %q, %k, %v kv_lengths(%n : tensor<1xi32>) page_table(%t : tensor<1x2xi32>)
    : tensor<1x1x1x16xf32>, tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32> -> tensor<1x1x1x16xf32>
  return %o : tensor<1x1x1x16xf32>
}

//--- whole.mlir
func.func @whole(%t: tensor<1x3xi32>, %n: tensor<1xi32>, %q: tensor<1x1x3x16xf16>, %k: tensor<?x1x16x16xf16>,
                 %v: tensor<?x1x16x16xf16>) -> tensor<1x1x3x16xf16> {
  %o = attn.sdpa %q, %k, %v page_table(%t : tensor<1x3xi32>)
    : tensor<1x1x3x16xf16>, tensor<?x1x16x16xf16>, tensor<?x1x16x16xf16> -> tensor<1x1x3x16xf16>
  return %o : tensor<1x1x3x16xf16>
}
