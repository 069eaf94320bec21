// attn.linear_attention compiled, against the straight-loop reference and the
// interpreter: every rule, lengths round a chunk's, sizes that fit no tile.
//
// REQUIRES: attn-run
//
// RUN: split-file %s %t
//
// RUN: attn-run %t/linear.mlir --input=1x4x64x60xf32 --input=1x2x64x60xf32 --input=1x2x64x96xf32 --verify | FileCheck %s
// RUN: attn-run %t/linear.mlir --input=1x4x500x60xf32 --input=1x2x500x60xf32 --input=1x2x500x96xf32 --verify | FileCheck %s
// RUN: attn-run %t/gated.mlir --input=1x4x0x60xf32 --input=1x2x0x60xf32 --input=1x2x0x96xf32 --input=1x2x0xf32 --verify | FileCheck %s
// RUN: attn-run %t/gated.mlir --input=1x4x1x60xf32 --input=1x2x1x60xf32 --input=1x2x1x96xf32 --input=1x2x1xf32 --verify | FileCheck %s
// RUN: attn-run %t/gated.mlir --input=1x4x63x60xf32 --input=1x2x63x60xf32 --input=1x2x63x96xf32 --input=1x2x63xf32 --verify | FileCheck %s
// RUN: attn-run %t/gated.mlir --input=1x4x64x60xf32 --input=1x2x64x60xf32 --input=1x2x64x96xf32 --input=1x2x64xf32 --verify | FileCheck %s
// RUN: attn-run %t/gated.mlir --input=1x4x65x60xf32 --input=1x2x65x60xf32 --input=1x2x65x96xf32 --input=1x2x65xf32 --verify | FileCheck %s
// RUN: attn-run %t/gated_channels.mlir --input=1x4x1x60xf32 --input=1x2x1x60xf32 --input=1x2x1x96xf32 --input=1x2x1x60xf32 --verify | FileCheck %s
// RUN: attn-run %t/gated_channels.mlir --input=1x4x3x60xf32 --input=1x2x3x60xf32 --input=1x2x3x96xf32 --input=1x2x3x60xf32 --verify | FileCheck %s
// RUN: attn-run %t/gated_channels.mlir --input=1x4x8x60xf32 --input=1x2x8x60xf32 --input=1x2x8x96xf32 --input=1x2x8x60xf32 --verify | FileCheck %s
// RUN: attn-run %t/gated_channels.mlir --input=1x4x65x60xf32 --input=1x2x65x60xf32 --input=1x2x65x96xf32 --input=1x2x65x60xf32 --verify | FileCheck %s
// RUN: attn-run %t/delta.mlir --input=1x4x65x60xf32 --input=1x2x65x60xf32 --input=1x2x65x96xf32 --input=1x2x65xf32 --verify | FileCheck %s
// RUN: attn-run %t/gated_delta.mlir --input=1x4x1x60xf32 --input=1x2x1x60xf32 --input=1x2x1x96xf32 --input=1x2x1xf32 --input=1x1x1xf32 --verify | FileCheck %s
// RUN: attn-run %t/gated_delta.mlir --input=1x4x8x60xf32 --input=1x2x8x60xf32 --input=1x2x8x96xf32 --input=1x2x8xf32 --input=1x1x8xf32 --verify | FileCheck %s
// RUN: attn-run %t/gated_delta.mlir --input=1x4x63x60xf32 --input=1x2x63x60xf32 --input=1x2x63x96xf32 --input=1x2x63xf32 --input=1x1x63xf32 --verify | FileCheck %s
// RUN: attn-run %t/gated_delta.mlir --input=1x4x64x60xf32 --input=1x2x64x60xf32 --input=1x2x64x96xf32 --input=1x2x64xf32 --input=1x1x64xf32 --verify | FileCheck %s
// RUN: attn-run %t/gated_delta.mlir --input=1x4x65x60xf32 --input=1x2x65x60xf32 --input=1x2x65x96xf32 --input=1x2x65xf32 --input=1x1x65xf32 --verify | FileCheck %s
// RUN: attn-run %t/gated_delta.mlir --input=1x4x500x60xf32 --input=1x2x500x60xf32 --input=1x2x500x96xf32 --input=1x2x500xf32 --input=1x1x500xf32 --verify | FileCheck %s
// RUN: attn-run %t/gated_delta_channels.mlir --input=1x4x3x60xf32 --input=1x2x3x60xf32 --input=1x2x3x96xf32 --input=1x2x3x60xf32 --input=1x2x3xf32 --verify | FileCheck %s
// RUN: attn-run %t/gated_delta_channels.mlir --input=1x4x64x60xf32 --input=1x2x64x60xf32 --input=1x2x64x96xf32 --input=1x2x64x60xf32 --input=1x2x64xf32 --verify | FileCheck %s
// RUN: attn-run %t/gated_delta_channels.mlir --input=1x4x65x60xf32 --input=1x2x65x60xf32 --input=1x2x65x96xf32 --input=1x2x65x60xf32 --input=1x2x65xf32 --verify | FileCheck %s
//
// RUN: attn-run %t/forgets.mlir --verify | FileCheck %s
// RUN: attn-run %t/largest.mlir --verify | FileCheck %s
// RUN: attn-run %t/grows.mlir --verify | FileCheck %s
// RUN: attn-run %t/states.mlir --verify | FileCheck %s
// RUN: attn-run %t/encoder.mlir --input=2x9x4x16xf16 --input=2x70x2x16xf16 --input=2x70x2x24xf16 --verify | FileCheck %s
// RUN: attn-run %t/dynamic.mlir --input=2x4x70x16xf64 --input=2x2x70x16xf64 --input=2x2x70x5xf64 --input=2x2x70xf64 --verify | FileCheck %s
// RUN: attn-run %t/dynamic.mlir --input=1x1x1x1xf64 --input=1x1x1x1xf64 --input=1x1x1x1xf64 --input=1x1x1xf64 --verify | FileCheck %s
// RUN: attn-run %t/dynamic.mlir --input=2x4x9x0xf64 --input=2x2x9x0xf64 --input=2x2x9x5xf64 --input=2x2x9xf64 --verify | FileCheck %s
// RUN: attn-run %t/dynamic.mlir --input=2x4x9x3xf64 --input=2x2x9x3xf64 --input=2x2x9x0xf64 --input=2x2x9xf64 --verify | FileCheck %s
// RUN: attn-run %t/dynamic.mlir --input=2x0x9x3xf64 --input=2x0x9x3xf64 --input=2x0x9x5xf64 --input=2x0x9xf64 --verify | FileCheck %s

// CHECK: pass: largest error {{.*}}, 0 elements beyond it

//--- linear.mlir

func.func @linear(%q: tensor<1x4x?x60xf32>, %k: tensor<1x2x?x60xf32>,
                  %v: tensor<1x2x?x96xf32>)
    -> (tensor<1x4x?x96xf32>, tensor<1x2x60x96xf32>) {
  %o, %s = attn.linear_attention %q, %k, %v rule = linear
    : tensor<1x4x?x60xf32>, tensor<1x2x?x60xf32>, tensor<1x2x?x96xf32>
    -> tensor<1x4x?x96xf32> state(tensor<1x2x60x96xf32>)
  return %o, %s : tensor<1x4x?x96xf32>, tensor<1x2x60x96xf32>
}

//--- gated.mlir

func.func @gated(%q: tensor<1x4x?x60xf32>, %k: tensor<1x2x?x60xf32>,
                 %v: tensor<1x2x?x96xf32>, %g: tensor<1x2x?xf32>)
    -> (tensor<1x4x?x96xf32>, tensor<1x2x60x96xf32>) {
  %o, %s = attn.linear_attention %q, %k, %v decay(%g : tensor<1x2x?xf32>)
    rule = gated
    : tensor<1x4x?x60xf32>, tensor<1x2x?x60xf32>, tensor<1x2x?x96xf32>
    -> tensor<1x4x?x96xf32> state(tensor<1x2x60x96xf32>)
  return %o, %s : tensor<1x4x?x96xf32>, tensor<1x2x60x96xf32>
}

//--- gated_channels.mlir

func.func @gated_channels(%q: tensor<1x4x?x60xf32>, %k: tensor<1x2x?x60xf32>,
                          %v: tensor<1x2x?x96xf32>, %g: tensor<1x2x?x60xf32>)
    -> (tensor<1x4x?x96xf32>, tensor<1x2x60x96xf32>) {
  %o, %s = attn.linear_attention %q, %k, %v decay(%g : tensor<1x2x?x60xf32>)
    rule = gated
    : tensor<1x4x?x60xf32>, tensor<1x2x?x60xf32>, tensor<1x2x?x96xf32>
    -> tensor<1x4x?x96xf32> state(tensor<1x2x60x96xf32>)
  return %o, %s : tensor<1x4x?x96xf32>, tensor<1x2x60x96xf32>
}

//--- delta.mlir

// Keys of a delta rule are a tenth as long: with longer ones it overshoots, and
// grows without bound.
func.func private @shorten(%k: tensor<1x2x?x60xf32>) -> tensor<1x2x?x60xf32> {
  %tenth = arith.constant 0.1 : f32
  %r = linalg.map ins(%k : tensor<1x2x?x60xf32>) outs(%k : tensor<1x2x?x60xf32>)
    (%x: f32, %y: f32) {
      %z = arith.mulf %x, %tenth : f32
      linalg.yield %z : f32
    }
  return %r : tensor<1x2x?x60xf32>
}

func.func @delta(%q: tensor<1x4x?x60xf32>, %long: tensor<1x2x?x60xf32>,
                 %v: tensor<1x2x?x96xf32>, %b: tensor<1x2x?xf32>)
    -> (tensor<1x4x?x96xf32>, tensor<1x2x60x96xf32>) {
  %k = call @shorten(%long) : (tensor<1x2x?x60xf32>) -> tensor<1x2x?x60xf32>
  %o, %s = attn.linear_attention %q, %k, %v beta(%b : tensor<1x2x?xf32>)
    rule = delta
    : tensor<1x4x?x60xf32>, tensor<1x2x?x60xf32>, tensor<1x2x?x96xf32>
    -> tensor<1x4x?x96xf32> state(tensor<1x2x60x96xf32>)
  return %o, %s : tensor<1x4x?x96xf32>, tensor<1x2x60x96xf32>
}

//--- gated_delta.mlir

func.func private @shorten(%k: tensor<1x2x?x60xf32>) -> tensor<1x2x?x60xf32> {
  %tenth = arith.constant 0.1 : f32
  %r = linalg.map ins(%k : tensor<1x2x?x60xf32>) outs(%k : tensor<1x2x?x60xf32>)
    (%x: f32, %y: f32) {
      %z = arith.mulf %x, %tenth : f32
      linalg.yield %z : f32
    }
  return %r : tensor<1x2x?x60xf32>
}

func.func @gated_delta(%q: tensor<1x4x?x60xf32>, %long: tensor<1x2x?x60xf32>,
                       %v: tensor<1x2x?x96xf32>, %g: tensor<1x2x?xf32>,
                       %b: tensor<1x1x?xf32>)
    -> (tensor<1x4x?x96xf32>, tensor<1x2x60x96xf32>) {
  %k = call @shorten(%long) : (tensor<1x2x?x60xf32>) -> tensor<1x2x?x60xf32>
  %o, %s = attn.linear_attention %q, %k, %v decay(%g : tensor<1x2x?xf32>)
    beta(%b : tensor<1x1x?xf32>) rule = gated_delta
    : tensor<1x4x?x60xf32>, tensor<1x2x?x60xf32>, tensor<1x2x?x96xf32>
    -> tensor<1x4x?x96xf32> state(tensor<1x2x60x96xf32>)
  return %o, %s : tensor<1x4x?x96xf32>, tensor<1x2x60x96xf32>
}

//--- gated_delta_channels.mlir

func.func private @shorten(%k: tensor<1x2x?x60xf32>) -> tensor<1x2x?x60xf32> {
  %tenth = arith.constant 0.1 : f32
  %r = linalg.map ins(%k : tensor<1x2x?x60xf32>) outs(%k : tensor<1x2x?x60xf32>)
    (%x: f32, %y: f32) {
      %z = arith.mulf %x, %tenth : f32
      linalg.yield %z : f32
    }
  return %r : tensor<1x2x?x60xf32>
}

func.func @gated_delta_channels(%q: tensor<1x4x?x60xf32>,
                                %long: tensor<1x2x?x60xf32>,
                                %v: tensor<1x2x?x96xf32>,
                                %g: tensor<1x2x?x60xf32>,
                                %b: tensor<1x2x?xf32>)
    -> (tensor<1x4x?x96xf32>, tensor<1x2x60x96xf32>) {
  %k = call @shorten(%long) : (tensor<1x2x?x60xf32>) -> tensor<1x2x?x60xf32>
  %o, %s = attn.linear_attention %q, %k, %v decay(%g : tensor<1x2x?x60xf32>)
    beta(%b : tensor<1x2x?xf32>) rule = gated_delta
    : tensor<1x4x?x60xf32>, tensor<1x2x?x60xf32>, tensor<1x2x?x96xf32>
    -> tensor<1x4x?x96xf32> state(tensor<1x2x60x96xf32>)
  return %o, %s : tensor<1x4x?x96xf32>, tensor<1x2x60x96xf32>
}

//--- forgets.mlir

// A decay of -50 a step over 4097 steps: products of exponentials are far below
// every number, and no quotient of two of them is taken.
func.func @forgets(%q: tensor<1x1x4097x8xf32>, %k: tensor<1x1x4097x8xf32>,
                   %v: tensor<1x1x4097x5xf32>)
    -> (tensor<1x1x4097x5xf32>, tensor<1x1x4097x5xf32>, tensor<1x1x8x5xf32>) {
  %g = arith.constant dense<-50.0> : tensor<1x1x4097xf32>
  %c = arith.constant dense<-50.0> : tensor<1x1x4097x8xf32>
  %b = arith.constant dense<0.2> : tensor<1x1x4097xf32>
  %o = attn.linear_attention %q, %k, %v decay(%g : tensor<1x1x4097xf32>)
    rule = gated
    : tensor<1x1x4097x8xf32>, tensor<1x1x4097x8xf32>, tensor<1x1x4097x5xf32>
    -> tensor<1x1x4097x5xf32>
  %p, %s = attn.linear_attention %q, %k, %v decay(%c : tensor<1x1x4097x8xf32>)
    beta(%b : tensor<1x1x4097xf32>) rule = gated_delta
    : tensor<1x1x4097x8xf32>, tensor<1x1x4097x8xf32>, tensor<1x1x4097x5xf32>
    -> tensor<1x1x4097x5xf32> state(tensor<1x1x8x5xf32>)
  return %o, %p, %s
    : tensor<1x1x4097x5xf32>, tensor<1x1x4097x5xf32>, tensor<1x1x8x5xf32>
}

//--- states.mlir

// States go in and out, and a mean is taken over positive features.
func.func @states(%q: tensor<2x70x6x16xbf16>, %k: tensor<2x2x70x16xbf16>,
                  %v: tensor<2x70x2x33xbf16>, %g: tensor<2x2x70x16xf32>,
                  %s: tensor<2x2x16x33xf32>, %z: tensor<2x2x16xf32>)
    -> (tensor<2x6x70x33xbf16>, tensor<2x2x16x33xf32>, tensor<2x2x16xf32>) {
  %o, %n, %m = attn.linear_attention %q, %k, %v
    decay(%g : tensor<2x2x70x16xf32>) state(%s : tensor<2x2x16x33xf32>)
    normalizer(%z : tensor<2x2x16xf32>) rule = gated feature_map = exp normalize
    layout = <query = bshd, value = bshd>
    : tensor<2x70x6x16xbf16>, tensor<2x2x70x16xbf16>, tensor<2x70x2x33xbf16>
    -> tensor<2x6x70x33xbf16> state(tensor<2x2x16x33xf32>)
    normalizer(tensor<2x2x16xf32>)
  return %o, %n, %m
    : tensor<2x6x70x33xbf16>, tensor<2x2x16x33xf32>, tensor<2x2x16xf32>
}

//--- largest.mlir

// The exponential of a number is right up to the largest that has one in f32, 88.72, and of no number.
func.func @largest() -> tensor<1x1x6x1xf32> {
  %q = arith.constant dense<0.0> : tensor<1x1x6x1xf32>
  %k = arith.constant dense<[[[[-88.5], [86.5], [87.4], [88.0], [88.5], [88.7]]]]> : tensor<1x1x6x1xf32>
  %v = arith.constant dense<[[[[0.5], [0.5], [-0.25], [0.25], [-0.5], [0.5]]]]> : tensor<1x1x6x1xf32>
  %o = attn.linear_attention %q, %k, %v rule = linear feature_map = exp
    : tensor<1x1x6x1xf32>, tensor<1x1x6x1xf32>, tensor<1x1x6x1xf32> -> tensor<1x1x6x1xf32>
  return %o : tensor<1x1x6x1xf32>
}

//--- grows.mlir

// Positive decays are computed as written, a step of 88 too.
func.func @grows(%q: tensor<1x1x9x3xf32>, %k: tensor<1x1x9x3xf32>, %v: tensor<1x1x9x5xf32>)
    -> (tensor<1x1x9x5xf32>, tensor<1x1x3x5xf32>) {
  %g = arith.constant dense<[[[88.0, -88.0, 20.0, 20.0, 40.0, -70.0, -10.0, 30.0, -30.0]]]> : tensor<1x1x9xf32>
  %s = arith.constant dense<1.0e-8> : tensor<1x1x3x5xf32>
  %o, %n = attn.linear_attention %q, %k, %v decay(%g : tensor<1x1x9xf32>) state(%s : tensor<1x1x3x5xf32>) rule = gated
    : tensor<1x1x9x3xf32>, tensor<1x1x9x3xf32>, tensor<1x1x9x5xf32>
    -> tensor<1x1x9x5xf32> state(tensor<1x1x3x5xf32>)
  return %o, %n : tensor<1x1x9x5xf32>, tensor<1x1x3x5xf32>
}

//--- encoder.mlir

func.func @encoder(%q: tensor<2x?x4x16xf16>, %k: tensor<2x?x2x16xf16>,
                   %v: tensor<2x?x2x24xf16>)
    -> (tensor<2x?x4x24xf16>, tensor<2x2x16x24xf32>) {
  %o, %s = attn.linear_attention %q, %k, %v rule = linear feature_map = elu1
    normalize non_causal layout = bshd
    : tensor<2x?x4x16xf16>, tensor<2x?x2x16xf16>, tensor<2x?x2x24xf16>
    -> tensor<2x?x4x24xf16> state(tensor<2x2x16x24xf32>)
  return %o, %s : tensor<2x?x4x24xf16>, tensor<2x2x16x24xf32>
}

//--- dynamic.mlir

func.func @dynamic(%q: tensor<?x?x?x?xf64>, %k: tensor<?x?x?x?xf64>,
                   %v: tensor<?x?x?x?xf64>, %g: tensor<?x?x?xf64>)
    -> (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>) {
  %o, %s = attn.linear_attention %q, %k, %v decay(%g : tensor<?x?x?xf64>)
    rule = gated
    : tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>
    -> tensor<?x?x?x?xf64> state(tensor<?x?x?x?xf64>)
  return %o, %s : tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>
}
