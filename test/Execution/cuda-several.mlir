// Several ops in one function on a GPU: each sees what the one before has written.
//
// REQUIRES: attn-run
// RUN: split-file %s %t
// RUN: attn-run %t/rope.mlir --device=cuda-emulated --verify | FileCheck %s
// RUN: attn-run %t/merge.mlir --device=cuda-emulated --verify | FileCheck %s
// RUN: attn-run %t/cache.mlir --device=cuda-emulated --verify --emulator-seed=1 --input=2x4x1x64xf16 --input=2x2x1x64xf16 --input=2x2x90x64xf16 --input=2xi32 | FileCheck %s
//
// CHECK: pass: largest error

// The weights of bf16 queries may be rounded, whatever the type of the result is.
//--- rope.mlir
func.func @rope(%q: tensor<2x4x19x64xbf16>, %k: tensor<2x2x50x64xbf16>, %cos: tensor<2x19x32xf32>,
                %sin: tensor<2x19x32xf32>) -> tensor<2x4x19x64xf32> {
  %turned = attn.rope %q, %cos, %sin rotary_dim = 64
    : tensor<2x4x19x64xbf16>, tensor<2x19x32xf32>, tensor<2x19x32xf32>
  %o = attn.sdpa %turned, %k, %k
    : tensor<2x4x19x64xbf16>, tensor<2x2x50x64xbf16>, tensor<2x2x50x64xbf16> -> tensor<2x4x19x64xf32>
  return %o : tensor<2x4x19x64xf32>
}

// Two parts of the keys.
//--- merge.mlir
func.func @merge(%q: tensor<1x2x9x64xf16>, %a: tensor<1x2x33x64xf16>, %b: tensor<1x2x70x64xf16>)
    -> (tensor<1x2x9x64xf16>, tensor<1x2x9xf32>) {
  %o, %l = attn.sdpa %q, %a, %a : tensor<1x2x9x64xf16>, tensor<1x2x33x64xf16>, tensor<1x2x33x64xf16>
    -> tensor<1x2x9x64xf16>, tensor<1x2x9xf32>
  %p, %m = attn.sdpa %q, %b, %b : tensor<1x2x9x64xf16>, tensor<1x2x70x64xf16>, tensor<1x2x70x64xf16>
    -> tensor<1x2x9x64xf16>, tensor<1x2x9xf32>
  %r, %s = attn.merge_outputs outputs(%o, %p) lses(%l, %m) : tensor<1x2x9x64xf16>, tensor<1x2x9xf32>
  return %r, %s : tensor<1x2x9x64xf16>, tensor<1x2x9xf32>
}

// A new key is in the cache before it is looked at.
//--- cache.mlir
func.func @cache(%q: tensor<2x4x1x64xf16>, %new: tensor<2x2x1x64xf16>, %old: tensor<2x2x?x64xf16>, %at: tensor<2xi32>)
    -> (tensor<2x4x1x64xf16>, tensor<2x2x?x64xf16>) {
  %k = attn.cache_append %new into %old at(%at : tensor<2xi32>) : tensor<2x2x1x64xf16> into tensor<2x2x?x64xf16>
  %o = attn.sdpa %q, %k, %k query_offset(%at : tensor<2xi32>) causal = top_left
    : tensor<2x4x1x64xf16>, tensor<2x2x?x64xf16>, tensor<2x2x?x64xf16> -> tensor<2x4x1x64xf16>
  return %o, %k : tensor<2x4x1x64xf16>, tensor<2x2x?x64xf16>
}
