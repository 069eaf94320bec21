// Attention by a state: a prompt goes in, the state comes out, and the next words go on from it, a step at a time, with the
// same function. The rule is the gated delta rule: the state forgets by `decay`, and learns by `beta` what it did not know.
//
// RUN: attn-opt %s --verify-roundtrip -o /dev/null
// RUN: attn-run %s --verify --input=1x4x100x32xf32 --input=1x2x100x32xf32 --input=1x2x100x48xf32 --input=1x2x100xf32 --input=1x2x100xf32 --input=1x2x32x48xf32
// RUN: attn-run %s --verify --input=1x4x1x32xf32 --input=1x2x1x32xf32 --input=1x2x1x48xf32 --input=1x2x1xf32 --input=1x2x1xf32 --input=1x2x32x48xf32

func.func @gated_delta(%q: tensor<1x4x?x32xf32>, %k: tensor<1x2x?x32xf32>,
                       %v: tensor<1x2x?x48xf32>, %decay: tensor<1x2x?xf32>,
                       %beta: tensor<1x2x?xf32>, %state: tensor<1x2x32x48xf32>)
    -> (tensor<1x4x?x48xf32>, tensor<1x2x32x48xf32>) {
  // A delta rule wants keys of about length 1.
  %fifth = arith.constant 0.2 : f32
  %short = linalg.map ins(%k : tensor<1x2x?x32xf32>) outs(%k : tensor<1x2x?x32xf32>)
    (%x: f32, %old: f32) {
      %y = arith.mulf %x, %fifth : f32
      linalg.yield %y : f32
    }
  %o, %next = attn.linear_attention %q, %short, %v
    decay(%decay : tensor<1x2x?xf32>) beta(%beta : tensor<1x2x?xf32>)
    state(%state : tensor<1x2x32x48xf32>) rule = gated_delta
    : tensor<1x4x?x32xf32>, tensor<1x2x?x32xf32>, tensor<1x2x?x48xf32>
    -> tensor<1x4x?x48xf32> state(tensor<1x2x32x48xf32>)
  return %o, %next : tensor<1x4x?x48xf32>, tensor<1x2x32x48xf32>
}
