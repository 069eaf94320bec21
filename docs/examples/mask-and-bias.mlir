// A boolean mask over the keys (true = attend) and a bias on the scores, each as small as what it says: the mask is
// one row for each batch entry, the bias one matrix for each head. Neither is ever broadcast in memory.
//
// RUN: attn-opt %s --verify-roundtrip -o /dev/null
// RUN: attn-run %s --verify

func.func @masked(%q: tensor<2x8x40x64xf32>, %k: tensor<2x8x50x64xf32>,
                  %v: tensor<2x8x50x64xf32>, %bias: tensor<8x40x50xf32>,
                  %mask: tensor<2x1x1x50xi1>) -> tensor<2x8x40x64xf32> {
  %o = attn.sdpa %q, %k, %v bias(%bias : tensor<8x40x50xf32>)
    mask(%mask : tensor<2x1x1x50xi1>)
    : tensor<2x8x40x64xf32>, tensor<2x8x50x64xf32>, tensor<2x8x50x64xf32>
    -> tensor<2x8x40x64xf32>
  return %o : tensor<2x8x40x64xf32>
}
