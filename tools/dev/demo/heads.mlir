// What each head of a sentence encoder attends to: 12 heads of 32 channels, in sentences of any number and length.
func.func @heads(%q: tensor<?x?x12x32xf32>, %k: tensor<?x?x12x32xf32>, %v: tensor<?x?x12x32xf32>, %n: tensor<?xi64>)
    -> (tensor<?x?x12x32xf32>, tensor<?x12x?x?xf32>) {
  %o, %w = attn.sdpa %q, %k, %v kv_lengths(%n : tensor<?xi64>) layout = bshd
    : tensor<?x?x12x32xf32>, tensor<?x?x12x32xf32>, tensor<?x?x12x32xf32>
    -> tensor<?x?x12x32xf32> weights(tensor<?x12x?x?xf32>)
  return %o, %w : tensor<?x?x12x32xf32>, tensor<?x12x?x?xf32>
}
