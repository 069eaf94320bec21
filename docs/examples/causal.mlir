// A decoder's prompt: row i sees the keys 0 .. i. Blocks of keys above the diagonal are never visited.
//
// RUN: attn-opt %s --verify-roundtrip -o /dev/null
// RUN: attn-run %s --verify --input=1x8x70x64xf32 --input=1x8x70x64xf32 --input=1x8x70x64xf32

func.func @causal(%q: tensor<1x8x?x64xf32>, %k: tensor<1x8x?x64xf32>,
                  %v: tensor<1x8x?x64xf32>) -> tensor<1x8x?x64xf32> {
  %o = attn.sdpa %q, %k, %v causal = top_left
    : tensor<1x8x?x64xf32>, tensor<1x8x?x64xf32>, tensor<1x8x?x64xf32>
    -> tensor<1x8x?x64xf32>
  return %o : tensor<1x8x?x64xf32>
}
