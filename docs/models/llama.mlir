// The attention half of a LLaMA layer: RMS norm, rotary embedding, eight query heads on two key heads, a cache. A long
// prompt may come in chunks: each goes through the same function with the keys of those before it as `past`.
//
// REQUIRES: attn-run, numpy
// RUN: attn-opt %s --verify-roundtrip -o /dev/null
// RUN: %numpy %root/test/Models/run.py llama %s %t

#token = affine_map<(b, i, c) -> (b, i, c)>
#row = affine_map<(b, i, c) -> (b, i)>
#channel = affine_map<(b, i, c) -> (c)>

// x / sqrt(mean of x^2 + 1e-6) * scale, over channels.
func.func private @rms_norm(%x: tensor<1x?x64xf32>, %scale: tensor<64xf32>) -> tensor<1x?x64xf32> {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %count = arith.constant 64.0 : f32
  %epsilon = arith.constant 1.0e-6 : f32
  %m = tensor.dim %x, %c1 : tensor<1x?x64xf32>
  %rows = tensor.empty(%m) : tensor<1x?xf32>
  %none = linalg.fill ins(%zero : f32) outs(%rows : tensor<1x?xf32>) -> tensor<1x?xf32>
  %squares = linalg.generic {indexing_maps = [#token, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : tensor<1x?x64xf32>) outs(%none : tensor<1x?xf32>) {
  ^bb0(%e: f32, %so: f32):
    %q = arith.mulf %e, %e : f32
    %t = arith.addf %so, %q : f32
    linalg.yield %t : f32
  } -> tensor<1x?xf32>
  %out = tensor.empty(%m) : tensor<1x?x64xf32>
  %y = linalg.generic {indexing_maps = [#token, #row, #channel, #token],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %squares, %scale : tensor<1x?x64xf32>, tensor<1x?xf32>, tensor<64xf32>)
      outs(%out : tensor<1x?x64xf32>) {
  ^bb0(%e: f32, %q: f32, %g: f32, %unused: f32):
    %mean = arith.divf %q, %count : f32
    %safe = arith.addf %mean, %epsilon : f32
    %root = math.sqrt %safe : f32
    %n = arith.divf %e, %root : f32
    %t = arith.mulf %n, %g : f32
    linalg.yield %t : f32
  } -> tensor<1x?x64xf32>
  return %y : tensor<1x?x64xf32>
}

func.func @layer(%x: tensor<1x?x64xf32>, %past_key: tensor<1x2x?x8xf32>, %past_value: tensor<1x2x?x8xf32>,
                 %cos: tensor<128x4xf32>, %sin: tensor<128x4xf32>, %positions: tensor<1x?xi32>,
                 %scale: tensor<64xf32>, %wq: tensor<64x64xf32>, %wk: tensor<16x64xf32>,
                 %wv: tensor<16x64xf32>, %wo: tensor<64x64xf32>)
    -> (tensor<1x?x64xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>) {
  %n = call @rms_norm(%x, %scale) : (tensor<1x?x64xf32>, tensor<64xf32>) -> tensor<1x?x64xf32>
  %a, %key, %value = attn.mha %n
    query(%wq : tensor<64x64xf32>) key(%wk : tensor<16x64xf32>)
    value(%wv : tensor<16x64xf32>) output(%wo : tensor<64x64xf32>)
    rope(%cos : tensor<128x4xf32>, %sin : tensor<128x4xf32>, %positions : tensor<1x?xi32>)
    past(%past_key : tensor<1x2x?x8xf32>, %past_value : tensor<1x2x?x8xf32>)
    heads = 8 kv_heads = 2 causal = bottom_right
    : tensor<1x?x64xf32> -> tensor<1x?x64xf32> present(tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>)
  %y = arith.addf %x, %a : tensor<1x?x64xf32>
  return %y, %key, %value : tensor<1x?x64xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>
}
