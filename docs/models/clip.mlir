// The attention of CLIP's two towers. The text tower is causal and short, with many heads: batch and heads run in
// parallel, and a strip of rows stops at the last token that it sees. The image tower sees everything.
//
// REQUIRES: attn-run, numpy
// RUN: attn-opt %s --verify-roundtrip -o /dev/null
// RUN: %numpy %root/test/Models/run.py clip %s %t

func.func @text(%x: tensor<?x77x64xf32>,
                %wq: tensor<64x64xf32>, %bq: tensor<64xf32>, %wk: tensor<64x64xf32>, %bk: tensor<64xf32>,
                %wv: tensor<64x64xf32>, %bv: tensor<64xf32>, %wo: tensor<64x64xf32>, %bo: tensor<64xf32>)
    -> tensor<?x77x64xf32> {
  %a = attn.mha %x
    query(%wq : tensor<64x64xf32>, %bq : tensor<64xf32>) key(%wk : tensor<64x64xf32>, %bk : tensor<64xf32>)
    value(%wv : tensor<64x64xf32>, %bv : tensor<64xf32>) output(%wo : tensor<64x64xf32>, %bo : tensor<64xf32>)
    heads = 8 causal = top_left : tensor<?x77x64xf32> -> tensor<?x77x64xf32>
  %y = arith.addf %x, %a : tensor<?x77x64xf32>
  return %y : tensor<?x77x64xf32>
}

func.func @image(%x: tensor<?x50x96xf32>,
                 %wq: tensor<96x96xf32>, %bq: tensor<96xf32>, %wk: tensor<96x96xf32>, %bk: tensor<96xf32>,
                 %wv: tensor<96x96xf32>, %bv: tensor<96xf32>, %wo: tensor<96x96xf32>, %bo: tensor<96xf32>)
    -> tensor<?x50x96xf32> {
  %a = attn.mha %x
    query(%wq : tensor<96x96xf32>, %bq : tensor<96xf32>) key(%wk : tensor<96x96xf32>, %bk : tensor<96xf32>)
    value(%wv : tensor<96x96xf32>, %bv : tensor<96xf32>) output(%wo : tensor<96x96xf32>, %bo : tensor<96xf32>)
    heads = 12 : tensor<?x50x96xf32> -> tensor<?x50x96xf32>
  %y = arith.addf %x, %a : tensor<?x50x96xf32>
  return %y : tensor<?x50x96xf32>
}
