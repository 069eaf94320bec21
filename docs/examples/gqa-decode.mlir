// One new token against a cache: 32 query heads share 8 key heads, four each, and keys are not repeated in memory.
// `bottom_right` puts the row at the end of the cache, so it sees all of it; written like this the function also
// serves a few tokens at once, each of which sees the keys up to its own.
//
// RUN: attn-opt %s --verify-roundtrip -o /dev/null
// RUN: attn-run %s --verify --input=1x32x1x128xf32 --input=1x8x300x128xf32 --input=1x8x300x128xf32

func.func @decode(%q: tensor<1x32x?x128xf32>, %k: tensor<1x8x?x128xf32>,
                  %v: tensor<1x8x?x128xf32>) -> tensor<1x32x?x128xf32> {
  %o = attn.sdpa %q, %k, %v causal = bottom_right
    : tensor<1x32x?x128xf32>, tensor<1x8x?x128xf32>, tensor<1x8x?x128xf32>
    -> tensor<1x32x?x128xf32>
  return %o : tensor<1x32x?x128xf32>
}
