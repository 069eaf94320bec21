// Attention of gpt-oss: every head has a sink, a logit that takes a share of the softmax and gives no value, so that a
// row may attend to nothing. Half of the layers see a window of 128 keys (here 16).
//
// REQUIRES: attn-run, numpy
// RUN: attn-opt %s --verify-roundtrip -o /dev/null
// RUN: %numpy %root/test/Models/run.py gpt_oss %s %t

func.func @windowed(%q: tensor<1x8x?x64xf32>, %k: tensor<1x1x?x64xf32>, %v: tensor<1x1x?x64xf32>,
                    %sinks: tensor<8xf32>) -> tensor<1x8x?x64xf32> {
  %o = attn.sdpa %q, %k, %v sinks(%sinks : tensor<8xf32>) causal = bottom_right window = <left = 15>
    : tensor<1x8x?x64xf32>, tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32> -> tensor<1x8x?x64xf32>
  return %o : tensor<1x8x?x64xf32>
}

func.func @dense(%q: tensor<1x8x?x64xf32>, %k: tensor<1x1x?x64xf32>, %v: tensor<1x1x?x64xf32>,
                 %sinks: tensor<8xf32>) -> tensor<1x8x?x64xf32> {
  %o = attn.sdpa %q, %k, %v sinks(%sinks : tensor<8xf32>) causal = bottom_right
    : tensor<1x8x?x64xf32>, tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32> -> tensor<1x8x?x64xf32>
  return %o : tensor<1x8x?x64xf32>
}
