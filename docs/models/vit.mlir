// The attention half of a ViT layer: 16 patches and the class token see each other.
//
// REQUIRES: attn-run, numpy
// RUN: attn-opt %s --verify-roundtrip -o /dev/null
// RUN: %numpy %root/test/Models/run.py vit %s %t

#token = affine_map<(b, i, c) -> (b, i, c)>
#row = affine_map<(b, i, c) -> (b, i)>
#channel = affine_map<(b, i, c) -> (c)>

// (x - mean) / sqrt(variance + 1e-6) * scale + shift, over channels.
func.func private @layer_norm(%x: tensor<2x?x48xf32>, %scale: tensor<48xf32>, %shift: tensor<48xf32>)
    -> tensor<2x?x48xf32> {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %count = arith.constant 48.0 : f32
  %epsilon = arith.constant 1.0e-6 : f32
  %m = tensor.dim %x, %c1 : tensor<2x?x48xf32>
  %rows = tensor.empty(%m) : tensor<2x?xf32>
  %none = linalg.fill ins(%zero : f32) outs(%rows : tensor<2x?xf32>) -> tensor<2x?xf32>
  %sum = linalg.generic {indexing_maps = [#token, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : tensor<2x?x48xf32>) outs(%none : tensor<2x?xf32>) {
  ^bb0(%e: f32, %so: f32):
    %t = arith.addf %so, %e : f32
    linalg.yield %t : f32
  } -> tensor<2x?xf32>
  %squares = linalg.generic {indexing_maps = [#token, #row, #row],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %sum : tensor<2x?x48xf32>, tensor<2x?xf32>) outs(%none : tensor<2x?xf32>) {
  ^bb0(%e: f32, %s: f32, %so: f32):
    %mean = arith.divf %s, %count : f32
    %d = arith.subf %e, %mean : f32
    %q = arith.mulf %d, %d : f32
    %t = arith.addf %so, %q : f32
    linalg.yield %t : f32
  } -> tensor<2x?xf32>
  %out = tensor.empty(%m) : tensor<2x?x48xf32>
  %y = linalg.generic {indexing_maps = [#token, #row, #row, #channel, #channel, #token],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %sum, %squares, %scale, %shift
        : tensor<2x?x48xf32>, tensor<2x?xf32>, tensor<2x?xf32>, tensor<48xf32>, tensor<48xf32>)
      outs(%out : tensor<2x?x48xf32>) {
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
  } -> tensor<2x?x48xf32>
  return %y : tensor<2x?x48xf32>
}

func.func @layer(%x: tensor<2x?x48xf32>, %scale: tensor<48xf32>, %shift: tensor<48xf32>,
                 %wq: tensor<48x48xf32>, %bq: tensor<48xf32>, %wk: tensor<48x48xf32>, %bk: tensor<48xf32>,
                 %wv: tensor<48x48xf32>, %bv: tensor<48xf32>, %wo: tensor<48x48xf32>, %bo: tensor<48xf32>)
    -> tensor<2x?x48xf32> {
  %n = call @layer_norm(%x, %scale, %shift)
    : (tensor<2x?x48xf32>, tensor<48xf32>, tensor<48xf32>) -> tensor<2x?x48xf32>
  %a = attn.mha %n
    query(%wq : tensor<48x48xf32>, %bq : tensor<48xf32>) key(%wk : tensor<48x48xf32>, %bk : tensor<48xf32>)
    value(%wv : tensor<48x48xf32>, %bv : tensor<48xf32>) output(%wo : tensor<48x48xf32>, %bo : tensor<48xf32>)
    heads = 3 : tensor<2x?x48xf32> -> tensor<2x?x48xf32>
  %y = arith.addf %x, %a : tensor<2x?x48xf32>
  return %y : tensor<2x?x48xf32>
}
