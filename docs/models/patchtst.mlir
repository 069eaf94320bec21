// PatchTST on time series: every variable of every series is a sequence of its own, cut into patches of 16 steps that
// start every 8. Patches become tokens, and see each other.
//
// REQUIRES: attn-run, numpy
// RUN: attn-opt %s --verify-roundtrip -o /dev/null
// RUN: %numpy %root/test/Models/run.py patchtst %s %t

#value = affine_map<(s, p, o, t) -> (s, p * 8 + t)>
#weight = affine_map<(s, p, o, t) -> (o, t)>
#token = affine_map<(s, p, o, t) -> (s, p, o)>
#place = affine_map<(s, p, o) -> (p, o)>
#same = affine_map<(s, p, o) -> (s, p, o)>

func.func @layer(%series: tensor<?x128xf32>, %embedding: tensor<32x16xf32>, %positions: tensor<15x32xf32>,
                 %wq: tensor<32x32xf32>, %bq: tensor<32xf32>, %wk: tensor<32x32xf32>, %bk: tensor<32xf32>,
                 %wv: tensor<32x32xf32>, %bv: tensor<32xf32>, %wo: tensor<32x32xf32>, %bo: tensor<32xf32>)
    -> tensor<?x15x32xf32> {
  %c0 = arith.constant 0 : index
  %count = tensor.dim %series, %c0 : tensor<?x128xf32>
  %room = tensor.empty(%count) : tensor<?x15x32xf32>
  %start = linalg.generic {indexing_maps = [#place, #same], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%positions : tensor<15x32xf32>) outs(%room : tensor<?x15x32xf32>) {
  ^bb0(%e: f32, %unused: f32):
    linalg.yield %e : f32
  } -> tensor<?x15x32xf32>
  %tokens = linalg.generic {indexing_maps = [#value, #weight, #token],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%series, %embedding : tensor<?x128xf32>, tensor<32x16xf32>) outs(%start : tensor<?x15x32xf32>) {
  ^bb0(%e: f32, %w: f32, %so: f32):
    %p = arith.mulf %e, %w : f32
    %t = arith.addf %so, %p : f32
    linalg.yield %t : f32
  } -> tensor<?x15x32xf32>
  %a = attn.mha %tokens
    query(%wq : tensor<32x32xf32>, %bq : tensor<32xf32>) key(%wk : tensor<32x32xf32>, %bk : tensor<32xf32>)
    value(%wv : tensor<32x32xf32>, %bv : tensor<32xf32>) output(%wo : tensor<32x32xf32>, %bo : tensor<32xf32>)
    heads = 4 : tensor<?x15x32xf32> -> tensor<?x15x32xf32>
  %y = arith.addf %tokens, %a : tensor<?x15x32xf32>
  return %y : tensor<?x15x32xf32>
}
