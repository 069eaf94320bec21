// One block of GPT-2 with a cache. %x holds the new tokens; keys and values of the tokens before them come in as
// `past` and go out, with the new ones behind them, as `present`. `bottom_right` puts the new rows at the end of the
// cache. With a past of length 0 this is the prompt, with one row it is a step of generation.
//
// REQUIRES: attn-run, numpy
// RUN: attn-opt %s --verify-roundtrip -o /dev/null
// RUN: %numpy %root/test/Models/run.py gpt2 %s %t

#token = affine_map<(b, i, c) -> (b, i, c)>
#row = affine_map<(b, i, c) -> (b, i)>
#channel = affine_map<(b, i, c) -> (c)>
#x = affine_map<(b, i, o, c) -> (b, i, c)>
#w = affine_map<(b, i, o, c) -> (o, c)>
#y = affine_map<(b, i, o, c) -> (b, i, o)>

// (x - mean) / sqrt(variance + 1e-5) * scale + shift, over channels.
func.func private @layer_norm(%x: tensor<2x?x64xf32>, %scale: tensor<64xf32>, %shift: tensor<64xf32>)
    -> tensor<2x?x64xf32> {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %count = arith.constant 64.0 : f32
  %epsilon = arith.constant 1.0e-5 : f32
  %m = tensor.dim %x, %c1 : tensor<2x?x64xf32>
  %rows = tensor.empty(%m) : tensor<2x?xf32>
  %none = linalg.fill ins(%zero : f32) outs(%rows : tensor<2x?xf32>) -> tensor<2x?xf32>
  %sum = linalg.generic {indexing_maps = [#token, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : tensor<2x?x64xf32>) outs(%none : tensor<2x?xf32>) {
  ^bb0(%e: f32, %so: f32):
    %t = arith.addf %so, %e : f32
    linalg.yield %t : f32
  } -> tensor<2x?xf32>
  %squares = linalg.generic {indexing_maps = [#token, #row, #row],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %sum : tensor<2x?x64xf32>, tensor<2x?xf32>) outs(%none : tensor<2x?xf32>) {
  ^bb0(%e: f32, %s: f32, %so: f32):
    %mean = arith.divf %s, %count : f32
    %d = arith.subf %e, %mean : f32
    %q = arith.mulf %d, %d : f32
    %t = arith.addf %so, %q : f32
    linalg.yield %t : f32
  } -> tensor<2x?xf32>
  %out = tensor.empty(%m) : tensor<2x?x64xf32>
  %y = linalg.generic {indexing_maps = [#token, #row, #row, #channel, #channel, #token],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %sum, %squares, %scale, %shift
        : tensor<2x?x64xf32>, tensor<2x?xf32>, tensor<2x?xf32>, tensor<64xf32>, tensor<64xf32>)
      outs(%out : tensor<2x?x64xf32>) {
  ^bb0(%e: f32, %s: f32, %q: f32, %g: f32, %b: f32, %unused: f32):
    %mean = arith.divf %s, %count : f32
    %variance = arith.divf %q, %count : f32
    %safe = arith.addf %variance, %epsilon : f32
    %deviation = math.sqrt %safe : f32
    %d = arith.subf %e, %mean : f32
    %n = arith.divf %d, %deviation : f32
    %scaled = arith.mulf %n, %g : f32
    %t = arith.addf %scaled, %b : f32
    linalg.yield %t : f32
  } -> tensor<2x?x64xf32>
  return %y : tensor<2x?x64xf32>
}

func.func @block(%x: tensor<2x?x64xf32>, %past_key: tensor<2x4x?x16xf32>, %past_value: tensor<2x4x?x16xf32>,
                 %scale1: tensor<64xf32>, %shift1: tensor<64xf32>,
                 %wq: tensor<64x64xf32>, %bq: tensor<64xf32>, %wk: tensor<64x64xf32>, %bk: tensor<64xf32>,
                 %wv: tensor<64x64xf32>, %bv: tensor<64xf32>, %wo: tensor<64x64xf32>, %bo: tensor<64xf32>,
                 %scale2: tensor<64xf32>, %shift2: tensor<64xf32>,
                 %w1: tensor<256x64xf32>, %b1: tensor<256xf32>, %w2: tensor<64x256xf32>, %b2: tensor<64xf32>)
    -> (tensor<2x?x64xf32>, tensor<2x4x?x16xf32>, tensor<2x4x?x16xf32>) {
  %n1 = call @layer_norm(%x, %scale1, %shift1)
    : (tensor<2x?x64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<2x?x64xf32>
  %a, %key, %value = attn.mha %n1
    query(%wq : tensor<64x64xf32>, %bq : tensor<64xf32>) key(%wk : tensor<64x64xf32>, %bk : tensor<64xf32>)
    value(%wv : tensor<64x64xf32>, %bv : tensor<64xf32>) output(%wo : tensor<64x64xf32>, %bo : tensor<64xf32>)
    past(%past_key : tensor<2x4x?x16xf32>, %past_value : tensor<2x4x?x16xf32>)
    heads = 4 causal = bottom_right
    : tensor<2x?x64xf32> -> tensor<2x?x64xf32> present(tensor<2x4x?x16xf32>, tensor<2x4x?x16xf32>)
  %h = arith.addf %x, %a : tensor<2x?x64xf32>

  // The two layers behind: 4 times as wide, and back.
  %n2 = call @layer_norm(%h, %scale2, %shift2)
    : (tensor<2x?x64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<2x?x64xf32>
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c1 : tensor<2x?x64xf32>
  %wide = tensor.empty(%m) : tensor<2x?x256xf32>
  %wide_bias = linalg.broadcast ins(%b1 : tensor<256xf32>) outs(%wide : tensor<2x?x256xf32>) dimensions = [0, 1]
  %inner = linalg.generic {indexing_maps = [#x, #w, #y],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%n2, %w1 : tensor<2x?x64xf32>, tensor<256x64xf32>) outs(%wide_bias : tensor<2x?x256xf32>) {
  ^bb0(%e: f32, %w: f32, %so: f32):
    %p = arith.mulf %e, %w : f32
    %t = arith.addf %so, %p : f32
    linalg.yield %t : f32
  } -> tensor<2x?x256xf32>
  %gelu = linalg.generic {indexing_maps = [#token, #token], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%inner : tensor<2x?x256xf32>) outs(%wide : tensor<2x?x256xf32>) {
  ^bb0(%e: f32, %unused: f32):
    %half = arith.constant 0.5 : f32
    %one = arith.constant 1.0 : f32
    %cubic = arith.constant 0.044715 : f32
    %root = arith.constant 0.7978845608 : f32
    %square = arith.mulf %e, %e : f32
    %cube = arith.mulf %square, %e : f32
    %bent = arith.mulf %cube, %cubic : f32
    %argument = arith.addf %e, %bent : f32
    %scaled = arith.mulf %argument, %root : f32
    %tanh = math.tanh %scaled : f32
    %up = arith.addf %tanh, %one : f32
    %by = arith.mulf %up, %half : f32
    %t = arith.mulf %e, %by : f32
    linalg.yield %t : f32
  } -> tensor<2x?x256xf32>
  %narrow = tensor.empty(%m) : tensor<2x?x64xf32>
  %narrow_bias = linalg.broadcast ins(%b2 : tensor<64xf32>) outs(%narrow : tensor<2x?x64xf32>) dimensions = [0, 1]
  %outer = linalg.generic {indexing_maps = [#x, #w, #y],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%gelu, %w2 : tensor<2x?x256xf32>, tensor<64x256xf32>) outs(%narrow_bias : tensor<2x?x64xf32>) {
  ^bb0(%e: f32, %w: f32, %so: f32):
    %p = arith.mulf %e, %w : f32
    %t = arith.addf %so, %p : f32
    linalg.yield %t : f32
  } -> tensor<2x?x64xf32>
  %y = arith.addf %h, %outer : tensor<2x?x64xf32>
  return %y, %key, %value : tensor<2x?x64xf32>, tensor<2x4x?x16xf32>, tensor<2x4x?x16xf32>
}
