// Attention over a whole prompt, in bfloat16, accumulated in 32 bits: 8 heads of 64 channels, every row sees every key. The number of rows and of
// keys is known at run time only.
//
//   attnc prefill-bf16-d64.mlir -o prefill.so
//   attn-run prefill-bf16-d64.mlir --verify --input=1x8x512x64xbf16 --input=1x8x512x64xbf16 --input=1x8x512x64xbf16
//
// RUN: attn-opt %s --verify-roundtrip -o /dev/null
// RUN: attn-run %s --verify --input=1x8x33x64xbf16 --input=1x8x45x64xbf16 --input=1x8x45x64xbf16

func.func @prefill(%q: tensor<1x8x?x64xbf16>, %k: tensor<1x8x?x64xbf16>,
                   %v: tensor<1x8x?x64xbf16>) -> tensor<1x8x?x64xbf16> {
  %o = attn.sdpa %q, %k, %v
    : tensor<1x8x?x64xbf16>, tensor<1x8x?x64xbf16>, tensor<1x8x?x64xbf16>
    -> tensor<1x8x?x64xbf16>
  return %o : tensor<1x8x?x64xbf16>
}
