// A sliding window: each row sees its own key and the 127 before it, so the work grows with the length and not with
// its square.
//
// RUN: attn-opt %s --verify-roundtrip -o /dev/null
// RUN: attn-run %s --verify --input=1x8x300x64xf32 --input=1x8x300x64xf32 --input=1x8x300x64xf32

func.func @window(%q: tensor<1x8x?x64xf32>, %k: tensor<1x8x?x64xf32>,
                  %v: tensor<1x8x?x64xf32>) -> tensor<1x8x?x64xf32> {
  %o = attn.sdpa %q, %k, %v causal = top_left window = <left = 127>
    : tensor<1x8x?x64xf32>, tensor<1x8x?x64xf32>, tensor<1x8x?x64xf32>
    -> tensor<1x8x?x64xf32>
  return %o : tensor<1x8x?x64xf32>
}
