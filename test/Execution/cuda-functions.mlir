// Functions of scores that a GPU takes in a few instructions. Of a single key the logarithm of the sum is what the function
// gives.
//
// RUN: attn-run %s --device=cuda-emulated --function=capped --verify | FileCheck %s
// RUN: attn-run %s --device=cuda-emulated --function=hardly_capped --verify | FileCheck %s
// RUN: attn-run %s --device=cuda-emulated --function=tangent --verify | FileCheck %s
// RUN: attn-run %s --device=cuda-emulated --function=exponential --verify | FileCheck %s
//
// CHECK: pass: {{.*}} 0 elements beyond it

func.func @capped(%q: tensor<1x2x40x64xf16>, %k: tensor<1x2x72x64xf16>, %v: tensor<1x2x72x64xf16>) -> tensor<1x2x40x64xf16> {
  %o = attn.sdpa %q, %k, %v scale = 2.0 causal = bottom_right softcap = 5.0
    : tensor<1x2x40x64xf16>, tensor<1x2x72x64xf16>, tensor<1x2x72x64xf16> -> tensor<1x2x40x64xf16>
  return %o : tensor<1x2x40x64xf16>
}
// What the cap does to scores is less than the last place of most, which has to be right all the same.
func.func @hardly_capped(%q: tensor<1x2x40x64xf32>, %k: tensor<1x2x72x64xf32>, %v: tensor<1x2x72x64xf32>)
    -> (tensor<1x2x40x64xf32>, tensor<1x2x40xf32>) {
  %o, %l = attn.sdpa %q, %k, %v softcap = 1.0e6
    : tensor<1x2x40x64xf32>, tensor<1x2x72x64xf32>, tensor<1x2x72x64xf32> -> tensor<1x2x40x64xf32>, tensor<1x2x40xf32>
  return %o, %l : tensor<1x2x40x64xf32>, tensor<1x2x40xf32>
}
func.func @tangent(%q: tensor<1x1x640x1xf32>, %k: tensor<1x1x1x1xf32>) -> tensor<1x1x640xf32> {
  %o, %l = attn.sdpa %q, %k, %k scale = 2.0 score_mod(%s: f32, %b: index, %h: index, %i: index, %j: index) {
    %y = math.tanh %s : f32
    attn.yield %y : f32
  } : tensor<1x1x640x1xf32>, tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32> -> tensor<1x1x640x1xf32>, tensor<1x1x640xf32>
  return %l : tensor<1x1x640xf32>
}
func.func @exponential(%q: tensor<1x1x640x1xf32>, %k: tensor<1x1x1x1xf32>) -> tensor<1x1x640xf32> {
  %o, %l = attn.sdpa %q, %k, %k scale = 30.0 score_mod(%s: f32, %b: index, %h: index, %i: index, %j: index) {
    %y = math.exp %s : f32
    attn.yield %y : f32
  } : tensor<1x1x640x1xf32>, tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32> -> tensor<1x1x640x1xf32>, tensor<1x1x640xf32>
  return %l : tensor<1x1x640xf32>
}
