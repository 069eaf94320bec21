func.func @attention(%q: tensor<1x4x128x64xf32>, %k: tensor<1x4x128x64xf32>,
                     %v: tensor<1x4x128x64xf32>)
    -> tensor<1x4x128x64xf32> {
  %o = attn.sdpa %q, %k, %v : tensor<1x4x128x64xf32>, tensor<1x4x128x64xf32>,
    tensor<1x4x128x64xf32> -> tensor<1x4x128x64xf32>
  return %o : tensor<1x4x128x64xf32>
}
