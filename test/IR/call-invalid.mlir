// RUN: attn-opt %s --split-input-file --verify-diagnostics

// call-C1
func.func @nobody(%to: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{'attn.call' op expects 'callee' to name a function, got @missing}}
  %y = attn.call @missing() outs(%to : tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// call-C1
func.func private @one(tensor<8xf32>) -> tensor<8xf32>
func.func @two(%x: tensor<8xf32>, %to: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{'attn.call' op expects 'callee' to be a function of 2 arguments, got 1}}
  %y = attn.call @one(%x : tensor<8xf32>) outs(%to : tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}
