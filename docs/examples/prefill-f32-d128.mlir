// Attention over a whole prompt, in 32-bit floats: 8 heads of 128 channels, every row sees every key. The number of rows and of
// keys is known at run time only.
//
//   attnc prefill-f32-d128.mlir -o prefill.so
//   attn-run prefill-f32-d128.mlir --verify --input=1x8x512x128xf32 --input=1x8x512x128xf32 --input=1x8x512x128xf32
//
// RUN: attn-opt %s --verify-roundtrip -o /dev/null
// RUN: attn-run %s --verify --input=1x8x33x128xf32 --input=1x8x45x128xf32 --input=1x8x45x128xf32

func.func @prefill(%q: tensor<1x8x?x128xf32>, %k: tensor<1x8x?x128xf32>,
                   %v: tensor<1x8x?x128xf32>) -> tensor<1x8x?x128xf32> {
  %o = attn.sdpa %q, %k, %v
    : tensor<1x8x?x128xf32>, tensor<1x8x?x128xf32>, tensor<1x8x?x128xf32>
    -> tensor<1x8x?x128xf32>
  return %o : tensor<1x8x?x128xf32>
}
