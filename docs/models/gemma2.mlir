// Attention of Gemma 2: scores are capped at 50, the scale comes from the model and not from the size of a head, and
// every other layer sees only a window of keys.
//
// REQUIRES: attn-run, numpy
// RUN: attn-opt %s --verify-roundtrip -o /dev/null
// RUN: %numpy %root/test/Models/run.py gemma2 %s %t

// A layer with a window: a row sees itself and the 31 keys before it.
func.func @local(%q: tensor<1x8x?x32xf32>, %k: tensor<1x4x?x32xf32>, %v: tensor<1x4x?x32xf32>)
    -> tensor<1x8x?x32xf32> {
  %o = attn.sdpa %q, %k, %v scale = 0.0625 causal = bottom_right window = <left = 31> softcap = 50.0
    : tensor<1x8x?x32xf32>, tensor<1x4x?x32xf32>, tensor<1x4x?x32xf32> -> tensor<1x8x?x32xf32>
  return %o : tensor<1x8x?x32xf32>
}

// A layer without.
func.func @global(%q: tensor<1x8x?x32xf32>, %k: tensor<1x4x?x32xf32>, %v: tensor<1x4x?x32xf32>)
    -> tensor<1x8x?x32xf32> {
  %o = attn.sdpa %q, %k, %v scale = 0.0625 causal = bottom_right softcap = 50.0
    : tensor<1x8x?x32xf32>, tensor<1x4x?x32xf32>, tensor<1x4x?x32xf32> -> tensor<1x8x?x32xf32>
  return %o : tensor<1x8x?x32xf32>
}
