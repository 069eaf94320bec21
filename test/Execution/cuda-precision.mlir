// Products of f32 by matrix instructions of tf32, and of three such for each, in the emulator with every access watched.
// An op says it, or the option for those that do not.
//
// REQUIRES: attn-run
// RUN: split-file %s %t
// RUN: attn-run %t/causal.mlir --device=cuda-emulated --verify --emulator-seed=3 | FileCheck %s --check-prefix=TF32
// RUN: attn-run %t/unequal.mlir --device=cuda-emulated --verify | FileCheck %s --check-prefix=TF32
// RUN: attn-run %t/wide.mlir --device=cuda-emulated --verify | FileCheck %s --check-prefix=TF32
// RUN: attn-run %t/operands.mlir --device=cuda-emulated --verify --precision=tf32 | FileCheck %s --check-prefix=TF32
// RUN: attn-run %t/operands.mlir --device=cuda-emulated --verify --precision=tf32x3 | FileCheck %s --check-prefix=THREE
// RUN: attn-run %t/decode.mlir --device=cuda-emulated --verify --precision=tf32 | FileCheck %s --check-prefix=TF32
// RUN: attn-run %t/decode.mlir --device=cuda-emulated --verify --precision=tf32x3 | FileCheck %s --check-prefix=THREE
// RUN: attn-run %t/layer.mlir --device=cuda-emulated --verify --precision=tf32 | FileCheck %s --check-prefix=TF32
// RUN: attn-run %t/layer.mlir --device=cuda-emulated --verify --precision=tf32x3 | FileCheck %s --check-prefix=THREE
//
// What tf32 loses shows; what three products lose is as little as in f32.
//
// TF32: pass: largest error {{0.0[0-9]+|[0-9.]+e-05}} at
// THREE: pass: largest error {{[0-9.]+}}e-0{{[5-8]}} at
//
// On a processor it has no effect.
//
// RUN: attn-run %t/causal.mlir --verify | FileCheck %s --check-prefix=THREE

//--- causal.mlir
func.func @causal(%q: tensor<1x2x37x80xf32>, %k: tensor<1x1x41x80xf32>, %v: tensor<1x1x41x80xf32>)
    -> tensor<1x2x37x80xf32> {
  %o = attn.sdpa %q, %k, %v causal = bottom_right precision = tf32
    : tensor<1x2x37x80xf32>, tensor<1x1x41x80xf32>, tensor<1x1x41x80xf32> -> tensor<1x2x37x80xf32>
  return %o : tensor<1x2x37x80xf32>
}

//--- unequal.mlir
func.func @unequal(%q: tensor<1x33x2x8xf32>, %k: tensor<1x35x2x8xf32>, %v: tensor<1x35x2x40xf32>)
    -> (tensor<1x33x2x40xf32>, tensor<1x2x33xf32>) {
  %n = arith.constant dense<31> : tensor<1xi32>
  %o, %l = attn.sdpa %q, %k, %v kv_lengths(%n : tensor<1xi32>) window = <left = 20> precision = tf32 layout = bshd
    : tensor<1x33x2x8xf32>, tensor<1x35x2x8xf32>, tensor<1x35x2x40xf32> -> tensor<1x33x2x40xf32>, tensor<1x2x33xf32>
  return %o, %l : tensor<1x33x2x40xf32>, tensor<1x2x33xf32>
}

//--- wide.mlir
func.func @wide(%q: tensor<1x1x19x256xf32>, %k: tensor<1x1x35x256xf32>, %v: tensor<1x1x35x256xf32>)
    -> tensor<1x1x19x256xf32> {
  %o = attn.sdpa %q, %k, %v precision = tf32
    : tensor<1x1x19x256xf32>, tensor<1x1x35x256xf32>, tensor<1x1x35x256xf32> -> tensor<1x1x19x256xf32>
  return %o : tensor<1x1x19x256xf32>
}

//--- decode.mlir
func.func @decode(%q: tensor<1x8x3x64xf32>, %k: tensor<1x2x530x64xf32>, %v: tensor<1x2x530x64xf32>)
    -> tensor<1x8x3x64xf32> {
  %o = attn.sdpa %q, %k, %v causal = bottom_right
    : tensor<1x8x3x64xf32>, tensor<1x2x530x64xf32>, tensor<1x2x530x64xf32> -> tensor<1x8x3x64xf32>
  return %o : tensor<1x8x3x64xf32>
}

//--- operands.mlir
func.func @operands(%q: tensor<1x2x33x40xf32>, %k: tensor<1x2x67x40xf32>, %v: tensor<1x2x67x40xf32>,
    %bias: tensor<2x33x67xf32>, %mask: tensor<67xi1>, %slopes: tensor<2xf32>) -> tensor<1x2x33x40xf32> {
  %o = attn.sdpa %q, %k, %v bias(%bias : tensor<2x33x67xf32>) mask(%mask : tensor<67xi1>) softcap = 5.0
    score_mod = alibi(%slopes : tensor<2xf32>)
    : tensor<1x2x33x40xf32>, tensor<1x2x67x40xf32>, tensor<1x2x67x40xf32> -> tensor<1x2x33x40xf32>
  return %o : tensor<1x2x33x40xf32>
}

//--- layer.mlir
func.func @layer(%x: tensor<1x35x48xf32>, %q: tensor<64x48xf32>, %k: tensor<32x48xf32>, %o: tensor<48x64xf32>,
    %b: tensor<64xf32>) -> tensor<1x35x48xf32> {
  %y = attn.mha %x query(%q : tensor<64x48xf32>, %b : tensor<64xf32>) key(%k : tensor<32x48xf32>)
    value(%k : tensor<32x48xf32>) output(%o : tensor<48x64xf32>) heads = 4 kv_heads = 2 scale = 0.001 causal = top_left
    : tensor<1x35x48xf32> -> tensor<1x35x48xf32>
  return %y : tensor<1x35x48xf32>
}
