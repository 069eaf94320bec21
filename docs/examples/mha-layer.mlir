// A whole attention layer of a decoder: projections of %x, rotary embedding at the given positions, causal attention
// with 8 query heads on 2 key heads, output projection. Weights are stored [out, in].
//
// RUN: attn-opt %s --verify-roundtrip -o /dev/null
// RUN: attn-run %s --verify --input=2x9x512xf32 --input=512x512xf32 --input=128x512xf32 --input=128x512xf32 \
// RUN:   --input=512x512xf32 --input=256x32xf32 --input=256x32xf32 --input=2x9xi32

func.func @layer(%x: tensor<?x?x512xf32>, %wq: tensor<512x512xf32>,
                 %wk: tensor<128x512xf32>, %wv: tensor<128x512xf32>,
                 %wo: tensor<512x512xf32>, %cos: tensor<256x32xf32>,
                 %sin: tensor<256x32xf32>, %positions: tensor<?x?xi32>)
    -> tensor<?x?x512xf32> {
  %y = attn.mha %x
    query(%wq : tensor<512x512xf32>) key(%wk : tensor<128x512xf32>)
    value(%wv : tensor<128x512xf32>) output(%wo : tensor<512x512xf32>)
    rope(%cos : tensor<256x32xf32>, %sin : tensor<256x32xf32>,
      %positions : tensor<?x?xi32>)
    heads = 8 kv_heads = 2 causal = top_left
    : tensor<?x?x512xf32> -> tensor<?x?x512xf32>
  return %y : tensor<?x?x512xf32>
}
