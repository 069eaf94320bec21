// Attention over a whole prompt, in 32-bit floats: 8 heads of 64 channels, every row sees every key. The number of rows and of
// keys is known at run time only.
//
//   attnc prefill-f32-d64.mlir -o prefill.so
//   attn-run prefill-f32-d64.mlir --verify --input=1x8x512x64xf32 --input=1x8x512x64xf32 --input=1x8x512x64xf32
//
// RUN: attn-opt %s --verify-roundtrip -o /dev/null
// RUN: attn-run %s --verify --input=1x8x33x64xf32 --input=1x8x45x64xf32 --input=1x8x45x64xf32

func.func @prefill(%q: tensor<1x8x?x64xf32>, %k: tensor<1x8x?x64xf32>,
                   %v: tensor<1x8x?x64xf32>) -> tensor<1x8x?x64xf32> {
  %o = attn.sdpa %q, %k, %v
    : tensor<1x8x?x64xf32>, tensor<1x8x?x64xf32>, tensor<1x8x?x64xf32>
    -> tensor<1x8x?x64xf32>
  return %o : tensor<1x8x?x64xf32>
}
