// Attention of Mistral 7B: causal, and no farther back than a window of 4096 keys (here 24). Blocks of keys outside of
// all rows' windows are not visited, so a long prompt costs M * window, and not M * M.
//
// REQUIRES: attn-run, numpy
// RUN: attn-opt %s --verify-roundtrip -o /dev/null
// RUN: %numpy %root/test/Models/run.py mistral %s %t

func.func @attention(%q: tensor<1x8x?x32xf32>, %k: tensor<1x2x?x32xf32>, %v: tensor<1x2x?x32xf32>)
    -> tensor<1x8x?x32xf32> {
  %o = attn.sdpa %q, %k, %v causal = bottom_right window = <left = 23>
    : tensor<1x8x?x32xf32>, tensor<1x2x?x32xf32>, tensor<1x2x?x32xf32> -> tensor<1x8x?x32xf32>
  return %o : tensor<1x8x?x32xf32>
}
