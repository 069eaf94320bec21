// Sentences of different lengths in one batch: entry b has %lengths[b] keys, the rest is padding. What padding holds,
// NaN included, has no effect, and its blocks cost nothing.
//
// RUN: attn-opt %s --verify-roundtrip -o /dev/null
// RUN: attn-run %s --verify --input=3x12x9x32xf32 --input=3x12x9x32xf32 --input=3x12x9x32xf32 --input=3xi32

func.func @padding(%q: tensor<?x12x?x32xf32>, %k: tensor<?x12x?x32xf32>,
                   %v: tensor<?x12x?x32xf32>, %lengths: tensor<?xi32>)
    -> tensor<?x12x?x32xf32> {
  %o = attn.sdpa %q, %k, %v kv_lengths(%lengths : tensor<?xi32>)
    : tensor<?x12x?x32xf32>, tensor<?x12x?x32xf32>, tensor<?x12x?x32xf32>
    -> tensor<?x12x?x32xf32>
  return %o : tensor<?x12x?x32xf32>
}
