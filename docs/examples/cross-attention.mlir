// Text looks at an image: 77 rows, 257 keys, and a value head of another size than the key head. The second result is
// the logarithm of each row's sum, with which parts of an attention can be merged.
//
// RUN: attn-opt %s --verify-roundtrip -o /dev/null
// RUN: attn-run %s --verify

func.func @cross(%q: tensor<2x12x77x64xf32>, %k: tensor<2x12x257x64xf32>,
                 %v: tensor<2x12x257x80xf32>)
    -> (tensor<2x12x77x80xf32>, tensor<2x12x77xf32>) {
  %o, %lse = attn.sdpa %q, %k, %v
    : tensor<2x12x77x64xf32>, tensor<2x12x257x64xf32>, tensor<2x12x257x80xf32>
    -> tensor<2x12x77x80xf32>, tensor<2x12x77xf32>
  return %o, %lse : tensor<2x12x77x80xf32>, tensor<2x12x77xf32>
}
