// The attention half of a BERT layer on sentences of different lengths: %lengths says how many tokens of each are
// words. Keys behind them are never read, and blocks of nothing else cost nothing.
//
// REQUIRES: attn-run, numpy
// RUN: attn-opt %s --verify-roundtrip -o /dev/null
// RUN: %numpy %root/test/Models/run.py bert %s %t

#token = affine_map<(b, i, c) -> (b, i, c)>
#row = affine_map<(b, i, c) -> (b, i)>
#channel = affine_map<(b, i, c) -> (c)>

// (x - mean) / sqrt(variance + 1e-12) * scale + shift, over channels.
func.func private @layer_norm(%x: tensor<?x?x64xf32>, %scale: tensor<64xf32>, %shift: tensor<64xf32>)
    -> tensor<?x?x64xf32> {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %count = arith.constant 64.0 : f32
  %epsilon = arith.constant 1.0e-12 : f32
  %c0 = arith.constant 0 : index
  %b = tensor.dim %x, %c0 : tensor<?x?x64xf32>
  %m = tensor.dim %x, %c1 : tensor<?x?x64xf32>
  %rows = tensor.empty(%b, %m) : tensor<?x?xf32>
  %none = linalg.fill ins(%zero : f32) outs(%rows : tensor<?x?xf32>) -> tensor<?x?xf32>
  %sum = linalg.generic {indexing_maps = [#token, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : tensor<?x?x64xf32>) outs(%none : tensor<?x?xf32>) {
  ^bb0(%e: f32, %so: f32):
    %t = arith.addf %so, %e : f32
    linalg.yield %t : f32
  } -> tensor<?x?xf32>
  %squares = linalg.generic {indexing_maps = [#token, #row, #row],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %sum : tensor<?x?x64xf32>, tensor<?x?xf32>) outs(%none : tensor<?x?xf32>) {
  ^bb0(%e: f32, %s: f32, %so: f32):
    %mean = arith.divf %s, %count : f32
    %d = arith.subf %e, %mean : f32
    %q = arith.mulf %d, %d : f32
    %t = arith.addf %so, %q : f32
    linalg.yield %t : f32
  } -> tensor<?x?xf32>
  %out = tensor.empty(%b, %m) : tensor<?x?x64xf32>
  %y = linalg.generic {indexing_maps = [#token, #row, #row, #channel, #channel, #token],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %sum, %squares, %scale, %shift
        : tensor<?x?x64xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<64xf32>, tensor<64xf32>)
      outs(%out : tensor<?x?x64xf32>) {
  ^bb0(%e: f32, %s: f32, %q: f32, %g: f32, %h: f32, %unused: f32):
    %mean = arith.divf %s, %count : f32
    %variance = arith.divf %q, %count : f32
    %safe = arith.addf %variance, %epsilon : f32
    %deviation = math.sqrt %safe : f32
    %d = arith.subf %e, %mean : f32
    %n = arith.divf %d, %deviation : f32
    %scaled = arith.mulf %n, %g : f32
    %t = arith.addf %scaled, %h : f32
    linalg.yield %t : f32
  } -> tensor<?x?x64xf32>
  return %y : tensor<?x?x64xf32>
}

func.func @layer(%x: tensor<?x?x64xf32>, %lengths: tensor<?xi32>,
                 %wq: tensor<64x64xf32>, %bq: tensor<64xf32>, %wk: tensor<64x64xf32>, %bk: tensor<64xf32>,
                 %wv: tensor<64x64xf32>, %bv: tensor<64xf32>, %wo: tensor<64x64xf32>, %bo: tensor<64xf32>,
                 %scale: tensor<64xf32>, %shift: tensor<64xf32>) -> tensor<?x?x64xf32> {
  %a = attn.mha %x
    query(%wq : tensor<64x64xf32>, %bq : tensor<64xf32>) key(%wk : tensor<64x64xf32>, %bk : tensor<64xf32>)
    value(%wv : tensor<64x64xf32>, %bv : tensor<64xf32>) output(%wo : tensor<64x64xf32>, %bo : tensor<64xf32>)
    kv_lengths(%lengths : tensor<?xi32>) heads = 4
    : tensor<?x?x64xf32> -> tensor<?x?x64xf32>
  %h = arith.addf %x, %a : tensor<?x?x64xf32>
  %y = call @layer_norm(%h, %scale, %shift)
    : (tensor<?x?x64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<?x?x64xf32>
  return %y : tensor<?x?x64xf32>
}
