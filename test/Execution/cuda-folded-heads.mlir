// Few rows of the heads of a group in one tile, keys split over blocks, in the emulator.
//
// REQUIRES: attn-run
// RUN: split-file %s %t
// RUN: attn-run %t/causal.mlir --device=cuda-emulated --verify | FileCheck %s
// RUN: attn-run %t/window.mlir --device=cuda-emulated --verify | FileCheck %s
// RUN: attn-run %t/sinks-lse.mlir --device=cuda-emulated --verify | FileCheck %s
// RUN: attn-run %t/dynamic.mlir --device=cuda-emulated --verify --input=2x6x5x32xbf16 --input=2x2x530x32xbf16 --input=2x2x530x32xbf16 | FileCheck %s
// RUN: attn-run %t/dynamic.mlir --device=cuda-emulated --verify --input=2x6x1x32xbf16 --input=2x2x7x32xbf16 --input=2x2x7x32xbf16 | FileCheck %s
//
// CHECK: pass: largest error

//--- causal.mlir
func.func @causal(%q: tensor<1x8x4x64xf16>, %k: tensor<1x2x600x64xf16>, %v: tensor<1x2x600x64xf16>)
    -> tensor<1x8x4x64xf16> {
  %o = attn.sdpa %q, %k, %v causal = bottom_right
    : tensor<1x8x4x64xf16>, tensor<1x2x600x64xf16>,
      tensor<1x2x600x64xf16> -> tensor<1x8x4x64xf16>
  return %o : tensor<1x8x4x64xf16>
}

//--- window.mlir
func.func @window(%q: tensor<1x3x6x40xf16>, %k: tensor<1x540x2x40xf16>, %v: tensor<1x540x2x40xf16>)
    -> tensor<1x3x6x40xf16> {
  %o = attn.sdpa %q, %k, %v window = <left = 100, right = 5> layout = bshd
    : tensor<1x3x6x40xf16>, tensor<1x540x2x40xf16>,
      tensor<1x540x2x40xf16> -> tensor<1x3x6x40xf16>
  return %o : tensor<1x3x6x40xf16>
}

//--- sinks-lse.mlir
func.func @sinks_lse(%q: tensor<1x8x16x32xf32>, %k: tensor<1x1x520x32xf32>, %v: tensor<1x1x520x32xf32>, %s: tensor<8xf32>)
    -> (tensor<1x8x16x32xf32>, tensor<1x8x16xf32>) {
  %o:2 = attn.sdpa %q, %k, %v sinks(%s : tensor<8xf32>)
    : tensor<1x8x16x32xf32>, tensor<1x1x520x32xf32>,
      tensor<1x1x520x32xf32> -> tensor<1x8x16x32xf32>, tensor<1x8x16xf32>
  return %o#0, %o#1 : tensor<1x8x16x32xf32>, tensor<1x8x16xf32>
}

//--- dynamic.mlir
func.func @dynamic(%q: tensor<?x6x?x32xbf16>, %k: tensor<?x2x?x32xbf16>, %v: tensor<?x2x?x32xbf16>)
    -> tensor<?x6x?x32xbf16> {
  %o = attn.sdpa %q, %k, %v causal = bottom_right
    : tensor<?x6x?x32xbf16>, tensor<?x2x?x32xbf16>,
      tensor<?x2x?x32xbf16> -> tensor<?x6x?x32xbf16>
  return %o : tensor<?x6x?x32xbf16>
}
