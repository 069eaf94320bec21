// RUN: attn-opt %s --attn-booleans-to-bytes --verify-diagnostics

// Elementwise arithmetic has to be linalg before.
func.func @elementwise(%a: tensor<8xi1>, %b: tensor<8xi1>) -> tensor<8xi1> {
  // expected-error @below {{'arith.andi' op expects no tensor of i1 where booleans are bytes}}
  %c = arith.andi %a, %b : tensor<8xi1>
  return %c : tensor<8xi1>
}
