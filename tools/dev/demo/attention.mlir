// One attention layer of a BERT encoder with 12 heads of 32 channels: projections, attention over the tokens of each
// sentence, output projection. The weights are arguments, so the one function serves every layer; the number of
// sentences and their padded length are free. Padding, given by %lengths, is attended by nobody.
func.func @attention_layer(
    %x: tensor<?x?x384xf32>, %lengths: tensor<?xi64>,
    %wq: tensor<384x384xf32>, %bq: tensor<384xf32>,
    %wk: tensor<384x384xf32>, %bk: tensor<384xf32>,
    %wv: tensor<384x384xf32>, %bv: tensor<384xf32>,
    %wo: tensor<384x384xf32>, %bo: tensor<384xf32>)
    -> tensor<?x?x384xf32> {
  %y = attn.mha %x
    query(%wq : tensor<384x384xf32>, %bq : tensor<384xf32>)
    key(%wk : tensor<384x384xf32>, %bk : tensor<384xf32>)
    value(%wv : tensor<384x384xf32>, %bv : tensor<384xf32>)
    output(%wo : tensor<384x384xf32>, %bo : tensor<384xf32>)
    kv_lengths(%lengths : tensor<?xi64>)
    heads = 12 : tensor<?x?x384xf32> -> tensor<?x?x384xf32>
  return %y : tensor<?x?x384xf32>
}
