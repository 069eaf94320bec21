// Multi-head latent attention of DeepSeek. A prompt runs with keys of 192 channels (128 from the latent, 64 rotary) and
// values of 128. With the projections of keys and values moved into those of queries and outputs, a step of generation
// is attention of all heads on one shared key of 576 channels, whose first 512 are also the value: nothing is copied,
// and the cache is the latent alone. Both scale by 192.
//
// REQUIRES: attn-run, numpy
// RUN: attn-opt %s --verify-roundtrip -o /dev/null
// RUN: %numpy %root/test/Models/run.py deepseek_mla %s %t

func.func @prompt(%q: tensor<1x4x?x192xf32>, %k: tensor<1x4x?x192xf32>, %v: tensor<1x4x?x128xf32>)
    -> tensor<1x4x?x128xf32> {
  %o = attn.sdpa %q, %k, %v causal = bottom_right
    : tensor<1x4x?x192xf32>, tensor<1x4x?x192xf32>, tensor<1x4x?x128xf32> -> tensor<1x4x?x128xf32>
  return %o : tensor<1x4x?x128xf32>
}

func.func @step(%q: tensor<1x16x1x576xf32>, %cache: tensor<1x1x?x576xf32>, %lengths: tensor<1xi32>)
    -> tensor<1x16x1x512xf32> {
  %c2 = arith.constant 2 : index
  %n = tensor.dim %cache, %c2 : tensor<1x1x?x576xf32>
  %v = tensor.extract_slice %cache[0, 0, 0, 0] [1, 1, %n, 512] [1, 1, 1, 1]
    : tensor<1x1x?x576xf32> to tensor<1x1x?x512xf32>
  %o = attn.sdpa %q, %cache, %v kv_lengths(%lengths : tensor<1xi32>) scale = 0.07216878364870322
    : tensor<1x16x1x576xf32>, tensor<1x1x?x576xf32>, tensor<1x1x?x512xf32> -> tensor<1x16x1x512xf32>
  return %o : tensor<1x16x1x512xf32>
}
